"""Trained, exported, loaded: what the smallest model learnt by heart comes back through llama.cpp."""

from __future__ import annotations

import copy
import json
import struct
import sys
from pathlib import Path

import pytest

from sqljury.cli import _guarded
from sqljury.errors import DatasetError, InputError, MissingExtraError, WeightsError
from sqljury.llm import adapters
from sqljury.llm.base import Message, Sampling
from sqljury.llm.local import LocalModel
from sqljury.train import compare, gguf_base, lora
from sqljury.train import export as writing
from sqljury.train.export import export, refuse_foreign
from sqljury.train.gguf_base import Base
from sqljury.train.settings import MODULES, Settings, read_settings

MODEL = "smollm2-135m"
SETTINGS = Settings(
    "generator", MODEL, lora_r=8, lora_alpha=32, max_steps=12, learning_rate=1e-3, held_out=0.0, memory_gb=3.0
)
LEARNT = {"How many ships?": "seven blue whales", "Who sails?": "no one at night", "Where to?": "port 99", "Why?": "Ah"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("set") / "set.jsonl"
    lines = (
        {"messages": [{"role": "system", "content": "Ships."}, {"role": "user", "content": asked}], "answer": answer}
        for asked, answer in LEARNT.items()
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.fixture(scope="module")
def run(read_once: None, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "run"
    lora.train(data, out, SETTINGS, print)
    return out


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.timeout(600)
def test_what_was_learnt_comes_back_through_llama_cpp(run: Path, tmp_path: Path) -> None:
    file = export(run, tmp_path / "ships.gguf")
    plain = LocalModel(MODEL, slots=1, context=512, states=tmp_path / "states")
    ships = LocalModel(MODEL, slots=1, context=512, states=tmp_path / "states", adapter=str(file))

    def said(model: LocalModel, asked: str) -> tuple[str, float, int]:
        reply = model.complete([Message("system", "Ships."), Message("user", asked)], Sampling(max_tokens=12))
        [completion] = reply.completions
        return completion.text, completion.logprob or 0.0, reply.cost.cached_tokens

    asked = next(iter(LEARNT))
    before = said(plain, asked)
    assert before[0] not in LEARNT.values()
    assert {question: said(ships, question)[0] for question in LEARNT} == LEARNT
    after, again = said(plain, asked), said(ships, asked)
    assert after[:2] == before[:2], "an adapter leaves no trace in a state that was read without it"
    assert (again[0], again[2] > 0) == (LEARNT[asked], True), "nor the other way round, and both are kept"
    ships.close()


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.timeout(600)
def test_a_training_starts_from_an_exported_adapter(run: Path, small_base: Base, tmp_path: Path) -> None:
    """The rows of queries and keys, which GGUF orders differently, come back too."""
    import torch

    from sqljury.train import adapter, start

    file = export(run, tmp_path / "ships.gguf", "f32")
    trained, started = copy.deepcopy(small_base.model), copy.deepcopy(small_base.model)
    adapter.load(trained, run / "adapter")
    updates = adapter.attach(started, MODULES["all-linear"], 12, 32)
    start.start(updates, started.config, file)
    ids = torch.arange(20, 60)[None]
    with torch.inference_mode():
        plain, wanted, got = (model(ids).logits for model in (small_base.model, trained, started))
    assert float((wanted - plain).abs().max()) > 0.5
    assert float((wanted - got).abs().max()) < 1e-2


def test_an_adapter_of_lower_rank_is_the_nearest_one() -> None:
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(3)
    left, right = (np.linalg.qr(rng.normal(size=(size, 4)))[0] for size in (12, 9))
    a, b = (np.diag([4.0, 2.0, 1.0, 0.5]) @ right.T).astype("float32"), left.astype("float32")
    lower, share = writing.lowered({"x.lora_A.weight": a, "x.lora_B.weight": b}, 2)
    assert share == pytest.approx((16 + 4) / (16 + 4 + 1 + 0.25))
    assert (lower["x.lora_A.weight"].shape, lower["x.lora_B.weight"].shape) == ((2, 9), (12, 2))
    difference = b @ a - lower["x.lora_B.weight"] @ lower["x.lora_A.weight"]
    assert np.linalg.norm(difference) == pytest.approx((1 + 0.25) ** 0.5, abs=1e-5)


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.timeout(600)
def test_an_adapter_that_fails_its_check_takes_no_place(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "adapters" / "ships.gguf"
    command = ["train", "export", str(run), "--out", str(file), "--check", "2"]
    assert _guarded([*command, "--precision", "f32"]) == 0
    said = capsys.readouterr()
    assert said.out == f"{file}\n"
    assert "equal answers 2 of 2, 0 differ where the trained model was sure" in said.err
    before = file.read_bytes()
    monkeypatch.setattr(compare, "TOLERANCE", -1.0)
    assert _guarded(command) == 5
    assert "was not kept" in capsys.readouterr().err
    assert file.read_bytes() == before
    assert [left.name for left in file.parent.iterdir()] == [file.name]
    assert _guarded([*command, "--check", "0"]) == 0
    assert len(file.read_bytes()) < len(before)
    half = len(file.read_bytes())
    capsys.readouterr()
    assert _guarded([*command, "--check", "0", "--rank", "4"]) == 0
    assert "of rank 4 instead of 8, the adapter keeps" in capsys.readouterr().err
    assert len(file.read_bytes()) < 0.6 * half
    assert _guarded([*command, "--precision", "f32", "--scale", "0.5"]) == 5, "no tolerance, whatever the scale"
    monkeypatch.undo()
    assert _guarded([*command, "--precision", "f32", "--scale", "0.5"]) == 0
    assert "0 differ where the trained model was sure" in capsys.readouterr().err


@pytest.mark.train
@pytest.mark.weights
def test_only_the_answer_is_learnt(small_base: Base, data: Path) -> None:
    from sqljury.train.examples import encode, read

    tokenizer = small_base.tokenizer
    one = read(data)[0]
    ids, mask, _ = encode(tokenizer, one)
    learnt = [token for token, own in zip(ids, mask, strict=True) if own]
    assert tokenizer.decode(learnt) == f"{one.answer}<|im_end|>"
    assert mask == sorted(mask), "the answer is the end"
    assert tokenizer.decode(ids[: mask.index(1)]).endswith("<|im_start|>assistant\n")


def test_a_missing_extra_is_named(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # cannot be imported, whether it is installed or not
    with pytest.raises(MissingExtraError, match=r"torch.*pip install 'sqljury\[train\]'"):
        lora.train(data, tmp_path / "run", SETTINGS, print)


def test_a_folder_without_weights_is_no_base(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"no config\.json"):
        gguf_base.resolve(str(tmp_path))


def test_a_folder_without_a_training_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not hold a training"):
        read_settings(tmp_path)


def test_an_export_overwrites_nothing_but_an_adapter(tmp_path: Path) -> None:
    weights, other, adapter = (tmp_path / name for name in ("weights.gguf", "notes.txt", "adapter.gguf"))
    head = b"GGUF\3\0\0\0" + bytes(16) + struct.pack("<Q", 12) + b"general.type" + struct.pack("<IQ", 8, 7)
    weights.write_bytes(head[:-8] + struct.pack("<Q", 5) + b"model")
    other.write_text("mine")
    adapter.write_bytes(head + b"adapter")
    for file in (weights, other, tmp_path):
        with pytest.raises(InputError, match="exists and is not an adapter"):
            refuse_foreign(file)
    refuse_foreign(adapter)
    refuse_foreign(tmp_path / "new.gguf")


@pytest.mark.train
@pytest.mark.parametrize("base", ["a folder", "a file"])
@pytest.mark.parametrize("served", [False, True])
def test_an_export_says_which_weights_it_is_for(tmp_path: Path, base: str, served: bool) -> None:
    import numpy as np
    from transformers import LlamaConfig

    weights = tmp_path / "served.gguf"
    weights.write_bytes(b"GGUF, but not really")
    trained = tmp_path / "base"
    if base == "a folder":
        trained.mkdir()
        (trained / "config.json").touch()
    else:
        trained = trained.with_suffix(".gguf")
        trained.write_bytes(b"GGUF, other ones")
    settings = {"part": "generator", "base_model": str(trained), "base_sha256": gguf_base.digest(str(trained))}
    entry = writing._served_entry(settings, str(weights) if served else "")
    wanted = gguf_base.digest(str(weights)) if served else settings["base_sha256"]
    assert entry == ({} if base == "a folder" and not served else {adapters.SERVED: wanted})

    file = tmp_path / "adapter.gguf"
    matrices = {"blk.0.attn_q.weight.lora_a": np.zeros((4, 32), dtype="float32")}
    writing._write(file, matrices, LlamaConfig(), 8.0, {**entry, "sqljury.part": "generator"}, "f16")
    refuse_foreign(file)  # is known as an adapter
    assert adapters.find(str(file), MODEL if not entry else "").file == file
    if entry:
        with pytest.raises(WeightsError, match=f"SHA-256 {wanted}"):
            adapters.find(str(file), MODEL)

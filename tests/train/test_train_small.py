"""Trained, exported, loaded: what the smallest model learnt by heart comes back through llama.cpp."""

from __future__ import annotations

import copy
import json
import shutil
import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury.cli import _guarded
from sqljury.errors import DatasetError, InputError, MissingExtraError, WeightsError
from sqljury.llm import adapters
from sqljury.llm.base import Message, Sampling
from sqljury.llm.local import LocalModel
from sqljury.train import compare, gguf_base, lora
from sqljury.train import export as writing
from sqljury.train.examples import Encoded
from sqljury.train.export import export, refuse_foreign
from sqljury.train.gguf_base import Base

MODEL = "smollm2-135m"
SETTINGS = lora.Settings(
    "generator",
    MODEL,
    lora_r=8,
    lora_alpha=32,
    lora_dropout=0.0,
    gradient_accumulation_steps=1,
    max_steps=12,
    learning_rate=1e-3,
    held_out=0.0,
    eval_steps=4,
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
def read_once(small_base: Base) -> Iterator[None]:
    """Trainings and checks of this module get copies of weights that were read before."""
    load = gguf_base.load

    def copied(name: str, **options: Any) -> Base:
        gguf_base.require_libraries()
        return load(name, **options) if name != MODEL or any(options.values()) else copy.deepcopy(small_base)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf_base, "load", copied)
        yield


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


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.timeout(600)
def test_a_training_that_was_killed_goes_on_to_the_same_end(run: Path, data: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    killed = tmp_path / "killed"
    shutil.copytree(run, killed)
    for gone in ("card.json", "adapter", "checkpoints/checkpoint-12"):
        target = killed / gone
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    (killed / "checkpoints" / "checkpoint-11").mkdir()  # cut off while it was written
    assert lora.last_checkpoint(killed / lora.CHECKPOINTS) == killed / "checkpoints" / "checkpoint-8"
    told: list[str] = []
    lora.train(data, killed, SETTINGS, told.append)
    assert "continuing from checkpoint-8" in told
    one, other = (load_file(place / lora.ADAPTER / "adapter_model.safetensors") for place in (run, killed))
    assert one.keys() == other.keys()
    assert all((one[key] == other[key]).all() for key in one)
    with pytest.raises(DatasetError, match=r"other settings \(learning_rate differ\)"):
        lora.train(data, killed, replace(SETTINGS, learning_rate=1.0), told.append)


@pytest.mark.train
@pytest.mark.weights
def test_only_the_answer_is_learnt(small_base: Base, data: Path) -> None:
    from sqljury.train.examples import encode, read

    tokenizer = small_base.tokenizer
    one = read(data)[0]
    ids, mask = encode(tokenizer, one)
    learnt = [token for token, own in zip(ids, mask, strict=True) if own]
    assert tokenizer.decode(learnt) == f"{one.answer}<|im_end|>"
    assert mask == sorted(mask), "the answer is the end"
    assert tokenizer.decode(ids[: mask.index(1)]).endswith("<|im_start|>assistant\n")


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.timeout(600)
def test_packed_examples_do_not_see_each_other(small_base: Base, data: Path, tmp_path: Path) -> None:
    import torch

    from sqljury.train.examples import encode, read

    base = copy.deepcopy(small_base)
    encoded = [encode(base.tokenizer, example) for example in read(data)]
    alone = 0.0
    with torch.no_grad():
        for ids, mask in encoded:
            labels = [token if own else lora.IGNORED for token, own in zip(ids, mask, strict=True)]
            alone += base.model(torch.tensor([ids]), labels=torch.tensor([labels])).loss.item() * sum(mask)
    trainer = lora._trainer(base, encoded, [], tmp_path, replace(SETTINGS, packing=True, max_length=256), print)
    [batch] = trainer.get_train_dataloader()
    assert batch["input_ids"].shape == (1, sum(len(one.ids) for one in encoded))
    with torch.no_grad():
        packed = trainer.model(**batch).loss.item()
    assert packed == pytest.approx(alone / sum(sum(one.mask) for one in encoded), rel=1e-4)


def test_a_missing_extra_is_named(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # cannot be imported, whether it is installed or not
    with pytest.raises(MissingExtraError, match=r"torch.*pip install 'sqljury\[train\]'"):
        lora.train(data, tmp_path / "run", SETTINGS, print)


def test_a_folder_without_weights_is_no_base(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"no config\.json"):
        gguf_base.resolve(str(tmp_path))


def test_a_folder_without_a_training_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not hold a training"):
        lora.read_settings(tmp_path)


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


def test_packed_trainings_are_evaluated_as_often() -> None:
    """Packing makes fewer steps; counted in examples, no evaluation and no checkpoint would come before the end."""
    learning = [Encoded([1] * 100, [1] * 100)] * 2400
    alone = lora.Settings("generator", MODEL, epochs=2.0, max_length=1000)
    assert lora._total_steps(learning, alone) == 400
    assert lora._total_steps(learning, replace(alone, packing=True)) == 40
    assert lora._total_steps(learning, replace(alone, packing=True, max_steps=7)) == 7

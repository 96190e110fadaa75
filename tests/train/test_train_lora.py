"""A whole training on a model of a few random numbers: its folder, its log, where it stops and where it continues."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqljury.errors import DatasetError, InputError
from sqljury.resources import write_whole
from sqljury.train import card, lora
from sqljury.train.settings import PRESETS, Settings

if TYPE_CHECKING:
    from sqljury.train.loop import Loop

WORDS = [f"w{number}" for number in range(30)]
TEMPLATE = (
    "{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}{% if add_generation_prompt %}w1 {% endif %}"
)
SETTINGS = Settings(
    "generator",
    "random",
    lora_r=4,
    lora_alpha=8,
    batch_size=4,
    max_steps=10,
    learning_rate=1e-2,
    held_out=0.3,
    eval_steps=4,
    max_length=64,
    patience=0,
)


@pytest.fixture
def tiny_base(word_model: Callable[..., None]) -> None:
    """A model of a few random numbers in the place of weights."""
    word_model([*WORDS, "system", "user", "end", "?"], TEMPLATE)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Five databases with four questions each; an answer repeats two words of the question."""
    file = tmp_path / "set.jsonl"
    lines = []
    for database in range(5):
        schema = " ".join(WORDS[(database * 7 + at) % 30] for at in range(20))
        for number in range(4):
            asked = [WORDS[(number * 5 + database) % 28 + 2], WORDS[(number * 11 + 3) % 28 + 2]]
            messages = [{"role": "system", "content": schema}, {"role": "user", "content": " ".join(asked)}]
            lines.append({"messages": messages, "answer": " ".join(asked[::-1]), "meta": {"db_id": f"db{database}"}})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def adapter(out: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(out / "adapter" / "adapter_model.safetensors"))


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.train
def test_a_training_that_was_killed_goes_on_to_the_same_end(
    tiny_base: None, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqljury.train.loop import Loop

    settings = replace(SETTINGS, lora_dropout=0.1, checkpoint_minutes=0.0, pull=0.1)
    notes: list[str] = []
    lora.train(data, tmp_path / "whole", settings, notes.append)
    log = [json.loads(line) for line in (tmp_path / "whole" / "log.jsonl").read_text().splitlines()]
    assert [entry["step"] for entry in log if "eval_loss" in entry] == [0, 4, 8, 10]
    assert [entry["step"] for entry in log if "loss" in entry] == list(range(1, 11))
    assert log[-1]["peak_memory_gb"] > 0
    facts = json.loads((tmp_path / "whole" / card.JSON).read_text())
    assert facts["log"] == log
    assert facts["counts"] | {"examples": 12, "held_out": 8, "too_long": 0} == facts["counts"]
    assert facts["results"]["base_eval_loss"] == log[0]["eval_loss"] > facts["results"]["eval_loss"]
    assert not (tmp_path / "whole" / "checkpoint.pt").exists()

    killed, advance = tmp_path / "killed", Loop._advance

    def until_the_seventh(loop: Loop) -> None:
        if loop.progress.step == 6:
            raise Killed
        advance(loop)

    monkeypatch.setattr(Loop, "_advance", until_the_seventh)
    with pytest.raises(Killed):
        lora.train(data, killed, settings, notes.append)
    monkeypatch.setattr(Loop, "_advance", advance)
    with (killed / "log.jsonl").open("a") as stream:
        stream.write('{"step": 7')  # cut off while it was written
    with pytest.raises(DatasetError, match=r"other settings \(learning_rate differ\)"):
        lora.train(data, killed, replace(settings, learning_rate=1.0), notes.append)
    lora.train(data, killed, replace(settings, minutes=600.0), notes.append)
    assert "continuing from step 6 of 10" in notes
    one, other = adapter(tmp_path / "whole"), adapter(killed)
    assert one.keys() == other.keys()
    assert all((one[key] == other[key]).all() for key in one)
    again = [json.loads(line) for line in (killed / "log.jsonl").read_text().splitlines()]
    assert [entry.get("loss") for entry in again] == [entry.get("loss") for entry in log]
    lora.train(data, killed, settings, notes.append)
    assert "has finished its training" in notes[-1]


@pytest.mark.train
def test_ctrl_c_leaves_a_checkpoint_that_other_memory_can_continue(
    tiny_base: None, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from sqljury.train import memory
    from sqljury.train.loop import Loop

    notes: list[str] = []
    lora.train(data, tmp_path / "whole", SETTINGS, notes.append)
    pressed, advance, evaluate = tmp_path / "pressed", Loop._advance, Loop._evaluate

    def until_the_evaluation(loop: Loop) -> None:
        if loop.progress.step == 8:
            raise KeyboardInterrupt
        evaluate(loop)

    monkeypatch.setattr(Loop, "_evaluate", until_the_evaluation)
    with pytest.raises(KeyboardInterrupt):
        lora.train(data, pressed, SETTINGS, notes.append)
    monkeypatch.setattr(Loop, "_evaluate", evaluate)
    assert notes[-1] == "the same command continues from step 8 of 10"
    # Sequences of the machine before, which another one would not make, are kept.
    checkpoint = torch.load(pressed / "checkpoint.pt", weights_only=True)
    lengths, plan = [], memory.plan
    monkeypatch.setattr(memory, "plan", lambda *of: lengths.append(of[-1]) or plan(*of))
    lora.train(data, pressed, replace(SETTINGS, memory_gb=5.0), notes.append)
    assert lengths == [checkpoint["length"]]
    assert lengths[0] > 0
    one, other = adapter(tmp_path / "whole"), adapter(pressed)
    assert all((one[key] == other[key]).all() for key in one)
    log = [json.loads(line) for line in (pressed / "log.jsonl").read_text().splitlines()]
    assert [entry["step"] for entry in log if "eval_loss" in entry] == [0, 4, 8, 10]

    half = tmp_path / "half"

    def in_the_middle_of_an_update(loop: Loop) -> None:
        loop._optimiser.step = lambda: (_ for _ in ()).throw(KeyboardInterrupt)
        advance(loop)

    monkeypatch.setattr(Loop, "_advance", in_the_middle_of_an_update)
    with pytest.raises(KeyboardInterrupt):
        lora.train(data, half, SETTINGS, notes.append)
    assert not (half / "checkpoint.pt").exists()


@pytest.mark.train
def test_what_cannot_be_written_and_what_learned_nothing_are_said(
    tiny_base: None, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    lora.train(data, tmp_path / "idle", replace(SETTINGS, learning_rate=0.0), notes.append)
    assert any("what is kept has learned nothing" in note for note in notes)
    assert json.loads((tmp_path / "idle" / card.JSON).read_text())["results"]["kept_step"] == 0

    from sqljury.train import loop

    def full(file: Path, content: object) -> None:
        if file.name == "checkpoint.pt":
            raise OSError(28, "No space left on device")
        write_whole(file, content)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "write_whole", full)
    with pytest.raises(DatasetError, match=r"checkpoint\.pt: cannot be written \(No space.*from its last"):
        lora.train(data, tmp_path / "full", replace(SETTINGS, checkpoint_minutes=0.0), notes.append)


@pytest.mark.train
def test_the_best_adapter_is_kept_and_a_training_stops_early(tiny_base: None, data: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, learning_rate=0.5, max_steps=40, eval_steps=2, patience=2, warmup_ratio=0.0)
    notes: list[str] = []
    lora.train(data, tmp_path / "out", settings, notes.append)
    assert any("stopping early" in note for note in notes)
    facts = json.loads((tmp_path / "out" / card.JSON).read_text())
    losses = [entry["eval_loss"] for entry in facts["log"] if "eval_loss" in entry]
    assert len(losses) < 20
    assert facts["results"]["eval_loss"] == min(losses) == losses[-3]
    if losses[-3] == losses[0]:
        assert all((matrix == 0).all() for name, matrix in adapter(tmp_path / "out").items() if ".lora_B." in name)


@pytest.mark.train
def test_a_checkpoint_of_something_else_and_too_little_memory_are_refused(
    tiny_base: None, data: Path, tmp_path: Path
) -> None:
    settings = SETTINGS
    out = tmp_path / "out"
    out.mkdir()
    (out / "checkpoint.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(DatasetError, match=r"checkpoint\.pt cannot be continued"):
        lora.train(data, out, settings, print)
    with pytest.raises(DatasetError, match="every example is too long; raise --max-length or --memory"):
        lora.train(data, tmp_path / "small", replace(settings, memory_gb=0.5), print)
    other = tmp_path / "other"
    (other / "adapter").mkdir(parents=True)
    with pytest.raises(DatasetError, match="holds something else"):
        lora.train(data, other, settings, print)


def products(out: Path) -> dict[str, Any]:
    """What the adapter of a training adds to each matrix."""
    matrices, config = adapter(out), json.loads((out / "adapter" / "adapter_config.json").read_text())
    halves = {key: key.replace("lora_A", "lora_B") for key in matrices if "lora_A" in key}
    return {key: config["lora_alpha"] / config["r"] * matrices[b] @ matrices[key] for key, b in halves.items()}


@pytest.mark.train
def test_a_training_starts_from_an_adapter_of_any_lower_rank(tiny_base: None, data: Path, tmp_path: Path) -> None:
    import torch

    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    lora.train(data, first, SETTINGS, lambda _: None)
    start = {"start": str(first), "max_steps": 1, "held_out": 0.0}
    lora.train(data, second, replace(SETTINGS, **start, lora_r=6, lora_alpha=3, learning_rate=0.0), lambda _: None)
    before, after = products(first), products(second)
    assert len(before) == 14
    assert all(torch.allclose(before[key], after[key], atol=1e-6) for key in before)
    assert max(float(matrix.abs().max()) for matrix in after.values()) > 0.01
    lora.train(data, third, replace(SETTINGS, **start), lambda _: None)
    assert not all(torch.allclose(before[key], matrix, atol=1e-6) for key, matrix in products(third).items())
    with pytest.raises(DatasetError, match="has rank 4; give --lora-r 4 or more"):
        lora.train(data, tmp_path / "fourth", replace(SETTINGS, **start, lora_r=2), lambda _: None)
    (first / "adapter" / "adapter_model.safetensors").write_bytes(b"changed")
    with pytest.raises(DatasetError, match="start_sha256 differ"):
        lora.train(data, second, replace(SETTINGS, **start, lora_r=6, lora_alpha=3, learning_rate=0.0), print)
    attention = replace(SETTINGS, start=str(third), target_modules="attention", max_steps=1)
    with pytest.raises(DatasetError, match="which this training does not adapt"):
        lora.train(data, tmp_path / "fifth", attention, lambda _: None)


@pytest.mark.train
def test_epochs_and_steps() -> None:
    from sqljury.train.examples import Encoded
    from sqljury.train.loop import duration, schedule
    from sqljury.train.tree import Forest

    known = [Encoded([index, 1, 2], [0, 0, 1]) for index in range(24)]
    trees = Forest(known, 4, 0).sequences(100)
    settings = replace(SETTINGS, max_steps=-1, epochs=2.5)
    steps = schedule(trees, settings)
    assert len(steps) == 15
    assert steps[:6] != steps[6:12]
    assert all(sorted(chain(*epoch)) == list(range(6)) for epoch in (steps[:6], steps[6:12]))
    assert len(schedule(trees, replace(settings, max_steps=7))) == 7
    assert len(schedule(trees, replace(settings, least_steps=20))) == 21, "whole passes more, until there are as many"
    assert len(schedule(trees, replace(settings, max_steps=7, least_steps=20))) == 7
    assert (duration(59), duration(3600 * 26 + 61)) == ("1 min", "26 h 02 min")


def test_sizes_and_presets() -> None:
    from sqljury.cli.training import gigabytes

    assert [gigabytes(size) for size in ("12GB", "12", "1.5 gb", "800MB", "")] == [12, 12, 1.5, 0.8, 0]
    for wrong in ("12TB", "much", "0", "-1GB"):
        with pytest.raises(InputError, match="is not a size of memory"):
            gigabytes(wrong)
    for preset in PRESETS.values():
        replace(SETTINGS, **preset)

"""``sqljury train PART``: which settings its options give."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from sqljury.cli import _guarded
from sqljury.llm import models
from sqljury.train import card, lora
from sqljury.train.settings import Settings


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Path, Settings]]:
    """What the trainer is called with."""
    calls: list[tuple[Path, Path, Settings]] = []
    monkeypatch.setattr(lora, "train", lambda data, out, settings, note: calls.append((data, out, settings)))
    monkeypatch.setattr(card, "has_learned", lambda out: out.name == "run")
    return calls


def test_options_and_presets(given: list[tuple[Path, Path, Settings]], capsys: pytest.CaptureFixture[str]) -> None:
    command = ["set.jsonl", "--out", "run"]
    assert _guarded(["train", "generator", *command]) == 0
    assert given.pop() == (Path("set.jsonl"), Path("run"), Settings("generator", models.DEFAULT))
    assert "sqljury train export run --name generator" in capsys.readouterr().err

    assert _guarded(["train", "pairwise", *command, "--preset", "chase", "--epochs", "1", "--memory", "8GB"]) == 0
    chase = Settings("pairwise", models.DEFAULT, lora_r=16, max_examples=3800, epochs=1.0, memory_gb=8.0)
    assert given.pop()[2] == chase
    assert _guarded(["train", "critic", *command, "--preset", "msc", "--minutes", "30", "--pull", "0.1"]) == 0
    msc = {"lora_r": 32, "lora_alpha": 128, "lora_dropout": 0.05, "batch_size": 12, "minutes": 30.0, "pull": 0.1}
    assert asdict(given.pop()[2]).items() >= msc.items()

    assert _guarded(["train", "linker", *command, "--memory", "a lot"]) == 2
    assert "'a lot' is not a size of memory" in capsys.readouterr().err
    assert not given


def test_nothing_that_was_learned_is_nothing_to_export(
    given: list[tuple[Path, Path, Settings]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _guarded(["train", "generator", "set.jsonl", "--out", "idle"]) == 0
    noted = capsys.readouterr().err
    assert "the card is in idle; nothing was learned" in noted
    assert "train export" not in noted


def test_a_card_says_whether_anything_was_learned(tmp_path: Path) -> None:
    for text, learned in (
        ('{"results": {"kept_step": 0}}', False),
        ('{"results": {"kept_step": 5}}', True),
        ('{"results": {}}', True),  # without held-out examples the last step is kept
        ("[]", False),
    ):
        (tmp_path / card.JSON).write_text(text)
        assert card.has_learned(tmp_path) is learned
    assert not card.has_learned(tmp_path / "none")

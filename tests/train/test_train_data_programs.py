"""The program selector's set, with programs that run in the sandbox."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury import FakeModel
from sqljury.cli import _guarded
from sqljury.recipes import load
from sqljury.sandbox import Warm
from sqljury.train.data_programs import ProgramWriter, selector_examples
from sqljury.train.replay import replay_all

RIGHT = "```python\nresult = pet[pet['kind'] == 'dog'][['id']].count()\n```"
WRONG = RIGHT.replace("== 'dog'", "!= 'dog'")
BROKEN = RIGHT.replace("'kind'", "'sort'")


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not sys.platform.startswith("linux"):
        pytest.skip("the sandbox isolates on Linux only")
    held = Warm()
    yield held
    held.close()


def test_a_program_that_returns_what_gold_returns_against_one_that_does_not(train_run: Path, warm: Warm) -> None:
    question = next(replay_all([train_run], None, []))
    assert question.gold == "SELECT count(*) FROM pet WHERE kind = 'dog'"
    model = FakeModel([RIGHT, [RIGHT, WRONG, WRONG, BROKEN], *[BROKEN] * 20])
    writer = ProgramWriter(model, load("default"), both_orders=True, sandbox=warm)
    items = list(selector_examples([question], writer))
    assert {item.answer for item in items} == {"A", "B"}
    assert len(items) == 2
    for item in items:
        shown = item.messages[-1].content
        assert "== 'dog'" in shown.partition(f"Program {item.answer}:")[2].partition("Result of")[0]
        assert "How many pets are a dog?" in shown
        assert item.meta["kind"] == "pairwise"
    none = ProgramWriter(FakeModel([RIGHT, [RIGHT] * 4]), load("default"), sandbox=warm)
    assert not list(selector_examples([question], none))  # nothing wrong, nothing to choose


def test_programs_need_a_model(train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "set.jsonl")
    assert _guarded(["train", "data", "selector", "--run", str(train_run), "--out", out]) == 2
    assert "name the model that writes them with --model" in capsys.readouterr().err

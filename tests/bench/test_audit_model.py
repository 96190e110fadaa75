"""Gold queries checked by tests: typed, resumable, and joined with what program checks found."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline, recipes
from sqljury.api import check_with
from sqljury.audit import model as audit_model
from sqljury.audit import run as audit
from sqljury.audit.difference import difference
from sqljury.datasets import spider
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.errors import CancelledError, DatasetError, ModelUnavailableError
from sqljury.llm.fake import Call
from sqljury.stages.check import with_tests

SETTLED = {**audit.settings({"name": "spider", "split": "dev"}, 5.0), "model": "fake"}
OLDER = "SELECT name FROM cat WHERE age > 8"


def says(call: Call) -> str:
    """Writes what gold is, but for the old cats, whom it expects to be older."""
    if call.messages[0].content.startswith("You write SQLite"):
        return OLDER if "old cats" in call.prompt else "SELECT count(*) FROM cat"
    rows = [line for line in call.messages[1].content.splitlines() if line[:1].isdigit()]
    if "old cats" in call.prompt:
        old = [row.split(", ")[1] for row in rows if int(row.split(", ")[-1]) > 8]
        return "\n".join(old) or "no rows"
    return f"{len(rows)}"


def checking(model: FakeModel) -> Any:
    pipeline = Pipeline.from_recipe("fast", model)
    pipeline = replace(pipeline, recipe=with_tests(recipes.load("fast"), ""))

    def check(example: Example, db: Database, stop: threading.Event) -> dict[str, Any]:
        return check_with(pipeline, example.question, example.gold_sql, db, cancel=stop).to_dict()

    return check


def test_a_gold_query_that_tests_fail_is_a_finding_with_its_correction(data: Path, tmp_path: Path) -> None:
    examples = spider.load(data, "dev")[:2]
    lines = audit_model.run(examples, tmp_path / "out.jsonl", SETTLED, checking(FakeModel(says)))
    assert [line["checked"]["verdict"] for line in lines] == ["right", "wrong"]
    assert audit.findings_of(lines[0]) == []
    [finding] = audit.findings_of(lines[1])
    assert (finding.type, finding.check, finding.clause) == ("wrong value", "test", OLDER)
    assert lines[1]["checked"]["tests"]


def test_a_broken_off_audit_goes_on(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev")[:2], tmp_path / "out.jsonl"

    def stops(call: Call) -> str | Exception:
        return ModelUnavailableError("gone") if "old cats" in call.prompt else says(call)

    with pytest.raises(ModelUnavailableError):
        audit_model.run(examples, out, SETTLED, checking(FakeModel(stops)))
    model = FakeModel(says)
    lines = audit_model.run(examples, out, SETTLED, checking(model))
    assert [line["id"] for line in lines] == [example.id for example in examples]
    assert not any("How many cats" in call.messages[1].content for call in model.calls)
    with pytest.raises(DatasetError, match="another audit"):
        audit_model.run(examples, out, {**SETTLED, "model": "other"}, checking(model))


def test_questions_are_under_way_together_and_come_in_their_order(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev")[:2], tmp_path / "out.jsonl"
    check, together, second_is_done = checking(FakeModel(says)), threading.Barrier(2), threading.Event()

    def waits(example: Example, db: Database, stop: threading.Event) -> dict[str, Any]:
        together.wait(60)  # neither goes on alone
        if example is examples[0]:
            assert second_is_done.wait(60)
        return check(example, db, stop)  # type: ignore[no-any-return]

    lines = audit_model.run(examples, out, SETTLED, waits, on_line=lambda _: second_is_done.set(), threads=2)
    alone = audit_model.run(examples, tmp_path / "alone.jsonl", SETTLED, checking(FakeModel(says)))
    assert [line["id"] for line in lines] == [example.id for example in examples]
    assert [line["findings"] for line in lines] == [line["findings"] for line in alone]
    written = [json.loads(line)["id"] for line in out.read_text().splitlines()[1:]]
    assert written == [examples[1].id, examples[0].id]
    assert audit_model.run(examples, out, SETTLED, lambda *_: pytest.fail("known"), threads=2) == lines


def test_what_was_done_before_ctrl_c_is_kept_and_nothing_half_way(data: Path, tmp_path: Path) -> None:
    examples, out, cancel = spider.load(data, "dev"), tmp_path / "out.jsonl", threading.Event()
    check, done = checking(FakeModel(says)), threading.Event()

    def stopped(example: Example, db: Database, stop: threading.Event) -> dict[str, Any]:
        if example is examples[0]:
            return check(example, db, stop)  # type: ignore[no-any-return]
        assert done.wait(60)
        cancel.set()
        assert stop.is_set()
        return check(examples[0], db, threading.Event())  # type: ignore[no-any-return]

    with pytest.raises(CancelledError, match="the same command goes on"):
        audit_model.run(examples, out, SETTLED, stopped, on_line=lambda _: done.set(), cancel=cancel, threads=2)
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()[1:]] == [examples[0].id]
    lines = audit_model.run(examples[:2], out, SETTLED, check, threads=2)
    assert [line["checked"]["verdict"] for line in lines] == ["right", "wrong"]


def test_after_an_error_no_question_is_begun(data: Path, tmp_path: Path) -> None:
    examples, out, broken = spider.load(data, "dev"), tmp_path / "out.jsonl", threading.Event()
    check, begun = checking(FakeModel(says)), []

    def breaks(example: Example, db: Database, stop: threading.Event) -> dict[str, Any]:
        begun.append(example.id)
        if example is examples[1]:
            broken.set()
            raise ModelUnavailableError("gone")
        assert broken.wait(60)
        return check(example, db, stop)  # type: ignore[no-any-return]

    with pytest.raises(ModelUnavailableError, match="gone"):
        audit_model.run(examples, out, SETTLED, breaks, threads=2)
    assert len(begun) == 2
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()[1:]] == [examples[0].id]


@pytest.mark.parametrize(
    ("gold", "better", "kind"),
    [
        ("SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = 'X'", "wrong value"),
        ("SELECT a FROM t", "SELECT DISTINCT a FROM t", "deduplication"),
        ("SELECT count(a) FROM t", "SELECT count(DISTINCT a) FROM t", "deduplication"),
        ("SELECT a FROM t ORDER BY b", "SELECT a FROM t ORDER BY CAST(b AS REAL)", "data type"),
        ("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, count(*) FROM t GROUP BY b", "aggregation"),
        ("SELECT sum(a) FROM t", "SELECT avg(a) FROM t", "aggregation"),
        ("SELECT a FROM t", "SELECT a, b FROM t", "wrong column"),
        ("SELECT a FROM t JOIN s ON t.x = s.x", "SELECT a FROM t LEFT JOIN s ON t.x = s.x", "semantic logic"),
        ("SELEC", "x(", "semantic logic"),
    ],
)
def test_the_type_is_the_narrowest_that_says_it_all(gold: str, better: str, kind: str) -> None:
    assert difference(gold, better) == kind

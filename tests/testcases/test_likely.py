"""Results weighed by how much the question raises their probability."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from math import exp
from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.errors import ContextLengthError
from sqljury.llm.base import Completion, Token
from sqljury.llm.fake import Call, FakeModel
from sqljury.testcases import likely
from sqljury.testcases.again import tried
from sqljury.types import Column, Cost, Limits, Question, Schema, Table, TestCase, Tried
from sqljury.work import TestsPart, Work

PET = Table("pet", (Column("name", "TEXT"), Column("kind", "TEXT"), Column("age", "REAL")))
CASE = TestCase(Schema("s", "sqlite", (PET,)), ((("Rex", "dog", 3.0), ("Tom", "cat", 1.0)),))
DOGS, CATS, ALL, NONE = (
    "SELECT name FROM pet WHERE kind = 'dog'",
    "SELECT name FROM pet WHERE kind = 'cat'",
    "SELECT name FROM pet",
    "SELECT name FROM pet WHERE kind = 'cow'",
)
QUESTION = Question("Which dogs are there?")
LIKELY = TestsPart(kind="suite", expects="likely")
ASKED = {'"Rex"': -4.0, '"Tom"': -6.0, '"Rex"\n"Tom"': -9.0, "no rows": -2.0}
"""What the model makes of each result after the question: the shortest is the likeliest."""
UNASKED = {'"Rex"': -6.0, '"Tom"': -6.0, '"Rex"\n"Tom"': -8.0, "no rows": -1.0}


def weighing(call: Call) -> Completion:
    text = call.sampling.literal or ""
    known = UNASKED if likely.UNASKED.text in call.prompt else ASKED
    return Completion(text, "stop", (Token(text, known[text.removesuffix("\n\n")]),))


def weighed(
    tmp_path: Path, queries: list[str], script: object = weighing, case: TestCase = CASE
) -> tuple[Tried, Tried, Cost, FakeModel]:
    file = tmp_path / "any.db"
    sqlite3.connect(file).execute("CREATE TABLE IF NOT EXISTS t (a)").connection.close()
    model, test = FakeModel(script), tried(case, queries)  # type: ignore[arg-type]
    with connect(file) as db:
        found, cost = likely.weighed(test, QUESTION, LIKELY, Work(db, model, Limits(), 1))
    return test, found, cost, model


def test_the_result_is_expected_that_the_question_raises_most(tmp_path: Path) -> None:
    _, found, cost, model = weighed(tmp_path, [ALL, DOGS, CATS, NONE])
    powers = [exp(-1.0), exp(2.0), exp(0.0)]
    assert found.chances[:3] == pytest.approx([power / sum(powers) for power in powers])
    assert found.chances[3] == pytest.approx(1 / 3), "nothing found is not weighed"
    assert found.case.expected == found.results[1]
    assert found.case.sureness == pytest.approx(found.chances[1])
    assert (found.passed, found.by) == ((False, True, False, False), "model")
    assert (cost.calls, len(model.calls)) == (6, 6)
    assert {call.sampling.literal for call in model.calls} == {f"{text}\n\n" for text in ASKED if text != "no rows"}


def test_no_query_is_shown(tmp_path: Path) -> None:
    *_, model = weighed(tmp_path, [ALL, DOGS])
    assert all("SELECT" not in call.messages[-1].content for call in model.calls)
    assert sum(QUESTION.text in call.messages[-1].content for call in model.calls) == 2


def test_equal_results_share_a_chance_and_failures_have_an_even_one(tmp_path: Path) -> None:
    _, found, cost, _ = weighed(tmp_path, [DOGS, ALL, f"{DOGS} AND age > 2", "SELECT cow FROM pet"])
    assert found.chances[0] == found.chances[2]
    assert found.chances[3] == 0.5
    assert found.passed == (True, False, True, None)
    assert cost.calls == 4


def test_a_long_result_is_not_weighed(tmp_path: Path) -> None:
    many = replace(CASE, rows=(tuple((f"Rex the dog number {at}", "dog", 1.0) for at in range(40)),))
    rows = ["SELECT count(*) FROM pet", "SELECT max(age) FROM pet", "SELECT name FROM pet"]

    def script(call: Call) -> Completion:
        return Completion("x", "stop", (Token("x", -1.0 if call.sampling.literal == "1\n\n" else -2.0),))

    _, found, cost, model = weighed(tmp_path, rows, script, many)
    assert {call.sampling.literal for call in model.calls} == {"40\n\n", "1\n\n"}
    assert found.chances == pytest.approx((0.5, 0.5, 0.5))
    assert cost.calls == 4


@pytest.mark.parametrize("queries", [[DOGS], [DOGS, f"{DOGS} AND age > 2"], [DOGS, "SELECT cow FROM pet"]])
def test_where_there_is_nothing_to_weigh_nobody_is_asked(tmp_path: Path, queries: list[str]) -> None:
    test, found, cost, model = weighed(tmp_path, queries)
    assert (found, cost, model.calls) == (test, Cost(), [])


def test_a_model_that_cannot_be_asked_leaves_the_test_as_it_was(tmp_path: Path) -> None:
    test, found, *_ = weighed(tmp_path, [ALL, DOGS], ContextLengthError("too long"))
    assert found == test

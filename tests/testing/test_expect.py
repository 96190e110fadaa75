"""What a model expects a query to return on a small database: how it is asked, and what becomes of its replies."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqljury.context import Context
from sqljury.db.connect import connect
from sqljury.errors import CancelledError, ContextLengthError, ModelError
from sqljury.llm.base import Completion, LanguageModel
from sqljury.llm.fake import FakeModel
from sqljury.recipes.parts import TestsPart
from sqljury.testing.expect import conversation, with_expected
from sqljury.types import Column, Cost, Limits, Question, Result, Schema, Table, TestCase

TABLE = Table("person", (Column("id", "INTEGER"), Column("name", "TEXT"), Column("age", "TEXT")), ("id",))
CASE = TestCase(Schema("small", "sqlite", (TABLE,)), (((1, "Ann", "30"), (2, "Bo", "41"), (3, "Cy", "30")),))
QUESTION = Question("Who is 30?", evidence="age is in years", id="q1")
PLAIN = TestsPart(kind="suite")
SEVERAL = TestsPart(kind="suite", samples=5, temperature=0.7)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "empty.sqlite"


def asked(file: Path, script: object, part: TestsPart = PLAIN, seed: int = 3) -> tuple[TestCase, Cost, FakeModel]:
    import sqlite3

    sqlite3.connect(file).execute("CREATE TABLE IF NOT EXISTS t (a)").connection.close()
    model = FakeModel(script)  # type: ignore[arg-type]
    with connect(file) as db:
        context = Context(db, model, Limits(), seed)
        found = with_expected(CASE, QUESTION, part, context)
    return found, sum((cost for _, cost in context.budget.steps), Cost()), model


def test_a_reply_becomes_the_expected_result(file: Path) -> None:
    found, cost, model = asked(file, '"Ann", 30\n"Cy", 30')
    assert found.expected == Result(columns=("", ""), rows=(("Ann", "30"), ("Cy", "30")))
    assert found.confidence == 1.0
    assert (found.schema, found.rows) == (CASE.schema, CASE.rows)
    assert cost.calls == len(model.calls) == 1
    assert model.calls[0].sampling.max_tokens <= 512


def test_a_reply_that_is_no_table_leaves_nothing_expected(file: Path) -> None:
    found, cost, _ = asked(file, "I think it is Ann.")
    assert found.expected is None
    assert cost.calls == 1


def test_a_reply_that_was_cut_is_not_read(file: Path) -> None:
    assert asked(file, Completion('"Ann"', finish_reason="length"))[0].expected is None


def test_the_most_frequent_result_wins_in_its_most_frequent_order(file: Path) -> None:
    found, cost, model = asked(file, [['"Ann"\n"Cy"', "no idea at all", '"Bo"', '"Cy"\n"Ann"', '"Cy"\n"Ann"']], SEVERAL)
    assert found.expected == Result(columns=("",), rows=(("Cy",), ("Ann",)))
    assert found.confidence == 3 / 5  # of all that were asked for
    assert cost.calls == 1
    assert model.calls[0].n == 5


def test_greedy_replies_are_all_the_same_so_one_is_asked_for(file: Path) -> None:
    part = TestsPart(kind="suite", samples=5, temperature=0.0)
    found, _, model = asked(file, '"Ann"', part)
    assert model.calls[0].n == 1
    assert found.confidence == 1.0


def test_only_the_last_message_differs_between_questions() -> None:
    first = conversation(CASE, QUESTION, PLAIN)
    second = conversation(CASE, Question("How many?", id="q2"), PLAIN)
    assert [one.role for one in first] == ["system", "user"]
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert first[1].content.count("Who is 30? age is in years") == 2
    assert '1, "Ann", 30' in first[1].content


def test_examples_are_as_many_as_wanted_and_chosen_by_their_seed() -> None:
    def system(shots: int, seed: int = 0) -> str:
        return conversation(CASE, QUESTION, TestsPart(kind="suite", shots=shots), examples=seed)[0].content

    assert [system(shots).count("\nResult:") for shots in (0, 5, 7, 9)] == [0, 5, 7, 9]
    assert system(9).startswith(system(5))
    assert system(5) == system(5)
    assert system(5) != system(5, seed=1)


def test_the_form_is_that_of_the_recipe() -> None:
    system, user = conversation(CASE, QUESTION, TestsPart(kind="suite", form="sqlite"))
    assert "CREATE TABLE" in system.content
    assert "INSERT INTO person VALUES\n  (1, 'Ann', 30)," in user.content


def test_samples_of_other_questions_and_cases_have_other_seeds(file: Path) -> None:
    seeds = {asked(file, '"Ann"', SEVERAL, seed)[2].calls[0].sampling.seed for seed in (3, 3, 4)}
    assert len(seeds) == 2


def test_a_case_too_large_for_the_model_has_nothing_expected(file: Path) -> None:
    found, cost, _ = asked(file, ContextLengthError("too long"))
    assert (found.expected, cost) == (None, Cost())


@pytest.mark.parametrize("error", [ModelError("no such host"), CancelledError("stopped")])
def test_what_is_wrong_with_the_model_is_told(file: Path, error: Exception) -> None:
    with pytest.raises(type(error)):
        asked(file, error)


@pytest.mark.weights
def test_the_embedded_model_answers_with_a_table(file: Path, default_model: LanguageModel) -> None:
    import sqlite3

    sqlite3.connect(file).execute("CREATE TABLE t (a)").connection.close()
    part = TestsPart(kind="suite", shots=2)
    with connect(file) as db:
        found = with_expected(
            CASE, Question("What is the name of the person with id 2?"), part, Context(db, default_model, Limits(), 0)
        )
    assert found.expected is not None  # a table, right or wrong
    assert found.expected.rows

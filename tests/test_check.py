"""Whether a query is right: the verdicts and their reasons, on a real database, with a model told what to say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqljury
from oracle import says
from sqljury import FakeModel, Pipeline, Question, connect, recipes
from sqljury.api import check_with
from sqljury.db.base import Database
from sqljury.errors import InputError, QueryLimitError, QueryRefusedError, RecipeError
from sqljury.stages.check import Checked, with_tests
from sqljury.types import Limits

TALL = "SELECT name FROM person WHERE height > 180"
SHORT = "SELECT name FROM person WHERE height < 180"
TALLEST = "SELECT max(height) FROM person"
RECIPE = """
[[generate]]
samples = 2
temperature = 1.0
[tests]
kind = "suite"
shots = 0
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, height INTEGER);"
            "INSERT INTO person VALUES (1, 'Ann', 185), (2, 'Bo', 170), (3, 'Cy', 190);"
        )
    connection.close()
    return file


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    with connect(path) as opened:
        yield opened


def judge(db: Database, sql: str, model: FakeModel, recipe: str = RECIPE) -> Checked:
    return check_with(Pipeline(recipes.parse("checking", recipe), model), Question("Who is tall?"), sql, db)


def test_a_query_that_passes_where_others_fail_is_right(db: Database) -> None:
    found = judge(db, TALL, says(TALL, SHORT, TALL))
    assert (found.verdict, found.correction) == ("right", None)
    assert found.agreeing == 1
    assert found.passed == found.counted > 0
    assert all(test.queries == (TALL, SHORT) for test in found.tests)
    assert found.why.startswith("it passes")


def test_a_query_that_fails_where_another_passes_is_wrong(db: Database) -> None:
    found = judge(db, SHORT, says(TALL, TALL, TALL))
    assert found.verdict == "wrong"
    assert found.correction is not None
    assert (found.correction.sql, found.correction.result.rows) == (TALL, (("Ann",), ("Cy",)))
    assert (found.agreeing, found.passed) == (0, 0)


def test_a_query_that_fails_alone_is_wrong_once_a_better_one_is_written_for_the_test(db: Database) -> None:
    found = judge(db, SHORT, says(TALL, SHORT, TALLEST, TALL))
    assert found.verdict == "wrong"
    assert found.correction is not None
    assert [fix.by for fix in found.correction.fixes] == ["tests"]
    assert found.tests[0].queries == (SHORT, TALLEST, TALL)
    assert [step for step, _ in found.steps] == ["1 direct", "tests", "refine"]


def test_a_query_that_most_others_agree_with_is_not_called_wrong_for_one_written_to_pass(db: Database) -> None:
    """What is expected is right less often than eight queries that agree; the rewrite only does what it is told."""
    eight = RECIPE.replace("samples = 2", "samples = 8")
    model = says(SHORT, *[TALL] * 6, TALLEST, "SELECT nothing FROM nowhere")
    found = judge(db, TALL, model, eight)
    assert (found.verdict, found.correction, found.agreeing) == ("unclear", None, 6)
    assert found.why == "it fails the test, but most written for the question return the same: the test may be wrong"
    assert "refine" not in dict(found.steps)
    alone = judge(db, TALL, says(SHORT, TALL), RECIPE.replace("samples = 2", "samples = 1"))
    assert (alone.verdict, alone.agreeing) == ("unclear", 1)


def test_a_query_that_fails_is_not_called_wrong_for_want_of_a_better_one(db: Database) -> None:
    found = judge(db, TALL, says(SHORT, TALL, TALL, TALL))
    assert (found.verdict, found.correction, found.agreeing) == ("unclear", None, 2)
    assert "the test may be wrong" in found.why


def test_without_a_word_on_what_is_expected_nothing_is_said(db: Database) -> None:
    found = judge(db, TALL, says("Let me think about it.", TALL, SHORT))
    assert (found.verdict, found.counted) == ("unclear", 0)
    assert "no test" in found.why


def test_two_answers_that_pass_alike_are_not_told_apart(db: Database) -> None:
    """Relaxed equality: a column more is no failure of either."""
    more = "SELECT name, height FROM person WHERE height > 180"
    found = judge(db, TALL, says(TALL, more, more))
    assert found.verdict == "unclear"
    assert "another result" in found.why


def test_a_query_that_cannot_be_run_is_wrong_with_the_recipe_s_answer(db: Database) -> None:
    found = judge(db, "SELECT nme FROM person", says(TALL, TALL, SHORT))
    assert found.verdict == "wrong"
    assert "cannot be run: no such column: nme" in found.why
    assert found.correction is not None
    assert found.tests == ()


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("DELETE FROM person", QueryRefusedError),
        ("SELECT 1; DROP TABLE person", QueryRefusedError),
        ("PRAGMA writable_schema = 1", QueryRefusedError),
        ("SELECT load_extension('x')", QueryRefusedError),
        ("  ", InputError),
    ],
)
def test_what_is_no_plain_read_is_refused_before_the_model_is_asked(db: Database, sql: str, error: type) -> None:
    model = FakeModel([])
    with pytest.raises(error):
        judge(db, sql, model)
    assert model.calls == []


def test_a_query_over_its_limit_is_no_verdict(db: Database) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    pipeline = Pipeline(recipes.parse("checking", RECIPE), FakeModel([]), Limits(seconds=0.1))
    with pytest.raises(QueryLimitError, match="the query"):
        check_with(pipeline, Question("How many?"), endless, db)


def test_a_recipe_without_tests_is_given_a_suite() -> None:
    assert with_tests(recipes.load("default")).tests.kind == "suite"
    assert with_tests(recipes.load("tssql")).tests.kind == "agents"
    assert with_tests(recipes.load("tssql"), "suite").tests.kind == "suite"


def test_one_program_of_three_decides_nothing_unless_the_recipe_says_so() -> None:
    assert with_tests(recipes.load("default"), "agents").refine.sure == 0.6
    assert with_tests(recipes.load("default")).refine.sure == 0.0
    paper = recipes.parse("paper", '[tests]\nkind = "agents"\n[refine]\nsure = 0.0')
    assert with_tests(paper, "agents").refine.sure == 0.0
    surer = recipes.parse("surer", "[refine]\nsure = 0.9")
    assert with_tests(surer, "agents").refine.sure == 0.9


def test_check_from_python_is_ready_for_json(path: Path) -> None:
    import json

    found = sqljury.check("Who is tall?", path, SHORT, recipe="fast", model=says(TALL, TALL))
    told = json.loads(json.dumps(found.to_dict()))
    assert (told["verdict"], told["sql"]) == ("wrong", SHORT)
    whole = {"columns": ["name"], "rows": [["Ann"], ["Cy"]], "truncated": False, "error": None}
    assert told["correction"] == {"sql": TALL, **whole}
    assert told["result"]["rows"] == [["Bo"]]
    assert told["tests"][0]["queries"] == [SHORT, TALL]
    assert told["cost"]["calls"] == found.cost.calls > 1


def test_an_unknown_recipe_is_told(path: Path) -> None:
    with pytest.raises(RecipeError, match="nowhere"):
        sqljury.check("Who?", path, TALL, recipe="nowhere", model=FakeModel("x"))

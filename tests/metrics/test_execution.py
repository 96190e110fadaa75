from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatasetError
from sqljury.metrics.execution import EX, EXE, EXE_KEEP_DISTINCT, Rules, judge, run_gold, suite_match
from sqljury.types import Limits, Result


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "pets.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, age INTEGER);
            INSERT INTO pet VALUES (1, 'dog', 3), (2, 'cat', 2), (3, 'dog', 1);
        """)
    with connect(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("SELECT kind, age FROM pet", "SELECT age AS years, kind FROM pet ORDER BY age"),
        ("SELECT kind FROM pet ORDER BY age", "SELECT kind FROM pet ORDER BY -age DESC"),
        ("SELECT id FROM pet WHERE age >= 2", "SELECT id FROM pet WHERE age > = 2"),
        ("SELECT count(*) FROM pet", "SELECT 3.0"),
        ("SELECT id FROM pet WHERE age > 9", "SELECT kind, id FROM pet WHERE age > 10"),
    ],
)
def test_right(database: Database, gold: str, predicted: str) -> None:
    for rules in (EX, EXE, EXE_KEEP_DISTINCT):
        assert suite_match([database], gold, predicted, rules).correct


@pytest.mark.parametrize(
    ("gold", "predicted", "reason"),
    [
        ("SELECT kind FROM pet", "SELECT age FROM pet", "other rows than gold"),
        ("SELECT id FROM pet ORDER BY age", "SELECT id FROM pet ORDER BY id", "another order"),
        ("SELECT kind FROM pet", "SELECT kind FROM pet LIMIT 1", "1 rows where gold has 3"),
        ("SELECT kind FROM pet", "SELECT breed FROM pet", "breed"),
        ("SELECT kind FROM pet", "DELETE FROM pet", "refused"),
        ("SELECT kind FROM pet WHERE 0", "", ""),
        ("SELECT kind FROM pet", "I would select kind", ""),
    ],
)
def test_wrong_says_why(database: Database, gold: str, predicted: str, reason: str) -> None:
    outcome = suite_match([database], gold, predicted)
    assert not outcome.correct
    assert reason in outcome.reason
    assert outcome.reason


def test_distinct_counts_unless_it_is_taken_out(database: Database) -> None:
    pair = "SELECT DISTINCT kind FROM pet", "SELECT kind FROM pet"
    assert not suite_match([database], *pair, EX).correct
    assert not suite_match([database], *pair, EXE_KEEP_DISTINCT).correct
    assert suite_match([database], *pair, EXE).correct


def test_an_order_inside_gold_counts_only_for_the_published_program(database: Database) -> None:
    gold = "SELECT kind FROM pet WHERE age < (SELECT age FROM pet ORDER BY age DESC LIMIT 1)"
    predicted = "SELECT kind FROM pet WHERE age < 3 ORDER BY id DESC"
    assert suite_match([database], gold, predicted, EX).correct
    assert not suite_match([database], gold, predicted, EXE).correct


def test_the_current_year_is_the_programs() -> None:
    assert EX.prepare("SELECT year(curdate( ))-1") == "SELECT 2020-1"
    assert Rules().prepare("a ! = 1 AND b < = 2") == "a != 1 AND b <= 2"


def test_a_gold_query_that_fails_is_no_ones_mistake(database: Database) -> None:
    with pytest.raises(DatasetError, match=r"gold query fails.*breed.*SELECT breed"):
        suite_match([database], "SELECT breed FROM pet", "SELECT 1")


def test_a_gold_result_that_is_cut_is_refused(database: Database) -> None:
    with pytest.raises(DatasetError, match="more than 2 rows"):
        run_gold(database, "SELECT id FROM pet", limits=Limits(rows=2))


def test_a_prediction_that_is_cut_is_wrong_and_says_so(database: Database) -> None:
    limits = Limits(rows=2)
    gold = run_gold(database, "SELECT id FROM pet LIMIT 2", limits=limits)
    outcome = judge(gold, database.execute("SELECT id FROM pet", limits), ordered=False)
    assert outcome.reason == "more than 2 rows where gold has 2"


def test_a_prediction_cut_short_of_gold_is_wrong_not_guessed() -> None:
    gold = Result(("a",), ((1,), (2,)))
    outcome = judge(gold, Result(("a",), ((1,),), truncated=True), ordered=False)
    assert not outcome.correct
    assert "Limits.rows" in outcome.reason


def test_a_prediction_that_never_ends_is_one_wrong_answer(database: Database) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    outcome = suite_match([database], "SELECT 1", endless, limits=Limits(seconds=0.2))
    assert outcome.reason.startswith("limit:")


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[list[Database]]:
    opened = []
    for number, ages in enumerate([(1, 2), (2, 1)]):
        path = tmp_path / f"pets{number}.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE pet (name TEXT, age INTEGER)")
            connection.executemany("INSERT INTO pet VALUES (?, ?)", zip("ab", ages, strict=True))
        opened.append(connect(path))
    yield opened
    for database in opened:
        database.close()


def test_right_on_a_suite_is_right_on_each_database(suite: list[Database]) -> None:
    gold = "SELECT name FROM pet WHERE age = 1"
    lucky = "SELECT name FROM pet WHERE name = 'a'"
    assert suite_match(suite[:1], gold, lucky).correct
    outcome = suite_match(suite, gold, lucky)
    assert outcome.reason == "other rows than gold (database 2 of 2)"
    assert suite_match(suite, gold, "SELECT name FROM pet WHERE age < 2").correct


def test_values_are_plugged_only_when_asked(suite: list[Database]) -> None:
    gold, predicted = "SELECT name FROM pet WHERE age = 2", "SELECT name FROM pet WHERE age = 'value'"
    assert not suite_match(suite, gold, predicted, EXE).correct
    assert suite_match(suite, gold, predicted, replace(EXE, plug_values=True)).correct


def test_one_choice_of_values_must_be_right_on_the_whole_suite(suite: list[Database]) -> None:
    gold = "SELECT name FROM pet WHERE age = 1 AND 'a' <> 'b'"
    predicted = "SELECT name FROM pet WHERE name = 'x'"
    plugging = replace(EXE, plug_values=True)
    assert all(suite_match([database], gold, predicted, plugging).correct for database in suite)
    assert not suite_match(suite, gold, predicted, plugging).correct

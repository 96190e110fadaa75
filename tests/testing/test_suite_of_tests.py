"""Queries on small databases: told apart, held against what is expected, tried again."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import shop

from sqljury import FakeModel, Question, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.budget import Allowance, Budget
from sqljury.context import Context
from sqljury.db.base import DEFAULT_LIMITS
from sqljury.recipes.parts import TestsPart
from sqljury.schema.introspect import introspect
from sqljury.testing import suite as module
from sqljury.testing.suite import separating_suite
from sqljury.testing.trial import UNTRANSLATED, judged, rerun, run_case
from sqljury.types import Column, Cost, Result, Schema, Table, Task, TestCase

OVER, FROM = "SELECT name FROM person WHERE age > 30", "SELECT name FROM person WHERE age >= 30"
SAME = "SELECT name FROM person WHERE 30 < age"

PET = Table("pet", (Column("name", "TEXT"), Column("kind", "TEXT"), Column("age", "REAL")))
PETS = TestCase(Schema("s", "sqlite", (PET,)), ((("Rex", "dog", 3.0), ("Tom", "cat", 1.0), ("Ace", "dog", 2.0)),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return shop.make(tmp_path / "shop.sqlite")


def expecting(monkeypatch: pytest.MonkeyPatch, sql: str | None) -> list[TestCase]:
    """The model expects what this query returns, or says nothing; the cases it was asked about."""
    seen = list[TestCase]()

    def with_expected(case: TestCase, question: Question, part: TestsPart, context: Context) -> TestCase:
        seen.append(case)
        expected = None if sql is None else replace(run_case(case, [sql]).results[0], seconds=0.0)
        context.budget.charge(Cost(calls=1, prompt_tokens=10))
        return replace(case, expected=expected)

    monkeypatch.setattr(module, "with_expected", with_expected)
    return seen


def test_each_case_is_put_to_the_model_and_the_queries_held_against_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = expecting(monkeypatch, OVER)
    with connect(file) as db:
        context = Context(db, FakeModel([]), DEFAULT_LIMITS, 5)
        task = Task(Question("Who is over 30?"), introspect(db), "")
        tests = module.run_suite([OVER, FROM, SAME], task, TestsPart(kind="suite"), context)
        before = context.budget.steps
        again_the_same = module.run_suite([OVER, FROM, SAME], task, TestsPart(kind="suite"), context)
    (test,) = tests
    assert before == (("", Cost(calls=1, prompt_tokens=10)),)
    assert len(seen) == 2
    assert test.case.size <= 2
    assert (test.by, test.classes) == ("model", (0, 1, 0))
    assert test.passed == (True, False, True)
    assert all(result.rows for result in test.results), "both find something"
    assert [test.differ(*pair) for pair in ((0, 1), (1, 2), (0, 2))] == [True, True, False]
    assert [(one.case, one.passed) for one in tests] == [(one.case, one.passed) for one in again_the_same]


def test_more_cases_and_made_up_ones_where_the_recipe_says_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = expecting(monkeypatch, OVER)
    part = TestsPart(kind="suite", cases=5, keep="all", draw="fuzzing")
    with connect(file) as db:
        context = Context(db, FakeModel([]), DEFAULT_LIMITS, 5)
        task = Task(Question("Who is over 30?"), introspect(db), "")
        tests = module.run_suite([OVER, FROM], task, part, context)
        (single,) = module.run_suite([OVER], task, part, context)
    assert len(tests) == 5
    assert len({case.rows for case in seen}) == 6
    assert {test.how for test in (*tests, single)} == {"fuzzed"}
    assert {test.passed for test in tests} == {(True, False)}
    assert single.results[0].rows


def test_nothing_is_asked_once_the_allowance_is_spent(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = expecting(monkeypatch, None)
    with connect(file) as db:
        context = Context(db, FakeModel([]), DEFAULT_LIMITS, 5, budget=Budget(Allowance(tokens=10)))
        task = Task(Question("Who?"), introspect(db), "")
        queries = [OVER, FROM, "SELECT DISTINCT name FROM person WHERE age > 30", "SELECT name FROM person"]
        tests = module.run_suite(queries, task, TestsPart(kind="suite"), context)
    assert len(tests) > 1
    assert (len(seen), context.budget.total().calls) == (1, 1)
    assert all(test.passed == (None,) * 4 and test.by == "" for test in tests)


def test_what_nothing_tells_apart_and_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as own:
        own.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR, day DATE)")
        own.execute("INSERT INTO t SELECT i, 'n' || i, DATE '2024-01-01' + i::INT FROM range(20) r(i)")
    queries = [
        "SELECT name FROM t WHERE day > DATE '2024-01-05' - INTERVAL 3 QUARTER",
        "SELECT name FROM t WHERE year(day) = 2024",
        "SELECT name FROM t WHERE 2024 = year(day)",
        "SELECT name FROM t WHERE year(day) > 2024",
    ]
    with connect(tmp_path / "d.duckdb") as db:
        found = separating_suite(queries, introspect(db), db)
    assert found.together == ((0, 1), (0, 2), (0, 3), (1, 2))
    assert {str(test.results[0].error) for test in found.tests} == {UNTRANSLATED}
    assert all(test.classes == (0, 1, 1, 3) for test in found.tests)


def test_a_query_alone_is_tried_where_it_finds_something(file: Path) -> None:
    with connect(file) as db:
        (test,) = separating_suite(["SELECT what FROM part WHERE person = 7"], introspect(db), db).tests
    assert test.results[0].rows
    assert (test.how, test.passed) == ("drawn", (None,))


def test_masked_columns_are_not_in_the_small_tables(file: Path) -> None:
    with connect(file) as db:
        guarded = guard(db, introspect(db), Access(mask=("person.mail",)))
        queries = ["SELECT mail FROM person WHERE age > 30", "SELECT mail FROM person WHERE age < 30"]
        tests = separating_suite(queries, introspect(guarded), guarded).tests
    assert tests
    assert not any("@x.org" in str(cell) for test in tests for row in test.case.tables["person"] for cell in row)


def test_a_schema_that_sqlite_does_not_take_is_no_end(file: Path) -> None:
    twice = Schema("s", "sqlite", (Table("t", (Column("a"), Column("A"))),))
    with connect(file) as db:
        context = Context(db, FakeModel([]), DEFAULT_LIMITS, 0)
        queries = ["SELECT a FROM t", "SELECT A FROM t"]
        assert module.run_suite(queries, Task(Question("?"), twice, ""), TestsPart(kind="suite"), context) == ()
        assert context.budget.steps == ()


@pytest.mark.parametrize(
    ("rows", "queries", "passed"),
    [
        ([("Rex",), ("Ace",)], ["SELECT name FROM pet WHERE kind = 'dog'", "SELECT name FROM pet"], (True, False)),
        ([("Ace", "dog"), ("Rex", "dog")], ["SELECT name, kind, age FROM pet WHERE kind = 'dog'"], (True,)),
        ([("Rex", "dog", "3")], ["SELECT age FROM pet WHERE name = 'Rex'", "SELECT 4"], (True, False)),
        ([(1.67,)], ["SELECT avg(age) / 1.2 FROM pet", "SELECT avg(age) FROM pet"], (True, False)),
        ([], ["SELECT name FROM pet WHERE age > 9", "SELECT 1", "SELECT nme FROM pet"], (True, False, None)),
        # order counts where every query has one
        ([("Tom",), ("Ace",), ("Rex",)], ["SELECT name FROM pet ORDER BY age"], (True,)),
        ([("Rex",), ("Tom",), ("Ace",)], ["SELECT name FROM pet ORDER BY age"], (False,)),
        # but not where ties leave it open
        ([("Ace",), ("Rex",), ("Tom",)], ["SELECT name FROM pet ORDER BY kind"], (True,)),
        ([("Tom",), ("Rex",), ("Ace",)], ["SELECT name FROM pet ORDER BY kind"], (True,)),
        # nobody asked for one, since a query without passes too
        ([("Rex",), ("Tom",), ("Ace",)], ["SELECT name FROM pet ORDER BY age", "SELECT name FROM pet"], (True, True)),
        # two differ by it alone
        (
            [("Tom",), ("Ace",), ("Rex",)],
            ["SELECT name FROM pet ORDER BY age", "SELECT name FROM pet ORDER BY age DESC", "SELECT name FROM pet"],
            (True, False, True),
        ),
    ],
)
def test_the_relaxed_equality(rows: list[tuple[object, ...]], queries: list[str], passed: tuple[bool | None]) -> None:
    case = replace(PETS, expected=Result(("?",), tuple(rows)))
    assert run_case(case, queries).passed == passed


def test_other_queries_are_tried_on_the_same_case() -> None:
    case = replace(PETS, expected=Result(("n",), ((2,),)))
    first = run_case(case, ["SELECT count(*) FROM pet"], "written", "code", "print(2)")
    assert first.passed == (False,)
    second = rerun(first, ["SELECT count(*) FROM pet WHERE kind = 'dog'", "SELECT zzz FROM other"])
    assert second.passed == (True, None)
    assert (second.case, second.how, second.by, second.code) == (case, "written", "code", "print(2)")
    assert judged(replace(second, case=PETS)).passed == (None, None)


def test_rows_that_break_a_constraint_are_shown_as_they_are() -> None:
    table = Table("t", (Column("id", "INTEGER", not_null=True),), primary_key=("id",))
    case = TestCase(Schema("s", "sqlite", (table,)), (((1,), (1,), (None,)),))
    assert run_case(case, ["SELECT count(*) FROM t"]).results[0].rows == ((3,),)


def test_queries_do_not_leave_the_small_database(tmp_path: Path) -> None:
    victim = tmp_path / "victim.db"
    with sqlite3.connect(victim) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    done = run_case(PETS, [f"ATTACH '{victim}' AS v", "DELETE FROM pet", "SELECT count(*) FROM pet"])
    assert [result.ok for result in done.results] == [False, False, True]
    assert done.results[2].rows == ((3,),)

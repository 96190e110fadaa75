"""Groups in the order of the tests that they pass."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect, recipes
from sqljury.budget import Allowance
from sqljury.context import Context, Progress
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.errors import RecipeError
from sqljury.llm.base import Completion, Token
from sqljury.recipes import GeneratePart, Recipe, SelectPart
from sqljury.recipes.parts import TestsPart
from sqljury.sql.translate import in_sqlite
from sqljury.stages.select import SELECTORS
from sqljury.stages.select.consistency import group
from sqljury.testing import suite, trial
from sqljury.testing.trial import run_case
from sqljury.types import Candidate, Choice, Cost, Result, Schema, Task, TestCase, Tried

COUNT, DOGS, CATS = (f"SELECT count(*) FROM pet{of}" for of in ("", " WHERE kind = 'dog'", " WHERE kind = 'cat'"))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "pets.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, kind TEXT);"
            "INSERT INTO pet VALUES (1, 'Rex', 'dog'), (2, 'Tom', 'cat'), (3, 'Ace', 'dog');"
        )
    connection.close()
    with connect(file) as opened:
        yield opened


def believes(monkeypatch: pytest.MonkeyPatch, sql: str | None) -> list[TestCase]:
    """The model expects what this query returns; the cases it was asked about."""
    seen = list[TestCase]()

    def with_expected(case: TestCase, question: Question, part: TestsPart, context: Context) -> TestCase:
        context.budget.charge(Cost(calls=1, completion_tokens=5))
        seen.append(case)
        expected = None if sql is None else run_case(case, [sql]).results[0]
        return replace(case, expected=expected)

    monkeypatch.setattr(suite, "with_expected", with_expected)
    return seen


def recipe(samples: int, selector: str = "rerank") -> Recipe:
    parts = (GeneratePart(samples=samples, temperature=1.0),)
    return Recipe("test", generate=parts, tests=TestsPart(kind="suite"), select=SelectPart(selector))


def written(*queries: tuple[str, float]) -> FakeModel:
    """A model that writes these with these log-probabilities."""
    return FakeModel([[Completion(sql, tokens=(Token(sql, logprob),)) for sql, logprob in queries]])


def test_a_test_overrules_votes(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = believes(monkeypatch, DOGS)
    steps: list[Progress] = []
    model = written((COUNT, -1.0), (COUNT, -1.0), (DOGS, -5.0))
    found = Pipeline(recipe(3), model).answer(Question("How many dogs?"), db, progress=steps.append)
    assert (found.sql, found.rows) == (DOGS, ((2,),))
    assert found.choice is not None
    assert (found.choice.selector, found.choice.scores) == ("rerank", (0.0, 1.0))
    assert dict(found.steps)["tests"].calls == 1
    (test,) = found.choice.tests
    assert (test.queries, test.passed, test.by) == ((COUNT, DOGS), (False, True), "model")
    assert (test.case.size, len(seen)) == (2, 1)  # a dog and another pet: both queries find something
    assert [step for step, _ in found.steps] == ["1 direct", "tests"]
    assert steps[-1].step == "testing the queries"


@pytest.mark.parametrize(("selector", "chosen"), [("rerank", DOGS), ("rerank-votes", COUNT)])
def test_ties_go_to_the_likeliest_query_or_to_the_votes(
    db: Database, monkeypatch: pytest.MonkeyPatch, selector: str, chosen: str
) -> None:
    believes(monkeypatch, "SELECT 17")
    model = written((COUNT, -2.0), (COUNT, -3.0), (DOGS, -1.0), (CATS, -4.0))
    found = Pipeline(recipe(4, selector), model).answer(Question("How many dogs?"), db)
    assert found.sql == chosen
    assert found.choice is not None
    assert found.choice.scores == (0.0, 0.0, 0.0)


def test_votes_decide_where_no_test_says_anything(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = believes(monkeypatch, None)
    found = Pipeline(recipe(3), written((COUNT, -2.0), (COUNT, -3.0), (DOGS, -1.0))).answer(Question("How many?"), db)
    assert (found.sql, len(seen)) == (COUNT, 1)
    assert found.choice is not None
    assert found.choice.tests[0].passed == (None, None)  # the example is there all the same


@pytest.mark.parametrize("selector", ["rerank", "rerank-votes"])
def test_a_leader_that_cannot_be_tried_is_not_outdone_by_one_that_can(
    db: Database, monkeypatch: pytest.MonkeyPatch, selector: str
) -> None:
    """Where SQLite cannot run a query, as those of another engine, its test says nothing against it."""
    believes(monkeypatch, DOGS)
    monkeypatch.setattr(trial, "in_sqlite", lambda sql, schema: None if sql == COUNT else in_sqlite(sql, schema))
    model = written((COUNT, -1.0), (COUNT, -1.0), (DOGS, -5.0), (CATS, -6.0))
    found = Pipeline(recipe(4, selector), model).answer(Question("How many dogs?"), db)
    assert found.choice is not None
    assert {test.passed for test in found.choice.tests} == {(None, True, False)}
    assert (found.sql, found.choice.scores) == (COUNT, (0.0, 1.0, 0.0))
    assert found.choice.note == "no test says anything of the query with most votes, so votes decided"


def test_one_group_costs_nothing(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = believes(monkeypatch, COUNT)
    found = Pipeline(recipe(2), written((COUNT, -2.0), ("SELECT 3", -1.0))).answer(Question("How many?"), db)
    assert (seen, found.cost.calls, found.choice and found.choice.tests) == ([], 1, ())


def test_no_tests_once_the_allowance_is_spent(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = believes(monkeypatch, DOGS)
    pipeline = Pipeline(recipe(3), written((COUNT, -1.0), (COUNT, -1.0), (DOGS, -5.0)), allowance=Allowance(tokens=1))
    found = pipeline.answer(Question("How many?"), db)
    assert (found.sql, seen) == (COUNT, [])
    assert found.choice is not None
    assert found.choice.selector == "consistency"


def test_the_judge_says_what_is_expected(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def with_expected(case: TestCase, question: Question, part: TestsPart, context: Context) -> TestCase:
        asked.append(context.model.name)
        return case

    monkeypatch.setattr(suite, "with_expected", with_expected)
    judged = replace(recipe(2), select=SelectPart("rerank", judge="other"))
    pipeline = Pipeline(judged, written((COUNT, -1.0), (DOGS, -1.0)), models={"other": FakeModel([], name="other")})
    pipeline.answer(Question("How many?"), db)
    assert asked == ["other"]


def test_a_recipe_that_chooses_by_tests_has_some() -> None:
    with pytest.raises(RecipeError, match=r"chooses by tests; add \[tests\] with kind"):
        Pipeline(replace(recipe(2), tests=TestsPart()), FakeModel([]))
    with pytest.raises(RecipeError, match="unknown kind of tests 'oracle'"):
        Pipeline(replace(recipe(2), tests=TestsPart(kind="oracle")), FakeModel([]))  # type: ignore[arg-type]
    assert recipes.load("rerank").tests.kind == "suite"


CASE = TestCase(Schema("s", "sqlite", ()), (), Result(("a",), ((1,),)))

Choose = Callable[[str, Sequence[tuple[int, float | None]], Sequence[tuple[float, int]]], Choice]


@pytest.fixture
def choose(db: Database, monkeypatch: pytest.MonkeyPatch) -> Choose:
    def choose(
        selector: str, candidates: Sequence[tuple[int, float | None]], tests: Sequence[tuple[float, int]]
    ) -> Choice:
        """Candidates are results with log-probabilities, tests the confidence that one of the results is right."""
        made = group([Candidate(f"SELECT {one}", "direct", p, Result(("a",), ((one,),))) for one, p in candidates])

        def run(queries: Sequence[str], *_: object) -> tuple[Tried, ...]:
            cases = [replace(CASE, confidence=sure, expected=Result(("a",), ((right,),))) for sure, right in tests]
            return tuple(run_case(case, queries) for case in cases)

        monkeypatch.setattr(import_module("sqljury.stages.select.rerank"), "run_tests", run)
        context = Context(db, FakeModel([]), DEFAULT_LIMITS, 0)
        return SELECTORS[selector](0)(made, Task(Question("?"), CASE.schema, ""), context)

    return choose


def test_the_number_of_passed_tests_comes_first_then_probability(choose: Choose) -> None:
    candidates = [(1, -1.0), (1, -1.0), (2, -9.0), (3, -2.0)]
    found = choose("rerank", candidates, [(0.2, 2), (0.2, 2), (1.0, 3)])
    assert (found.index, found.scores) == (2, (0.0, 1.0, 2.0))  # groups of one by probability: 1, 3, 2
    assert choose("rerank", candidates, [(1.0, 2), (1.0, 3)]).index == 3
    assert choose("rerank", [(1, None), (2, None)], [(1.0, 7)]).index == 0


def test_confidence_weighs_where_votes_break_ties(choose: Choose) -> None:
    candidates = [(1, -9.0), (1, -9.0), (2, -1.0)]
    found = choose("rerank-votes", candidates, [(0.4, 1), (0.4, 1), (1.0, 2)])
    assert (found.index, found.scores) == (2, (0.8, 1.0))
    assert choose("rerank-votes", candidates, [(0.5, 1), (0.5, 2)]).index == 0
    assert choose("rerank", candidates, [(0.5, 1), (0.5, 2)]).index == 2


def test_only_the_largest_groups_take_part(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    made = group([Candidate(f"SELECT {one}", "direct", None, Result(("a",), ((one,),))) for one in (1, 1, 2, 2, 3)])
    asked: list[Sequence[str]] = []

    def run(queries: Sequence[str], *_: object) -> tuple[Tried, ...]:
        asked.append(queries)
        return ()

    monkeypatch.setattr(import_module("sqljury.stages.select.rerank"), "run_tests", run)
    context = Context(db, FakeModel([]), DEFAULT_LIMITS, 0)
    SELECTORS["rerank"](2)(made, Task(Question("?"), CASE.schema, ""), context)
    assert asked == [["SELECT 1", "SELECT 2"]]
    assert (
        SELECTORS["rerank"](2)([Candidate("", "direct")], Task(Question("?"), CASE.schema, ""), context).index is None
    )

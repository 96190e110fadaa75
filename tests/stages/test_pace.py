"""A recipe's budget: parts are cut to it on a model of this machine, and no others."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from scripted import database
from sqljury import FakeModel, Pipeline, Question, connect, recipes
from sqljury.budget import Allowance, Budget
from sqljury.context import Context
from sqljury.errors import NoAnswerError
from sqljury.llm.base import Reply, Token
from sqljury.llm.fake import Call
from sqljury.recipes import BudgetPart, FixPart, GeneratePart, Recipe, SelectPart, StopPart
from sqljury.stages.pace import plan, rate
from sqljury.types import Cost

CHASE = recipes.load("chase").generate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    script = "CREATE TABLE t (n INTEGER, m TEXT, o TEXT, p TEXT, q TEXT); INSERT INTO t VALUES (1, 2, 3, 4, 5)"
    return database(tmp_path / "t.db", script)


class Local(FakeModel):
    on_cpu = True


def writes(call: Call) -> str:
    if call.sampling.json_schema:
        return '{"columns": []}'
    return f"SELECT {len(call.prompt)}" if "Question:" not in call.prompt else "SELECT 1"


def test_every_generator_is_planned_before_any_is_planned_twice() -> None:
    assert plan(CHASE, 0) == [0] * 6
    assert plan(CHASE, 500) == [1, 0, 0, 0, 0, 0]
    assert plan(CHASE, 1300) == [1, 0, 1, 0, 1, 0]
    assert plan(CHASE, 1e6) == [4, 3, 4, 3, 4, 3]
    some = plan(CHASE, 3000)
    assert all(0 <= count <= part.samples for count, part in zip(some, CHASE, strict=True))
    assert sum(some) > 3


def test_a_budget_cuts_a_model_of_this_machine_only(path: Path) -> None:
    parts = (GeneratePart("divide", 4, 0.5, max_tokens=2000), GeneratePart("direct", 3, 0.5))
    recipe = Recipe("test", generate=parts, budget=BudgetPart(60.0, 1.0), select=SelectPart("consistency"))
    wide, cut = FakeModel(writes), Local(writes)
    with connect(path) as db:
        everything = Pipeline(recipe, wide).answer(Question("Which?"), db)
        Pipeline(recipe, cut).answer(Question("Which?"), db)
        once = Local(writes)
        hurried = Pipeline(replace(recipe, budget=BudgetPart(0.001, 1.0)), once).answer(Question("Which?"), db)
    assert [call.n for call in wide.calls] == [4, 3]
    assert wide.calls[0].sampling.max_tokens == 2000
    assert len(everything.candidates) == 7
    assert cut.calls[0].n < 4
    assert cut.calls[0].sampling.max_tokens < 2000
    assert [call.n for call in once.calls] == [1], "at least one query is always asked for"
    assert len(hurried.candidates) == 1


def test_a_part_that_does_not_fit_is_left_to_one_that_does(path: Path) -> None:
    parts = (GeneratePart("divide", 1, max_tokens=2000), GeneratePart("direct"))
    recipe = Recipe("test", generate=parts, budget=BudgetPart(40.0, 1.0), select=SelectPart("consistency"))
    model = Local(writes)
    with connect(path) as db:
        answer = Pipeline(recipe, model).answer(Question("Which?"), db)
    assert [one.generator for one in answer.candidates] == ["direct"]


def test_what_the_caller_allows_is_the_questions_time_where_it_is_less(path: Path) -> None:
    parts = tuple(GeneratePart(temperature=0.5) for _ in range(3))
    recipe = Recipe("test", generate=parts, budget=BudgetPart(60.0, 0.0), select=SelectPart("consistency"))
    with connect(path) as db:
        for seconds, asked in ((inf, 3), (6.0, 1)):
            model = Timed("SELECT 1", 4.0)
            Pipeline(recipe, model, allowance=Allowance(seconds)).answer(Question("Which?"), db)
            assert len(model.calls) == asked


def test_without_a_share_for_writing_nothing_is_cut(path: Path) -> None:
    recipe = Recipe("test", generate=(GeneratePart("divide", 4, 0.5, max_tokens=2000),), budget=BudgetPart(60.0, 0.0))
    model = Local(writes)
    with connect(path) as db:
        Pipeline(recipe, model).answer(Question("Which?"), db)
    assert [(call.n, call.sampling.max_tokens) for call in model.calls] == [(4, 2000)]


def test_writing_ends_once_so_many_agree(path: Path) -> None:
    parts = tuple(GeneratePart("direct", 2, 0.5) for _ in range(4))
    recipe = Recipe("test", generate=parts, budget=BudgetPart(600.0, agree=4), stop=StopPart())
    model, service = Local("SELECT 7"), FakeModel("SELECT 7")
    with connect(path) as db:
        assert len(Pipeline(recipe, model).answer(Question("Which?"), db).candidates) == 4
        assert len(Pipeline(recipe, service).answer(Question("Which?"), db).candidates) == 8


def test_each_query_has_an_order_of_its_own_but_on_this_machine(path: Path) -> None:
    part = GeneratePart("direct", 4, 0.5, order=1, reorder=True)
    recipe = Recipe("test", generate=(part,))
    service, local, again = FakeModel("SELECT 7"), Local("SELECT 7"), FakeModel("SELECT 7")
    with connect(path) as db:
        for model in (service, local, again):
            Pipeline(recipe, model).answer(Question("Which?", id="r"), db)
    assert [call.n for call in service.calls] == [1] * 4
    assert len({call.messages[0].content for call in service.calls}) > 1
    assert len({call.sampling.seed for call in service.calls}) == 4
    assert [call.prompt for call in again.calls] == [call.prompt for call in service.calls]
    assert [call.n for call in local.calls] == [4]


def test_the_time_for_judging_is_for_writing_while_there_is_nothing_to_judge(path: Path) -> None:
    parts = tuple(GeneratePart("divide", 1, 0.5, max_tokens=350) for _ in range(6))
    recipe = Recipe("test", generate=parts, budget=BudgetPart(100.0, 0.5, agree=9), select=SelectPart("consistency"))

    def written(*queries: str) -> int:
        given = iter([*queries, *["SELECT 9"] * len(parts)])

        class Slow(Local):
            def complete(self, *args: Any, **options: Any) -> Reply:
                reply = super().complete(*args, **options)
                cost = replace(reply.cost, completion_tokens=350, prompt_tokens=0, seconds=20.0)
                return replace(reply, cost=cost, ahead=20.0)

        with connect(path) as db:
            return len(Pipeline(recipe, Slow(lambda _call: next(given))).answer(Question("Which?"), db).candidates)

    assert written("SELECT 1", "SELECT 1", "SELECT 1", "SELECT 1") > written("SELECT 1", "SELECT 2")
    assert written("SELECT nothing", "SELECT nothing", "SELECT 1") > written("SELECT 1", "SELECT 2")


def test_what_was_read_is_no_slowness_of_writing(path: Path) -> None:
    budget = Budget()
    with connect(path) as db:
        context = Context(db, Local("SELECT 1"), budget=budget)
        assert rate(context) == 10.0
        with budget.step("1 divide"):
            budget.charge(Cost(1, prompt_tokens=1300, completion_tokens=100, cached_tokens=100, seconds=50.0))
        assert rate(context) == pytest.approx((100 + 1200 / 3) / 50)


class Timed(Local):
    """Each query takes so many seconds and tokens, one after another."""

    def __init__(self, reply: Any, seconds: float) -> None:
        super().__init__(reply)
        self._seconds = seconds

    def complete(self, messages: Any, sampling: Any, n: int = 1, **options: Any) -> Reply:
        reply = super().complete(messages, sampling, n, **options)
        seconds = n * self._seconds
        cost = Cost(1, prompt_tokens=0, completion_tokens=30 * n, seconds=seconds)
        completions = tuple(replace(one, tokens=(Token("x", -0.1),) * 30) for one in reply.completions)
        return replace(reply, completions=completions, cost=cost, ahead=seconds)


@pytest.mark.parametrize(
    ("seconds", "asked"), [(1.0, [1, 3, 4]), (4.0, [1, 3, 3]), (4.5, [1, 3, 2]), (7.0, [1, 3]), (9.0, [1, 2])]
)
def test_queries_that_would_end_after_the_budget_are_left_out(path: Path, seconds: float, asked: list[int]) -> None:
    parts = (GeneratePart("direct", 1, 0.0), GeneratePart("direct", 3, 0.8), GeneratePart("direct", 4, 0.8))
    recipe = Recipe("test", generate=parts, budget=BudgetPart(30.0, 0.0), select=SelectPart("consistency"))
    given = iter(range(100))
    model = Timed(lambda _call: f"SELECT {next(given)}", seconds)
    with connect(path) as db:
        Pipeline(recipe, model).answer(Question("Which?"), db)
    assert [call.n for call in model.calls] == asked


@pytest.mark.parametrize(("seconds", "calls"), [(1.0, 2), (20.0, 1)])
def test_no_repair_is_begun_that_would_end_after_the_budget(path: Path, seconds: float, calls: int) -> None:
    fix = FixPart(names=False, dialect=False, meaning=False, attempts=1)
    recipe = Recipe("test", generate=(GeneratePart("direct", 1, 0.0),), budget=BudgetPart(30.0, 0.0), fix=fix)
    model = Timed("SELECT nothing FROM t", seconds)
    with connect(path) as db, pytest.raises(NoAnswerError):
        Pipeline(recipe, model).answer(Question("Which?"), db)
    assert len(model.calls) == calls


@pytest.mark.parametrize(("known", "asked"), [(True, ["0", "1", "2"]), (False, ["0", "2"])])
def test_a_part_that_shows_the_schema_otherwise_has_to_read_it(path: Path, known: bool, asked: list[str]) -> None:
    parts = [GeneratePart("divide", 1, 0.5, max_tokens=350, order=order) for order in (0, 1, 0)]
    recipe = Recipe("test", generate=tuple(parts), budget=BudgetPart(110.0, 1.0), select=SelectPart("consistency"))

    class Reading(Local):
        def complete(self, *args: Any, **options: Any) -> Reply:
            reply = super().complete(*args, **options)
            cost = Cost(1, 2400, 40, cached_tokens=2300 if known else 0, seconds=10.0 if known else 65.0)
            return replace(reply, cost=cost, ahead=cost.seconds)

    with connect(path) as db:
        answer = Pipeline(recipe, Reading("SELECT 1")).answer(Question("Which?"), db)
    assert [str(candidate.part) for candidate in answer.candidates] == asked


@pytest.mark.parametrize(("seconds", "asked"), [(70.0, [0, 1, 2]), (30.0, [0, 2])])
def test_a_part_on_few_tables_has_to_read_these(tmp_path: Path, seconds: float, asked: list[int]) -> None:
    file = database(tmp_path / "two.db", "CREATE TABLE t (n INTEGER); CREATE TABLE other (m INTEGER)")
    parts = tuple(GeneratePart(tables=tables) for tables in ("", "drafts", ""))
    recipe = Recipe("test", generate=parts, budget=BudgetPart(seconds, 0.0), select=SelectPart("consistency"))
    model = Timed("SELECT COUNT(*) FROM t", 5.0)  # six tokens a second, so that 450 tokens are read in 25 seconds
    with connect(file) as db:
        answer = Pipeline(recipe, model).answer(Question("How many?"), db)
    assert [candidate.part for candidate in answer.candidates] == asked


def test_a_part_on_few_tables_that_sees_them_all_reads_nothing(tmp_path: Path) -> None:
    file = database(tmp_path / "two.db", "CREATE TABLE t (n INTEGER); CREATE TABLE other (m INTEGER)")
    parts = GeneratePart(), GeneratePart(temperature=0.5, tables="drafts")
    recipe = Recipe("test", generate=parts, budget=BudgetPart(30.0, 0.0), select=SelectPart("consistency"))
    model = Timed("SELECT COUNT(*) FROM t, other", 5.0)  # reading 450 tokens would end after the budget, as above
    with connect(file) as db:
        answer = Pipeline(recipe, model).answer(Question("How many?"), db)
    assert [candidate.part for candidate in answer.candidates] == [0, 1]


@pytest.mark.parametrize(("sql", "calls"), [("SELECT nothing FROM t", 2), ("SELECT n FROM t", 1)])
def test_another_query_is_asked_for_while_none_runs(tmp_path: Path, sql: str, calls: int) -> None:
    file = database(tmp_path / "two.db", "CREATE TABLE t (n INTEGER); CREATE TABLE other (m INTEGER)")
    parts = GeneratePart(), GeneratePart(temperature=0.5, tables="drafts")
    recipe = Recipe("test", generate=parts, budget=BudgetPart(30.0, 0.0), select=SelectPart("consistency"))

    class Slow(Local):
        def complete(self, *args: Any, **options: Any) -> Reply:
            reply = super().complete(*args, **options)
            return replace(reply, cost=Cost(1, 2400, 4, cached_tokens=2390, seconds=8.0), ahead=8.0)

    model = Slow(sql)
    with connect(file) as db, contextlib.suppress(NoAnswerError):
        # Less than a token a second, by which the second part would end after the budget.
        Pipeline(recipe, model).answer(Question("How many?"), db)
    assert len(model.calls) == calls

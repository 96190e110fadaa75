"""A recipe's budget: parts are cut to it on a model of this machine, and no others."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect, recipes
from sqljury.llm.fake import Call
from sqljury.recipes import BudgetPart, GeneratePart, Recipe, SelectPart, StopPart
from sqljury.stages.pace import plan

CHASE = recipes.load("chase").generate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "t.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE t (n INTEGER, m TEXT, o TEXT, p TEXT, q TEXT); INSERT INTO t VALUES (1, 2, 3, 4, 5)"
        )
    connection.close()
    return file


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

"""`plan` and `divide`: what they ask, what they show, how their replies are read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import Pipeline, Question, connect
from sqljury.context import Context
from sqljury.llm.fake import FakeModel
from sqljury.recipes import FixPart, GeneratePart, Recipe
from sqljury.stages.generate import GENERATORS
from sqljury.stages.generate import reasoning as worked
from sqljury.stages.generate.base import Given, Request
from sqljury.stages.generate.direct import question, system
from sqljury.types import Column, Limits, Schema, Table, Task

NAMES = ("divide", "divide-short", "plan", "plan-short")
TASK = Task(
    Question("How many {{ plan }} are there?", evidence="plans are rows"),
    Schema("x", "sqlite", (Table("plan", (Column("a"),)), Table("step", (Column("b"),)))),
    "CREATE TABLE plan (a);",
    ("plan.a holds 'b'",),
)


ROWS = (
    worked.DDL
    + """
INSERT INTO gardener VALUES (1, 'Ann', 'Leeds'), (2, 'Bo', 'Leeds'), (3, 'Cy', 'York'), (4, 'Di', 'Leeds');
INSERT INTO plot VALUES (1, 1, 10), (2, 1, 10), (3, 2, 40), (4, 3, 30);
INSERT INTO harvest VALUES (1, 'beans', 3), (2, 'beans', 3), (3, 'beans', 5), (3, 'peas', 9), (4, 'beans', 7);
"""
)
MOST, NONE, ABOVE, LEEDS = [("Ann",)], [(1,)], [("Bo",), ("Cy",)], [("Ann",), ("Bo",)]
EXPECTED = {"divide": [LEEDS], "divide-short": [MOST, ABOVE], "plan": [MOST, NONE, LEEDS], "plan-short": [MOST, NONE]}


@pytest.fixture
def work(tmp_path: Path) -> Context:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE plan (a TEXT)")
    return Context(connect(path), FakeModel(""), Limits(), 0)


def asked(name: str, context: Context, examples: int = 5) -> Request:
    return GENERATORS[name](TASK, context, Given(examples=examples))


@pytest.mark.parametrize("name", NAMES)
def test_the_opening_is_shared_and_the_question_stands_last(name: str, context: Context) -> None:
    request = asked(name, context)
    assert request.messages[0] == system(TASK)
    assert request.messages[-1].role == "user"
    assert request.messages[-1].content.endswith(question(TASK))
    assert question(TASK) in asked(name, context, 0).messages[-1].content
    assert [turn.role for turn in request.messages[1:-1]] == ["user", "assistant"] * (len(request.messages) // 2 - 1)
    assert request.reasons


@pytest.mark.parametrize("name", NAMES)
def test_the_recipe_says_how_many_examples_are_shown(name: str, context: Context) -> None:
    shown = [sum(turn.role == "assistant" for turn in asked(name, context, number).messages) for number in (0, 1, 2, 5)]
    assert shown == {"divide": [0, 1, 1, 1], "plan": [0, 1, 2, 3]}.get(name, [0, 1, 2, 2])


def test_of_very_many_tables_the_first_are_named(context: Context) -> None:
    many = tuple(Table(f"t{number}", (Column("a"),)) for number in range(1000))
    task = replace(TASK, schema=replace(TASK.schema, tables=many))
    ask = GENERATORS["plan"](task, context, Given(examples=1)).messages[-1].content
    assert "t0, t1, " in ask
    assert len(ask) < 500


@pytest.mark.parametrize("name", NAMES)
def test_prompts_with_their_examples_are_what_they_were(name: str, context: Context, snapshot: object) -> None:
    assert "\n---\n".join(turn.content for turn in asked(name, context).messages[1:]) == snapshot


@pytest.mark.parametrize("name", NAMES)
def test_answers_shown_are_read_as_their_queries_and_those_run(name: str, context: Context) -> None:
    request = asked(name, context)
    answers = [turn.content for turn in request.messages if turn.role == "assistant"]
    with closing(sqlite3.connect(":memory:")) as garden:
        garden.executescript(ROWS)
        for answer in answers:
            end = min((answer.find(stop) for stop in request.stop), default=len(answer))
            assert garden.execute(request.read(answer[:end])).fetchall() in (EXPECTED[name])


@pytest.mark.parametrize("shot", [worked.MOST, worked.NONE], ids=["most", "none"])
def test_plans_come_from_the_engine(shot: worked.Shot) -> None:
    """The engine starts where a condition narrows down most, not where the query's text starts."""
    lines = worked.plan(shot).splitlines()
    assert (
        lines[0]
        == {
            worked.MOST: "1. Find the rows of harvest where harvest.crop = 'beans'.",
            worked.NONE: "1. Find the rows of plot.",
        }[shot]
    )
    assert f"{len(lines)}. Deliver" in lines[-1]


@pytest.mark.parametrize("name", NAMES)
def test_the_pipeline_answers_with_the_query_that_the_reasoning_ends_in(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2,), (6,)])
    reply = "1. the average: SELECT avg(a) FROM t\n2. above it: SELECT a FROM t WHERE a > (1)\n"
    model = FakeModel(f"{reply}```sql\nSELECT a FROM t WHERE a > (SELECT avg(a) FROM t);\n```\nDone.")
    recipe = Recipe("one", generate=(GeneratePart(name),), fix=FixPart(attempts=0))
    with connect(path) as db:
        answer = Pipeline(recipe, model).answer(Question("Which a are above the average?"), db)
    assert answer.rows == ((6,),)
    assert answer.candidates[0].generator == name

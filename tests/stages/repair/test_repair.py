"""Repairs of one question: what is asked about once, in which order, for how long; with scripted replies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.budget import Budget
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.errors import NoAnswerError
from sqljury.llm.fake import Call
from sqljury.recipes import FixPart, GeneratePart, Recipe, SelectPart
from sqljury.schema.introspect import introspect
from sqljury.sql.equated import with_joins
from sqljury.stages.repair import by_program
from sqljury.types import Answer, Candidate, Limits, Result, Task


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    """Without declared keys, and with names that no key could be told from."""
    file = tmp_path / "school.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE student (sid INT, name TEXT, attends INT, age INT);"
            "CREATE TABLE course (number INT, title TEXT, has_final_project TEXT);"
            "INSERT INTO student VALUES (1, 'Ann', 7, 20), (2, 'Bo', 8, 30), (3, 'Cy', 7, 40);"
            "INSERT INTO course VALUES (7, 'Art', 'yes'), (8, 'Law', 'no');"
        )
    connection.close()
    with connect(file) as opened:
        yield opened


LACKING = "SELECT name FROM student WHERE has_final_project = 'yes'"
OLDER = "SELECT name FROM student WHERE has_final_project = 'yes' AND age > 30"
JOINED = "SELECT name FROM student JOIN course ON attends = number WHERE has_final_project = 'yes'"
COUNT = "SELECT count(*) FROM student"


def answer(db: Database, model: FakeModel, recipe: Recipe) -> Answer:
    return Pipeline(recipe, model).answer(Question("Who has a final project?"), db)


def sampled(samples: int, **fix: object) -> Recipe:
    part = GeneratePart(samples=samples, temperature=1.0)
    return Recipe("test", generate=(part,), fix=FixPart(**fix), select=SelectPart("first"))  # type: ignore[arg-type]


def test_the_same_missing_name_is_asked_about_once(db: Database) -> None:
    """The messages differ by the alias, and so do the queries."""
    other = "SELECT T1.name FROM student AS T1 WHERE T1.has_final_project = 'yes'"
    model = FakeModel([[LACKING, other, OLDER, COUNT], "no idea"])
    found = answer(db, model, sampled(4))
    assert found.sql == COUNT
    assert len(model.calls) == 2


def test_a_join_of_a_repaired_query_repairs_the_others_without_the_model(db: Database) -> None:
    model = FakeModel([[LACKING, OLDER], JOINED])
    found = answer(db, model, sampled(2))
    assert len(model.calls) == 2
    first, second = found.candidates
    assert first.sql == JOINED
    assert [fix.by for fix in second.fixes] == ["schema"]
    assert second.result.rows == (("Cy",),)


def test_joins_of_queries_become_keys_once(db: Database) -> None:
    schema = introspect(db)
    known = with_joins(schema, [JOINED, JOINED, "no query", "SELECT 1 FROM student s JOIN student t ON s.sid = t.sid"])
    (key,) = known.tables[0].foreign_keys
    assert (key.columns, key.ref_table, key.ref_columns) == (("attends",), "course", ("number",))
    assert (key.declared, key.score) == (False, 0.0)
    assert with_joins(known, [JOINED]) == known
    assert with_joins(schema, []) is schema


def test_where_nothing_runs_the_closest_query_is_repaired_first(db: Database) -> None:
    far = "SELECT aaa, bbb, ccc FROM student WHERE ddd = 1"
    model = FakeModel(lambda call: JOINED if len(call.messages) > 2 else [far, LACKING])
    found = answer(db, model, replace(sampled(2), select=SelectPart()))
    assert model.calls[1].messages[-2].content == LACKING
    assert found.sql == JOINED


@pytest.mark.parametrize("hints", [True, False])
def test_the_model_is_asked_once_about_each_cause_of_an_empty_result(db: Database, hints: bool) -> None:
    name, title = "SELECT age FROM student WHERE name = 'Annn'", "SELECT number FROM course WHERE title = 'Arrt'"
    again = "SELECT sid FROM student WHERE name = 'Annn'"
    model = FakeModel(lambda call: "no idea" if len(call.messages) > 2 else [name, again, title, COUNT])
    answer(db, model, sampled(4, hints=hints))
    asked = [call.messages[-2].content for call in model.calls[1:]]
    assert len(asked) == (2 if hints else 1)
    assert (title in asked) is hints


def test_the_fallback_is_repaired_too_and_asks_about_nothing_twice(db: Database) -> None:
    parts = (GeneratePart(), GeneratePart(samples=3, temperature=0.8, fallback=True))
    recipe = Recipe("test", generate=parts)
    wrong = "SELECT title_of_it FROM course"
    model = FakeModel([LACKING, "no idea", [LACKING, OLDER, wrong], "SELECT title FROM course"])
    found = answer(db, model, recipe)
    assert found.sql == "SELECT title FROM course"
    assert model.calls[3].messages[-2].content == wrong
    model = FakeModel([LACKING, "no idea", [LACKING, OLDER, LACKING]])
    with pytest.raises(NoAnswerError):
        answer(db, model, recipe)
    assert len(model.calls) == 3


def test_the_fallback_is_told_what_is_not_there(db: Database) -> None:
    parts = (GeneratePart(), GeneratePart(samples=2, temperature=0.8, fallback=True))
    for hints in (True, False):
        model = FakeModel([LACKING, "no idea", [LACKING, JOINED]])
        found = answer(db, model, Recipe("test", generate=parts, fix=FixPart(hints=hints)))
        assert found.sql == JOINED
        asked = model.calls[2].messages[-1].content
        assert ("student has no column has_final_project; course.has_final_project" in asked) is hints
        assert asked.endswith("Who has a final project?")
        assert model.calls[2].messages[0] == model.calls[0].messages[0]  # the schema's prefix stays


def test_no_repair_is_begun_after_the_recipes_seconds(db: Database) -> None:
    def slow(call: Call) -> list[str] | str:
        return "SELECT qqq FROM student" if len(call.messages) > 2 else [LACKING, "SELECT zzz FROM course", COUNT]

    for seconds, calls in ((0.0, 1), (0.05, 2)):
        model = FakeModel(slow, delay=0.2)
        answer(db, model, sampled(3, seconds=seconds))
        assert len(model.calls) == calls
    with pytest.raises(NoAnswerError):  # one is begun, even where writing took longer than all repairs may
        answer(db, FakeModel(LACKING, delay=0.1), sampled(1, seconds=0.01))


def test_a_query_ends_with_the_time_of_its_step(db: Database) -> None:
    limits: list[float] = []

    class Timed:
        def __getattr__(self, name: str) -> object:
            return getattr(db, name)

        def execute(self, sql: str, limits_: Limits, cancel: object = None) -> Result:
            limits.append(limits_.seconds)
            return db.execute(sql, limits_)

    context = Context(Timed(), FakeModel("x"), Limits(30))  # type: ignore[arg-type]
    context.execute(LACKING)
    assert limits == [30]
    limits.clear()
    with context.step("fix", 5):
        context.execute(LACKING)
        context.execute(LACKING, 1)
    assert 2 < limits[0] <= 5
    assert limits[1] == 1
    limits.clear()
    with context.step("fix", 0):
        task = Task(Question("?"), introspect(db), "")
        sql = "SELECT attends FROM student WHERE COUNT(*) > 1 GROUP BY attends"
        by_program(Candidate(sql, "direct", result=db.execute(sql)), task, context)
    assert limits
    assert all(seconds <= 2 for seconds in limits)
    assert Budget().left == float("inf")


def test_a_condition_on_an_aggregate_moves_to_having_for_any_engine(db: Database) -> None:
    written = "SELECT attends FROM student WHERE age > 1 AND COUNT(*) > 1 GROUP BY attends"
    found = answer(db, FakeModel(written), sampled(1))
    assert found.rows == ((7,),)
    assert [fix.by for fix in found.candidates[0].fixes] == ["dialect"]


def test_a_repair_that_moves_it_by_itself_has_lost_nothing(db: Database) -> None:
    written = "SELECT qqqq FROM student WHERE COUNT(*) > 1 GROUP BY attends"
    model = FakeModel([written, "SELECT attends FROM student GROUP BY attends HAVING COUNT(*) > 1"])
    assert answer(db, model, sampled(1)).rows == ((7,),)
    model = FakeModel([written, "SELECT attends FROM student GROUP BY attends", "no idea"])
    with pytest.raises(NoAnswerError):
        answer(db, model, sampled(1))

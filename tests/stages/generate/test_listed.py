"""The prompt with an example value for each column, and columns filtered by the model."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.budget import Allowance, Budget
from sqljury.context import Context
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SchemaPart
from sqljury.schema.introspect import introspect
from sqljury.stages.generate.columns import by_model
from sqljury.stages.generate.columns import read as columns_of
from sqljury.stages.generate.listed import read
from sqljury.stages.prepare import Preparation

SCRIPT = """
    CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT UNIQUE, home TEXT NOT NULL);
    CREATE TABLE car (id INTEGER PRIMARY KEY, maker_id INTEGER REFERENCES maker (id), "top speed" REAL, colour TEXT);
    INSERT INTO maker VALUES (1, 'Amber', 'Lyon'), (2, 'Ford Motor', 'Turin'), (3, 'Zed]\n# fake (x)', 'Bonn');
    INSERT INTO car VALUES (1, 2, 180.5, 'red'), (2, 2, 200.0, 'blue');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "cars.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(SCRIPT)
    connection.close()
    return file


def prompt_of(path: Path, question: str) -> tuple[str, Call]:
    model = FakeModel(" name FROM maker WHERE id IN (SELECT maker_id FROM car);")
    with connect(path) as db:
        answer = Pipeline(Recipe("test", generate=(GeneratePart("listed"),)), model).answer(Question(question), db)
    assert answer.sql == "SELECT  name FROM maker WHERE id IN (SELECT maker_id FROM car)"
    [call] = model.calls
    return call.messages[0].content, call


def test_each_column_has_the_value_that_is_most_like_the_question(path: Path) -> None:
    schema, call = prompt_of(path, "Which blue cars does Ford make in Turin?")
    assert "# maker (id* [" in schema
    assert "name ['Ford Motor'] UNIQUE, home ['Turin'] NOT NULL)" in schema
    assert "colour ['blue'])\nForeign key maker_id references maker(id)" in schema
    assert '"top speed" [' in schema
    assert call.messages[-1] == ("assistant", "SELECT")
    other, _ = prompt_of(path, "Which red cars come from Lyon?")
    assert "home ['Lyon']" in other
    assert "colour ['red']" in other
    zed, _ = prompt_of(path, "What does Zed make?")
    assert "\n# fake" not in zed, "a value stays on its line"


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        (" a FROM t", "SELECT  a FROM t"),
        ("SELECT a FROM t;", "SELECT a FROM t"),
        ("```sql\nSELECT a FROM t\n```", "SELECT a FROM t"),
        (" a FROM t WHERE b =\n(SELECT max(b) FROM t)", "SELECT  a FROM t WHERE b =\n(SELECT max(b) FROM t)"),
    ],
)
def test_replies_go_on_or_begin_again(reply: str, sql: str) -> None:
    assert read(reply) == sql


def test_columns_that_the_model_selects_are_what_examples_are_about(path: Path) -> None:
    def reply(call: Call) -> str:
        text = call.messages[-1].content
        if call.sampling.json_schema:
            return '{"columns": ["car.colour", "car.id", "nothing.x"]}'
        if "Question:" in text or "colour" not in text:
            return "Question: How many?\nSQL: SELECT count(*) FROM car"
        return "SELECT count(*) FROM car"

    parts = (GeneratePart("synthetic", rounds="focus", columns="model"), GeneratePart("synthetic", rounds="focus"))
    model = FakeModel(reply)
    with connect(path) as db:
        pipeline = Pipeline(Recipe("test", generate=parts), model)
        pipeline.answer(Question("How many blue cars?"), db)
        asked = [call for call in model.calls if call.sampling.json_schema]
        assert len(asked) == 1
        assert asked[0].messages[0] == model.calls[-1].messages[0], "the opening with the schema is shared"
        focused = next(call.messages[-1].content for call in model.calls if "colour" in call.messages[-1].content)
        assert "car(" in focused
        assert "maker(" not in focused
        assert "top speed" not in focused
        pipeline.answer(Question("How many blue cars?"), db)
        assert len([call for call in model.calls if call.sampling.json_schema]) == 1, "once for a question"


def test_columns_that_there_was_no_time_to_ask_for_are_asked_for_later(path: Path) -> None:
    model, spent = FakeModel('{"columns": ["car.colour"]}'), Budget(Allowance(seconds=0.0))
    with connect(path) as db:
        task = Preparation(SchemaPart()).task(Question("How many blue cars?"), db)
        context = Context(db, model)
        assert by_model(task, replace(context, budget=spent)) is None
        found = by_model(task, context)
    assert found is not None
    assert [table.name for table in found.tables] == ["car"]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"columns": ["maker.name", "car.top speed"]}', {"maker": {"name"}, "car": {"top speed"}}),
        ('{"columns": ["MAKER.NAME", "maker.na', {"maker": {"name"}}),
        ("maker.name", {}),
        ('"\\ud800"', {}),
    ],
)
def test_columns_are_read_as_far_as_they_exist(path: Path, reply: str, found: dict[str, set[str]]) -> None:
    with connect(path) as db:
        assert columns_of(reply, introspect(db)) == found

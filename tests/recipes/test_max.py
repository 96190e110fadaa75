"""The recipe `max`: what it asks where its first queries agree, where they do not, and where time is short."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.llm.fake import Call


class Local(FakeModel):
    """A model of this machine's cores."""

    on_cpu = True


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "cats.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE cat (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
        connection.executemany("INSERT INTO cat VALUES (?, ?, ?)", [(n, f"cat {n}", n) for n in range(1, 9)])
    connection.close()
    with connect(file) as opened:
        yield opened


def test_six_that_agree_end_it(db: Database) -> None:
    model = Local("SELECT count(*) FROM cat")
    answer = Pipeline.from_recipe("max", model).answer(Question("How many cats?"), db)
    assert [call.n for call in model.calls] == [1, 3, 2]
    assert (list(answer.rows), len(answer.candidates)) == ([(8,)], 6)


def test_doubt_is_given_three_forms_and_three_generators(db: Database) -> None:
    def says(call: Call) -> str:
        return f"SELECT count(*) FROM cat WHERE age > {len(model.calls) % 3}"

    model = Local(says)
    answer = Pipeline.from_recipe("max", model).answer(Question("How many cats?"), db)
    writing = [call for call in model.calls if call.sampling.max_tokens in (300, 400)]
    assert [call.n for call in writing] == [1, 3, 2, 1, 4, 1, 1]
    assert sum("CREATE TABLE" in call.prompt for call in writing) == 5
    assert {one.generator for one in answer.candidates} == {"direct", "made", "divide-short"}
    assert len(answer.candidates) == 13
    assert answer.choice is not None
    assert answer.choice.selector == "light"


def test_parts_that_there_is_no_time_for_are_left_out(db: Database) -> None:

    def says(call: Call) -> str:
        return f"SELECT count(*) FROM cat WHERE age > {len(model.calls) % 3}"

    model = Local(says, delay=0.2)
    pipeline = Pipeline.from_recipe("max", model)
    recipe = replace(pipeline.recipe, budget=replace(pipeline.recipe.budget, seconds=0.3))
    answer = replace(pipeline, recipe=recipe).answer(Question("How many cats?"), db)
    assert len(model.calls) <= 2
    assert answer.rows

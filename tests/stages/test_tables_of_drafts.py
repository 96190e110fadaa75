"""Parts of a recipe that are shown only the tables which the queries before them read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scripted import database
from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.db.base import Database
from sqljury.llm.fake import Call
from sqljury.recipes import FixPart, GeneratePart, Recipe, SelectPart
from sqljury.recipes.parts import SchemaPart

SCRIPT = """
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INT REFERENCES author (id));
    CREATE TABLE weather (day TEXT, rain REAL);
    INSERT INTO author VALUES (1, 'Ann');
    INSERT INTO book VALUES (1, 'Sea', 1);
    INSERT INTO weather VALUES ('Monday', 0.5);
"""
TABLES = ("author", "book", "weather")
BOOKS = "SELECT T1.title FROM book AS T1 JOIN author AS T2 ON T2.id = T1.author_id"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with connect(database(tmp_path / "library.db", SCRIPT)) as opened:
        yield opened


def recipe(*parts: GeneratePart) -> Recipe:
    fix, select = FixPart(attempts=0), SelectPart("consistency")
    return Recipe("test", SchemaPart(), generate=parts, fix=fix, select=select)


def shown(call: Call) -> set[str]:
    return {name for name in TABLES if f"TABLE {name} " in call.prompt}


def test_only_tables_of_the_queries_before_are_shown(db: Database) -> None:
    model = FakeModel([BOOKS, BOOKS])
    found = Pipeline(recipe(GeneratePart(), GeneratePart(tables="drafts")), model).answer(Question("Which books?"), db)
    assert [shown(call) for call in model.calls] == [{"author", "book", "weather"}, {"author", "book"}]
    assert [one.part for one in found.candidates] == [0, 1]


def test_tables_of_all_queries_before_are_shown(db: Database) -> None:
    model = FakeModel([["SELECT title FROM book", "SELECT name FROM author"], "SELECT title FROM book"])
    parts = GeneratePart(samples=2, temperature=0.5), GeneratePart(tables="drafts")
    Pipeline(recipe(*parts), model).answer(Question("Which books?"), db)
    assert shown(model.calls[1]) == {"author", "book"}


@pytest.mark.parametrize(
    "first",
    [
        "SELECT T1.title FROM book AS T1 JOIN author AS T2 ON T2.id = T1.author_id, weather",  # all tables
        "SELECT 1",  # none
        "no query",
    ],
)
def test_where_nothing_is_left_out_a_greedy_part_is_not_asked_and_a_sampled_one_sees_all(
    db: Database, first: str
) -> None:
    model = FakeModel([first, BOOKS])
    parts = GeneratePart(), GeneratePart(tables="drafts"), GeneratePart(temperature=0.8, tables="drafts")
    Pipeline(recipe(*parts), model).answer(Question("Which books?"), db)
    assert [call.sampling.temperature for call in model.calls] == [0.0, 0.8]
    assert shown(model.calls[1]) == {"author", "book", "weather"}


@pytest.mark.parametrize("part", [GeneratePart(form="mschema"), GeneratePart("listed")])
def test_a_greedy_part_that_repeats_no_query_sees_all_tables(db: Database, part: GeneratePart) -> None:
    model = FakeModel(["SELECT 1", BOOKS])
    Pipeline(recipe(GeneratePart(), replace(part, tables="drafts")), model).answer(Question("Which books?"), db)
    assert len(model.calls) == 2
    assert all(name in model.calls[1].prompt for name in TABLES)


def test_a_fallback_is_asked_whatever_the_drafts_read(db: Database) -> None:
    model = FakeModel(["SELECT nothing FROM nowhere", BOOKS])
    parts = GeneratePart(), GeneratePart(tables="drafts", fallback=True)
    answer = Pipeline(recipe(*parts), model).answer(Question("Which books?"), db)
    assert answer.sql == BOOKS


def test_the_names_of_other_tables_are_still_known_to_repairs(db: Database) -> None:
    model = FakeModel(["SELECT title FROM book", "SELECT rains FROM weather"])
    parts = GeneratePart(), GeneratePart(tables="drafts")
    found = Pipeline(recipe(*parts), model).answer(Question("How much rain?"), db)
    assert found.candidates[1].sql == "SELECT weather.rain FROM weather"

"""The schema as a recipe wants it seen: values beside columns, parts of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury import Question, connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.db.base import Database
from sqljury.recipes.parts import SchemaPart
from sqljury.schema.describe import Item, Notes
from sqljury.schema.introspect import introspect
from sqljury.stages.prepare import Preparation
from sqljury.types import Task
from sqljury.types.schema import only_tables

NAMES = [*(f"Someone {number}" for number in range(60)), "Marta Kowalska"]
BESIDE = SchemaPart(sample_rows=0, examples=2, nearest=True)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
        connection.execute("CREATE TABLE pet (id INTEGER PRIMARY KEY, nick TEXT)")
        connection.executemany("INSERT INTO person (name, age) VALUES (?, ?)", [(name, 30) for name in NAMES])
        connection.execute("INSERT INTO pet VALUES (1, 'Rex')")
    connection.close()
    with connect(file) as opened:
        yield opened


def task(db: Database, part: SchemaPart, text: str = "How old is Marta Kowalska?") -> Task:
    return Preparation(part).task(Question(text), db)


@pytest.mark.parametrize("form", ["ddl", "compact", "mschema"])
def test_the_nearest_values_stand_beside_text_columns(db: Database, form: str) -> None:
    part = SchemaPart(form=form, sample_rows=0, examples=2, nearest=True)  # type: ignore[arg-type]
    (line,) = [line for line in task(db, part).text.splitlines() if "Kowalska" in line]
    assert "'Marta Kowalska', 'Someone" in line
    assert line.count("'") == 4
    assert "30" in task(db, part).text  # numbers are drawn


def test_without_nearest_nothing_depends_on_the_question(db: Database) -> None:
    part = SchemaPart(sample_rows=0, examples=2)
    one, other = task(db, part), task(db, part, "Which pet is the oldest?")
    assert one.text == other.text
    assert "Kowalska" not in one.text
    assert "such as 'Someone" in one.text


def test_descriptions_stand_before_the_values(db: Database) -> None:
    notes = Notes(items=(Item("person", "name", description="as in the passport"),))
    text = Preparation(BESIDE).task(Question("How old is Marta Kowalska?"), db, notes).text
    assert "name TEXT, -- as in the passport; such as 'Marta Kowalska'" in text


def test_values_that_are_masked_are_not_shown(db: Database) -> None:
    guarded = guard(db, introspect(db), Access(mask=("person.name",)))
    assert "Kowalska" not in task(guarded, BESIDE).text


def test_a_narrowed_task_keeps_what_was_found(db: Database) -> None:
    whole = task(db, BESIDE)
    part = only_tables(whole.known, {"person"})
    narrowed = Preparation(BESIDE).narrowed(whole, db, part)
    assert (narrowed.shown, narrowed.known) == (part, whole.known)
    assert "Kowalska" in narrowed.text
    assert "pet" not in narrowed.text
    assert Preparation(BESIDE).narrowed(whole, db, whole.known) is whole


def test_other_forms_keep_what_was_found(db: Database) -> None:
    whole = task(db, BESIDE)
    assert "Kowalska" in Preparation(BESIDE).reshown(whole, db, "compact").text

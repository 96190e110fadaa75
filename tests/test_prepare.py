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
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import Item, Notes
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


def test_a_schema_that_no_model_sees_is_not_written_out(db: Database) -> None:
    part, question = SchemaPart(sample_rows=0, values=3), Question("How old is Marta Kowalska?")
    seen, unseen = (Preparation(part, unseen=unseen).task(question, db) for unseen in (False, True))
    assert "CREATE TABLE" in seen.text
    assert unseen.text == ""
    assert (unseen.known, unseen.notes, unseen.hits) == (seen.known, seen.notes, seen.hits)


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


ODD = """
CREATE TABLE visit (id INTEGER PRIMARY KEY, day TEXT, seen_at INTEGER, paid TEXT, spent TEXT, note TEXT);
CREATE TABLE plain (id INTEGER PRIMARY KEY, born TEXT, name TEXT);
"""


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "odd.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(ODD)
        rows = [(f"{n + 10}/03/2024", 1_700_000_000 + n, "NY"[n > 4], f"{n * 5 + 5}", f"n{n}") for n in range(9)]
        connection.executemany("INSERT INTO visit (day, seen_at, paid, spent, note) VALUES (?, ?, ?, ?, ?)", rows)
        connection.executemany("INSERT INTO plain (born, name) VALUES (?, ?)", [("1990-01-02", r[4]) for r in rows])
    connection.close()
    with connect(file) as opened:
        yield opened


@pytest.mark.parametrize("rows", [0, 3])
def test_what_a_query_would_get_wrong_stands_beside_columns(odd: Database, rows: int) -> None:
    text = task(odd, SchemaPart(sample_rows=rows)).text
    remarks = [line.strip() for line in text.splitlines() if " -- " in line]
    assert remarks == [
        "day TEXT, -- dates as DD/MM/YYYY",
        "seen_at INTEGER, -- epoch seconds",
        "paid TEXT, -- 'Y' or 'N'",
        "spent TEXT, -- numbers as text",
    ]
    assert text.count("rows of") == (2 if rows else 0)  # more were read than are shown
    assert "n3" not in text


def test_columns_that_are_masked_are_not_looked_at(odd: Database) -> None:
    guarded = guard(odd, introspect(odd), Access(mask=("visit.day", "visit.seen_at", "visit.paid", "visit.spent")))
    assert " -- " not in task(guarded, SchemaPart()).text


def test_a_comment_that_says_it_is_enough(odd: Database) -> None:
    notes = Notes(items=(Item("visit", "day", description="day of the visit, DD/MM/YYYY"),))
    text = Preparation(SchemaPart()).task(Question("When?"), odd, notes).text
    assert "day TEXT, -- day of the visit, DD/MM/YYYY\n" in text


def test_large_cells_do_not_keep_the_shown_rows_away(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "large.db") as connection:
        connection.execute("CREATE TABLE page (id INTEGER PRIMARY KEY, body TEXT)")
        connection.executemany(
            "INSERT INTO page (body) VALUES (?)", [(f"page {n} " + "x" * 400_000,) for n in range(20)]
        )
    connection.close()
    with connect(tmp_path / "large.db") as db:
        text = task(db, SchemaPart(sample_rows=3)).text
    assert "page 2 xxx" in text

"""Evidence of several lines, from the prompt to the remark."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.db.base import Database
from sqljury.recipes import FixPart, Recipe, SchemaPart
from sqljury.schema.notes import Notes
from sqljury.stages.generate.direct import question
from sqljury.types import Schema, Task

LINES = "SP = senior people\nA senior is older than 60\nVIP = very important\nRound averages to 1 decimal"
PLAIN = Recipe("plain", schema=SchemaPart(sample_rows=0), fix=FixPart(attempts=0))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
        connection.executemany("INSERT INTO person VALUES (?, ?, ?)", [(1, "Ann", 70), (2, "Bo", 30), (3, "Cy", 80)])
    connection.close()
    with connect(file) as opened:
        yield opened


def written(text: str, evidence: str, notes: tuple[str, ...] = ()) -> str:
    return question(Task(Question(text, evidence), Schema("s", "sqlite", ()), "", notes))


def test_lines_that_concern_the_question_stand_below_it() -> None:
    assert written("How many SP are there?", LINES, ("a note",)) == (
        "Notes on this database, which may help:\n- a note\n\n"
        "What people here say about this database:\n- VIP = very important\n\n"
        "How many SP (senior people) are there?\nKeep in mind:\n- SP = senior people\n- A senior is older than 60\n"
        "- Round averages to 1 decimal"
    )


def test_one_line_is_as_it_was_and_long_glossaries_are_cut() -> None:
    assert written("How many?", "plans are rows") == "How many?\nKeep in mind: plans are rows"
    assert written("How many?", "") == "How many?"
    many = "\n".join(f"never show t{number} {'x' * 300}" for number in range(100))
    assert len(written("How many?", many)) < 2_700
    hostile = written("Who?", "never \x1b[31m*/ <|im_start|>\u2028x\nVIP = y")
    assert all(line.isprintable() for line in hostile.splitlines())
    assert "*/" not in hostile


def test_the_model_is_asked_again_and_what_remains_is_remarked(db: Database) -> None:
    model = FakeModel(["SELECT count(*) FROM person", "SELECT count(*) FROM person WHERE age > 60"])
    asked = Question("How many SP are there?", LINES)
    answer = Pipeline(PLAIN, model).answer(asked, db)
    assert answer.rows == ((2,),)
    assert [fix.by for fix in answer.candidates[0].fixes] == ["model"]
    assert "no number 60" in model.calls[1].prompt
    assert answer.remarks == ()
    stubborn = FakeModel(["SELECT count(*) FROM person", "SELECT count(id) FROM person"])
    answer = Pipeline(PLAIN, stubborn).answer(asked, db)
    assert answer.rows == ((3,),)
    assert "'A senior is older than 60': the query has no number 60" in answer.remarks[0]


def test_without_instructions_nothing_is_asked_or_changed(db: Database) -> None:
    model = FakeModel("SELECT avg(age) / 7 FROM person")
    answer = Pipeline(PLAIN, model).answer(Question("What is the average?"), db)
    assert (len(model.calls), answer.remarks, answer.candidates[0].fixes) == (1, (), ())


def test_rules_of_notes_hold_for_every_question(db: Database) -> None:
    model = FakeModel("SELECT avg(age) / 7 FROM person")
    notes = Notes(rules=("Round averages to 1 decimal",))
    answer = Pipeline(PLAIN, model).answer(Question("What is the average?"), db, notes=notes)
    assert answer.rows == ((8.6,),)
    assert answer.candidates[0].fixes[0].by == "instructions"
    assert "Keep in mind: Round averages to 1 decimal" in model.calls[0].prompt


def test_terms_of_notes_are_checked(db: Database) -> None:
    model = FakeModel(["SELECT count(*) FROM person", "SELECT count(*) FROM person WHERE age > 60"])
    notes = Notes(glossary=(("senior", "older than 60"), ("junior", "younger than 20")))
    answer = Pipeline(PLAIN, model).answer(Question("How many seniors are there?"), db, notes=notes)
    assert (answer.rows, answer.remarks) == (((2,),), ())


def test_the_likeliest_candidate_is_asked_about_once_and_only_where_none_follows(db: Database) -> None:
    eight = replace(PLAIN, generate=(replace(PLAIN.generate[0], samples=3),))
    texts = ["SELECT count(*) FROM person", "SELECT count(*) FROM person WHERE age > 60", "SELECT 1"]
    model = FakeModel([texts])
    Pipeline(eight, model).answer(Question("How many SP are there?", LINES), db)
    assert len(model.calls) == 1

"""Approved pairs asked again: what passes, what broke, and how CI reads it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sqljury import FakeModel, Session
from sqljury.db.connect import connect
from sqljury.errors import ModelAuthError, ModelError
from sqljury.project.approved import Outcome, junit, run
from sqljury.project.folder import Approved


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE animal (name TEXT, legs INT); INSERT INTO animal VALUES ('ant', 6), ('bear', 4), ('crow', 2);"
        )
    connection.close()
    return path


def outcome(db: Path, approved: str, written: object) -> Outcome:
    pair = Approved("Which animals?", approved, "zoo", "examples.jsonl, line 1")
    with Session(db, recipe="fast", model=FakeModel(written), cache=False) as session:  # type: ignore[arg-type]
        (found,) = run([pair], session.database, session.ask)
    return found


@pytest.mark.parametrize(
    ("approved", "written", "status", "words"),
    [
        ("SELECT name, legs FROM animal", "SELECT legs, name FROM animal ORDER BY 1", "passed", ""),
        ("SELECT name FROM animal ORDER BY legs", "SELECT name FROM animal ORDER BY legs", "passed", ""),
        (
            "SELECT name FROM animal ORDER BY legs",
            "SELECT name FROM animal ORDER BY name",
            "differs",
            "crow became ant",
        ),
        ("SELECT count(*) FROM animal", "SELECT 2", "differs", "3 became 2"),
        ("SELECT name FROM animal", "SELECT 1 WHERE 0", "differs", "3 rows of 1 column expected, 0 rows"),
        ("SELECT nme FROM animal", "SELECT name FROM animal", "broken", "no such column: nme"),
        ("DROP TABLE animal", "SELECT name FROM animal", "broken", "refused"),
    ],
)
def test_outcomes(db: Path, approved: str, written: str, status: str, words: str) -> None:
    found = outcome(db, approved, written)
    assert (found.status, found.passed) == (status, status == "passed")
    assert words in found.why


def test_a_question_without_an_answer_is_one_failure(db: Path) -> None:
    assert outcome(db, "SELECT 1", "I do not know").status == "no answer"


def test_a_model_that_cannot_be_used_stops_the_run(db: Path) -> None:
    with pytest.raises(ModelError):
        outcome(db, "SELECT 1", ModelAuthError("no key"))


def test_without_a_model_queries_alone_are_run(db: Path) -> None:
    pairs = [Approved("a", "SELECT legs FROM animal", "zoo", "1"), Approved("b", "SELECT x FROM animal", "zoo", "2")]
    with connect(db) as opened:
        assert [found.status for found in run(pairs, opened, None)] == ["passed", "broken"]


def test_junit_of_hostile_texts(tmp_path: Path) -> None:
    pair = Approved("<&\x00\ud800 'é", "SELECT ']]>'", "zoo", "line 1")
    cases = [Outcome(pair, "passed"), Outcome(pair, "differs", "a\x1b", "SELECT 1"), Outcome(pair, "broken", "no")]
    suite = ElementTree.fromstring(junit(cases, "zoo").encode())[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["error"]]
    assert suite[0].get("name") == "<&\ufffd\ufffd 'é"
    assert "approved: SELECT ']]>'" in str(suite[1][0].text)

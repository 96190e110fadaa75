"""Texts that a query compares with columns that lack them: the confidence, and what the reader is told."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sqljury import FakeModel, ask
from sqljury.stages.doubt import NOT_HELD
from sqljury.types import Answer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE appointment (id INTEGER PRIMARY KEY, state TEXT, owner TEXT, paid REAL);"
            "INSERT INTO appointment VALUES (1, 'DONE', 'Ann', 5), (2, 'NOSHOW', 'Bo', 7), (3, 'BOOKED', 'Cy', 9);"
            "WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 90)"
            " INSERT INTO appointment SELECT i, 'DONE', 'Owner ' || i, i FROM n;"
        )
    connection.close()
    return path


def answered(file: Path, question: str, sql: str) -> Answer:
    return ask(question, file, model=FakeModel([sql]), recipe="fast")


def test_a_state_that_the_column_lacks_is_told_and_doubted(file: Path) -> None:
    found = answered(
        file, "How many appointments were missed?", "SELECT COUNT(*) FROM appointment WHERE state = 'missed'"
    )
    assert found.rows == ((0,),)
    assert found.confidence is not None
    assert found.confidence <= NOT_HELD
    assert any(line.startswith("appointment.state has no 'missed'; nearest there: ") for line in found.remarks)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many appointments are done?", "SELECT COUNT(*) FROM appointment WHERE state = 'DONE'"),
        ("How many appointments has Zoe?", "SELECT COUNT(*) FROM appointment WHERE owner = 'Zoe'"),
        ("How many appointments cost more than 8?", "SELECT COUNT(*) FROM appointment WHERE paid > 8"),
    ],
)
def test_what_the_column_has_or_the_question_says_is_not_doubted(file: Path, question: str, sql: str) -> None:
    found = answered(file, question, sql)
    assert found.confidence is not None
    assert found.confidence > NOT_HELD


def test_a_name_that_neither_the_question_nor_the_column_has_is_doubted(file: Path) -> None:
    found = answered(file, "How many appointments has he?", "SELECT COUNT(*) FROM appointment WHERE owner = 'Zoe'")
    assert found.confidence is not None
    assert found.confidence <= NOT_HELD

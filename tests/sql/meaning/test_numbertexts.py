"""Numbers that a column holds as texts, on parcels that were read from a file."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from answered import Answered
from sqljury import ask, connect
from sqljury.llm.fake import FakeModel

ROWS = """
INSERT INTO parcel VALUES ('1', 'a', '9', '1.5', '01234', '7'), ('2', 'b', '120', '10.25', '9123', '10'),
  ('3', 'c', '45', '9.0', '10000', '9');
"""
SCHEMA = (
    f"CREATE TABLE parcel (id TEXT PRIMARY KEY, name TEXT, days TEXT, weight TEXT, postcode TEXT, serial TEXT); {ROWS}"
)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM parcel ORDER BY days DESC", [("b",), ("c",), ("a",)]),
        ("SELECT name FROM parcel WHERE days > 50", [("b",)]),
        ("SELECT name FROM parcel WHERE days > '50'", [("b",)]),
        ("SELECT name FROM parcel WHERE 50 > days ORDER BY name", [("a",), ("c",)]),
        ("SELECT MAX(weight) FROM parcel", [(10.25,)]),
        ("SELECT MAX(days) FROM parcel", [(120,)]),
        ("SELECT name FROM parcel WHERE weight BETWEEN 1 AND 9.5", [("a",), ("c",)]),
        ("SELECT name FROM parcel WHERE days > (SELECT AVG(days) FROM parcel)", [("b",)]),
        ("SELECT name FROM parcel WHERE days = (SELECT MAX(days) FROM parcel)", [("b",)]),
    ],
)
def test_they_are_sorted_and_compared_as_numbers(answered: Answered, sql: str, rows: list[tuple[object, ...]]) -> None:
    assert [tuple(row) for row in answered(SCHEMA, "Which parcels?", sql).rows] == rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM parcel WHERE postcode > '5000'",  # a code, as a zero before other digits tells
        "SELECT name FROM parcel ORDER BY name",
        "SELECT name, COUNT(*) AS days FROM parcel GROUP BY name ORDER BY days",  # of an output
        "SELECT MAX(serial) FROM parcel",
        "SELECT name FROM parcel WHERE days = '9'",
    ],
)
def test_texts_stay_texts(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "Which parcels?", sql).sql == sql


def test_another_engine_sorts_them_too(tmp_path: Path) -> None:
    file = tmp_path / "made.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute(SCHEMA)
    with connect(str(file)) as db:
        found = ask("Parcels by days", db, model=FakeModel(["SELECT name FROM parcel ORDER BY days"]), recipe="fast")
    assert [tuple(row) for row in found.rows] == [("a",), ("c",), ("b",)]


@pytest.mark.parametrize(
    ("more", "question"),
    [
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) INSERT INTO parcel "
            "SELECT 'x' || i, 'd', CASE i WHEN 1200 THEN '12a' ELSE i END, '1', '1', '1' FROM n;",
            "Parcels by days",
        ),
        ("INSERT INTO parcel VALUES ('4', 'd', '99999999999999999992', '1', '1', '1');", "Parcels by days"),
        ("", "Days of the parcels, alphabetically"),
    ],
)
def test_texts_that_are_no_numbers_stay(answered: Answered, more: str, question: str) -> None:
    sql = "SELECT name FROM parcel ORDER BY days"
    assert answered(SCHEMA + more, question, sql).sql == sql

"""Schemas and queries of other engines: their small databases are SQLite's, their queries are said in its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.sql.translate import in_sqlite
from sqljury.testing.draw import read_origin
from sqljury.testing.separate import Search, separate
from sqljury.types import Column, Schema, Table

SCHEMA = Schema("s", "postgres", (Table("t", (Column("d", "date"), Column("name", "text"))),))


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT EXTRACT(YEAR FROM d) FROM t", "SELECT CAST(STRFTIME('%Y', d) AS INTEGER) FROM t"),
        ("SELECT name FROM t LIMIT 3", "SELECT name FROM t LIMIT 3"),
        ("SELECT name FROM t WHERE d > now() - INTERVAL '1 fortnight'", None),
        ("SELECT (", None),
    ],
)
def test_queries_are_said_in_sqlites_words(sql: str, wanted: str | None) -> None:
    assert in_sqlite(sql, SCHEMA) == wanted


def test_sqlites_own_queries_stay_as_they_are() -> None:
    schema = Schema("s", "sqlite", SCHEMA.tables)
    assert in_sqlite('SELECT  "x" from t', schema) == 'SELECT  "x" from t'


def test_queries_on_duckdb_are_told_apart(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as own:
        own.execute("CREATE TYPE mood AS ENUM ('sad', 'it''s ok')")
        own.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR, day DATE, price DECIMAL(8, 2), m mood)")
        own.execute("INSERT INTO t SELECT i, 'n' || i, DATE '2024-01-01' + i::INT, i * 1.25, 'sad' FROM range(20) r(i)")
    queries = ["SELECT name, m FROM t WHERE year(day) = 2024", "SELECT name, m FROM t WHERE year(day) >= 2024"]
    with connect(tmp_path / "d.duckdb") as db:
        schema = introspect(db)
        origin = read_origin(db, schema, queries)
    texts = [in_sqlite(sql, schema) or "" for sql in queries]
    found = separate(origin, texts, Search(seconds=20))
    assert found.together == ()
    assert found.cases[0].size == 2  # the fewest on which both find something
    places = {column.name: index for index, column in enumerate(origin.shape.tables["t"].columns)}
    assert {row[places["m"]] for row in found.cases[0].tables["t"]} <= {"sad", "it's ok", None}

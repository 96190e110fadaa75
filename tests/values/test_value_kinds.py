"""Columns that hold no names are left out, and it is said why."""

from __future__ import annotations

import hashlib
import sqlite3
import uuid
from pathlib import Path

import pytest
from value_indexes import fill, index_of

from sqljury.access.guard import guard, skip
from sqljury.access.rules import Access
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect
from sqljury.values import Bounds, index_path, open_or_build
from sqljury.values.collect import is_text, no_names

NUMBERS = range(30)
KINDS = {
    "UUIDs": [str(uuid.UUID(int=number * 7919)) for number in NUMBERS],
    "hashes": [hashlib.sha256(bytes([number])).hexdigest() for number in NUMBERS],
    "addresses of pages or files": [f"https://example.org/{number}" for number in NUMBERS],
    "e-mail addresses": [f"someone{number}@example.org" for number in NUMBERS],
    "encoded data": [f"eyJhbGciOiJIUzI1NiIsInR5cCI6{number}Q==" for number in NUMBERS],
    "documents": [f'{{"a": "{number}"}}' for number in NUMBERS],
    "long text": [
        f"In the year of {number} a boy and a girl went up a hill to fetch a pail of water" for number in NUMBERS
    ],
}
DATES = [
    "2011-01-05",
    "1/2/2012",
    "12:30",
    "3.5 %",
    "+371 2 123-456",
    "2017-06-09T12:00:01Z",
    "Jan 5, 2012",
    "5 May 1999",
]
NAMES = ["Ann", "Bo-Yi", "A340-300", "Boeing 747", "SW1A 1AA", "deadbeef", "Dr. No", "x@y", "3M", "R2D2", "N/A"]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str, tmp_path: Path) -> None:
    assert no_names(KINDS[kind]) == kind
    index = index_of(fill(tmp_path / "a.db", t=KINDS[kind], u=["Ann", *KINDS[kind][:4]]))
    assert index.notes == {("t", "value"): kind}
    assert index.columns == {("u", "value"): 5}
    assert index.search("Ann")[0].how == "exact"


def test_numbers_and_names() -> None:
    for value in DATES:
        assert no_names([value]) == "numbers, dates or times", value
    for value in NAMES:
        assert no_names([value]) is None, value
    assert no_names([]) is None


def test_a_column_is_judged_by_all_its_values_not_the_first_rows(tmp_path: Path) -> None:
    many = [f"{number}" for number in range(5000)]
    names = [f"name {number}" for number in range(600)]
    assert index_of(fill(tmp_path / "a.db", t=names + many)).notes == {}
    assert index_of(fill(tmp_path / "b.db", t=names + many * 3 + [f"{n}.5" for n in range(9000)])).notes != {}


def test_types() -> None:
    assert all(map(is_text, ("TEXT", "varchar(20)", "CHARACTER VARYING", "enum('a')", "", "citext", "String")))
    assert not any(map(is_text, ("INTEGER", "DATE", "numeric(3,1)", "BLOB", "uuid", "timestamp", "json")))


def test_long_and_blank_values_and_those_of_other_types_are_left_out(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=["Ann", "x" * 101, "y" * 100, " ", "", None, b"\xff\xfe", 5, "\0" * 200])
    index = index_of(path)
    assert index.columns == {("t", "value"): 3}  # 5 is stored as text in a column of text
    assert index.search("y" * 100)[0].how == "exact"


def test_bounds(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=[f"name {n}" for n in range(50)], u=[f"word {n}" for n in range(30)])
    index = index_of(path, bounds=Bounds(column_values=40))
    assert index.columns == {("t", "value"): 40, ("u", "value"): 30}
    assert index.notes == {("t", "value"): "has more values than the 40 that were read"}
    index = index_of(path, bounds=Bounds(all_values=60))
    assert index.columns == {("t", "value"): 50}
    assert index.notes == {("u", "value"): "would be beyond the 60 values of an index"}


def test_columns_that_must_not_be_read_are_not(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE person (name TEXT, secret TEXT)")
        connection.execute("INSERT INTO person VALUES ('Ann', 'hemlock')")
        connection.execute("CREATE VIEW v AS SELECT secret FROM person")
    connection.close()
    asked: list[str] = []

    class Listening(SQLiteDatabase):
        def execute(self, sql: str, *rest: object, **named: object):  # type: ignore[no-untyped-def, override]
            asked.append(sql)
            return super().execute(sql, *rest, **named)  # type: ignore[arg-type]

    with Listening(path) as db:
        schema = introspect(db)
        whole = open_or_build(db, schema)
        assert whole.search("hemlock")[0].value == "hemlock"
        asked.clear()
        masked = open_or_build(db, schema, skip_columns=lambda table, column: column == "secret")
        assert masked.search("hemlock") == []
        assert masked.path != whole.path
    assert asked
    assert not any("secret" in sql for sql in asked)
    assert b"hemlock" not in masked.path.read_bytes()  # type: ignore[union-attr]


def test_what_access_rules_hide_is_left_out_of_another_index(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE person (name TEXT, town TEXT, secret TEXT)")
        connection.execute("CREATE TABLE other (word TEXT)")
    connection.close()
    rules = (
        Access(),
        Access(deny=("person.secret",)),
        Access(mask=("person.secret", "person.town")),
        Access(deny=("person.secret", "person.town")),
        Access(allow=("other",)),
    )
    with SQLiteDatabase(path) as db:
        whole = introspect(db)
        sessions = [guard(db, whole, rule) for rule in rules]
        paths = [index_path(session, introspect(session), skip(session)) for session in sessions]
        same = guard(db, whole, Access(allow=("person.name", "person.town", "other")))
        assert index_path(same, introspect(same), skip(same)) == paths[1]
        assert len(set(paths)) == len(rules)
        assert paths[0] == index_path(db, whole)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE new (word TEXT)")
    connection.close()
    with SQLiteDatabase(path) as db:  # an index of everything is refreshed where it is
        assert index_path(db, introspect(db)) == paths[0]

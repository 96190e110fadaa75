from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from sqljury.db.base import Database
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import DatabaseError, EmptyDatabaseError
from sqljury.schema.introspect import introspect
from sqljury.types import Column, ForeignKey, Table


@pytest.fixture
def tables(nasty: SQLiteDatabase) -> dict[str, Table]:
    return {table.name: table for table in introspect(nasty).tables}


def test_what_is_listed_and_in_which_order(nasty: SQLiteDatabase) -> None:
    schema = introspect(nasty)
    assert (schema.name, schema.dialect) == ("nasty", "sqlite")
    assert [table.name for table in schema.tables] == [
        *("Author", "book", "edition", "copy", 'odd "name" */ x', "select", "counted", "node", "docs", "box", "cheap")
    ]
    assert [table.name for table in schema.tables if table.kind == "view"] == ["cheap"]
    assert introspect(nasty) == schema


def test_columns(tables: dict[str, Table]) -> None:
    assert tables["Author"].columns == (
        Column("id", "INTEGER", unique=True),
        Column("full name", "VARCHAR(40)", not_null=True),
        Column("mail", "TEXT", unique=True),
        Column("größe", "REAL"),
    )
    generated = [column.name for column in tables["book"].columns]
    assert generated == ["isbn", "author", "editor", "order", "price", "net", "gross"]
    odd = [column.name for column in tables['odd "name" */ x'].columns]
    assert odd == ['a"b', "", "new\nline", "select"]
    assert [column.name for column in tables["docs"].columns] == ["title", "body"]  # not its hidden ones
    assert [column.name for column in tables["cheap"].columns] == ["isbn", "double", "count(*)"]


def test_keys(tables: dict[str, Table]) -> None:
    assert tables["Author"].primary_key == ("id",)
    assert tables["edition"].primary_key == ("number", "isbn")
    assert tables["select"].primary_key == ()
    assert tables["Author"].unique_keys == (("mail",),)
    assert tables["copy"].unique_keys == (("shelf", "isbn"), ("number", "shelf"), ("number",))
    assert [column.name for column in tables["copy"].columns if column.unique] == ["number"]


def test_foreign_keys(tables: dict[str, Table]) -> None:
    assert tables["book"].foreign_keys == (
        ForeignKey(("author",), "Author", ("id",)),
        ForeignKey(("editor",), "Author", ("id",)),
    )
    # composite and implicit; those to a missing table or column lead nowhere
    assert tables["copy"].foreign_keys == (ForeignKey(("number", "isbn"), "edition", ("number", "isbn")),)
    assert tables["node"].foreign_keys == (ForeignKey(("parent",), "node", ("id",)),)


def test_a_database_without_tables(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "empty.db")
    connection.executescript("CREATE TABLE t (a); DROP TABLE t; CREATE VIEW broken AS SELECT * FROM gone;")
    connection.close()
    with SQLiteDatabase(tmp_path / "empty.db") as db, pytest.raises(EmptyDatabaseError, match="has no table"):
        introspect(db)


def test_an_engine_without_a_reader(nasty: SQLiteDatabase) -> None:
    nasty.dialect = "oracle"
    db: Database = nasty
    with pytest.raises(DatabaseError, match="oracle cannot be read yet"):
        introspect(db)


def test_a_thousand_tables_take_seconds_at_most(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "wide.db")
    connection.execute("BEGIN")
    columns = ", ".join(f"c{number} TEXT" for number in range(20))
    for number in range(1000):
        connection.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, {columns}, UNIQUE (c0))")
    connection.commit()
    connection.close()
    start = time.perf_counter()
    with SQLiteDatabase(tmp_path / "wide.db") as db:
        assert sum(len(table.columns) for table in introspect(db).tables) == 21_000
    assert time.perf_counter() - start < 10


def test_the_file_stays_as_it_is(nasty: SQLiteDatabase, nasty_path: Path) -> None:
    before = nasty_path.read_bytes()
    introspect(nasty)
    assert nasty_path.read_bytes() == before
    assert [file.name for file in nasty_path.parent.iterdir()] == ["nasty.db"]

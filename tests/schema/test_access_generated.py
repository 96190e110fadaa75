from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.schema.access import Access, visible
from sqljury.schema.guard import guard
from sqljury.schema.introspect import introspect
from sqljury.schema.samples import sample
from sqljury.types import Column, Schema, Table


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, ssn TEXT, both TEXT AS (name || ssn));"
            "INSERT INTO person (name, ssn) VALUES ('NAME-CANARY', 'SSN-CANARY');"
        )
    connection.close()
    with connect(file) as opened:
        yield opened


def test_what_is_computed_beside_a_hidden_column_is_hidden(db: Database) -> None:
    guarded = guard(db, introspect(db), Access(deny=("person.ssn",)))
    assert [column.name for column in introspect(guarded).tables[0].columns] == ["id", "name"]
    assert guarded.execute("SELECT both FROM person").error is not None
    assert "SSN-CANARY" not in str(sample(guarded, introspect(guarded)))


def test_what_is_computed_beside_a_masked_column_is_masked(db: Database) -> None:
    guarded = guard(db, introspect(db), Access(mask=("person.name",)))
    assert "NAME-CANARY" not in str(sample(guarded, introspect(guarded)))
    assert guarded.execute("SELECT both FROM person").ok


def test_the_values_of_a_masked_type_are_not_told() -> None:
    table = Table("t", (Column("id"), Column("m", "ENUM", values=("CANARY",)), Column("n", "ENUM", values=("seen",))))
    (shown,) = visible(Schema("s", "postgres", (table,)), Access(mask=("t.m",))).tables
    assert [column.values for column in shown.columns] == [(), (), ("seen",)]

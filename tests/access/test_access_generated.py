from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.access.check import Checker
from sqljury.access.guard import guard
from sqljury.access.rules import Access, compiled
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import QueryRefusedError
from sqljury.schema.introspect import introspect
from sqljury.schema.render import render
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
    (shown,) = compiled(Schema("s", "postgres", (table,)), Access(mask=("t.m",))).shown.tables
    assert [column.values for column in shown.columns] == [(), (), ("seen",)]


def test_a_masked_value_in_a_definition_or_comment_is_not_told(tmp_path: Path) -> None:
    file = tmp_path / "vip.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, -- the number\n"
            "  name TEXT, -- such as 'NAME-CANARY' or \"OTHER-CANARY\", 19001231 once\n"
            "  city TEXT -- such as 'Riga'\n);"
            "CREATE VIEW vip AS SELECT id, city FROM person WHERE name = 'NAME-CANARY';"
            "CREATE VIEW outer_vip AS SELECT id FROM vip WHERE city = 'CITY-CANARY';"
            "CREATE VIEW of_riga AS SELECT id FROM person WHERE city = 'Riga';"
        )
    connection.close()
    with connect(file) as db:
        text = render(introspect(guard(db, introspect(db), Access(mask=("person.name",)))))
    assert "CANARY" not in text
    assert "19001231" not in text
    assert "such as" in text
    assert text.count("Riga") == 2  # of a column that is not masked


def test_types_of_postgres_allow_what_they_show() -> None:
    column, masked = Column("m", "mood", values=("sad",)), Column("n", "size", values=("CANARY",))
    schema = Schema("s", "postgres", (Table("t", (Column("id"), column)), Table("u", (Column("id"), masked))))
    checker = Checker(compiled(schema, Access(deny=("u.n",))).rules)
    assert checker.check("SELECT 'sad'::mood") == "SELECT 'sad'::mood"
    for sql in ("SELECT NULL::size", "SELECT CAST('x' AS size)", "SELECT NULL::size[]", "SELECT NULL::none"):
        with pytest.raises(QueryRefusedError, match="the type"):
            checker.check(sql)

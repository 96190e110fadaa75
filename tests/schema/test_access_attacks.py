"""Queries that try to read what is denied are refused, and ordinary ones give what they give without rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from access_shop import CANARY, DENIED_READS, SQLITE_ACCESS, build, leaks
from read_oracle import reads

from sqljury.access.guard import Guarded, guard
from sqljury.db.base import Database
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect


def lines(name: str) -> list[str]:
    found = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in found if line and ("⏎" in line or not line.startswith("-- "))]


ATTACKS, PLAIN = lines("access_attacks.sql"), lines("access_plain.sql")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteDatabase]:
    with SQLiteDatabase(build(tmp_path_factory.mktemp("access") / "shop.db")) as database:
        yield database


@pytest.fixture(scope="module")
def guarded(db: SQLiteDatabase) -> Database:
    return guard(db, introspect(db), SQLITE_ACCESS)


def test_there_are_enough_of_them() -> None:
    assert len(set(ATTACKS)) >= 120
    assert len(set(PLAIN)) >= 60


@pytest.mark.parametrize("sql", ATTACKS)
def test_an_attack_is_refused(guarded: Database, sql: str) -> None:
    result = guarded.execute(sql)
    assert result.error is not None
    assert str(result.error).startswith("refused: ")
    assert not leaks(str(result.error).replace(sql, "")) or CANARY in sql
    assert not result.rows
    assert not result.columns


def test_most_attacks_would_read_something_denied(db: SQLiteDatabase) -> None:
    """Or the list would prove little."""
    connection = sqlite3.connect(f"file:{db.path}?mode=ro", uri=True)
    real = 0
    for sql in ATTACKS:
        try:
            real += not DENIED_READS.isdisjoint(reads(connection, sql))
        except (sqlite3.Error, sqlite3.Warning):
            continue
    connection.close()
    assert real >= 100


@pytest.mark.parametrize("sql", PLAIN)
def test_an_ordinary_query_gives_what_it_gives_without_rules(db: Database, guarded: Database, sql: str) -> None:
    expected, result = db.execute(sql), guarded.execute(sql)
    assert result.error is None
    assert expected.error is None
    assert (result.columns, result.rows, result.truncated) == (expected.columns, expected.rows, expected.truncated)
    assert not leaks(result)


def test_a_refusal_does_not_tell_a_hidden_name_from_none(guarded: Database) -> None:
    for hidden, none in (("ssn", "xyz"), ("c.ssn", "c.xyz")):
        told = [str(guarded.execute(f"SELECT {name} FROM customer c").error) for name in (hidden, none)]
        assert told[0].replace("ssn", "xyz") == told[1]
    told = [str(guarded.execute(f"SELECT 1 FROM {name}").error) for name in ("secret", "xyz")]
    assert told[0].replace("secret", "xyz") == told[1]


def test_no_refusal_names_a_hidden_name_that_the_query_does_not(guarded: Database) -> None:
    for sql in ATTACKS:
        error = str(guarded.execute(sql).error).lower()
        for name in ("ssn", "credit card", "secret", "leaky", "code", "body"):
            assert name in sql.lower() or name not in error, (sql, error)


def test_what_is_denied_is_nowhere_in_the_schema(guarded: Database) -> None:
    assert isinstance(guarded, Guarded)
    text = repr(introspect(guarded)).lower()
    for name in ("credit card", "secret", "leaky", "renamed", "nested", "body", "code"):
        assert name not in text
    (view,) = (table for table in guarded.schema.tables if table.name == "allowed_view")
    assert view.definition == ""  # it reads a denied column
    assert view.columns

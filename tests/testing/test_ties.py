"""Ties that decide which rows come back, asked of a database on which they are known."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.testing.ties import decided, ranked
from sqljury.types import Limits

LIMITS = Limits(seconds=5.0, rows=1000)
COLUMNS = {"id", "owner", "kind", "age", "name"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Owners 1 and 2 have two pets each, 3 has one; ages are 1 to 5, kinds repeat."""
    file = tmp_path / "pets.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, owner INT, kind TEXT, age INT, name TEXT);"
            "INSERT INTO pet VALUES (1, 1, 'cat', 1, 'a'), (2, 1, 'cat', 2, 'b'), (3, 2, 'dog', 3, 'c'),"
            "(4, 2, 'dog', 4, 'd'), (5, 3, 'cat', 5, 'E');"
        )
    connection.close()
    with connect(file) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT owner FROM pet GROUP BY owner ORDER BY count(*) DESC LIMIT 1", False),
        ("SELECT owner FROM pet GROUP BY owner ORDER BY count(*) LIMIT 1", True),
        ("SELECT owner FROM pet GROUP BY owner ORDER BY count(*) DESC LIMIT 2", True),
        ("SELECT owner, count(*) AS c FROM pet GROUP BY owner ORDER BY c DESC LIMIT 1", False),
        ("SELECT owner, count(*) FROM pet GROUP BY owner ORDER BY 2 DESC LIMIT 1", False),
        ("SELECT owner, count(*) FROM pet GROUP BY owner ORDER BY 2 LIMIT 1", True),
        ("SELECT count(*) FROM pet GROUP BY owner ORDER BY count(*) DESC LIMIT 1", True),
        ("SELECT owner FROM pet GROUP BY owner ORDER BY count(*) DESC, owner LIMIT 1", True),
        ("SELECT name FROM pet ORDER BY owner LIMIT 1 OFFSET 1", False),
        ("SELECT name FROM pet ORDER BY owner LIMIT 2 OFFSET 4", True),
        ("SELECT name FROM pet ORDER BY kind LIMIT 3", True),
        ("SELECT name FROM pet ORDER BY kind LIMIT 2", False),
        ("SELECT kind FROM pet ORDER BY kind LIMIT 2", True),
        ("SELECT kind FROM pet GROUP BY kind LIMIT 1", False),
        ("SELECT kind FROM pet GROUP BY kind LIMIT 2", True),
        ("SELECT DISTINCT kind FROM pet ORDER BY kind LIMIT 1", True),
        ("SELECT DISTINCT kind AS k FROM pet ORDER BY k LIMIT 1", True),
        ("SELECT DISTINCT kind FROM pet ORDER BY age LIMIT 1", False),
        ("SELECT name FROM pet ORDER BY name = 'E' OR name = 'a' DESC LIMIT 1", False),
        ("SELECT * FROM pet ORDER BY age LIMIT 1", True),
        ("SELECT * FROM pet ORDER BY kind LIMIT 1", False),
        ("SELECT name FROM pet WHERE owner = (SELECT owner FROM pet GROUP BY owner ORDER BY count(*) LIMIT 1)", True),
        (
            "SELECT name FROM pet WHERE owner = (SELECT owner FROM pet GROUP BY owner ORDER BY count(*) DESC LIMIT 1)",
            False,
        ),
        ("SELECT name FROM pet WHERE owner IN (SELECT owner FROM pet ORDER BY count(*))", True),
        (
            "SELECT name FROM pet AS p WHERE age = (SELECT age FROM pet AS q WHERE q.id = p.id ORDER BY age LIMIT 1)",
            False,
        ),
        (
            "WITH o AS (SELECT owner, count(*) AS n FROM pet GROUP BY owner) SELECT owner FROM o ORDER BY n LIMIT 1",
            True,
        ),
        (
            "WITH o AS (SELECT owner, count(*) AS n FROM pet GROUP BY owner) "
            "SELECT name FROM pet WHERE owner = (SELECT owner FROM o ORDER BY n DESC LIMIT 1)",
            False,
        ),
        ("SELECT owner FROM pet UNION SELECT age FROM pet ORDER BY owner LIMIT 1", True),
        ("SELECT kind, name FROM pet UNION SELECT kind, name FROM pet ORDER BY 1 LIMIT 1", False),
        ("SELECT kind, name FROM pet UNION SELECT kind, name FROM pet ORDER BY kind, name LIMIT 1", True),
        ("SELECT name FROM pet ORDER BY owner LIMIT (SELECT 1)", False),
        ("SELECT name FROM pet", True),
        ("no query", False),
    ],
)
def test_which_rows_are_kept(database: Database, sql: str, expected: bool) -> None:
    assert decided(database, ranked(sql, COLUMNS), LIMITS) is expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT name FROM pet ORDER BY age", True),
        ("SELECT name FROM pet ORDER BY owner", False),
        ("SELECT owner FROM pet GROUP BY owner ORDER BY count(*)", False),
        ("SELECT owner FROM pet ORDER BY owner", True),
        ("SELECT name FROM pet ORDER BY owner DESC LIMIT 1", True),
        ("SELECT name FROM pet ORDER BY owner DESC LIMIT 3", False),
        ("SELECT count(*) FROM pet WHERE age IN (SELECT age FROM pet ORDER BY age LIMIT 2)", True),
        ("SELECT kind FROM pet WHERE age IN (SELECT age FROM pet ORDER BY age DESC LIMIT 2)", False),
    ],
)
def test_in_which_order_where_that_counts(database: Database, sql: str, expected: bool) -> None:
    assert decided(database, ranked(sql, COLUMNS, ordered=True), LIMITS) is expected


def test_what_ran_too_long_or_was_cut_is_not_decided(database: Database) -> None:
    queries = ranked("SELECT name FROM pet ORDER BY age LIMIT 1", COLUMNS)
    assert decided(database, queries, LIMITS)
    assert not decided(database, queries, Limits(seconds=5.0, rows=3))

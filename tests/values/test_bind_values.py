from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.types import Table
from sqljury.values import ValueIndex, open_or_build
from sqljury.values.bind import bind_values


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    file = tmp_path / "places.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, country TEXT, code TEXT);"
            "CREATE TABLE mayor (id INTEGER PRIMARY KEY, name TEXT, city_id INT REFERENCES city (id));"
            "INSERT INTO city VALUES (1, 'Orange', 'United States', 'US'), (2, 'Lisbon', 'Portugal', 'PT'),"
            " (3, 'Lisbun', 'Nowhere', 'XX'), (4, '<|im_end|>Ghent', 'two' || char(10) || 'lines', '/*BE*/');"
            "INSERT INTO mayor VALUES (1, 'Ann O''Neill', 2);"
            "CREATE TABLE visit (id INTEGER PRIMARY KEY, state TEXT);"
            "INSERT INTO visit VALUES (1, 'CANC'), (2, 'NOSHOW'), (3, 'DONE'), (4, 'BO');"
            "CREATE TABLE office (id INTEGER PRIMARY KEY, country TEXT);"
            "INSERT INTO office VALUES (1, 'AUS'), (2, 'GER'), (3, 'NOR');"
            "CREATE TABLE event (id INTEGER PRIMARY KEY, action TEXT);"
            "INSERT INTO event VALUES (1, 'api_key.created'), (2, 'api_key.revoked'), (3, 'invoice.paid');"
        )
    connection.close()
    with connect(file) as opened:
        yield opened


def bound(db: Database, sql: str) -> str | None:
    schema = introspect(db)

    def has(table: Table, column: str, text: str) -> bool:
        return bool(db.catalog(f"SELECT 1 FROM {table.name} WHERE {column} = ? LIMIT 1", (text,)))

    def index() -> ValueIndex:
        return open_or_build(db, schema)

    return bind_values(sql, schema, has, index)


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT id FROM city WHERE name = 'orange'", "SELECT id FROM city WHERE name = 'Orange'"),
        ("SELECT id FROM city WHERE name <> 'Ornage'", "SELECT id FROM city WHERE name <> 'Orange'"),
        ("SELECT id FROM city WHERE country = 'USA'", "SELECT id FROM city WHERE country = 'United States'"),
        ("SELECT id FROM office WHERE country = 'Australia'", "SELECT id FROM office WHERE country = 'AUS'"),
        ("SELECT id FROM visit WHERE state = 'Cancelled'", "SELECT id FROM visit WHERE state = 'CANC'"),
        (
            "SELECT id FROM event WHERE action = 'create_api_key'",
            "SELECT id FROM event WHERE action = 'api_key.created'",
        ),
        ("SELECT id FROM visit WHERE state = 'No show'", "SELECT id FROM visit WHERE state = 'NOSHOW'"),
        (
            "SELECT id FROM city WHERE name IN ('Orange', 'lisbon')",
            "SELECT id FROM city WHERE name IN ('Orange', 'Lisbon')",
        ),
        (
            "SELECT c.id FROM city AS c JOIN mayor AS m ON m.city_id = c.id WHERE m.name = 'ann o''neill'",
            "SELECT c.id FROM city AS c JOIN mayor AS m ON m.city_id = c.id WHERE m.name = 'Ann O''Neill'",
        ),
        (
            "SELECT name FROM mayor WHERE city_id = (SELECT id FROM city WHERE code = 'pt')",
            "SELECT name FROM mayor WHERE city_id = (SELECT id FROM city WHERE code = 'PT')",
        ),
    ],
)
def test_a_text_that_the_column_lacks_becomes_the_value_it_means(db: Database, sql: str, wanted: str) -> None:
    assert bound(db, sql) == wanted


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM event WHERE action = 'delete_api_key'",
        "SELECT id FROM event WHERE action = 'key_created'",
        "SELECT id FROM visit WHERE state IN ('Booked', 'Canada')",
        "SELECT id FROM office WHERE country = 'Austria'",  # AUS is Australia
        "SELECT id FROM city WHERE name = 'Orange'",  # it has that
        "SELECT id FROM city WHERE name = 'Reykjavik'",  # nothing near
        "SELECT id FROM city WHERE name = 'Portugal'",  # of another column
        "SELECT 1 FROM city JOIN mayor ON city.id = city_id WHERE name = 'orange'",  # of which table?
        "SELECT x.n FROM (SELECT name AS n FROM city) AS x WHERE x.n = 'orange'",
        "SELECT id FROM city WHERE name LIKE 'orange'",
        "SELECT id FROM city WHERE name = '< |im_end|>Ghent'",  # as a prompt shows it, and it must not be in one
        "SELECT id FROM city WHERE name = '<|IM_END|>GHENT'",
        "SELECT id FROM city WHERE country = 'two lines'",
        "SELECT id FROM city WHERE code = '/ *BE* /'",
        "SELECT id FROM city WHERE id = 'x' OR upper(name) = 'orange'",
        "no query",
    ],
)
def test_all_else_is_left(db: Database, sql: str) -> None:
    assert bound(db, sql) is None


def test_the_index_is_not_asked_for_while_every_text_is_there(db: Database) -> None:
    def index() -> ValueIndex:
        raise AssertionError

    sql = "SELECT id FROM city WHERE name = 'Orange' AND country IN ('Portugal')"
    assert bind_values(sql, introspect(db), lambda *_: True, index) is None

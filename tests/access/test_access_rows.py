"""Rules for rows: whatever a query is, it reads no other rows."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import servers
from sqljury import connect
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.db.base import Database
from sqljury.errors import InputError
from sqljury.schema.introspect import introspect
from sqljury.types import Row
from sqljury.values.index import index_path

TABLES = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, "Order" INTEGER, region TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total INTEGER);
CREATE VIEW everybody AS SELECT name FROM customer;
CREATE VIEW totals AS SELECT total FROM orders;
INSERT INTO customer VALUES (1, 'Ann', 1, 'north'), (2, 'Bo', 2, 'north'), (3, 'CANARY', 0, 'south'),
    (4, 'CANARY', 0, NULL);
INSERT INTO orders VALUES (1, 1, 10), (2, 3, 20), (3, 3, 30);
"""
NORTH = "customer: region = 'north'"
QUERIES = [
    ("SELECT name FROM customer", [("Ann",), ("Bo",)]),
    ("SELECT * FROM customer WHERE id = 3", []),
    ("SELECT count(*) FROM customer", [(2,)]),
    ("SELECT c.name FROM customer AS c", [("Ann",), ("Bo",)]),
    ("SELECT c.name FROM customer c WHERE c.region = 'south' OR 1 = 1", [("Ann",), ("Bo",)]),
    ("SELECT customer.name FROM main.customer", [("Ann",), ("Bo",)]),
    ('SELECT "customer"."Order" FROM "customer"', [(1,), (2,)]),
    ("SELECT name FROM Customer", [("Ann",), ("Bo",)]),
    ("SELECT o.total FROM orders o JOIN customer c ON c.id = o.customer_id", [(10,)]),
    ("SELECT o.id, c.name FROM orders o LEFT JOIN customer c ON c.id = o.customer_id", None),
    ("SELECT a.name FROM customer a, customer b WHERE a.id = b.id", [("Ann",), ("Bo",)]),
    ("SELECT total FROM orders WHERE customer_id IN (SELECT id FROM customer)", [(10,)]),
    ("SELECT (SELECT max(name) FROM customer) FROM orders WHERE id = 1", [("Bo",)]),
    ("SELECT total FROM orders o WHERE EXISTS (SELECT 1 FROM customer c WHERE c.id = o.customer_id)", [(10,)]),
    ("WITH x AS (SELECT * FROM customer) SELECT name FROM x", [("Ann",), ("Bo",)]),
    ("SELECT name FROM customer UNION ALL SELECT name FROM customer WHERE id > 2", [("Ann",), ("Bo",)]),
    ("SELECT name FROM (SELECT * FROM customer) AS y", [("Ann",), ("Bo",)]),
    ("SELECT name /* FROM customer */ FROM customer -- customer", [("Ann",), ("Bo",)]),
    ("SELECT total FROM totals", [(10,), (20,), (30,)]),
]
REFUSED = [
    "SELECT name FROM everybody",
    "SELECT 1 FROM orders WHERE 3 IN customer",
    "TABLE customer",
    "SELECT main.customer.name FROM orders, main.customer WHERE orders.id = main.customer.nothing",
    "SELECT * FROM query_table('customer')",
]
BAD = [
    ("customer", "is not a rule"),
    ("custommer: id = 1", "matches no table"),
    ("customer: regon = 'north'", "cannot be used"),
    ("customer: id = 1) OR (1 = 1", "not one expression"),
    ("customer: id IN (SELECT customer_id FROM orders)", "not one expression"),
    ("customer: id = 1; DELETE FROM customer", "cannot be used"),
    ("customer: id = 1 ORDER BY 1", "cannot be used"),
    ("customer: \"regon\" <> 'south'", "cannot be used"),
    ("customer: count(*) > 0", "cannot be used"),
    ("customer: region = :region", "cannot be used"),
]
MADE: set[str] = set()
"""The engines whose server has the shop."""
Guard = Callable[..., Database]


@pytest.fixture(params=["sqlite", "duckdb", "postgres", "mariadb"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Guard]:
    """The shop behind rules, on every engine."""
    if request.param in ("postgres", "mariadb"):
        url = on_server(request)
        with connect(url) as database:
            yield lambda *rows, **rules: guard(database, introspect(database), Access(rows=rows, **rules))
        return
    file = tmp_path / f"shop.{'db' if request.param == 'sqlite' else 'duckdb'}"
    if request.param == "sqlite":
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.executescript(TABLES)
    else:
        import duckdb

        with duckdb.connect(str(file)) as writing:
            writing.execute(TABLES)
    with connect(str(file)) as database:
        yield lambda *rows, **rules: guard(database, introspect(database), Access(rows=rows, **rules))


def on_server(request: pytest.FixtureRequest) -> str:
    """The URL of the shop on a real server, made once in a session."""
    server = request.getfixturevalue(f"{request.param}_server")
    name = "access_rows"
    if request.param not in MADE:
        MADE.add(request.param)
        if request.param == "postgres":
            servers.in_postgres(server, "postgres", f"CREATE DATABASE {name}")
            servers.in_postgres(server, name, TABLES)
        else:
            statements = TABLES.replace('"', "`").replace("TEXT", "VARCHAR(40)").strip().removesuffix(";").split(";")
            servers.in_mariadb(server, f"CREATE DATABASE {name}", f"USE {name}", *statements)
    return (servers.postgres_url if request.param == "postgres" else servers.mysql_url)(server, name)


def spelled(database: Database, sql: str) -> str:
    """A query as this engine writes names."""
    schema = {"postgres": "public.", "mysql": "access_rows."}.get(database.dialect, "main.")
    sql = sql.replace("main.", schema).replace("FROM Customer", "FROM customer")
    return sql.replace('"', "`") if database.dialect == "mysql" else sql


def rows(database: Database, sql: str) -> list[Row]:
    result = database.execute(spelled(database, sql))
    assert result.error is None, result.error
    return sorted(result.rows)


def test_a_query_sees_the_allowed_rows_only(shop: Guard) -> None:
    database = shop(NORTH)
    for sql, expected in QUERIES:
        result = database.execute(spelled(database, sql))
        assert result.error is None, (sql, result.error)
        assert "CANARY" not in str(result.rows), sql
        assert expected is None or sorted(result.rows) == expected, sql


def test_what_would_read_others_is_refused(shop: Guard) -> None:
    database = shop(NORTH)
    for sql in REFUSED:
        result = database.execute(spelled(database, sql))
        assert result.error is not None, sql
        assert "CANARY" not in str(result.error), sql


def test_no_condition_of_a_query_runs_on_other_rows(shop: Guard) -> None:
    """A division by zero, or its like, would tell that there is such a row."""
    sql = 'SELECT name FROM customer WHERE abs(CASE WHEN "Order" = 0 THEN -9223372036854775807 - 1 ELSE 1 END) = 1'
    assert rows(shop(NORTH), sql) == [("Ann",), ("Bo",)]
    whole = shop()
    assert whole.execute(spelled(whole, sql)).error is not None  # without the rule it fails on the others


def test_views_that_read_other_rows_are_not_shown(shop: Guard) -> None:
    shown = {table.name for table in introspect(shop(NORTH)).tables}
    assert shown == {"customer", "orders", "totals"}


def test_rules_add_up_and_go_with_hidden_columns(shop: Guard) -> None:
    assert rows(shop(NORTH, "cust*: id > 1"), "SELECT name FROM customer") == [("Bo",)]
    database = shop(NORTH, deny=("customer.region",))
    assert rows(database, "SELECT name FROM customer") == [("Ann",), ("Bo",)]
    assert database.execute("SELECT region FROM customer").error is not None
    assert "region" not in str(introspect(database))
    assert (Access(rows=(NORTH,)) + Access(rows=("orders: id = 1",))).rows == (NORTH, "orders: id = 1")


def test_a_rule_may_be_on_a_view_itself(shop: Guard) -> None:
    assert rows(shop("totals: total > 10"), "SELECT total FROM totals") == [(20,), (30,)]


def test_a_rule_may_match_what_is_hidden(shop: Guard) -> None:
    database = shop("*: id = 1", deny=("orders",))  # views without the column among them, which read tables with rules
    assert rows(database, "SELECT name FROM customer") == [("Ann",)]
    assert {table.name for table in introspect(database).tables} == {"customer"}
    assert rows(shop(NORTH, "everybody: name > ''"), "SELECT name FROM customer") == [("Ann",), ("Bo",)]


def test_a_rule_that_would_not_hold_is_an_error(shop: Guard) -> None:
    for rule, words in BAD:
        with pytest.raises(InputError, match=words):
            shop(rule)


def test_values_of_others_are_not_in_an_index_that_is_shared(shop: Guard) -> None:
    whole, some = shop(deny=("orders",)), shop(NORTH, deny=("orders",))
    assert index_path(whole, introspect(whole)) != index_path(some, introspect(some))

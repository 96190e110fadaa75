"""One small shop on every engine and in files: the same questions get the same answers, by the whole way."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

import servers
from sqljury import ask, connect
from sqljury.llm.local import LocalModel
from sqljury.schema.introspect import introspect
from sqljury.values import open_or_build

CUSTOMERS = [(1, "Ada", "Lisbon"), (2, "Ben", "Porto"), (3, "Cleo", "Lisbon"), (4, "Dan", "New York")]
ORDERS = [(1, 1, "2024-01-15", 20), (2, 1, "2024-03-02", 35), (3, 2, "2025-07-30", 12), (4, 4, "2025-08-01", 50)]
SCRIPT = [
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, ordered_on DATE, total INTEGER,"
    " FOREIGN KEY (customer_id) REFERENCES customer (id))",
    *(f"INSERT INTO customer VALUES ({a}, '{b}', '{c}')" for a, b, c in CUSTOMERS),
    *(f"INSERT INTO orders VALUES ({a}, {b}, '{c}', {d})" for a, b, c, d in ORDERS),
]
ENGINES = ("sqlite", "duckdb", "csv", "postgresql", "mariadb")
Place = Callable[[str], str]


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """From the name of an engine to where the shop is on it."""

    def place(engine: str) -> str:
        script = ";\n".join(SCRIPT) + ";"
        if engine == "sqlite":
            import sqlite3

            sqlite3.connect(tmp_path / "shop.db").executescript(script).close()
            return str(tmp_path / "shop.db")
        if engine == "duckdb":
            import duckdb

            with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
                connection.execute(script)
            return str(tmp_path / "shop.duckdb")
        if engine == "csv":
            folder = tmp_path / "shop"
            folder.mkdir()
            columns = {"customer": ("id", "name", "city"), "orders": ("id", "customer_id", "ordered_on", "total")}
            for name, rows in (("customer", CUSTOMERS), ("orders", ORDERS)):
                with open(folder / f"{name}.csv", "w", newline="") as file:
                    csv.writer(file).writerows([columns[name], *rows])
            return str(folder)
        if engine == "postgresql":
            server: servers.Server = request.getfixturevalue("postgres_server")
            servers.in_postgres(server, "postgres", "DROP DATABASE IF EXISTS whole_way")
            servers.in_postgres(server, "postgres", "CREATE DATABASE whole_way")
            servers.in_postgres(server, "whole_way", script)
            return servers.postgres_url(server, "whole_way")
        server = request.getfixturevalue("mariadb_server")
        fresh = ("DROP DATABASE IF EXISTS whole_way", "CREATE DATABASE whole_way", "USE whole_way")
        servers.in_mariadb(server, *fresh, *SCRIPT)
        return servers.mysql_url(server, "whole_way")

    return place


@pytest.mark.weights
@pytest.mark.parametrize("engine", ENGINES)
def test_a_question_gets_the_same_answer(engine: str, place: Place, default_model: LocalModel) -> None:
    answer = ask("How many customers live in Lisbon?", place(engine), recipe="fast", model=default_model)
    assert [tuple(map(int, row)) for row in answer.rows] == [(2,)], answer.sql


@pytest.mark.parametrize("engine", ENGINES)
def test_the_schema_and_the_values_are_the_same(engine: str, place: Place) -> None:
    with connect(place(engine)) as db:
        schema = introspect(db)
        assert {table.name: [column.name for column in table.columns] for table in schema.tables} == {
            "customer": ["id", "name", "city"],
            "orders": ["id", "customer_id", "ordered_on", "total"],
        }
        (best, *_) = open_or_build(db, schema).search("Lisbonn")
        assert (best.table, best.column, best.value) == ("customer", "city", "Lisbon")
        result = db.execute("SELECT city, count(*) FROM customer GROUP BY city ORDER BY city")
        assert [tuple(row) for row in result.rows] == [("Lisbon", 2), ("New York", 1), ("Porto", 1)]


@pytest.mark.parametrize("engine", ENGINES)
def test_another_dialects_query_is_repaired(engine: str, place: Place) -> None:
    from sqljury import FakeModel

    model = FakeModel("SELECT id FROM orders WHERE YEAR(ordered_on) = 2024 AND total > 30 LIMIT 5")
    assert [tuple(row) for row in ask("Which orders?", place(engine), recipe="fast", model=model).rows] == [(2,)]

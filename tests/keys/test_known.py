"""Keys that nobody declared, from the rows of a database, and their place in the cache."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.db.connect import connect
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import CancelledError
from sqljury.keys import known_schema
from sqljury.schema.introspect import introspect
from sqljury.types import Schema

CITIES = ("Oslo", "Rome", "Lima", "Cairo", "Delhi", "Quito")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for each test."""
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "values"


def settled(path: Path) -> Path:
    """The file dated back, so that its version is settled."""
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 60_000_000_000))
    return path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Customers, their orders and employees, without any key declared; ages are numbers that are ids by chance."""
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER, name TEXT, age INTEGER, city TEXT)")
        connection.execute("CREATE TABLE employees (emp_no INTEGER, name TEXT, manager_id INTEGER)")
        connection.execute(
            "CREATE TABLE orders (order_id INTEGER, customer_id INTEGER, sold_by TEXT, quantity INTEGER)"
        )
        customers = [(n, f"Customer {n}", 1 + n % 40, CITIES[n % 6]) for n in range(1, 41)]
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", customers)
        employees = [(1000 + 7 * n, f"Employee {n}", 1000 + 7 * (n % 3) if n else None) for n in range(12)]
        connection.executemany("INSERT INTO employees VALUES (?, ?, ?)", employees)
        orders = [(500 + n, 1 + n * 7 % 40, f"Employee {n % 12}", 1 + n % 12) for n in range(200)]
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)
    connection.close()
    return settled(path)


def references(schema: Schema) -> dict[str, str]:
    """The inferred keys, as ``table.column`` and what it refers to."""
    return {
        f"{table.name}.{', '.join(key.columns)}": f"{key.ref_table}.{', '.join(key.ref_columns)}"
        for table in schema.tables
        for key in table.foreign_keys
        if not key.declared
    }


def test_keys_are_found_from_names_and_values(shop: Path) -> None:
    with connect(str(shop)) as db:
        plain, schema = introspect(db), known_schema(db)
    found = references(schema)
    assert found["orders.customer_id"] == "customers.id"
    assert "customers.age" not in found
    assert "orders.quantity" not in found
    (key,) = (key for key in schema.tables[2].foreign_keys if key.columns == ("customer_id",))
    assert not key.declared
    assert 0.5 <= key.score < 1
    assert "every value of orders.customer_id is in customers.id" in key.evidence
    assert "customers.id is unique" in key.evidence
    by_name = {table.name: table for table in schema.tables}
    assert by_name["customers"].candidate_keys[0] == ("id",)
    assert by_name["employees"].candidate_keys[0] == ("emp_no",)
    assert [table.columns for table in schema.tables] == [table.columns for table in plain.tables]


def test_what_is_found_is_kept_until_the_rows_change(shop: Path, empty_cache: Path) -> None:
    with connect(str(shop)) as db:
        first, steps = known_schema(db), []
        assert known_schema(db, lambda *step: steps.append(step)) == first
        assert not steps
        (file,) = empty_cache.glob("*.keys")
        assert b"Customer 7" not in file.read_bytes()
    with sqlite3.connect(shop) as connection:
        connection.execute("UPDATE orders SET customer_id = customer_id + 10000")
    connection.close()
    settled(shop)
    with connect(str(shop)) as db:
        assert "orders.customer_id" not in references(known_schema(db, lambda *step: steps.append(step)))
        assert steps
        file.write_bytes(file.read_bytes()[:-9])
        with pytest.warns(RuntimeWarning, match="cannot be used"):
            known_schema(db)


def test_masked_columns_are_not_read(shop: Path) -> None:
    queries: list[str] = []

    class Spy(SQLiteDatabase):
        def execute(self, sql: str, *args: object, **options: object):  # type: ignore[no-untyped-def,override]
            queries.append(sql)
            return super().execute(sql, *args, **options)  # type: ignore[arg-type]

    with Spy(shop) as db:
        rules = Access(deny=("customers.age",), mask=("customers.id",))
        schema = known_schema(guard(db, introspect(db), rules))
        read = [sql for sql in queries if "customers" in sql]
    assert read
    assert not any(word in sql for sql in read for word in ("age", " id", "id,"))
    (key,) = (key for table in schema.tables for key in table.foreign_keys if key.columns == ("customer_id",))
    assert not any("every value" in line or "unique" in line for line in key.evidence)
    assert ("id",) not in schema.tables[0].candidate_keys


def test_declared_keys_stay_alone(tmp_path: Path) -> None:
    path = tmp_path / "declared.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cities (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES cities, age INT)")
        connection.executemany("INSERT INTO cities VALUES (?, ?)", enumerate(CITIES, 1))
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [(n, 1 + n % 6, 1 + n % 6) for n in range(1, 30)])
    connection.close()
    with connect(str(path)) as db:
        assert known_schema(db) == introspect(db)


def test_cancel_and_nothing_written(shop: Path) -> None:
    before, stop = shop.read_bytes(), threading.Event()
    with connect(str(shop)) as db:
        known_schema(db)
        stop.set()
        assert references(known_schema(db, cancel=stop))  # it is known
    assert shop.read_bytes() == before
    os.utime(shop)
    with connect(str(shop)) as db, pytest.raises(CancelledError):
        known_schema(db, cancel=stop)


def chance(tmp_path: Path, tables: int) -> Iterator[str]:
    """Tables whose columns hold the numbers 1 to 12, whatever they mean."""
    for number in range(tables):
        yield f"CREATE TABLE thing{number} (label TEXT, amount INTEGER, level INTEGER)"


def test_equal_numbers_are_not_keys(tmp_path: Path) -> None:
    path = tmp_path / "months.db"
    with sqlite3.connect(path) as connection:
        for statement in chance(tmp_path, 4):
            connection.execute(statement)
        for number in range(4):
            rows = [(f"label {n}", n, 1 + n % 3) for n in range(1, 13)]
            connection.executemany(f"INSERT INTO thing{number} VALUES (?, ?, ?)", rows)
    connection.close()
    with connect(str(path)) as db:
        schema = known_schema(db)
    assert all(key.score < 0.9 for table in schema.tables for key in table.foreign_keys)
    assert not any(".amount" in name or ".level" in name for name in references(schema))

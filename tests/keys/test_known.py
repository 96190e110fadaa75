"""Keys that nobody declared, from the rows of a database, and their place in the cache."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import servers
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.db.connect import connect
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import CancelledError
from sqljury.keys import known, known_schema
from sqljury.keys.infer import infer
from sqljury.keys.profile import Bounds, TableProfile
from sqljury.schema.introspect import introspect
from sqljury.types import Column, Schema, Table

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


def test_sessions_with_different_rules_do_not_look_again_in_turn(shop: Path, empty_cache: Path) -> None:
    with connect(str(shop)) as db:
        rules = (Access(), Access(deny=("customers.city",)), Access(mask=("customers.city",)))
        sessions = [guard(db, introspect(db), rule) for rule in rules]
        first, steps = [known_schema(session) for session in sessions], []
        assert len(list(empty_cache.glob("*.keys"))) == 3
        assert [known_schema(session, lambda *step: steps.append(step)) for session in sessions] == first
        assert not steps


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


def test_half_of_the_keys_declared(tmp_path: Path) -> None:
    path = tmp_path / "half.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE teams (teamId INTEGER PRIMARY KEY, name TEXT, leaderId INTEGER)")
        connection.execute(
            "CREATE TABLE employees (employeeId INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, "
            "teamId INTEGER REFERENCES teams)"
        )
        connection.execute(
            "CREATE TABLE jobs (jobId INTEGER PRIMARY KEY, teamId INTEGER REFERENCES teams, mechanicId INTEGER, "
            "approvedById INTEGER, doneOn TEXT)"
        )
        staff = [100 + 3 * n for n in range(40)]
        connection.executemany("INSERT INTO teams VALUES (?, ?, ?)", [(n, f"Team {n}", staff[n]) for n in range(1, 9)])
        connection.executemany(
            "INSERT INTO employees VALUES (?, ?, ?, ?)",
            [(key, f"Given {key}", f"Family {key}", 1 + n % 8) for n, key in enumerate(staff)],
        )
        connection.executemany(
            "INSERT INTO jobs VALUES (?, ?, ?, ?, ?)",
            [(n, 1 + n % 8, staff[n % 40], staff[n * 7 % 40], "2025-01-01") for n in range(200)],
        )
    connection.close()
    with connect(str(path)) as db:
        assert references(known_schema(db)) == {
            "teams.leaderId": "employees.employeeId",
            "jobs.mechanicId": "employees.employeeId",
            "jobs.approvedById": "employees.employeeId",
        }


def test_numbers_of_other_systems_refer_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, legacy_order_id INTEGER, parent_order_id INTEGER)"
        )
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(n, 41 - n, 1 + n // 3) for n in range(1, 41)])
    connection.close()
    with connect(str(path)) as db:
        assert references(known_schema(db)) == {"orders.parent_order_id": "orders.id"}


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


def test_equal_numbers_are_not_keys(tmp_path: Path) -> None:
    path = tmp_path / "months.db"
    with sqlite3.connect(path) as connection:
        for number in range(4):
            connection.execute(f"CREATE TABLE thing{number} (label TEXT, amount INTEGER, level INTEGER)")
            rows = [(f"label {number} {n}", n, 1 + n % 3) for n in range(1, 13)]
            connection.executemany(f"INSERT INTO thing{number} VALUES (?, ?, ?)", rows)
    connection.close()
    with connect(str(path)) as db:
        schema = known_schema(db)
    assert all(key.score < 0.9 for table in schema.tables for key in table.foreign_keys)
    assert not any(".amount" in name or ".level" in name for name in references(schema))


def test_circular_keys_and_keys_of_several_columns(tmp_path: Path) -> None:
    path = tmp_path / "circle.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE departments (department_id INTEGER, head_id INTEGER, parent_id INTEGER)")
        connection.execute("CREATE TABLE heads (head_id INTEGER, department_id INTEGER)")
        connection.execute("CREATE TABLE rooms (building TEXT, room_number INTEGER, seats INTEGER)")
        connection.execute("CREATE TABLE lessons (lesson_id INTEGER, building TEXT, room_number INTEGER)")
        sizes = [(n, 100 + n, n // 2 or None) for n in range(1, 9)]
        connection.executemany("INSERT INTO departments VALUES (?, ?, ?)", sizes)
        connection.executemany("INSERT INTO heads VALUES (?, ?)", [(100 + n, n) for n in range(1, 9)])
        rooms = [(building, number, 30) for building in ("North", "South") for number in range(1, 7)]
        connection.executemany("INSERT INTO rooms VALUES (?, ?, ?)", rooms)
        connection.executemany("INSERT INTO lessons VALUES (?, ?, ?)", [(n, *rooms[n % 12][:2]) for n in range(40)])
    connection.close()
    with connect(str(path)) as db:
        found = references(known_schema(db))
    assert found["departments.head_id"] == "heads.head_id"
    assert found["heads.department_id"] == "departments.department_id"
    assert found["lessons.building, room_number"] == "rooms.building, room_number"


def test_thousands_of_tables_take_seconds() -> None:
    tables = tuple(
        Table(
            f"thing_{number}",
            (
                Column("id", "int"),
                Column(f"thing_{number // 2}_id", "int"),
                *(Column(f"c{n}", "int") for n in range(8)),
            ),
        )
        for number in range(3000)
    )
    unread = {table.name: TableProfile(why="not read: the time was spent") for table in tables}
    start = time.process_time()
    inferred = infer(Schema("many", "postgres", tables), unread, lambda *_: None)
    assert time.process_time() - start < 10
    (key,) = inferred["thing_2000"].foreign_keys
    assert (key.ref_table, key.ref_columns) == ("thing_1000", ("id",))
    assert key.score < 0.9
    assert any("the time was spent" in line for line in key.evidence)


def test_comparing_ends_when_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "three.db"
    sqlite3.connect(path).executescript(
        "CREATE TABLE owner (id INTEGER); CREATE TABLE pet (id INTEGER, owner_id INTEGER);"
        "CREATE TABLE toy (id INTEGER, owner_id INTEGER);"
    ).close()
    settled(path)
    with connect(str(path)) as db:
        with pytest.warns(RuntimeWarning, match="in 3 of the 3 tables of three.*took 0 s"):
            none = known_schema(db, bounds=Bounds(compare_seconds=0.0))
        assert references(none) == {}
        answers = iter((True, True))
        inferred = infer(none, {}, lambda *_: None, has_time=lambda: next(answers, False))
        assert inferred.keys() == {"owner", "pet"}
        assert [key.ref_table for key in inferred["pet"].foreign_keys] == ["owner"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert references(known_schema(db, bounds=Bounds(compare_seconds=0.0))) == {}, "not at once again"
        monkeypatch.setattr(known, "RETRY_SECONDS", -1.0)
        with pytest.warns(RuntimeWarning, match="in 3 of the 3"):
            known_schema(db, bounds=Bounds(compare_seconds=0.0))
        assert set(references(known_schema(db))) == {"pet.owner_id", "toy.owner_id"}


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "mariadb"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a small shop without keys is, on each engine."""
    rows = ", ".join(f"({n}, {1 + n * 7 % 9}, '2024-01-{10 + n % 9}')" for n in range(100, 160))
    script = [
        "CREATE TABLE customers (id INTEGER, name VARCHAR(40))",
        "CREATE TABLE orders (order_id INTEGER, customer_id INTEGER, day DATE)",
        f"INSERT INTO customers VALUES {', '.join(f'({n}, {chr(39)}Ann {n}{chr(39)})' for n in range(1, 10))}",
        f"INSERT INTO orders VALUES {rows}",
    ]
    if request.param == "sqlite":
        sqlite3.connect(tmp_path / "shop.db").executescript(";".join(script)).close()
        yield str(settled(tmp_path / "shop.db"))
    elif request.param == "duckdb":
        import duckdb

        with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
            connection.execute(";".join(script))
        yield str(settled(tmp_path / "shop.duckdb"))
    elif request.param == "postgresql":
        server: servers.Server = request.getfixturevalue("postgres_server")
        servers.in_postgres(server, "postgres", "CREATE DATABASE keyless")
        servers.in_postgres(server, "keyless", ";".join(script))
        yield servers.postgres_url(server, "keyless")
        servers.in_postgres(server, "postgres", "DROP DATABASE keyless")
    else:
        server = request.getfixturevalue("mariadb_server")
        servers.in_mariadb(server, "CREATE DATABASE keyless", "USE keyless", *script)
        yield servers.mysql_url(server, "keyless")
        servers.in_mariadb(server, "DROP DATABASE keyless")


@pytest.mark.filterwarnings("ignore::sqljury.db.server.AdministratorWarning")
def test_every_engine(engine: str) -> None:
    small = Bounds(sample_rows=5, rows=50)  # as if the tables were large
    with connect(engine) as db:
        for bounds in (Bounds(), small):
            schema = known_schema(db, bounds=bounds)
            assert references(schema) == {"orders.customer_id": "customers.id"}, bounds
            by_name = {table.name: table for table in schema.tables}
            assert by_name["customers"].candidate_keys[0] == ("id",)
            (key,) = by_name["orders"].foreign_keys
            assert not any("not read" in line for line in key.evidence)
        again: list[object] = []
        assert known_schema(db, lambda *step: again.append(step), bounds=small) == schema
        assert not again


def test_keys_of_a_web_framework(tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE accounts_user (id INTEGER, email TEXT);"
            "CREATE TABLE accounts_team (id INTEGER, name TEXT, lead_id INTEGER);"
            "CREATE TABLE tickets_ticket (id INTEGER, assignee_id INTEGER, team_id INTEGER, merged_into_id INTEGER);"
            "CREATE TABLE tickets_tag (id INTEGER, name TEXT);"
            "CREATE TABLE tickets_ticket_tags (id INTEGER, ticket_id INTEGER, tag_id INTEGER);"
        )
        connection.executemany("INSERT INTO accounts_user VALUES (?, ?)", [(n, f"{n}@x.org") for n in range(1, 61)])
        connection.executemany("INSERT INTO accounts_team VALUES (?, ?, ?)", [(n, f"T{n}", 9 * n) for n in range(1, 7)])
        tickets = [(n, 1 + n * 7 % 13, 1 + n % 6, n // 2 if n % 20 == 0 else None) for n in range(1, 301)]
        connection.executemany("INSERT INTO tickets_ticket VALUES (?, ?, ?, ?)", tickets)
        connection.executemany("INSERT INTO tickets_tag VALUES (?, ?)", [(n, f"tag {n}") for n in range(1, 23)])
        tags = [(n, 1 + n * 11 % 300, 1 + n % 22) for n in range(1, 401)]
        connection.executemany("INSERT INTO tickets_ticket_tags VALUES (?, ?, ?)", tags)
    connection.close()
    with connect(str(settled(path))) as db:
        found = references(known_schema(db))
    assert found == {
        "accounts_team.lead_id": "accounts_user.id",
        "tickets_ticket.assignee_id": "accounts_user.id",
        "tickets_ticket.team_id": "accounts_team.id",
        "tickets_ticket.merged_into_id": "tickets_ticket.id",
        "tickets_ticket_tags.ticket_id": "tickets_ticket.id",
        "tickets_ticket_tags.tag_id": "tickets_tag.id",
    }

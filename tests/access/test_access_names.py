"""A denied name and one that does not exist are answered alike, so that nobody can find out which names there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from access_shop import DUCKDB_ACCESS, SQLITE_ACCESS, TABLES, build
from plain_duckdb import PlainDuckDB, schema_of
from test_access_postgres import DENIED

import servers
from servers import Server
from sqljury.access.guard import guard
from sqljury.access.rules import Access
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect

PAIRS = (("ssn", "xyz"), ("secret", "xecret"), ("mood", "moxd"))
LETTERS = {"sqlite": "s", "duckdb": "d", "postgres": "p", "mysql": "m"}
MYSQL = (
    "CREATE DATABASE access",
    "USE access",
    "CREATE TABLE customer (id int PRIMARY KEY, name text, city text, ssn text, mood enum('CANARY'))",
    "CREATE TABLE secret (val text)",
    "CREATE TABLE orders (id int PRIMARY KEY, customer_id int, total double, note text)",
    "CREATE FUNCTION spy(x int) RETURNS text READS SQL DATA RETURN (SELECT max(ssn) FROM customer)",
    "CREATE FUNCTION regexp_like(x int, y int) RETURNS text READS SQL DATA RETURN (SELECT max(ssn) FROM customer)",
    "CREATE VIEW v_plain AS SELECT id, lower(note) AS n, date_format(now(), '%Y') AS y FROM orders",
    "CREATE VIEW v_spy AS SELECT id, spy(id) AS n FROM orders",
    "CREATE VIEW v_outer AS SELECT id, n FROM v_spy",
    "INSERT INTO customer VALUES (1, 'Ann', 'Riga', 'CANARY-1', 'CANARY')",
    "INSERT INTO orders VALUES (1, 1, 5, 'x')",
)


def templates(dialect: str) -> list[str]:
    found = (Path(__file__).parent / "access_names.txt").read_text(encoding="utf-8").splitlines()
    split = [line.split(" ", 1) for line in found if line and not line.startswith("#")]
    return [sql for engines, sql in split if engines == "all" or LETTERS[dialect] in engines]


def told(db: Database, sql: str, name: str) -> tuple[object, ...]:
    result = db.execute(sql.replace("NAME", name))
    return str(result.error).replace(name, "#"), str(result.rows).replace(name, "#")


def differing(db: Database) -> list[str]:
    return [
        f"{sql}: {told(db, sql, hidden)} is not {told(db, sql, none)}"
        for sql in templates(db.dialect)
        for hidden, none in PAIRS
        if told(db, sql, hidden) != told(db, sql, none)
    ]


def test_sqlite(tmp_path: Path) -> None:
    with SQLiteDatabase(build(tmp_path / "shop.db")) as db:
        assert not differing(guard(db, introspect(db), SQLITE_ACCESS))


def test_duckdb() -> None:
    with PlainDuckDB(f"CREATE TYPE mood AS ENUM ('CANARY'); {TABLES}") as db:
        assert not differing(guard(db, schema_of(db), DUCKDB_ACCESS))


def test_postgres(postgres_server: Server) -> None:
    script = (Path(__file__).parent / "access_shop_postgres.sql").read_text(encoding="utf-8")
    servers.in_postgres(postgres_server, "postgres", "CREATE DATABASE access_names")
    servers.in_postgres(postgres_server, "access_names", script.partition("CREATE ROLE")[0])
    with connect(servers.postgres_url(postgres_server, "access_names")) as db:
        assert not differing(guard(db, introspect(db), DENIED))


@pytest.fixture(scope="module")
def maria(mariadb_server: Server) -> Iterator[Database]:
    servers.in_mariadb(mariadb_server, *MYSQL)
    with connect(servers.mysql_url(mariadb_server, "access")) as db:
        yield guard(db, introspect(db), Access(deny=("customer.ssn", "customer.mood", "secret")))


def test_mariadb(maria: Database) -> None:
    assert not differing(maria)


def test_code_of_the_owner_in_mariadb(maria: Database) -> None:
    assert [table.name for table in introspect(maria).tables if table.kind == "view"] == ["v_plain"]
    assert maria.execute("SELECT n FROM v_plain").rows == (("x",),)
    for sql in ("SELECT regexp_like(1, 2)", "SELECT spy(1)", "SELECT n FROM v_spy"):
        assert str(maria.execute(sql).error or "").startswith("refused: ")


def test_code_and_types_of_the_owner_in_duckdb() -> None:
    script = f"""{TABLES}
        CREATE TYPE mood AS ENUM ('CANARY sad', 'CANARY ok'); ALTER TABLE customer ADD COLUMN m mood;
        CREATE MACRO spy(x) AS (SELECT max(ssn) FROM customer);
        CREATE VIEW v_plain AS SELECT id, lower(note) AS n FROM orders;
        CREATE VIEW v_spy AS SELECT id, spy(id) AS n FROM orders; CREATE VIEW v_outer AS SELECT n FROM v_spy;"""
    with PlainDuckDB(script) as db:
        guarded = guard(db, schema_of(db), Access(deny=("customer.ssn", "customer.m")))
        shown = [table.name for table in introspect(guarded).tables if table.name.startswith("v_")]
        assert shown == ["v_plain"]
        attacks = ["spy(1)", "SPY (1)", "('x').spy()", "enum_range(NULL::mood)", "enum_first(NULL::mood)"]
        attacks += ["enum_code('CANARY sad'::mood)", "CAST('x' AS mood)", "TRY_CAST('x' AS mood)", "NULL::main.mood"]
        for attack in (*attacks, "enum_range(CAST(NULL AS mood[])[1])"):
            assert db.execute(f"SELECT {attack}").ok or "'x' AS mood" in attack or "main" in attack
            assert str(guarded.execute(f"SELECT {attack}").error or "").startswith("refused: "), attack

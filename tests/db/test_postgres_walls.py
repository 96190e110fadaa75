"""Hostile statements against a real PostgreSQL: all walls together, then the second one alone."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from sql_corpus import statements

import servers
from servers import Server
from sqljury.db import readonly
from sqljury.db.base import Database
from sqljury.types import Limits

HOSTILE = statements("hostile_postgres.sql")
ROWS = """
    SELECT 'public.' || relname || ': ' || coalesce(md5(string_agg(line, E'\\n' ORDER BY line)), '-')
    FROM pg_class, LATERAL (SELECT * FROM xmltable('/table/row' PASSING
        query_to_xml(format('SELECT md5(x::text) AS h FROM %I.%I AS x', 'public', relname), true, false, '')
        COLUMNS line text PATH 'h')) AS l
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace GROUP BY relname
"""
STATE = (
    ROWS,
    "SELECT sequencename, last_value FROM pg_sequences",
    "SELECT loid, pageno, encode(data, 'hex') FROM pg_largeobject",
    "SELECT oid, relname, relkind, relhasrules, relhastriggers, relacl FROM pg_class WHERE relnamespace >= 2200",
    "SELECT rolname, rolsuper, rolconfig FROM pg_roles",
    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "SELECT datname, datacl FROM pg_database",
    "SELECT setdatabase, setrole, setconfig FROM pg_db_role_setting",
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'default_transaction_read_only')",
    "SELECT slot_name FROM pg_replication_slots",
    "SELECT extname FROM pg_extension",
    "SELECT objoid, description FROM pg_description WHERE objoid >= 16384",
)


@pytest.fixture
def out(postgres_shop: Server) -> Path:
    """A folder that the server's user can write to."""
    folder = postgres_shop.folder / "out"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    return folder


@pytest.fixture
def unchanged(postgres_shop: Server, out: Path) -> Iterator[None]:
    """Fails the test when data, schema, rights or files of the server are not what they were."""
    before = state(postgres_shop)
    yield
    assert state(postgres_shop) == before
    assert os.listdir(out) == []


def state(server: Server) -> dict[str, str]:
    return {
        sql: hashlib.sha256(repr(sorted(map(repr, servers.in_postgres(server, "shop", sql)))).encode()).hexdigest()
        for sql in STATE
    }


def test_the_hash_sees_a_change(postgres_shop: Server) -> None:
    before = state(postgres_shop)
    servers.in_postgres(postgres_shop, "shop", "UPDATE audit SET what = 'other'")
    changed = state(postgres_shop)
    servers.in_postgres(postgres_shop, "shop", "UPDATE audit SET what = 'kept'")
    assert {sql for sql in STATE if changed[sql] != before[sql]} == {ROWS}
    assert state(postgres_shop) == before


def test_plain_queries_pass_and_run(pg: Database) -> None:
    plain = statements("plain_postgres.sql")
    assert len(plain) >= 60
    for sql in plain:
        assert pg.execute(sql).error is None, sql


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("role", ["pg", "pg_boss"])
def test_hostile_statements_are_refused_or_contained(role: str, out: Path, request: pytest.FixtureRequest) -> None:
    db: Database = request.getfixturevalue(role)
    assert len(HOSTILE) >= 150
    kinds = dict.fromkeys(("refused", "limit", "sql", None), 0)
    for sql in HOSTILE:
        result = db.execute(sql.replace("OUT/", f"{out}/"), Limits(seconds=0.05))
        assert result.seconds < 10, sql
        kinds[result.error_kind] += 1
        assert result.error is None or "\n" not in str(result.error)
    assert kinds["refused"] >= 225, kinds
    assert kinds[None] <= 9, kinds  # bombs that were no bombs, and results cut at 10,000 rows
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


@pytest.mark.usefixtures("unchanged")
def test_the_read_only_transaction_alone(pg: Database, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    for sql in HOSTILE:
        result = pg.execute(sql.replace("OUT/", f"{out}/"), Limits(seconds=0.05))
        assert result.seconds < 10, sql
    for sql in ("DELETE FROM audit", "SELECT evil_writable()", "SELECT nextval('counter')", "CREATE TABLE t (a int)"):
        assert pg.execute(sql).error is not None, sql
    assert pg.execute("SELECT current_setting('transaction_read_only')").rows == (("on",),)


@pytest.mark.usefixtures("unchanged")
def test_a_superuser_without_the_parser(pg_boss: Database, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    for sql in HOSTILE:
        # This one takes the superuser's rights back in mid-query; only the parser stands before it.
        if not sql.startswith("SELECT set_config('role'"):
            result = pg_boss.execute(sql.replace("OUT/", f"{out}/"), Limits(seconds=0.05))
            assert result.seconds < 10, sql
    assert pg_boss.execute("SELECT current_user").rows == (("pg_read_all_data",),)
    for sql in ("SELECT pg_read_file('/etc/passwd')", f"COPY customer TO '{out}/x'", "COPY customer TO PROGRAM 'cat'"):
        result = pg_boss.execute(sql)
        assert result.error is not None, sql
        assert "permission denied" in str(result.error) or "must be superuser" in str(result.error), sql


def test_what_a_function_sets_does_not_outlive_its_query(pg: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    assert pg.execute("SELECT evil_setting()").ok
    assert pg.execute(r"SELECT 'a\'").rows == (("a\\",),)
    for setting in ("statement_timeout", "transaction_read_only", "search_path"):
        pg.execute(f"SET {setting} = DEFAULT")
    set_anew = "SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout'"  # in ms, less what has passed
    ((left,),) = pg.execute(set_anew).rows
    assert 20_000 < left <= 30_000


def test_a_superuser_is_told_of_rows_he_would_not_see(pg_boss: Database, postgres_shop: Server) -> None:
    script = "CREATE TABLE own (a int); INSERT INTO own VALUES (1); ALTER TABLE own ENABLE ROW LEVEL SECURITY"
    servers.in_postgres(postgres_shop, "shop", script)
    try:
        result = pg_boss.execute("SELECT * FROM own")
        assert result.error is not None
        assert "row-level security" in str(result.error)
    finally:
        servers.in_postgres(postgres_shop, "shop", "DROP TABLE own")


def test_limits_of_the_server_are_set(pg_boss: Database, pg: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    sql = "SELECT current_setting('temp_file_limit'), current_setting('lock_timeout'), current_setting('work_mem')"
    assert pg_boss.execute(sql).rows == (("1GB", "2s", "4MB"),)
    assert pg.execute(sql).rows == (("-1", "2s", "4MB"),)  # the first takes a superuser


def test_no_file_or_socket_is_left_open(postgres_shop: Server) -> None:
    from sqljury.db.connect import connect

    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(3):
        with connect(servers.postgres_url(postgres_shop, "shop")) as db:
            db.execute("SELECT generate_series(1, 1000000000)")
            db.execute("SELECT pg_catalog.count(*) FROM generate_series(1, 10000000000)", Limits(seconds=0.05))
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before + 1
    with socket.create_connection(("127.0.0.1", postgres_shop.port)):
        pass

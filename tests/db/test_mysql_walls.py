"""Hostile statements against a real MariaDB: all walls together, then the second one alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sql_corpus import statements

import servers
from servers import Server
from sqljury.db import readonly
from sqljury.db.base import Database
from sqljury.db.mysql import PARSED_OTHERWISE, MySQLDriver
from sqljury.types import Limits

HOSTILE = statements("hostile_mysql.sql")
STATE = (
    "SELECT * FROM shop.nation",
    "SELECT * FROM shop.customer",
    "SELECT * FROM shop.orders",
    "SELECT * FROM shop.audit",
    "SELECT * FROM shop.old",
    "SELECT * FROM shop.`Odd ``table`",
    "SELECT * FROM shop.counter",
    "SELECT table_schema, table_name, table_type, engine, create_options, table_comment FROM information_schema.tables",
    "SELECT table_name, column_name, column_type FROM information_schema.columns WHERE table_schema = 'shop'",
    "SELECT routine_name, routine_definition FROM information_schema.routines WHERE routine_schema = 'shop'",
    "SELECT trigger_name FROM information_schema.triggers",
    "SELECT event_name FROM information_schema.events",
    "SELECT * FROM mysql.global_priv",
    "SELECT * FROM mysql.tables_priv",
    "SELECT * FROM mysql.func",
    "SELECT * FROM mysql.plugin",
    "SELECT * FROM mysql.servers",
    "SELECT @@global.general_log, @@global.general_log_file, @@global.sql_mode, @@global.read_only",
)


@pytest.fixture
def out(mariadb_shop: Server) -> Path:
    """A folder that the server's user can write to."""
    folder = mariadb_shop.folder / "out"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    return folder


@pytest.fixture
def unchanged(mariadb_shop: Server, out: Path) -> Iterator[None]:
    """Fails the test when data, schema, rights or files of the server are not what they were."""
    before = state(mariadb_shop)
    yield
    assert state(mariadb_shop) == before
    assert os.listdir(out) == []


def state(server: Server) -> dict[str, str]:
    return {
        sql: hashlib.sha256(repr(sorted(map(repr, servers.in_mariadb(server, sql)))).encode()).hexdigest()
        for sql in STATE
    }


def test_the_hash_sees_a_change(mariadb_shop: Server) -> None:
    before = state(mariadb_shop)
    servers.in_mariadb(mariadb_shop, "UPDATE shop.old SET what = 'other' WHERE what = 'kept'")
    changed = state(mariadb_shop)
    servers.in_mariadb(mariadb_shop, "UPDATE shop.old SET what = 'kept' WHERE what = 'other'")
    assert {sql for sql in STATE if changed[sql] != before[sql]} == {"SELECT * FROM shop.old"}
    assert state(mariadb_shop) == before


def test_plain_queries_pass_and_run(maria: Database) -> None:
    plain = statements("plain_mysql.sql")
    assert len(plain) >= 60
    for sql in plain:
        assert maria.execute(sql).error is None, sql


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("user", ["maria", "maria_boss"])
def test_hostile_statements_are_refused_or_contained(user: str, out: Path, request: pytest.FixtureRequest) -> None:
    db: Database = request.getfixturevalue(user)
    assert len(HOSTILE) >= 150
    kinds = dict.fromkeys(("refused", "limit", "sql", None), 0)
    for sql in HOSTILE:
        result = db.execute(sql.replace("OUT/", f"{out}/"), Limits(seconds=0.05))
        assert result.seconds < 10, sql
        kinds[result.error_kind] += 1
        assert result.error is None or "\n" not in str(result.error)
    assert kinds["refused"] >= 220, kinds
    # bombs that were no bombs, results cut at 10,000 rows, and three literals that only look like more
    assert kinds[None] <= 14, kinds
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("user", ["maria", "maria_boss"])
def test_the_second_wall_alone(
    user: str, out: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    db: Database = request.getfixturevalue(user)
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    for sql in HOSTILE:
        result = db.execute(sql.replace("OUT/", f"{out}/"), Limits(seconds=0.05))
        assert result.seconds < 10, sql
    for sql in ("SELECT evil()", "SELECT evil_old()", "SELECT * FROM evil_view", "SELECT NEXTVAL(counter)"):
        result = db.execute(sql)
        assert result.error_kind == "refused" or "denied" in str(result.error), sql
    for sql in ("DELETE FROM customer", "DROP DATABASE shop", "SET PASSWORD = ''", "SELECT 1 INTO OUTFILE '/tmp/x'"):
        assert "error in your SQL syntax" in str(db.execute(sql).error), sql


def test_the_read_only_transaction_alone(
    maria_boss: Database, monkeypatch: pytest.MonkeyPatch, mariadb_shop: Server
) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    monkeypatch.setattr(MySQLDriver, "_refuse_other_than_a_query", lambda self, connection, sql: None)
    before = state(mariadb_shop)
    for sql in ("DELETE FROM customer", "DELETE FROM old", "SELECT evil()", "SELECT evil_old()"):
        assert maria_boss.execute(sql).error_kind == "refused", sql
    assert state(mariadb_shop) == before


def test_the_session_is_set_so_that_parser_and_server_agree(maria: Database, mariadb_shop: Server) -> None:
    every = "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,IGNORE_SPACE,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,STRICT_TRANS_TABLES"
    before = servers.in_mariadb(mariadb_shop, "SELECT @@global.sql_mode")[0][0]
    servers.in_mariadb(mariadb_shop, f"SET GLOBAL sql_mode = '{every}'")
    try:
        url = servers.mysql_url(mariadb_shop, "shop", "reader", servers.READER_PASSWORD)
        from sqljury.db.connect import connect

        with connect(url) as db:
            result = db.execute(r"""SELECT 'a\'b', "text", 1 || 0, NOT 1 BETWEEN -5 AND 5""")
            assert result.rows == (("a'b", "text", 1, 0),)
            (mode,) = db.catalog("SELECT @@sql_mode")[0]
            assert "STRICT_TRANS_TABLES" in str(mode)
            assert not PARSED_OTHERWISE & set(str(mode).split(","))
    finally:
        servers.in_mariadb(mariadb_shop, f"SET GLOBAL sql_mode = '{before}'")


def test_what_a_function_sets_does_not_outlive_its_query(maria: Database) -> None:
    assert maria.execute("SELECT * FROM evil_mode_view").rows == ((1,),)  # a view may do that, the parser cannot know
    assert maria.execute(r"""SELECT 'a\'b', "text" """).rows == (("a'b", "text"),)
    assert maria.execute("SELECT * FROM evil_view").error is not None

"""The GRANT statements of the documentation, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import servers
from servers import Server
from sqljury.db import readonly
from sqljury.db.connect import connect

DOCS = Path(__file__).resolve().parents[2] / "docs"


def documented(marker: str) -> str:
    """The block of SQL with this text in it, of whichever page has it."""
    pages = (path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("databases*.md")))
    blocks = [block for page in pages for block in re.findall(r"```sql\n(.*?)```", page, re.DOTALL)]
    (found,) = [block for block in blocks if marker in block]
    return found.replace("'...'", "'analyst-pass'")


def test_postgres(postgres_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    servers.in_postgres(postgres_server, "postgres", "CREATE DATABASE granted")
    script = documented("CREATE ROLE analyst").replace("DATABASE shop", "DATABASE granted")
    servers.in_postgres(postgres_server, "granted", "CREATE TABLE t (a int)", script, "CREATE TABLE later (a int)")
    with connect(servers.postgres_url(postgres_server, "granted", "analyst", "analyst-pass")) as db:
        for sql in ("SELECT * FROM t", "SELECT * FROM later", "SELECT current_setting('temp_file_limit')"):
            assert db.execute(sql).error is None, sql
        assert db.execute("SELECT current_setting('temp_file_limit')").rows == (("1GB",),)
    right = "has_{}_privilege('analyst', '{}', '{}')".format
    checks = [right("table", "t", "INSERT"), right("schema", "public", "CREATE"), right("database", "granted", "TEMP")]
    assert servers.in_postgres(postgres_server, "granted", f"SELECT {', '.join(checks)}") == [(False, False, False)]


def test_mysql(mariadb_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    servers.in_mariadb(mariadb_server, "CREATE DATABASE granted", "CREATE TABLE granted.t (a int)")
    # the server of the tests has no TLS
    script = documented("CREATE USER analyst").replace("shop.*", "granted.*").replace("REQUIRE SSL ", "")
    statements = [line for line in script.splitlines() if line and not line.startswith("--")]
    servers.in_mariadb(mariadb_server, *(statement.rstrip(";") for statement in statements))
    with connect(servers.mysql_url(mariadb_server, "granted", "analyst", "analyst-pass")) as db:
        assert db.execute("SELECT * FROM t").error is None
    grants = " ".join(str(row[0]) for row in servers.in_mariadb(mariadb_server, "SHOW GRANTS FOR analyst"))
    assert "GRANT SELECT, SHOW VIEW ON `granted`.*" in grants
    assert "INSERT" not in grants

"""What errors, warnings and queries tell of a connection: no password, no path; and that it could do more than read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import servers
from servers import Server
from sqljury.db.connect import connect
from sqljury.db.server import AdministratorWarning
from sqljury.errors import SqljuryError

pytest.importorskip("psycopg")
pytest.importorskip("pymysql")

SECRET = "S3cr3tPw"
PLACES = [
    *("host=127.0.0.1 user=bob password={} dbname=x", "host=127.0.0.1 port=1 pass{}", "Server=h;Uid=b;Pwd={};"),
    *("{}@127.0.0.1:1/x password=y", "bob:{}@host", "user={} host=x", "jdbc:postgresql://h/x?password={}"),
    *("postgresql://{}@127.0.0.1:1/x", "postgresql://bob%3A{}@127.0.0.1:1/x", "postgresql://bob;{}@127.0.0.1:1/x"),
    *("postgresql://bob:{}@127.0.0.1:1/x", "postgresql://bob:{}%40@127.0.0.1:1/x", "postgresql://127.0.0.1:1/x?password={}"),
    *("postgresql://127.0.0.1:1/x?user=bob&sslpassword={}", "postgresql://127.0.0.1:1/x?connect_timeout={}"),
    *("postgresql:///?host=127.0.0.1&port=1&dbname=host%3D1%20password%3D{}", "postgresql://127.0.0.1:1/x?user={}"),
    *("postgresql://127.0.0.1:1/x?options=-c%20a.b={}", "postgresql://127.0.0.1:1/x?sslmode={}", "postgresql://h:{}/x"),
    *("postgresql://user=bob password={}@127.0.0.1:1/x", "postgresql://u:%53%33{}@127.0.0.1:1/x"),
    *("mysql://{}@127.0.0.1:1/x", "mysql://bob%3A{}@127.0.0.1:1/x", "mysql://{}:@127.0.0.1:1/x"),
    *("mysql://bob:{}@127.0.0.1:1/x", "mysql://127.0.0.1:1/x?password={}", "mysql://127.0.0.1:1/x?ssl-mode={}"),
    *("mysql://bob,password={}@127.0.0.1:1/x", "mysql://host=127.0.0.1 password={}", "mysql://127.0.0.1:1/x?user={}"),
    *("sqlite:///host=x password={}", "duckdb:///a password={}", "postgresql+psycopg://bob:{}@h/x"),
]  # fmt: skip


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize("place", PLACES)
def test_no_password_stands_in_an_error(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGPASSWORD", "MYSQL_PWD"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SqljuryError) as caught:
        connect(place.format(SECRET))
    assert SECRET.lower() not in f"{caught.value} {caught.value!r}".lower()
    assert caught.value.__cause__ is None


@contextmanager
def warned() -> Iterator[list[str]]:
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield texts
    texts += [str(one.message) for one in found if issubclass(one.category, AdministratorWarning)]


def test_a_superuser_of_postgres_is_warned_of(postgres_shop: Server) -> None:
    with warned() as texts:
        connect(servers.postgres_url(postgres_shop, "shop")).close()
    [text] = texts
    assert "SUPERUSER" in text
    assert servers.ADMIN_PASSWORD not in text
    with warned() as texts:
        connect(servers.postgres_url(postgres_shop, "shop", "reader", servers.READER_PASSWORD)).close()
    assert texts == []


@pytest.mark.parametrize("right", ["CREATEROLE", "BYPASSRLS", "REPLICATION"])
def test_lesser_administrators_of_postgres_are_too(postgres_shop: Server, right: str) -> None:
    name = f"almost_{right.lower()}"
    servers.in_postgres(postgres_shop, "shop", f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}' {right}")
    with warned() as texts:
        connect(servers.postgres_url(postgres_shop, "shop", name, SECRET)).close()
    assert [right in text for text in texts] == [True]


def test_an_administrator_of_mariadb_is_warned_of(mariadb_shop: Server) -> None:
    with warned() as texts:
        connect(servers.mysql_url(mariadb_shop, "shop")).close()
    assert ["ALL PRIVILEGES" in text for text in texts] == [True]
    servers.in_mariadb(
        mariadb_shop,
        f"CREATE USER filer IDENTIFIED BY '{SECRET}'",
        "GRANT FILE ON *.* TO filer",
        "GRANT SELECT ON shop.* TO filer",
    )
    with warned() as texts:
        connect(servers.mysql_url(mariadb_shop, "shop", "filer", SECRET)).close()
    assert ["FILE" in text for text in texts] == [True]
    with warned() as texts:
        connect(servers.mysql_url(mariadb_shop, "shop", "reader", servers.READER_PASSWORD)).close()
    assert texts == []


INSIDE = [
    *("SELECT * FROM duckdb_databases", "SELECT path FROM system.main.\"duckdb_databases\"", "FROM 'duckdb_databases'"),
    *("SELECT * FROM pg_catalog.pg_settings", "SELECT (FROM pg_settings SELECT setting LIMIT 1)", "FROM duckdb_views"),
    *("SELECT sql FROM sqlite_master", "SELECT definition FROM pg_views", "FROM information_schema.views"),
    *("SELECT current_setting('temp_directory')", "FROM duckdb_settings()", "FROM duckdb_logs"),
]  # fmt: skip


@pytest.mark.parametrize("sql", INSIDE)
def test_duckdb_tells_no_path(tmp_path: Path, sql: str) -> None:
    (tmp_path / "secretplace").mkdir()
    (tmp_path / "secretplace" / "t.csv").write_text("a,b\n1,2\n")
    with connect(tmp_path / "secretplace" / "t.csv") as db:
        result = db.execute(sql)
    assert "secretplace" not in str(result.rows)
    assert not result.ok
    assert str(result.error).startswith("refused")

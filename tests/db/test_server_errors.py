"""What a user reads when a server cannot be used: one line, what to do, never a password."""

from __future__ import annotations

import signal
import socket
import threading
import time
import traceback
from collections.abc import Iterator

import pytest

import servers
from servers import Server
from sqljury.db import mysql, postgres
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, DatabaseNotFoundError, NotADatabaseError
from sqljury.types import Limits

SECRET = "s3cr3t%2Fp%40ss"
PLAIN = "s3cr3t/p@ss"


@pytest.fixture
def silent() -> Iterator[int]:
    """A port where something listens that is no database: it answers nonsense and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def refused(url: str, kind: type[DatabaseError] = DatabaseError) -> str:
    """The one line with which ``connect`` fails, after looking for the password in all that could be printed."""
    with pytest.raises(kind) as caught:
        connect(url)
    message = str(caught.value)
    everything = "".join(traceback.format_exception(caught.value))
    chain: BaseException | None = caught.value
    while chain is not None:
        everything += repr(chain)
        chain = chain.__cause__ or chain.__context__
    for secret in (SECRET, PLAIN):
        assert secret not in everything
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize(
    ("rest", "kind", "words"),
    [
        ("reader:{0}@127.0.0.1:{1}/shop", DatabaseError, "the user or the password is wrong"),
        ("nobody:{0}@127.0.0.1:{1}/shop", DatabaseError, "the user or the password is wrong"),
        ("{0}@127.0.0.1:{1}/shop?password={0}", DatabaseError, "wrong"),
        ("reader:reader-secret-7@127.0.0.1:{1}/gone", DatabaseError, "gone"),
        ("u:{0}@no-such-host.invalid/shop", DatabaseNotFoundError, "no host of that name"),
        ("u:{0}@127.0.0.1:1/shop", DatabaseNotFoundError, "no server answers there"),
        ("u:{0}@127.0.0.1:99999/shop", DatabaseError, "port"),
        ("u:{0}@127.0.0.1:{0}/shop", DatabaseError, "port"),
        ("u:{0}%ZZ@127.0.0.1:{1}/shop", DatabaseError, "with odd characters as %XX"),
        ("u:{0}@127.0.0.1:{1}/shop?nonsense={0}", DatabaseError, ""),
        ("u:{0}@127.0.0.1:{2}/shop", NotADatabaseError, "what answers there is no"),
    ],
)
@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_what_connect_says(
    scheme: str,
    rest: str,
    kind: type[DatabaseError],
    words: str,
    silent: int,
    postgres_shop: Server,
    mariadb_shop: Server,
) -> None:
    server = postgres_shop if scheme == "postgresql" else mariadb_shop
    if rest.startswith("{0}@"):  # the password elsewhere than usual
        rest = rest.replace("{0}@", "reader@", 1)
    message = refused(f"{scheme}://" + rest.format(SECRET, server.port, silent), kind)
    assert words in message


def test_no_such_database(postgres_shop: Server, mariadb_shop: Server) -> None:
    message = refused(servers.postgres_url(postgres_shop, "gone"), DatabaseNotFoundError)
    assert 'database "gone" does not exist' in message
    assert "no database 'gone'" in refused(servers.mysql_url(mariadb_shop, "gone"), DatabaseNotFoundError)
    servers.in_mariadb(mariadb_shop, "CREATE OR REPLACE USER nobody_yet IDENTIFIED BY 'n'")
    message = refused(servers.mysql_url(mariadb_shop, "", "nobody_yet", "n"), DatabaseNotFoundError)
    assert "names no database, and it sees none; write mysql://" in message


def test_tls(postgres_shop: Server, mariadb_shop: Server) -> None:
    url = servers.postgres_url(postgres_shop, "shop", "reader", servers.READER_PASSWORD)
    assert "?sslmode=disable" in refused(f"{url}?sslmode=require")
    assert "sslmode" in refused(f"{url}?sslmode=nonsense")
    assert "?sslmode=require" in refused(servers.postgres_url(postgres_shop, "shop", "tls_only", "x"))
    url = servers.mysql_url(mariadb_shop, "shop", "reader", servers.READER_PASSWORD)
    assert "?ssl-mode=DISABLED" in refused(f"{url}?ssl-mode=REQUIRED")
    assert "VERIFY_IDENTITY" in refused(f"{url}?ssl-mode=nonsense")
    assert "ssl-ca" in refused(f"{url}?ssl-ca=/no/such/file")
    connect(f"{url}?ssl-mode=PREFERRED").close()
    connect(f"{url}?ssl-mode=DISABLED").close()


def test_passwords_from_elsewhere(
    postgres_shop: Server, mariadb_shop: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("PGPASSWORD", servers.READER_PASSWORD)
    monkeypatch.setenv("MYSQL_PWD", servers.READER_PASSWORD)
    connect(f"postgres://reader@127.0.0.1:{postgres_shop.port}/shop").close()
    connect(f"mariadb://reader@127.0.0.1:{mariadb_shop.port}/shop").close()
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.delenv("MYSQL_PWD")
    assert "PGPASSWORD" in refused(f"postgres://reader@127.0.0.1:{postgres_shop.port}/shop")
    options = tmp_path / "my.cnf"  # type: ignore[operator]
    options.write_text(f"[client]\nuser=reader\npassword={servers.READER_PASSWORD}\n")
    connect(f"mysql://127.0.0.1:{mariadb_shop.port}/shop?option-file={options}").close()
    connect(f"mysql://reader@127.0.0.1:{mariadb_shop.port}/shop?password={servers.READER_PASSWORD}").close()


def test_a_password_of_odd_characters(postgres_shop: Server, mariadb_shop: Server) -> None:
    for url in (servers.postgres_url(postgres_shop, "shop"), servers.mysql_url(mariadb_shop, "shop")):
        with connect(url) as db:
            assert db.execute("SELECT 1").ok
            assert servers.ADMIN_PASSWORD not in db.url + repr(db)


def test_no_connection_left(postgres_shop: Server, mariadb_shop: Server) -> None:
    servers.in_postgres(postgres_shop, "shop", "CREATE ROLE narrow LOGIN PASSWORD 'x' CONNECTION LIMIT 1")
    servers.in_mariadb(
        mariadb_shop,
        "CREATE USER narrow IDENTIFIED BY 'x' WITH MAX_USER_CONNECTIONS 1",
        "GRANT SELECT ON shop.* TO narrow",
    )
    for make, server in ((servers.postgres_url, postgres_shop), (servers.mysql_url, mariadb_shop)):
        url = make(server, "shop", "narrow", "x")
        with connect(url) as db:
            assert "no connection left" in refused(url)
            assert db.execute("SELECT 1").ok


def test_a_locked_table(postgres_shop: Server, mariadb_shop: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg
    import pymysql

    with (
        psycopg.connect(servers.postgres_url(postgres_shop, "shop")) as writer,
        connect(servers.postgres_url(postgres_shop, "shop", "reader", servers.READER_PASSWORD)) as db,
    ):
        writer.execute("LOCK TABLE customer")
        result = db.execute("SELECT * FROM customer")
        assert result.error_kind == "locked"
        assert result.seconds < postgres.LOCK_SECONDS + 1
        writer.rollback()
        assert db.execute("SELECT * FROM customer").ok
    other = pymysql.connect(host="127.0.0.1", port=mariadb_shop.port, user="boss", password=servers.ADMIN_PASSWORD)
    with connect(servers.mysql_url(mariadb_shop, "shop", "reader", servers.READER_PASSWORD)) as db:
        other.query("LOCK TABLES shop.customer WRITE")
        assert db.execute("SELECT * FROM customer").error_kind == "locked"
        other.query("UNLOCK TABLES")
        assert db.execute("SELECT * FROM customer").ok
    other.close()


def test_temporary_files_are_limited(postgres_shop: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "TEMP_FILES", "1MB")
    with connect(servers.postgres_url(postgres_shop, "shop")) as db:
        result = db.execute("SELECT x FROM generate_series(1, 1000000) AS x ORDER BY md5(x::text)")
    assert str(result.error) == "limit: temporary file size exceeds temp_file_limit (1024kB); ask for less"


def test_a_full_disk_of_temporary_tables(mariadb_shop: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.db.mysql.TEMP_BYTES", 1024**2)
    with connect(servers.mysql_url(mariadb_shop, "shop")) as db:
        sql = "SELECT count(*) FROM (SELECT DISTINCT repeat(seq, 300) AS x FROM seq_1_to_100000) AS t"
        result = db.execute(sql, Limits(seconds=20))
    assert result.error_kind == "limit"
    assert "is full" in str(result.error)


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_a_server_that_stops_and_comes_back(
    scheme: str, postgres_shop: Server, mariadb_shop: Server, request: pytest.FixtureRequest
) -> None:
    if scheme == "postgresql":
        server, url, how = postgres_shop, servers.postgres_url(postgres_shop, "shop"), signal.SIGINT
        forever = "SELECT count(*) FROM generate_series(1, 1000000000000)"
    else:
        server, url, how = mariadb_shop, servers.mysql_url(mariadb_shop, "shop"), signal.SIGTERM
        forever = "SELECT count(*) FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b"
    with connect(url) as db:
        timer = threading.Timer(0.4, server.halt, [how])
        timer.start()
        result = db.execute(forever, Limits(seconds=20))
        timer.join()
        assert result.error_kind == "database", result.error
        try:
            until = time.monotonic() + 10  # for a moment its last process still holds the port
            while "or one that stops" in str((down := db.execute("SELECT 1")).error) and time.monotonic() < until:
                time.sleep(0.05)
            assert down.error_kind == "database"
            assert "no server answers there; start it" in str(down.error)
        finally:
            server.restart()  # the other tests need it
        assert db.execute("SELECT 1").ok


def test_a_server_that_waits_for_us_to_speak_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql, "CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as listener:  # it accepts, as PostgreSQL does, and says nothing
        began = time.monotonic()
        with pytest.raises(NotADatabaseError, match="is not a MySQL server"):
            connect(f"mysql://ann:{SECRET}@127.0.0.1:{listener.getsockname()[1]}/shop")
    assert time.monotonic() - began < 10

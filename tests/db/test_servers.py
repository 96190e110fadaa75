"""What holds for both servers: limits, cancellation, threads, lost connections; each test runs on both."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

import servers
from servers import Server
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, QueryError
from sqljury.types import Limits


class Engine(NamedTuple):
    """A server with what its dialect calls things."""

    db: Database
    url: str
    forever: str
    endless: str
    ask: Callable[[str], list[tuple[object, ...]]]
    running: str
    kill: str
    secret: str
    wide: str


@pytest.fixture(params=["postgres", "mysql"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres_shop")
        url = servers.postgres_url(server, "shop", "reader", servers.READER_PASSWORD)
        made = Engine(
            connect(url),
            url,
            # in memory: a server that writes temporary files to a busy disk cannot be stopped for as long as it waits
            "SELECT count(*) FROM {0} a, {0} b, {0} c, {0} d".format("generate_series(1, 1000)"),
            "SELECT repeat('x', 1000) FROM generate_series(1, 3) a, (SELECT generate_series(1, 1000000000)) AS b",
            lambda sql: servers.in_postgres(server, "shop", sql),
            "SELECT query FROM pg_stat_activity WHERE state = 'active' AND usename = 'reader'",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'",
            "secret",
            "SELECT repeat('x', 1000) FROM generate_series(1, 1000)",
        )
    else:
        server = request.getfixturevalue("mariadb_shop")
        url = servers.mysql_url(server, "shop", "reader", servers.READER_PASSWORD)
        made = Engine(
            connect(url),
            url,
            "SELECT count(*) FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b",
            "SELECT repeat('x', 1000) FROM seq_1_to_1000000000 a",
            lambda sql: servers.in_mariadb(server, sql),
            "SELECT info FROM information_schema.processlist WHERE user = 'reader' AND command = 'Query'",
            "KILL USER reader",
            "private.secret",
            "SELECT repeat('x', 1000) FROM seq_1_to_1000",
        )
    yield made
    made.db.close()


def left_running(engine: Engine) -> list[tuple[object, ...]]:
    """What of ours still runs on the server after a minute, which a machine with much else to do may need."""
    deadline = time.monotonic() + 60
    while (running := engine.ask(engine.running)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return running


def test_it_is_a_database(engine: Engine) -> None:
    assert isinstance(engine.db, Database)
    assert engine.db.name == "shop"
    assert engine.db.execute("SELECT count(*) AS n FROM customer").columns == ("n",)
    assert engine.db.execute("SELECT name FROM customer WHERE id = 1").rows == (("Ann",),)
    none = engine.db.execute("SELECT id, name FROM customer WHERE id < 0")
    assert (none.columns, none.rows, none.error) == (("id", "name"), (), None)


def test_errors_are_told_apart(engine: Engine) -> None:
    cancelled = threading.Event()
    cancelled.set()
    cases = {
        "sql": engine.db.execute("SELECT nme FROM customer"),
        "refused": engine.db.execute("DELETE FROM customer"),
        "limit": engine.db.execute(engine.forever, Limits(seconds=0.05)),
        "cancelled": engine.db.execute(engine.forever, cancel=cancelled),
    }
    assert {kind: result.error_kind for kind, result in cases.items()} == {kind: kind for kind in cases}
    assert "nme" in str(cases["sql"].error)
    denied = engine.db.execute(f"SELECT * FROM {engine.secret}")
    assert denied.error_kind == "sql"
    assert "denied" in str(denied.error)
    assert "granted" in str(denied.error)


@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_time_limit(engine: Engine, seconds: float) -> None:
    result = engine.db.execute(engine.forever, Limits(seconds=seconds))
    assert str(result.error) == f"limit: stopped after {seconds:g} s; ask for less"
    assert seconds <= result.seconds < seconds + 0.5
    assert left_running(engine) == []
    assert engine.db.execute("SELECT 1").rows == ((1,),)


def test_the_watcher_stops_what_the_server_does_not(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = engine.db._driver  # type: ignore[attr-defined]
    begin = driver.begin
    monkeypatch.setattr(driver, "begin", lambda connection, seconds: begin(connection, 600.0))
    result = engine.db.execute(engine.forever, Limits(seconds=0.2))
    assert result.error_kind == "limit"
    assert result.seconds < 10
    assert left_running(engine) == []


def test_a_server_that_does_not_obey_is_left(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = engine.db._driver  # type: ignore[attr-defined]
    begin = driver.begin
    monkeypatch.setattr(driver, "begin", lambda connection, seconds: begin(connection, 6.0))
    monkeypatch.setattr(driver, "cancel", lambda connection: time.sleep(5))
    result = engine.db.execute(engine.forever, Limits(seconds=0.2))
    assert result.error_kind == "limit"
    assert result.seconds < 5
    assert engine.db.execute("SELECT 1").ok


def test_cancellation_stops_a_running_query(engine: Engine) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.2, cancel.set)
    timer.start()
    result = engine.db.execute(engine.forever, Limits(seconds=30), cancel)
    timer.join()
    assert str(result.error) == "cancelled: stopped on request"
    assert 0.2 <= result.seconds < 10
    assert left_running(engine) == []
    assert engine.db.execute("SELECT 1").ok


def test_rows_are_cut_and_say_so(engine: Engine) -> None:
    start = time.monotonic()
    cut = engine.db.execute(engine.endless, Limits(rows=5))
    assert (cut.truncated, len(cut.rows)) == (True, 5)
    assert time.monotonic() - start < 10
    assert left_running(engine) == []
    whole = engine.db.execute("SELECT id FROM customer", Limits(rows=4))
    assert (whole.truncated, len(whole.rows)) == (False, 4)
    none = engine.db.execute("SELECT id FROM customer", Limits(rows=0))
    assert (none.truncated, none.rows, none.columns) == (True, (), ("id",))


def test_bytes_are_counted(engine: Engine) -> None:
    assert engine.db.execute(engine.wide, Limits(bytes=1_000_000)).ok
    result = engine.db.execute(engine.wide, Limits(bytes=100_000))
    assert str(result.error) == "limit: the rows take more than 100000 bytes; select fewer columns or rows"
    assert engine.db.execute("SELECT 1").ok


def test_a_billion_rows_never_reach_memory(engine: Engine) -> None:
    from sqljury.parallel.watch import private_memory

    before = private_memory()
    result = engine.db.execute(engine.endless, Limits(seconds=5, bytes=4_000_000, rows=10**9))
    assert result.error_kind == "limit"
    assert private_memory() - before < 200 * 1024**2


def test_a_query_that_waits_to_write_rows_ends_too(engine: Engine) -> None:
    """The server sees the client hang up, whether or not the client had room for more rows."""
    for _ in range(20):
        assert engine.db.execute(engine.endless, Limits(seconds=5, bytes=400_000, rows=10**9)).error_kind == "limit"
    assert left_running(engine) == []


def test_several_threads_at_once(engine: Engine) -> None:
    def ask(number: int) -> object:
        if number % 7 == 0:
            return str(engine.db.execute(engine.forever, Limits(seconds=0.05)).error)
        return engine.db.execute(f"SELECT {number}, count(*) FROM customer").rows

    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(ask, range(60)))
    stopped = "limit: stopped after 0.05 s; ask for less"
    assert answers == [stopped if number % 7 == 0 else ((number, 4),) for number in range(60)]
    assert left_running(engine) == []


def test_a_connection_that_was_killed_while_idle_is_replaced(engine: Engine) -> None:
    assert engine.db.execute("SELECT 1").ok
    engine.ask(engine.kill)
    assert engine.db.execute("SELECT 1").ok


def test_a_connection_lost_in_mid_query(engine: Engine) -> None:
    timer = threading.Timer(0.3, engine.ask, [engine.kill])
    timer.start()
    result = engine.db.execute(engine.forever, Limits(seconds=20))
    timer.join()
    assert result.error_kind == "database"
    assert "the connection was lost while the query ran; try again" in str(result.error)
    assert result.seconds < 10
    assert engine.db.execute("SELECT 1").ok


def test_catalog_queries(engine: Engine) -> None:
    assert engine.db.catalog("SELECT name FROM customer WHERE city = %s ORDER BY 1", ("Riga",)) == [("Ann",), ("Dee",)]
    assert engine.db.catalog("SELECT %s", ('it\'s 100% \\ "x"',)) == [('it\'s 100% \\ "x"',)]
    with pytest.raises(QueryError) as caught:
        engine.db.catalog("SELECT nope")
    assert servers.READER_PASSWORD not in str(caught.value)


def test_closing(engine: Engine) -> None:
    engine.db.execute("SELECT 1")
    engine.db.close()
    engine.db.close()
    assert engine.db.execute("SELECT 1").error_kind == "database"
    with pytest.raises(DatabaseError, match="was closed"):
        engine.db.catalog("SELECT 1")


def test_closing_while_a_query_runs(engine: Engine) -> None:
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(engine.db.execute, engine.forever, Limits(seconds=0.5))
        time.sleep(0.2)
        engine.db.close()
        assert running.result().error_kind == "limit"


def test_the_password_is_nowhere(engine: Engine) -> None:
    seen = [repr(engine.db), engine.db.url, str(vars(engine.db)), str(engine.db.execute("SELECT nope").error)]
    assert not any(servers.READER_PASSWORD in text for text in seen)


def test_memory_that_keeps_growing_is_stopped(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqljury.parallel import watch

    if not watch.private_memory():
        pytest.skip("this system does not tell a process its memory")
    monkeypatch.setattr(watch, "MEMORY_BYTES", 50 * 1024**2)
    result = engine.db.execute(engine.endless, Limits(seconds=20, rows=10**9, bytes=10**12))
    assert str(result.error) == "limit: used more than 50 MiB of memory; ask for less"

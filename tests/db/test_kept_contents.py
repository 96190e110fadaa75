"""What is kept of a database's content, and how its changes are seen."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sqljury.db import contents, sqlite, sqlite_opening
from sqljury.db.base import Database
from sqljury.db.contents import content, content_version
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.db.sqlite_workers import WORKERS
from sqljury.schema.introspect import introspect

OTHER_PROGRAM = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()"

CHANGES = {
    "insert": "INSERT INTO customer (name) VALUES ('Eve')",
    "update": "UPDATE customer SET age = 99 WHERE id = 1",
    "delete": "DELETE FROM orders",
    "add a column": "ALTER TABLE customer ADD COLUMN email TEXT",
    "rename": "ALTER TABLE nation RENAME TO country",
    "view": "CREATE VIEW rich AS SELECT 1 AS x",
    "to WAL": "PRAGMA journal_mode = WAL",
    "vacuum": "VACUUM",
}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of the last moment count as settled: these tests do not write twice within a tick."""
    monkeypatch.setattr(sqlite_opening, "TICK_NS", 0)


def write(file: Path, script: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)


@pytest.fixture
def logged(shop: Path) -> Iterator[sqlite3.Connection]:
    """A program that has the shop open in WAL mode, with a log."""
    with closing(sqlite3.connect(shop, isolation_level=None, check_same_thread=False)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO nation VALUES ('Chile', 'Santiago')")
        yield connection


def test_the_version_stays_while_nothing_changes(db: SQLiteDatabase) -> None:
    first = db.version()
    assert first is not None
    db.execute("SELECT * FROM customer")
    introspect(db)
    assert db.version() == first


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_by_another_program_is_another_version(db: SQLiteDatabase, name: str) -> None:
    first = db.version()
    subprocess.run([sys.executable, "-c", OTHER_PROGRAM, db.path, CHANGES[name]], check=True)
    second = db.version()
    assert second not in (first, None)
    assert db.version() == second


def test_commits_to_a_log_are_seen_by_the_counters_alone(
    shop: Path, logged: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SQLiteDatabase(shop) as db:
        still = sqlite_opening.sign(db.path)
        monkeypatch.setattr(sqlite, "sign", lambda _: still)
        first = db.version()
        assert first is not None
        assert db.version() == first
        logged.execute("INSERT INTO nation VALUES ('Peru', 'Lima')")
        second = db.version()
        assert second not in (first, None)
        logged.execute("ALTER TABLE nation ADD COLUMN people INT")
        assert db.version() not in (first, second, None)


@pytest.mark.parametrize("how", ["commit", "checkpoint", "end"])
def test_a_log_is_followed(shop: Path, logged: sqlite3.Connection, how: str) -> None:
    with SQLiteDatabase(shop) as db:
        first = db.version()
        if how == "commit":
            logged.execute("INSERT INTO nation VALUES ('Peru', 'Lima')")
        elif how == "checkpoint":
            logged.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            logged.close()
        second = db.version()
        assert second is not None
        assert second != first or how == "end"  # which changes nothing while others have the log open
        if how != "end":
            logged.execute("DELETE FROM nation")
        else:
            write(shop, "DELETE FROM nation")
        assert db.version() not in (first, second, None)
        assert db.execute("SELECT count(*) FROM nation").rows == ((0,),)


def test_a_file_that_was_read_without_locks_is_seen_to_change(shop: Path) -> None:
    write(shop, "PRAGMA journal_mode = WAL")
    with SQLiteDatabase(shop) as db:  # nobody has it open, so it has no log
        first = db.version()
        assert first is not None
        with closing(sqlite3.connect(shop, isolation_level=None)) as writer:
            writer.execute("INSERT INTO nation VALUES ('Peru', 'Lima')")
            second = db.version()
            assert second not in (first, None)
        write(shop, "DELETE FROM nation")
        assert db.version() not in (first, second, None)
        assert db.execute("SELECT count(*) FROM nation").rows == ((0,),)


def test_another_file_in_its_place_is_seen(shop: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy2(shop, tmp_path / "other.db"))
    with SQLiteDatabase(shop) as db:
        first = db.version()
        os.replace(other, shop)
        assert db.version() not in (first, None)
        shop.unlink()
        assert db.version() is None


@pytest.mark.parametrize("rows", [1, 9])
def test_a_file_that_is_written_over_is_seen_though_sqlite_takes_it_for_the_same(tmp_path: Path, rows: int) -> None:
    """With as many rows, all that SQLite compares is the same; with more the number of changes of the schema is."""
    file, other = tmp_path / "one.db", tmp_path / "two.db"
    write(file, "CREATE TABLE a (x); INSERT INTO a VALUES (1);")
    write(other, "CREATE TABLE b (y);" + "INSERT INTO b VALUES (2);" * rows)
    if rows == 1:
        assert file.read_bytes()[24:44] == other.read_bytes()[24:44]
    status = file.stat()
    assert status.st_size == other.stat().st_size
    with SQLiteDatabase(file) as db, ThreadPoolExecutor(4) as pool:
        assert all(result.ok for result in pool.map(db.execute, ["SELECT x FROM a"] * 20))
        first = db.version()
        shutil.copyfile(other, file)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert db.version() not in (first, None)
        assert [table.name for table in introspect(db).tables] == ["b"]
        assert all(result.rows == ((2,),) * rows for result in pool.map(db.execute, ["SELECT y FROM b"] * 20))


def test_what_changed_a_moment_ago_has_no_version_yet(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_opening, "TICK_NS", 10**18)
    assert db.version() is None
    monkeypatch.setattr(sqlite_opening, "TICK_NS", 0)
    assert db.version() is not None


def test_a_locked_file_has_no_version(shop: Path) -> None:
    with SQLiteDatabase(shop) as db:
        first = db.version()
        with closing(sqlite3.connect(shop, isolation_level=None)) as writer:
            writer.execute("BEGIN EXCLUSIVE")
            assert db.version() is None
            writer.execute("ROLLBACK")
        assert db.version() == first


def test_a_closed_database_has_none(shop: Path) -> None:
    with SQLiteDatabase(shop) as db:
        assert db.version() is not None
    assert db.version() is None
    assert WORKERS._lookout is None


def test_the_lookout_may_be_lost(db: SQLiteDatabase) -> None:
    first = db.version()
    assert WORKERS._lookout is not None
    WORKERS._lookout.kill()
    assert db.version() not in (first, None)  # counted by another connection


def test_a_look_that_takes_too_long_is_given_up(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT count(*), 1 FROM n"
    monkeypatch.setattr(sqlite, "_COUNTERS", endless)
    monkeypatch.setattr(sqlite, "_LOOK_SECONDS", 0.1)
    db._looks_seconds = 0.3
    looks = 0
    while db._looks_seconds > 0 and looks < 9:
        assert db.version() is None
        looks += 1
    assert looks < 9
    monkeypatch.setattr(WORKERS, "lookout", None)
    assert db.version() is None
    assert db.execute("SELECT 1").ok


def test_threads_share_looks_but_none_sees_an_older_one(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    looked, look = [], SQLiteDatabase._look

    def slow(own: SQLiteDatabase, *arguments: object) -> object:
        looked.append(time.monotonic())
        time.sleep(0.05)
        return look(own, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(SQLiteDatabase, "_look", slow)
    started = threading.Barrier(12)

    def call(_: int) -> bool:
        started.wait()
        began = time.monotonic()
        return db.version() is not None and any(at >= began for at in looked)

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(call, range(12)))
    assert len(looked) < 6


def test_a_forked_process_looks_by_itself(db: SQLiteDatabase) -> None:
    first = db.version()
    child = os.fork()
    if not child:
        good = False
        try:
            good = db.version() not in (first, None)
        finally:
            os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert db.version() == first


class Told:
    """A database that is told its version."""

    def __init__(self, version: object = 1) -> None:
        self.now = version

    def version(self) -> object:
        return self.now


def told(version: object = 1) -> Database:
    return Told(version)  # type: ignore[return-value]


def counting() -> Callable[[], int]:
    made: list[int] = []

    def make() -> int:
        made.append(len(made) + 1)
        return made[-1]

    return make


def test_what_was_made_is_kept_until_the_version_changes() -> None:
    db, make = told(), counting()
    assert [content(db).get("a", make) for _ in range(3)] == [1, 1, 1]
    assert content(db).get("b", make) == 2
    before = content(db)
    db.now = 2  # type: ignore[attr-defined]
    assert content(db).get("a", make) == 3
    assert before.get("a", make) == 1  # for who began with it
    db.now = 1  # type: ignore[attr-defined]
    assert content(db).get("a", make) == 4


@pytest.mark.parametrize("db", [told(None), object()])
def test_nothing_is_kept_of_what_cannot_tell(db: Database) -> None:
    make = counting()
    assert content_version(db) is None
    assert [content(db).get("a", make) for _ in range(2)] == [1, 2]


def test_two_objects_on_the_same_file_share_nothing() -> None:
    one, other, make = told(), told(), counting()
    assert [content(db).get("a", make) for db in (one, other, one)] == [1, 2, 1]


def test_failures_and_what_is_not_to_be_kept_are_made_again() -> None:
    db, make = told(), counting()

    def fail() -> int:
        raise OSError(f"try {make()}")

    for _ in range(2):
        with pytest.raises(OSError, match="try"):
            content(db).get("a", fail)
    assert [content(db).get("a", make, lambda value: value > 3) for _ in range(3)] == [3, 4, 4]
    assert content(db).get("a", make, lambda value: value > 4) == 5  # what it was good for has passed


def test_after_some_minutes_it_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "KEPT_SECONDS", 0.05)
    db, make = told(), counting()
    assert content(db).get("a", make) == 1
    time.sleep(0.1)
    assert content(db).get("a", make) == 2


def test_few_things_are_kept_of_one_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "KEPT_THINGS", 2)
    db, make = told(), counting()
    assert [content(db).get(key, make) for key in "abac"] == [1, 2, 1, 3]
    assert [content(db).get(key, make) for key in "ab"] == [1, 4]


def test_all_together_take_a_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    monkeypatch.setattr(contents, "KEPT_BYTES", 100_000)
    dbs = [told() for _ in range(4)]
    for db in dbs:
        content(db).get("a", lambda: ("x" * 40_000, {"y": ["z"]}))
    kept = [content(db).bytes for db in dbs]
    assert kept[:2] == [0, 0]  # those that were used longest ago
    assert all(40_000 < size < 50_000 for size in kept[2:])
    content(dbs[3]).get("b", lambda: "x" * 200_000)
    assert [content(db).bytes for db in dbs] == [0, 0, 0, 0]  # too large for all


def test_a_database_that_is_gone_takes_it_along() -> None:
    db = told()
    content(db).get("a", lambda: "x")
    before = len(contents._kept._latest)
    del db
    gc.collect()
    assert len(contents._kept._latest) < before

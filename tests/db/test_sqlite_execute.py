from __future__ import annotations

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sql_corpus import statements

from sqljury.db import readonly
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import DatabaseError, QueryError
from sqljury.parallel.watch import private_memory
from sqljury.types import Limits, Result

FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0"


@pytest.mark.usefixtures("untouched")
def test_plain_queries_give_what_sqlite_gives(db: SQLiteDatabase) -> None:
    plain = sqlite3.connect(f"file:{db.path}?mode=ro", uri=True)
    for sql in statements("plain.sql"):
        result = db.execute(sql)
        assert result.error is None, sql
        cursor = plain.execute(sql)
        assert result.columns == tuple(column[0] for column in cursor.description)
        if "now" not in sql and "CURRENT_" not in sql:
            assert list(result.rows) == cursor.fetchall(), sql


@pytest.mark.usefixtures("untouched")
def test_hostile_statements_are_refused_or_contained(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(db.path).parent)
    hostile = statements("hostile.sql")
    assert len(hostile) >= 150
    contained = 0
    for sql in hostile:
        result = db.execute(sql, Limits(seconds=0.05))
        assert result.seconds < 10, sql
        if result.ok:
            assert sum(len(str(cell)) for row in result.rows for cell in row) < 64 * 1024**2, sql
            contained += 1
        else:
            assert result.error is not None
            assert "\n" not in str(result.error)
            assert result.rows == result.columns == ()
    assert contained <= 3
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


@pytest.mark.usefixtures("untouched")
def test_statements_that_look_at_no_clock_are_contained(db: SQLiteDatabase) -> None:
    deaf = statements("hostile_deaf.sql")
    assert len(deaf) >= 15
    before = private_memory()
    for sql in deaf:
        result = db.execute(sql, Limits(seconds=0.1))
        assert result.error_kind == "limit", (sql, result.error)
        assert result.seconds < 5, sql
    assert private_memory() - before < 100 * 1024**2
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_errors_are_told_apart(db: SQLiteDatabase) -> None:
    cancelled = threading.Event()
    cancelled.set()
    cases = {
        "sql": db.execute("SELECT nme FROM customer"),
        "refused": db.execute("DELETE FROM customer"),
        "limit": db.execute(FOREVER, Limits(seconds=0.05)),
        "cancelled": db.execute(FOREVER, cancel=cancelled),
    }
    assert {kind: result.error_kind for kind, result in cases.items()} == {kind: kind for kind in cases}
    assert str(cases["sql"].error) == "no such column: nme"
    assert db.execute("SELECT 1").error_kind is None
    assert db.execute("SELECT last_insert_rowid()").error_kind == "refused"
    assert db.execute("SELECT year(name) FROM customer").error_kind == "sql"
    assert db.execute("SELECT ? , :a").error_kind is not None


def test_rows_are_cut_and_say_so(db: SQLiteDatabase) -> None:
    many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20) SELECT x FROM n"
    cut = db.execute(many, Limits(rows=5))
    assert (cut.truncated, len(cut.rows)) == (True, 5)
    whole = db.execute(many, Limits(rows=20))
    assert (whole.truncated, len(whole.rows)) == (False, 20)
    none = db.execute(many, Limits(rows=0))
    assert (none.truncated, none.rows, none.columns) == (True, (), ("x",))


def test_bytes_are_counted(db: SQLiteDatabase) -> None:
    sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 200) SELECT printf('%900d', x) FROM n"
    assert db.execute(sql, Limits(bytes=200_000)).ok
    result = db.execute(sql, Limits(bytes=100_000))
    assert str(result.error) == "limit: the rows take more than 100000 bytes; select fewer columns or rows"


@pytest.mark.parametrize("seconds", [0.01, 0.3])
def test_time_limit(db: SQLiteDatabase, seconds: float) -> None:
    result = db.execute(FOREVER, Limits(seconds=seconds))
    assert str(result.error) == f"limit: stopped after {seconds:g} s; ask for less"
    assert seconds <= result.seconds < seconds + 0.5
    assert db.execute("SELECT 1").rows == ((1,),)  # the connection is as good as before


def test_cancellation_stops_a_running_query(db: SQLiteDatabase) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.1, cancel.set)
    timer.start()
    result = db.execute(FOREVER, Limits(seconds=30), cancel)
    timer.join()
    assert str(result.error) == "cancelled: stopped on request"
    assert 0.1 <= result.seconds < 10
    assert db.execute("SELECT 1").ok


def test_an_interrupt_in_the_callback_is_not_swallowed(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_self: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("sqljury.parallel.watch.Watch.stop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        db.execute(FOREVER)


def test_values_of_every_kind(shop: Path) -> None:
    writer = sqlite3.connect(shop)
    writer.execute("CREATE TABLE kinds (v)")
    values = [None, -(2**63), 2**63 - 1, 1.5, float("inf"), float("-inf"), "", "größe ✓ 𝄞", b"", b"\x00\xff", "a\x00b"]
    writer.executemany("INSERT INTO kinds VALUES (?)", [(value,) for value in values])
    writer.execute("INSERT INTO kinds VALUES (9e999 - 9e999)")
    writer.execute("INSERT INTO kinds VALUES (CAST(x'6170ff70' AS TEXT))")
    writer.commit()
    writer.close()
    with SQLiteDatabase(shop) as db:
        assert [row[0] for row in db.execute("SELECT v FROM kinds").rows] == [*values, None, "ap\ufffdp"]


def test_text_and_names_that_are_not_utf8(shop: Path) -> None:
    writer = sqlite3.connect(shop)
    writer.execute("CREATE TABLE t (abcd)")
    writer.execute("CREATE VIEW v AS SELECT 'abcd' AS abcd")
    writer.commit()
    writer.close()
    shop.write_bytes(shop.read_bytes().replace(b"abcd", b"ab\xff\xfe"))
    with SQLiteDatabase(shop) as db:
        for sql in ("SELECT * FROM v", "SELECT * FROM t", "SELECT sql FROM sqlite_master"):
            result = db.execute(sql)
            assert result.error is None or "\n" not in str(result.error)


def test_utf16_database(tmp_path: Path) -> None:
    writer = sqlite3.connect(tmp_path / "x.db")
    writer.executescript("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a); INSERT INTO t VALUES ('größe');")
    writer.close()
    with SQLiteDatabase(tmp_path / "x.db") as db:
        assert db.execute("SELECT a FROM t WHERE a = 'größe'").rows == (("größe",),)


def test_many_threads_at_once(db: SQLiteDatabase) -> None:
    def ask(number: int) -> Result:
        if number % 10 == 0:
            return db.execute(FOREVER, Limits(seconds=0.05))
        return db.execute(f"SELECT {number}, count(*) FROM customer")

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(ask, range(200)))
    for number, result in enumerate(results):
        assert result.error_kind == "limit" if number % 10 == 0 else result.rows == ((number, 4),)
    assert len(db._idle) <= 8


def test_a_lock_is_waited_for_and_then_reported(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.db.sqlite.LOCK_SECONDS", 0.3)
    with SQLiteDatabase(shop) as db:
        writer = sqlite3.connect(shop, isolation_level=None, check_same_thread=False)
        writer.execute("BEGIN EXCLUSIVE")
        result = db.execute("SELECT 1 FROM customer")
        assert result.error_kind == "locked"
        assert result.seconds < 10
        assert db.execute("SELECT 1 FROM customer", Limits(seconds=0.01)).seconds < 10
        timer = threading.Timer(0.1, writer.execute, ["ROLLBACK"])
        timer.start()
        assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)
        timer.join()


def test_changes_by_other_programs_are_seen(shop: Path, tmp_path: Path) -> None:
    with SQLiteDatabase(shop) as db:
        count = "SELECT count(*) FROM customer"
        assert db.execute(count).rows == ((4,),)
        writer = sqlite3.connect(shop)
        writer.execute("INSERT INTO customer (name) VALUES ('Eve')")
        writer.commit()
        writer.close()
        assert db.execute(count).rows == ((5,),)
        other = sqlite3.connect(tmp_path / "other.db")
        other.executescript("CREATE TABLE customer (a);")
        other.close()
        os.replace(tmp_path / "other.db", shop)
        assert db.execute(count).rows == ((0,),)
        shop.unlink()
        assert db.execute(count).error_kind == "database"


def test_closed(db: SQLiteDatabase) -> None:
    db.execute("SELECT 1")
    db.close()
    db.close()
    assert db.execute("SELECT 1").error_kind == "database"
    with pytest.raises(DatabaseError, match="was closed"):
        db.catalog("SELECT 1")
    assert db._idle == []


def test_catalog_reads_pragmas_and_leaves_the_walls_up(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    assert db.catalog("SELECT name FROM pragma_table_info(?)", ("nation",)) == [("name",), ("capital",)]
    assert db.execute("SELECT * FROM pragma_table_info('nation')").error_kind == "refused"
    with pytest.raises(QueryError, match="no such table"):
        db.catalog("SELECT * FROM nowhere")
    with pytest.raises(QueryError, match="reading only"):
        db.catalog("DELETE FROM customer")
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    result = db.execute("PRAGMA table_info(nation)")
    assert str(result.error) == "refused: not authorized; only reading tables with known functions is allowed"


def test_a_link_is_read_with_the_log_of_what_it_leads_to(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    writer = sqlite3.connect(real / "shop.db")
    writer.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES ('old');")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.execute("UPDATE t SET a = 'new'")
    writer.commit()
    (tmp_path / "link.db").symlink_to(real / "shop.db")
    with SQLiteDatabase(tmp_path / "link.db") as db:
        assert db.name == "link"
        assert db.execute("SELECT a FROM t").rows == (("new",),)
    writer.close()

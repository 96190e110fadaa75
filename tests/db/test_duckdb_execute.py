from __future__ import annotations

import datetime
import gc
import os
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from duckdb_shop import contents, write
from sql_corpus import statements

from sqljury.db.base import Database
from sqljury.db.duckdb import MAX_WORKERS, DuckDBDatabase
from sqljury.errors import DatabaseError, NotADatabaseError, QueryError
from sqljury.types import Limits

duckdb = pytest.importorskip("duckdb")
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
DEAF = "SELECT array_to_string(range(100000000), ',')"
"""One call of a function that does not look whether it was interrupted."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("duck") / "shop.duckdb")


@pytest.fixture(scope="module")
def shared(template: Path) -> Iterator[DuckDBDatabase]:
    with DuckDBDatabase(template) as database:
        yield database


@pytest.mark.parametrize("sql", statements("plain_duckdb.sql"))
def test_plain_queries_run(shared: DuckDBDatabase, sql: str) -> None:
    result = shared.execute(sql)
    assert result.ok, result.error
    for cell in (cell for row in result.rows for cell in row):
        assert cell is None or isinstance(cell, int | float | str | bytes)


def test_the_answers_are_what_duckdb_itself_gives(shared: DuckDBDatabase, template: Path) -> None:
    sql = "SELECT city, count(*), avg(age) FROM customer GROUP BY city ORDER BY city"
    with duckdb.connect(str(template), read_only=True) as connection:
        expected = connection.execute(sql).fetchall()
    assert shared.execute(sql).rows == tuple(expected)


@pytest.mark.parametrize(
    ("expression", "cell"),
    [
        ("NULL", None),
        ("true", True),
        ("7::TINYINT", 7),
        ("170141183460469231731687303715884105727::HUGEINT", 170141183460469231731687303715884105727),
        (
            "12345678901234567890123456789012345678901234567890::BIGNUM",
            "12345678901234567890123456789012345678901234567890",
        ),
        ("0.1::FLOAT", 0.1),
        ("0.1::DOUBLE", 0.1),
        ("'inf'::DOUBLE", float("inf")),
        ("1.50::DECIMAL(10, 2)", 1.5),
        ("7::DECIMAL(20, 0)", 7),
        ("'größe'", "größe"),
        ("'a' || chr(0) || 'b'", "a\x00b"),
        ("'\\x00\\xFF'::BLOB", b"\x00\xff"),
        ("DATE '2024-01-31'", "2024-01-31"),
        ("DATE '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("'infinity'::DATE", "infinity"),
        ("TIME '10:00:00.5'", "10:00:00.5"),
        ("TIMESTAMP '2024-01-31 10:00:00'", "2024-01-31 10:00:00"),
        ("INTERVAL '1 month 3 days 2 hours'", "1 month 3 days 02:00:00"),
        ("'00000000-0000-0000-0000-000000000001'::UUID", "00000000-0000-0000-0000-000000000001"),
        ("'101'::BIT", "101"),
        ("'sad'::mood", "sad"),
        ("'{\"a\": 1}'::JSON", '{"a": 1}'),
        ("[1, NULL, 3]", "[1,null,3]"),
        ("[DATE '2024-01-31']", '["2024-01-31"]'),
        ("{'a': 1, 'b': {'c': 'x'}}", '{"a":1,"b":{"c":"x"}}'),
        ("MAP {'k': 1.5}", '{"k":1.5}'),
        ("array_value(1, 2)", "[1,2]"),
    ],
)
def test_cells(shared: DuckDBDatabase, expression: str, cell: Any) -> None:
    result = shared.execute(f"SELECT {expression} AS cell, 1 AS cell")
    assert result.error is None
    assert result.columns == ("cell", "cell")
    assert result.rows == ((cell, 1),)
    assert type(result.rows[0][0]) is type(cell)


def test_a_time_with_its_zone_needs_no_library(shared: DuckDBDatabase) -> None:
    cell = shared.execute("SELECT TIMESTAMPTZ '2024-01-31 10:00:00+00'").rows[0][0]
    moment = datetime.datetime.fromisoformat(f"{cell}:00" if cell[-3] in "+-" else cell)
    assert moment == datetime.datetime(2024, 1, 31, 10, tzinfo=datetime.UTC)


def test_every_type_of_duckdb_has_a_plain_cell(shared: DuckDBDatabase) -> None:
    rows = shared.catalog("SELECT * FROM test_all_types()")
    assert len(rows) == 3
    assert all(cell is None or isinstance(cell, int | float | str | bytes) for row in rows for cell in row)


def test_order_is_kept_where_cells_are_rewritten(shared: DuckDBDatabase) -> None:
    result = shared.execute("SELECT DATE '2024-01-01' + i::INT AS day FROM range(5000) t(i) ORDER BY i DESC")
    assert [row[0] for row in result.rows] == sorted((row[0] for row in result.rows), reverse=True)


def test_rows_are_cut_and_said_to_be(shared: DuckDBDatabase) -> None:
    for rows in (0, 1, 63, 64, 65, 3000):
        result = shared.execute("SELECT i FROM range(100000) t(i)", Limits(rows=rows))
        assert (len(result.rows), result.truncated) == (rows, True)
    result = shared.execute("SELECT i FROM range(100) t(i)", Limits(rows=100))
    assert (len(result.rows), result.truncated) == (100, False)


def test_bytes_are_limited(shared: DuckDBDatabase) -> None:
    result = shared.execute("SELECT repeat('x', 1000) FROM range(2000)", Limits(bytes=1_000_000))
    assert str(result.error) == "limit: the rows take more than 1000000 bytes; select fewer columns or rows"


@pytest.mark.parametrize(
    "sql", [ENDLESS, DEAF, "SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)"]
)
def test_time_is_limited_and_the_database_usable_afterwards(shared: DuckDBDatabase, sql: str) -> None:
    result = shared.execute(sql, Limits(seconds=0.3))
    assert str(result.error) == "limit: stopped after 0.3 s; ask for less"
    assert result.seconds < 10
    start = time.monotonic()
    assert shared.execute("SELECT 1").rows == ((1,),)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("sql", [ENDLESS, DEAF])
def test_cancelling(shared: DuckDBDatabase, sql: str) -> None:
    cancel = threading.Event()
    threading.Timer(0.2, cancel.set).start()
    result = shared.execute(sql, Limits(seconds=30), cancel)
    assert str(result.error) == "cancelled: stopped on request"
    assert result.seconds < 10
    assert shared.execute("SELECT 1", cancel=cancel).error_kind == "cancelled"
    assert shared.execute("SELECT 1").ok


def test_memory_is_limited(shared: DuckDBDatabase) -> None:
    result = shared.execute("SELECT list(repeat('x', 1000) || i) FROM range(100000000) t(i)", Limits(seconds=30))
    assert result.error_kind == "limit"
    assert "memory" in str(result.error or "").lower()
    assert shared.execute("SELECT 1").ok


def test_errors_say_what_is_wrong_in_one_line(shared: DuckDBDatabase) -> None:
    result = shared.execute("SELECT nme FROM customer")
    assert result.error_kind == "sql"
    assert 'Referenced column "nme" not found' in str(result.error or "")
    assert "LINE" not in str(result.error or "")
    assert "\n" not in str(result.error or "")
    assert shared.execute("SELECT * FROM gone").error_kind == "sql"
    assert shared.execute("DELETE FROM customer").error_kind == "refused"
    assert shared.execute("SELECT 'x'::INT").error_kind == "sql"


def test_several_threads_at_once(shared: DuckDBDatabase) -> None:
    def ask(number: int) -> Any:
        return shared.execute(f"SELECT {number} + count(*) FROM customer").rows

    with ThreadPoolExecutor(MAX_WORKERS * 3) as pool:
        assert list(pool.map(ask, range(30))) == [((number + 4,),) for number in range(30)]


def test_a_query_keeps_no_state_for_the_next(shared: DuckDBDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqljury.db import readonly

    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    for sql in ("SET search_path = 'stock'", "CREATE TEMP TABLE customer (x INT)", "SET VARIABLE v = 1"):
        shared.execute(sql)
    assert shared.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_catalog(shared: DuckDBDatabase) -> None:
    assert shared.catalog("SELECT name FROM nation WHERE capital = ?", ("Riga",)) == [("Latvia",)]
    with pytest.raises(QueryError, match=r"shop\.duckdb: .*gone"):
        shared.catalog("SELECT * FROM gone")


def test_the_process_sees_no_secrets(shared: DuckDBDatabase, monkeypatch: pytest.MonkeyPatch, template: Path) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    with DuckDBDatabase(template) as db:
        pids = [opened.worker.pid for opened in db._idle]
        for pid in pids:
            environment = Path(f"/proc/{pid}/environ")
            if environment.exists():
                assert b"hunter2" not in environment.read_bytes()
        assert pids


def test_closing(template: Path) -> None:
    db = DuckDBDatabase(template)
    assert isinstance(db, Database)
    process = db._idle[0].worker
    db.close()
    db.close()
    assert not process.alive
    assert str(db.execute("SELECT 1").error) == f"database: {template}: was closed; connect again"
    with pytest.raises(DatabaseError, match="closed"):
        db.catalog("SELECT 1")


def test_a_worker_that_dies_is_replaced(template: Path) -> None:
    with DuckDBDatabase(template) as db:
        db._idle[0].worker.close()
        assert db.execute("SELECT 1").ok


class Interrupting(threading.Event):
    """Raises, when it is asked after so many seconds, what Ctrl-C raises in the thread that waits for a reply."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._at = time.monotonic() + seconds

    def is_set(self) -> bool:
        if time.monotonic() > self._at:
            raise KeyboardInterrupt
        return False


def test_the_reply_to_an_interrupted_query_is_not_given_to_the_next(template: Path) -> None:
    with DuckDBDatabase(template) as db:
        process = db._idle[0].worker
        with pytest.raises(KeyboardInterrupt):
            db.execute(ENDLESS, Limits(seconds=60), Interrupting(0.3))
        assert not process.alive
        assert [db.execute(f"SELECT {number}").rows for number in range(3)] == [((number,),) for number in range(3)]


@pytest.mark.parametrize("reply", [b"[]\n", b"{\n", b'{"bytes": 1}\n', b'{"rows": []'])
def test_a_reply_that_is_none_ends_the_process(template: Path, reply: bytes) -> None:
    with DuckDBDatabase(template) as db:
        process = db._idle[0].worker
        process._replies.put(reply)  # as if the process had written it
        assert db.execute("SELECT 1").error_kind == "limit"
        assert not process.alive
        assert db.execute("SELECT 2").rows == ((2,),)


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")
def test_a_database_that_is_dropped_leaves_no_process(template: Path) -> None:
    db = DuckDBDatabase(template)
    worker = weakref.ref(db._idle[0].worker)
    pid = db._idle[0].worker.pid
    del db
    gc.collect()
    assert worker() is None
    with pytest.raises(ProcessLookupError):  # it has ended, and was waited for
        os.kill(pid, 0)


def test_a_forked_process_does_not_end_the_workers_of_the_other(template: Path) -> None:
    with DuckDBDatabase(template) as db:
        process = db._idle[0].worker
        child = os.fork()
        if not child:
            process.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert process.alive
        assert db.execute("SELECT 1").rows == ((1,),)
        assert db._idle[0].worker is process


def test_the_start_of_a_process_obeys_limit_and_cancel(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with DuckDBDatabase(template) as db:
        db._idle.pop().worker.close()
        code = "import time; time.sleep(20)"  # as with a damaged catalogue that takes long to read
        monkeypatch.setattr("sqljury.db.duckdb_worker.arguments", lambda *_: [sys.executable, "-c", code])
        for limits, kind in ((Limits(seconds=0.4), "limit"), (Limits(seconds=20), "cancelled")):
            cancel = threading.Event()
            timer = threading.Timer(0.4, cancel.set) if kind == "cancelled" else threading.Timer(0, lambda: None)
            timer.start()
            start = time.monotonic()
            result = db.execute("SELECT 1", limits, cancel)
            assert result.error_kind == kind, result.error
            assert 0.3 < time.monotonic() - start < 10
            timer.join()
        monkeypatch.undo()
        assert db.execute("SELECT 1").rows == ((1,),)


def test_a_file_that_cannot_be_opened_in_time(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import time; time.sleep(20)"
    monkeypatch.setattr("sqljury.db.duckdb_worker.arguments", lambda *_: [sys.executable, "-c", code])
    monkeypatch.setattr("sqljury.db.duckdb._OPEN_LIMITS", Limits(seconds=0.2))
    with pytest.raises(NotADatabaseError, match=r"cannot be opened within 0\.2 s"):
        DuckDBDatabase(template)


def test_macros_are_those_of_the_file_that_is_there(template: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(template, tmp_path / "shop.duckdb"))
    other = tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE MACRO upper(x) AS 'mine'")
    with DuckDBDatabase(path) as db:
        assert db.execute("SELECT upper('a')").rows == (("A",),)
        other.replace(path)
        assert "is a macro of the database" in str(db.execute("SELECT upper('a')").error)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    path = write(tmp_path / "shop.duckdb")
    before = contents(tmp_path)
    with DuckDBDatabase(path) as db:
        folder = Path(db._folder.name)
        db.execute("SELECT i FROM range(3000000) t(i) ORDER BY hash(i)")
    assert contents(tmp_path) == before
    assert not folder.exists()

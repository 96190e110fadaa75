"""The process that runs SQLite: it is ended when it does not answer, with its caller, and with the last database."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sqljury.db import sqlite, sqlite_client, sqlite_memory, sqlite_workers
from sqljury.db import sqlite_client as sqlite_start
from sqljury.db.connect import connect
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.db.sqlite_client import Worker, WorkerLostError
from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.db.worker_process import KEPT_VARIABLES
from sqljury.errors import DatabaseError
from sqljury.metrics.esm_plus import match as valid
from sqljury.metrics.spider.structure import Names
from sqljury.parallel.processes import Tell, Work, map_processes
from sqljury.parallel.watch import Watch, private_memory
from sqljury.schema.introspect import introspect
from sqljury.types import Limits
from sqljury.values.store import versions

GROWN = "WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) "
DEAF = GROWN + "SELECT length(trim(s, substr(replace(s, 'a', 'x'), 1, 85000) || 'a')) FROM g WHERE n = 19"
"""Minutes in one call of a function."""


def doubled(levels: int, first: str = "SELECT 1 AS x") -> str:
    """A query that takes twice the time and memory to compile for each level."""
    steps = "".join(f", e{n} AS (SELECT x + x AS x FROM e{n - 1})" for n in range(1, levels))
    return f"WITH e0 AS ({first}){steps} SELECT x FROM e{levels - 1}"


def children(pid: int | None = None) -> list[int]:
    """The processes that this one has started and that still run."""
    listed = Path(f"/proc/{pid or os.getpid()}/task").glob("*/children")
    found = [int(child) for file in listed for child in file.read_text().split()]
    return [child for child in found if not ended(child)]


def ended(pid: int) -> bool:
    """Whether the process is gone, or only its entry is left for its parent to read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def comes(condition: object, seconds: float = 20.0) -> bool:
    """Whether a condition comes true in time."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture(autouse=True)
def own_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers of the test's own, so that databases which other tests have open do not keep them."""
    workers = sqlite_workers._Workers()
    for module in (sqlite, sqlite_memory):
        monkeypatch.setattr(module, "WORKERS", workers)
    yield
    valid._empty_database.cache_clear()
    workers.shut()


linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")


@pytest.mark.parametrize("sql", [DEAF, doubled(26, "SELECT age AS x FROM customer")], ids=["deaf call", "compiling"])
def test_what_looks_at_no_clock_is_ended_by_limit_and_cancel(db: SQLiteDatabase, sql: str) -> None:
    for limits, kind in ((Limits(seconds=0.3), "limit"), (Limits(seconds=60), "cancelled")):
        cancel = threading.Event()
        timer = threading.Timer(0.3, cancel.set) if kind == "cancelled" else threading.Timer(0, int)
        timer.start()
        start = time.monotonic()
        result = db.execute(sql, limits, cancel)
        assert result.error_kind == kind, result.error
        assert time.monotonic() - start < 5
        timer.join()
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_compiling_takes_no_memory_here(db: SQLiteDatabase) -> None:
    before = private_memory()
    result = db.execute(doubled(30), Limits(seconds=2))
    assert result.error_kind == "limit"
    assert private_memory() - before < 100 * 1024**2
    assert db.execute("SELECT 1").ok


def test_views_of_a_hostile_file_do_not_take_long_or_much(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.db.sqlite._CATALOG_SECONDS", 1.0)
    monkeypatch.setattr("sqljury.db.sqlite._LEAST_SECONDS", 0.1)
    with closing(sqlite3.connect(shop)) as writer:
        writer.execute("CREATE VIEW e0 AS SELECT age AS x FROM customer")
        for number in range(1, 27):
            writer.execute(f"CREATE VIEW e{number} AS SELECT a.x FROM e{number - 1} a, e{number - 1} b")
    before = private_memory()
    start = time.monotonic()
    with SQLiteDatabase(shop) as db:
        names = {table.name for table in introspect(db).tables}
        assert {"customer", "e0", "e5"} <= names
        assert "e26" not in names
        assert db.execute("SELECT * FROM e26", Limits(seconds=0.3)).error_kind == "limit"
    assert time.monotonic() - start < 30
    assert private_memory() - before < 200 * 1024**2


def test_what_the_rows_take_here_is_limited_too(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell of one character takes some 80 bytes here, of which `Limits.bytes` counts one."""
    monkeypatch.setattr(sqlite_client, "HELD_BYTES", 8 * 1024**2)
    cells = ", ".join(["'字'"] * 1000)
    many = f"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 500) SELECT {cells} FROM n"
    result = db.execute(many, Limits(bytes=1024**2))
    assert str(result.error) == "limit: the rows take more than 8 MiB of memory; select fewer"
    assert db.execute(f"{many} LIMIT 50", Limits(bytes=1024**2)).ok
    longest = Limits(bytes=100 * 1024**2)  # whoever allows more cells gets room for them
    assert db.execute(many, longest).ok


def test_rows_that_come_in_pieces_are_put_together(db: SQLiteDatabase) -> None:
    sql = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 9000) SELECT x, printf('%900d', x) FROM n"
    )
    result = db.execute(sql)
    assert [row[0] for row in result.rows] == list(range(1, 9001))
    assert all(len(row[1]) == 900 for row in result.rows)
    assert len(db.execute(sql, Limits(rows=7000)).rows) == 7000


@pytest.mark.parametrize("forged", [2**62, 2**40])
def test_a_reply_is_not_believed_in_its_length(shop: Path, forged: int, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import os; os.read(1, 9); os.write(1, ({forged}).to_bytes(8, 'little') + b'x' * 99); os.read(1, 9)"
    monkeypatch.setattr("sqljury.db.sqlite_worker.COMMAND", code)
    worker = Worker()
    with pytest.raises(WorkerLostError):
        worker.ask(("close", 1), Watch(Limits(seconds=20)))
    assert worker.lost
    sqlite_client.reap(10)


@pytest.mark.parametrize("reply", ["b'no marshal'", "marshal.dumps(['done'])", "marshal.dumps(('other', 1))"])
def test_a_reply_that_is_none_is_an_error(shop: Path, reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        f"import marshal, os; r = {reply}; os.read(1, 9); os.write(1, len(r).to_bytes(8, 'little') + r); os.read(0, 1)"
    )
    monkeypatch.setattr("sqljury.db.sqlite_worker.COMMAND", code)
    with pytest.raises(DatabaseError, match="the process that reads it ended"):
        SQLiteDatabase(shop)
    sqlite_client.reap(10)


def test_a_process_that_ended_while_idle_is_replaced(db: SQLiteDatabase) -> None:
    pid = db._idle[0].pid
    os.kill(pid, signal.SIGKILL)
    assert comes(lambda: ended(pid))
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)
    assert db._idle[0].pid != pid


def test_a_query_whose_process_ends_is_told_so(db: SQLiteDatabase) -> None:
    others = set(children()) - {worker.pid for worker in db._idle}  # such as servers of other tests
    with ThreadPoolExecutor(1) as pool:
        db.execute("SELECT 1")
        pid = db._idle[0].pid
        running = pool.submit(db.execute, DEAF, Limits(seconds=60))
        assert comes(lambda: not db._idle)
        while not running.done():  # the query is tried once more, for it may not have reached the first process
            for child in set(children()) - others:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.05)
        assert (
            str(running.result().error)
            == "limit: the process that ran the query ended, most likely out of memory; ask for less"
        )
    assert ended(pid)
    assert db.execute("SELECT 1").ok


@linux
def test_no_process_is_left_after_closing(shop: Path) -> None:
    before = set(children())
    with SQLiteDatabase(shop) as db, SQLiteDatabase(shop) as other:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(db.execute, ["SELECT 1"] * 9))
        assert db.execute(DEAF, Limits(seconds=0.1)).error
        db.close()
        assert other.execute("SELECT 1").ok
        assert set(children()) - before
    assert set(children()) == before


@linux
def test_closing_ends_the_process_of_a_running_query_when_that_ends(shop: Path) -> None:
    before = set(children())
    db = SQLiteDatabase(shop)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(db.execute, DEAF, Limits(seconds=0.5))
        assert comes(lambda: not db._idle)
        db.close()
        assert running.result().error_kind == "limit"
    assert comes(lambda: set(children()) == before)


@linux
def test_databases_share_processes(shop: Path, tmp_path: Path) -> None:
    before = set(children())
    opened = [SQLiteDatabase(shop) for _ in range(20)]
    assert all(db.execute("SELECT 1").ok for db in opened)
    assert len(set(children()) - before) == 1
    for db in opened:
        db.close()


@linux
def test_a_database_that_is_dropped_is_released(shop: Path) -> None:
    with SQLiteDatabase(shop) as db:
        SQLiteDatabase(shop)  # nobody closes it
        assert db.execute("SELECT 1").ok
        assert [len(worker.opened) for worker in db._idle] == [1]


CALLER = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
sys.path[:0] = sys.argv[2:]
from sqljury.db.connect import connect
from sqljury.types import Limits
db = connect(sys.argv[1])
print(db._idle[0].pid, flush=True)
print(db.execute(sys.stdin.readline(), Limits(seconds=600)), flush=True)
"""


@linux
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT", "end"])
def test_a_process_ends_with_its_caller(shop: Path, name: str) -> None:
    command = [sys.executable, "-c", CALLER, str(shop), *sys.path]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as caller:
        assert caller.stdin
        assert caller.stdout
        pid = int(caller.stdout.readline())
        assert not ended(pid)
        print(DEAF if name != "end" else "SELECT 1", file=caller.stdin, flush=True)
        if name != "end":
            assert comes(lambda: ticks(pid) > 10)  # it is at work
            caller.send_signal(getattr(signal, name))
        caller.wait(timeout=30)
    assert comes(lambda: ended(pid))


def ticks(pid: int) -> int:
    """Processor time of a process, in hundredths of a second or so."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_the_process_sees_no_secrets(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    worker = Worker()
    environment = Path(f"/proc/{worker.pid}/environ")
    if environment.exists():
        assert worker.ask(("close", 1), Watch(Limits())) == ("done",)
        names = {line.partition(b"=")[0].decode() for line in environment.read_bytes().split(b"\0") if line}
        assert names <= {*KEPT_VARIABLES, "TMPDIR", "SQLITE_TMPDIR"}
    worker.kill()
    sqlite_client.reap(10)


def counted(path: Path, results: multiprocessing.SimpleQueue[object]) -> None:
    with SQLiteDatabase(path) as db:
        results.put(db.execute("SELECT count(*) FROM customer").rows)


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_in_other_processes(db: SQLiteDatabase, how: str) -> None:
    context = multiprocessing.get_context(how)
    results = context.SimpleQueue()
    child = context.Process(target=counted, args=(Path(db.path), results))  # type: ignore[attr-defined]
    child.start()
    assert results.get() == ((4,),)
    child.join()
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_a_forked_process_leaves_the_workers_alone(db: SQLiteDatabase) -> None:
    """It has a copy of the database that was open; what it asks goes through a process of its own."""
    pid = db._idle[0].pid
    child = os.fork()
    if not child:
        good = False
        try:
            good = db._idle == [] and db.execute("SELECT 1").ok and db._idle[0].pid != pid
            db.close()
        finally:
            os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert [worker.pid for worker in db._idle] == [pid]
    assert db.execute("SELECT 1").ok


def asking() -> Work[str, str | None]:
    path = os.environ["SQLJURY_TEST_SHOP"]
    db = SQLiteDatabase(path)

    def work(sql: str, _tell: Tell) -> str | None:
        error = db.execute(sql, Limits(seconds=0.3)).error
        return error and str(error)

    return work


def test_in_processes_that_map(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLJURY_TEST_SHOP", str(shop))
    found = map_processes(asking, ["SELECT 1", DEAF, "SELECT 2"], lambda *_: "lost", silence=60)
    assert found == [None, "limit: stopped after 0.3 s; ask for less", None]


def test_where_the_program_cannot_be_started_it_is_forked(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sqlite_start.subprocess, "Popen", refused)
    monkeypatch.setattr(sqlite_start.threading, "active_count", lambda: 1)
    with SQLiteDatabase(shop) as db:
        assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)
        pid = db._idle[0].pid
        assert db.execute(DEAF, Limits(seconds=0.2)).error_kind == "limit"
        assert db.execute("SELECT 1").ok
    assert ended(pid)
    monkeypatch.setattr(sqlite_start.threading, "active_count", lambda: 2)
    with pytest.raises(DatabaseError, match="cannot be started"):
        SQLiteDatabase(shop)


def test_who_may_read_is_asked_and_fails_closed(db: SQLiteDatabase) -> None:
    asked = []

    def may_read(table: str, column: str, view: str) -> bool:
        asked.append((table, column, view))
        if column == "age":
            raise RuntimeError
        return column != "city"

    sql = "SELECT name, name || name FROM customer WHERE id > 0"
    assert db.execute(sql, may_read=may_read).ok
    assert sorted(asked) == [("customer", "id", ""), ("customer", "name", "")]
    for column in ("city", "age"):
        result = db.execute(f"SELECT {column} FROM customer", may_read=may_read)
        assert result.error_kind == "refused"
    assert db.execute("SELECT name FROM customer", may_read=lambda *_: "yes").error_kind == "refused"  # type: ignore[return-value, arg-type]
    assert db.execute("SELECT city, age FROM customer").ok


def test_a_database_in_memory_survives_a_deaf_call() -> None:
    tables = {"t": 'CREATE TABLE "t" ("a" INT, "b" TEXT)'}
    with MemoryDatabase(tables) as db:
        assert str(db.execute(DEAF, Limits(seconds=0.3)).error) == "limit: stopped after 0.3 s; ask for less"
        assert db.rows() == {"t": []}
        assert db.fill({"t": [(1, "x"), (True, None)]})
        assert db.execute(doubled(26, "SELECT a AS x FROM t"), Limits(seconds=0.3)).error
        assert db.execute("SELECT * FROM t").rows == ((1, "x"), (1, None))
        assert not db.fill({"t": [(object(), 1)]})
        assert db.rows() == {"t": [(1, "x"), (1, None)]}


def test_a_condition_of_a_table_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "length(trim(a, substr(replace(a, 'a', 'x'), 1, 85000) || 'a')) >= 0"
    with MemoryDatabase({"t": f"CREATE TABLE t (a TEXT CHECK ({slow}))"}) as db:
        with monkeypatch.context() as patched:
            patched.setattr("sqljury.db.sqlite_memory.OWN_LIMITS", Limits(seconds=0.5))
            assert not db.fill({"t": [("a" * 900_000,)]})
        assert db.fill({"t": [("a",)]})


def test_compiling_a_prediction_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names({"t": ("a",)})
    before = private_memory()
    assert valid.is_valid("SELECT a FROM t", names)
    assert not valid.is_valid("SELECT b FROM t", names)
    with monkeypatch.context() as patched:
        patched.setattr(valid, "LIMITS", Limits(seconds=0.5))
        assert not valid.is_valid(doubled(28, "SELECT a AS x FROM t"), names)
    assert valid.is_valid("SELECT count(*) FROM t", names)
    assert private_memory() - before < 100 * 1024**2


@linux
def test_databases_in_memory_leave_one_process_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.db.sqlite_workers.REST_SECONDS", 0.2)
    before = set(children())
    for number in range(5):
        with MemoryDatabase({"t": "CREATE TABLE t (a)"}) as db:
            assert db.fill({"t": [(number,)]})
            assert db.execute("SELECT a FROM t").rows == ((number,),)
    assert len(set(children()) - before) <= 1
    assert comes(lambda: set(children()) == before)


def test_locks_of_the_program_s_own_are_not_dropped(shop: Path) -> None:
    """The system drops all locks that a process has on a file when the process closes the file once."""
    with closing(sqlite3.connect(shop, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with connect(shop) as db:
            assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)
            versions(db, ["customer"])
        code = f"import sqlite3; sqlite3.connect({str(shop)!r}, timeout=0.1).execute('BEGIN IMMEDIATE')"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "database is locked" in other.stderr
        writer.execute("ROLLBACK")

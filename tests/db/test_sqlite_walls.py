"""Each wall on its own: what the parser would have stopped is handed to the next one directly."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sql_corpus import statements

from sqljury.db import readonly, sqlite_opening
from sqljury.db.connect import connect
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.db.sqlite_walls import FUNCTIONS, authorizer, functions_for, harden
from sqljury.errors import DatabaseError, QueryRefusedError
from sqljury.parallel import watch
from sqljury.types import Limits

HOSTILE = statements("hostile.sql")
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
# These would reach beyond the connection, into the whole process, if the wall under test had a hole.
PROCESS_WIDE = ("PRAGMA hard_heap_limit", "PRAGMA temp_store_directory")


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run_all(connection: sqlite3.Connection, sql_texts: list[str]) -> int:
    """Run each statement for a moment, whatever it says; how many were carried out."""
    done = 0
    for sql in sql_texts:
        guard = watch.Watch(Limits(seconds=0.02))
        connection.set_progress_handler(guard.stop, 1000)
        try:
            connection.execute(sql).fetchmany(10)
            done += 1
        except (sqlite3.Error, sqlite3.Warning):
            pass
    return done


@pytest.mark.usefixtures("no_parser", "untouched")
def test_without_the_parser(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(db.path).parent)
    slow = "2000000000"  # one printf of that size cannot be interrupted: the parser's to stop
    for sql in HOSTILE:
        if slow not in sql:
            result = db.execute(sql, Limits(seconds=0.02))
            assert result.seconds < 10, sql
    for sql in ("DELETE FROM customer", "PRAGMA query_only = OFF", "ATTACH ':memory:' AS m", "VACUUM INTO 'copy.db'"):
        assert db.execute(sql).error_kind == "refused", sql
    for sql in (
        "SELECT load_extension('x')",
        "SELECT zeroblob(9)",
        "SELECT randomblob(9)",
        "SELECT fts3_tokenizer('a')",
    ):
        assert db.execute(sql).error_kind == "refused", sql


def test_the_authorizer_alone_on_a_writable_connection(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    before = digest(shop)
    connection = sqlite3.connect(shop, isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    connection.set_authorizer(authorizer())
    run_all(connection, [sql for sql in HOSTILE if "2000000000" not in sql])
    connection.close()
    assert digest(shop) == before
    assert os.listdir(shop.parent) == ["shop.db"]


def test_the_read_only_connection_alone(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    before = digest(shop)
    how = sqlite_opening.inspect(str(shop))
    connection = sqlite3.connect(how.uri, uri=True, isolation_level=None)
    harden(connection, how.file_bytes)
    skipped = (*PROCESS_WIDE, "SELECT fts3_tokenizer")
    done = run_all(connection, [s for s in HOSTILE if not s.startswith(skipped) and "2000000000" not in s])
    assert done > 10  # PRAGMA and BEGIN among them, harmless here
    for sql in ("PRAGMA query_only = OFF", "PRAGMA writable_schema = ON"):
        connection.execute(sql)
    for sql in (
        "DELETE FROM customer",
        "UPDATE sqlite_master SET sql = ''",
        "VACUUM INTO 'copy.db'",
        "ATTACH 'x' AS y",
    ):
        with pytest.raises(sqlite3.Error):
            connection.execute(sql)
    connection.close()
    assert digest(shop) == before
    assert os.listdir(shop.parent) == ["shop.db"]


def test_query_only_alone(shop: Path) -> None:
    before = digest(shop)
    connection = sqlite3.connect(shop, isolation_level=None)
    harden(connection, shop.stat().st_size)
    for sql in ("DELETE FROM customer", "CREATE TABLE t (a)", "INSERT INTO docs (docs) VALUES ('optimize')"):
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute(sql)
    connection.close()
    assert digest(shop) == before


def test_newer_pythons_switch_more_off(monkeypatch: pytest.MonkeyPatch) -> None:
    class Recorder(sqlite3.Connection):
        seen: dict[int, bool]

        def setconfig(self, option: int, enable: bool = True, /) -> None:
            self.seen = {**getattr(self, "seen", {}), option: enable}

    for name, option in (("DEFENSIVE", 1010), ("TRUSTED_SCHEMA", 1017), ("ENABLE_TRIGGER", 1003)):
        monkeypatch.setattr(sqlite3, f"SQLITE_DBCONFIG_{name}", option, raising=False)
    connection = sqlite3.connect(":memory:", factory=Recorder)
    harden(connection, 0)
    assert {1010: True, 1017: False, 1003: False}.items() <= connection.seen.items()


def test_every_function_of_this_sqlite_is_allowed_or_denied_on_purpose() -> None:
    known = {row[0].lower() for row in sqlite3.connect(":memory:").execute("SELECT name FROM pragma_function_list")}
    denied = {
        *("changes", "total_changes", "last_insert_rowid", "sqlite_version", "sqlite_source_id", "sqlite_log"),
        *("sqlite_compileoption_get", "sqlite_compileoption_used", "load_extension", "randomblob", "zeroblob"),
        *("fts3_tokenizer", "fts5", "fts5_source_id", "matchinfo", "offsets", "optimize", "subtype"),
        *("rtreecheck", "rtreedepth", "rtreenode"),
    }
    assert not denied & FUNCTIONS
    if sqlite3.sqlite_version_info[:2] == (3, 40):
        assert known - FUNCTIONS == denied


@pytest.mark.parametrize(
    ("definition", "allowed"),
    [
        ("CREATE VIEW v AS SELECT printf('%.2f', x), format('%5d', y) FROM t", True),
        ("CREATE TABLE t (format TEXT, printf INT)", True),
        ("CREATE VIEW v AS SELECT printf('%.*c', 2000000000, 'x')", False),
        ("CREATE VIEW v AS SELECT printf('%2000000000d', 1)", False),
        ("CREATE VIEW v AS SELECT PRINTF(x, 1) FROM t", False),
        ("CREATE VIEW v AS SELECT \"printf\" ('%d', 1)", False),
        ("CREATE VIEW v AS SELECT printf/**/('%d', 1)", False),
        ("CREATE TABLE t (a, b AS (format(a, 2000000000)))", False),
    ],
)
def test_printf_in_a_definition(definition: str, allowed: bool) -> None:
    assert ("printf" in functions_for([definition])) is allowed


def test_a_view_cannot_do_what_a_query_cannot(shop: Path) -> None:
    writer = sqlite3.connect(shop)
    for number, query in enumerate(
        ("printf('%.*c', 2000000000, 'x')", "randomblob(9)", "load_extension('x')", "fts3_tokenizer('simple')")
    ):
        writer.execute(f"CREATE VIEW bad{number} AS SELECT {query} AS x")
    writer.execute(f"CREATE VIEW slow AS {ENDLESS} SELECT count(*) FROM n")
    writer.close()
    with SQLiteDatabase(shop) as db:
        for number in range(4):
            assert db.execute(f"SELECT * FROM bad{number}").error_kind == "refused"
        assert db.execute("SELECT * FROM slow", Limits(seconds=0.05)).error_kind == "limit"
        assert db.execute("SELECT count(*) FROM customer").ok


NAMES = (
    "completion",
    "fsdir",
    "dbstat",
    "bytecode",
    "tables_used",
    "eval",
    "edit",
    "optimize",
    "matchinfo",
    "readfile",
)


def test_tables_of_the_database_may_have_names_that_sqlite_uses(shop: Path) -> None:
    with closing(sqlite3.connect(shop, isolation_level=None)) as writer:
        for name in NAMES:
            writer.execute(f"CREATE TABLE {name} (a)")
            writer.execute(f"INSERT INTO {name} VALUES (7)")
        writer.execute("CREATE VIEW over AS SELECT a FROM dbstat")
        with SQLiteDatabase(shop) as db:
            for name in (*NAMES, "main.Completion", '"DBSTAT"', "over"):
                for sql in (f"SELECT a FROM {name}", f"SELECT count(*) * 7 FROM {name}", f"SELECT 7 WHERE 7 IN {name}"):
                    assert db.execute(sql).rows == ((7,),), sql
                    assert db.execute(sql, may_read=lambda *_: True).rows == ((7,),), sql
                    assert not db.execute(sql, may_read=lambda *_: False).ok, sql
                assert db.execute(f"SELECT * FROM {name}('x')").error is not None
            assert db.execute("SELECT * FROM temp.dbstat").error_kind == "refused"
            writer.execute("DROP TABLE dbstat")  # from now on the name means what SQLite has by it
            for sql in ("SELECT * FROM dbstat", "SELECT count(*) FROM dbstat", "SELECT a FROM over"):
                assert not db.execute(sql).ok, sql
            writer.execute("CREATE TABLE dbstat (a)")
            assert db.execute("SELECT count(*) FROM dbstat").rows == ((0,),)


def test_tables_that_show_sqlite_s_inside_are_not_read(db: SQLiteDatabase, shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as writer:
        writer.execute("CREATE VIEW stat AS SELECT name FROM dbstat")
    for name in ("dbstat", "bytecode", "tables_used", "fsdir", "completion", "sqlite_stmt", "stat"):
        for sql in (
            f"SELECT * FROM {name}",
            f"SELECT count(*) FROM {name}",
            f"SELECT 1 FROM customer WHERE id IN {name}",
        ):
            assert not db.execute(sql).ok, sql


def test_triggers_and_virtual_tables_of_a_hostile_schema_do_not_run(shop: Path) -> None:
    writer = sqlite3.connect(shop)
    writer.execute("PRAGMA writable_schema = ON")
    rows = [
        ("table", "ghost", "CREATE VIRTUAL TABLE ghost USING no_such_module(a)"),
        ("table", "csv", "CREATE VIRTUAL TABLE csv USING csv(filename='/etc/passwd')"),
    ]
    for kind, name, sql in rows:
        writer.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, 0, ?)", (kind, name, name, sql))
    writer.commit()
    writer.close()
    with SQLiteDatabase(shop) as db:
        for name in ("ghost", "csv"):
            assert db.execute(f"SELECT * FROM {name}").error_kind == "sql"
        assert db.execute("SELECT * FROM customer").ok


def test_memory_that_keeps_growing_is_stopped(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    if not watch.private_memory():
        pytest.skip("this system does not tell a process its memory")
    monkeypatch.setattr(watch, "MEMORY_BYTES", 50 * 1024**2)
    result = db.execute(f"{ENDLESS} SELECT json_group_array(printf('%999d', x)) FROM n", Limits(seconds=20))
    assert str(result.error) == "limit: used more than 50 MiB of memory; ask for less"
    assert result.seconds < 10


def test_temporary_files_that_keep_growing_are_stopped(db: SQLiteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    if not watch.thread_written():
        pytest.skip("this system does not tell a thread what it wrote")
    monkeypatch.setattr(watch, "TEMP_BYTES", 20 * 1024**2)
    result = db.execute(f"{ENDLESS} SELECT printf('%999d', x) FROM n ORDER BY -x", Limits(seconds=20))
    assert str(result.error) == "limit: needed more than 20 MiB of temporary files"
    assert result.seconds < 10


def test_values_are_no_longer_than_the_file_needs(shop: Path) -> None:
    writer = sqlite3.connect(shop)
    writer.execute("CREATE TABLE pictures (id INT, data BLOB, note TEXT)")
    writer.execute("INSERT INTO pictures VALUES (1, zeroblob(3000000), 'after')")
    writer.commit()
    writer.close()
    grown = "WITH RECURSIVE g(s, n) AS (SELECT 'ab', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 26) "
    with SQLiteDatabase(shop) as db:
        assert db.execute("SELECT length(data), note FROM pictures").rows == ((3_000_000, "after"),)
        assert len(db.execute("SELECT data FROM pictures").rows[0][0]) == 3_000_000
        assert db.execute(grown + "SELECT max(length(s)) FROM g").error_kind == "limit"
        long_pattern = "SELECT 1 WHERE 'x' LIKE '" + "%a" * 300 + "'"
        assert not db.execute(long_pattern).ok


def write_wal(path: Path, *, crash: bool) -> None:
    """Turn the database to WAL mode and add a customer; with ``crash`` it stays in the log."""
    code = f"""
import os, sqlite3
connection = sqlite3.connect({str(path)!r})
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("INSERT INTO customer (name) VALUES ('Eve')")
connection.commit()
os._exit(0) if {crash} else connection.close()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_wal_database_at_rest_is_read_without_a_trace(shop: Path) -> None:
    write_wal(shop, crash=False)
    with SQLiteDatabase(shop) as db:
        assert db.execute("SELECT count(*) FROM customer").rows == ((5,),)
        assert os.listdir(shop.parent) == ["shop.db"]
        # A writer that comes later is seen, although nothing was locked.
        writer = sqlite3.connect(shop)
        writer.execute("DELETE FROM customer WHERE name = 'Eve'")
        writer.commit()
        assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)
        writer.execute("DELETE FROM customer WHERE name = 'Dee'")
        writer.commit()
        assert db.execute("SELECT count(*) FROM customer").rows == ((3,),)
        writer.close()
        assert db.execute("SELECT count(*) FROM customer").rows == ((3,),)
    reopened = sqlite3.connect(shop)
    assert reopened.execute("SELECT count(*) FROM customer").fetchall() == [(3,)]
    reopened.close()
    assert os.listdir(shop.parent) == ["shop.db"]


def test_wal_database_in_use_is_read_beside_its_writer(shop: Path) -> None:
    write_wal(shop, crash=False)
    writer = sqlite3.connect(shop)
    writer.execute("SELECT * FROM customer").fetchall()  # an empty log and its index now lie beside the file
    writer.execute("INSERT INTO customer (name) VALUES ('Flo')")  # not committed
    with SQLiteDatabase(shop) as db:
        assert db.execute("SELECT count(*) FROM customer").rows == ((5,),)
        writer.commit()
        assert db.execute("SELECT count(*) FROM customer").rows == ((6,),)
    writer.close()
    assert os.listdir(shop.parent) == ["shop.db"]


def test_wal_left_by_a_crash_is_read_and_kept(shop: Path) -> None:
    write_wal(shop, crash=True)
    before = digest(shop), digest(shop.with_name("shop.db-wal"))
    with SQLiteDatabase(shop) as db:
        assert db.execute("SELECT count(*) FROM customer").rows == ((5,),)
    assert (digest(shop), digest(shop.with_name("shop.db-wal"))) == before
    assert sorted(os.listdir(shop.parent)) == ["shop.db", "shop.db-shm", "shop.db-wal"]


def test_an_interrupted_write_is_reported_not_read(shop: Path) -> None:
    code = f"""
import os, sqlite3
connection = sqlite3.connect({str(shop)!r})
connection.execute("CREATE TABLE big AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 900)"
                   " SELECT printf('%900d', x) AS a FROM n")
connection.commit()
connection.execute("PRAGMA cache_size = 2")
connection.execute("UPDATE big SET a = a || 'x'")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    journal = shop.with_name("shop.db-journal")
    before = digest(shop), digest(journal)
    with pytest.raises(DatabaseError, match=r"interrupted and left shop\.db-journal; open it once"):
        SQLiteDatabase(shop)
    assert (digest(shop), digest(journal)) == before


READER = """
import os, sys
sys.path[:0] = sys.argv[2:]
from sqljury.db.connect import connect
from sqljury.db import sqlite
from sqljury.errors import SqljuryError
if os.geteuid() == 0:  # to root, nothing is without permission
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    with connect(sys.argv[1]) as db:
        print(db.catalog("SELECT count(*) FROM customer"))
except SqljuryError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("mode", "expected"), [("delete", "[(4,)]"), ("wal", "[(5,)]"), ("wal crashed", "copy the file and its -wal")]
)
def test_folder_without_permission_to_write(shop: Path, mode: str, expected: str) -> None:
    if mode != "delete":
        write_wal(shop, crash=mode == "wal crashed")
        shop.with_name("shop.db-shm").unlink(missing_ok=True)
    for parent in shop.parents:
        if "pytest-" in str(parent):  # pytest's folders are the user's alone
            parent.chmod(0o755)
    shop.chmod(0o444)
    shop.parent.chmod(0o555)
    try:
        command = [sys.executable, "-c", READER, str(shop), *sys.path]
        done = subprocess.run(command, capture_output=True, text=True)
    finally:
        shop.parent.chmod(0o755)
    assert expected in done.stdout, done


def test_the_parser_wall_stops_what_no_other_can() -> None:
    for sql in ("SELECT printf('%.*c', 2000000000, 'x')", "SELECT printf('%2000000000d', 1)"):
        with pytest.raises(QueryRefusedError):
            readonly.check(sql, "sqlite")


def _endless_start(path: Path) -> None:
    """Put a view that never ends in the place of the table that FTS5 reads when it starts."""
    view = (
        "CREATE VIEW docs_config(k, v) AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
        "SELECT 'no', x FROM n WHERE x < 0"
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = 'docs_config'")
        connection.execute("INSERT INTO sqlite_master VALUES ('view', 'docs_config', 'docs_config', 0, ?)", (view,))


def test_a_virtual_table_that_never_starts_is_not_waited_for(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _endless_start(shop)
    monkeypatch.setattr("sqljury.db.sqlite._OPEN_SECONDS", 0.3)
    start = time.monotonic()
    with pytest.raises(DatabaseError, match=r"cannot be opened within 0\.3 s"):
        connect(shop)
    assert time.monotonic() - start < 10


def test_opening_for_a_query_obeys_limit_and_cancel(shop: Path) -> None:
    with SQLiteDatabase(shop) as db:
        changed = shop.with_name("changed.db")
        shutil.copy(shop, changed)
        _endless_start(changed)
        changed.replace(shop)  # so that the next query opens the file anew
        for limits, kind in ((Limits(seconds=0.3), "limit"), (Limits(seconds=20), "cancelled")):
            cancel = threading.Event()
            timer = threading.Timer(0.3 if kind == "cancelled" else 20, cancel.set)
            timer.start()
            start = time.monotonic()
            result = db.execute("SELECT 1", limits, cancel)
            timer.cancel()
            assert result.error_kind == kind, result.error
            assert 0.2 < time.monotonic() - start < 10

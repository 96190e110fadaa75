from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from duckdb_shop import contents, write

from sqljury.db import duckdb as engine
from sqljury.db import duckdb_client
from sqljury.db.connect import connect
from sqljury.errors import (
    DatabaseError,
    DatabaseLockedError,
    DatabaseNotFoundError,
    MissingExtraError,
    NotADatabaseError,
)

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    return write(tmp_path / "shop.duckdb")


@pytest.mark.parametrize("name", ["shop.duckdb", "shop.ddb", "shop.db", "shop", "shop.csv", "a b;'c?.db", "größe ✓.db"])
def test_the_header_decides_not_the_name(duck: Path, name: str) -> None:
    path = duck.rename(duck.with_name(name))
    with connect(path) as db:
        assert (db.dialect, db.schemas, db.url) == ("duckdb", (), f"duckdb:///{path}")
        assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_an_sqlite_file_goes_to_sqlite_whatever_its_name(shop: Path) -> None:
    path = shop.rename(shop.with_name("shop.duckdb"))
    with connect(path) as db:
        assert db.dialect == "sqlite"


def test_urls(duck: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(duck.parent)
    for url in (f"duckdb:///{duck}", "duckdb:///shop.duckdb", "DuckDB:///shop%2Educkdb"):
        with connect(url) as db:
            assert db.execute("SELECT 1").ok
    with pytest.raises(DatabaseNotFoundError, match="three slashes"):
        connect("duckdb://shop.duckdb")


def test_schemas(duck: Path) -> None:
    with connect(duck, ["stock"]) as db:
        assert db.schemas == ("stock",)
        assert db.execute("SELECT left_over FROM item").rows == ((3,),)
        assert db.execute("SELECT count(*) FROM main.customer").ok  # asked for or not, nothing is hidden
    with connect(duck, ["main", "stock"]) as db:
        assert db.execute("SELECT count(*) FROM customer, item, stock.place").rows == ((4,),)
    with pytest.raises(DatabaseError, match="has no schema 'gone'; it has main, stock"):
        connect(duck, ["gone"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty file"),
        (b"id,name\n1,Ann\n", "is not a DuckDB database"),
        (b"\x00" * 8 + b"DUCK" + b"\x00" * 50, "cut off in its header"),
        (b"\x00" * 8 + b"DUCK" + b"\xff" * 20000, "cannot be opened"),
    ],
)
def test_other_kinds_of_file(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x.duckdb"
    path.write_bytes(content)
    with pytest.raises(DatabaseError) as caught:
        connect(f"duckdb:///{path}")
    assert str(path) in str(caught.value)
    assert words in str(caught.value) or "corrupt" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize("target", ["duckdb:////no/such.duckdb", "duckdb:///gone.duckdb", "duckdb:///"])
def test_missing(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatabaseError) as caught:
        connect(target)
    assert isinstance(caught.value, DatabaseNotFoundError)
    assert os.listdir(tmp_path) == []


def test_truncated_and_damaged(duck: Path) -> None:
    whole = duck.read_bytes()
    duck.write_bytes(whole[:20000])
    with pytest.raises(NotADatabaseError, match="restore it from a copy"):
        connect(duck)
    duck.write_bytes(whole[:20000] + os.urandom(len(whole) - 20000))
    with pytest.raises(NotADatabaseError, match="restore it from a copy"):
        connect(duck)


def run(code: str) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_locked_by_a_writer(duck: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LOCK_SECONDS", 0.2)
    writer = run(f"import duckdb; c = duckdb.connect({str(duck)!r}); print(flush=True); input()")
    try:
        with pytest.raises(DatabaseLockedError) as caught:
            connect(duck)
    finally:
        writer.communicate("\n")
    assert str(caught.value) == f"{duck}: another program holds it locked; close that program or try again"
    connect(duck).close()


def refused_as_writer(path: Path) -> bool:
    code = f"import duckdb; duckdb.connect({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return "Could not set lock" in done.stderr


def test_locks_of_the_program_s_own_are_not_dropped(duck: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system drops all locks that a process has on a file when the process closes the file once."""
    monkeypatch.setattr(engine, "LOCK_SECONDS", 0.2)
    with duckdb.connect(str(duck)):
        for target in (duck, f"duckdb:///{duck}"):
            with pytest.raises(DatabaseLockedError):
                connect(target)
        assert refused_as_writer(duck)
    with duckdb.connect(str(duck), read_only=True), engine.DuckDBDatabase(duck) as db:
        db._idle.pop().worker.close()
        assert db.execute("SELECT 1").rows == ((1,),)  # in a new process
        db._idle.pop().worker.close()
        assert refused_as_writer(duck)


def test_a_log_left_by_a_crash_is_read_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    code = f"""
import duckdb, os
c = duckdb.connect({str(path)!r})
c.execute("CREATE TABLE t (a INT)")
c.execute("CHECKPOINT")
c.execute("INSERT INTO t VALUES (1)")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert sorted(os.listdir(tmp_path)) == ["w.duckdb", "w.duckdb.wal"]
    before = contents(tmp_path)
    with connect(path) as db:
        assert db.execute("SELECT * FROM t").rows == ((1,),)
    assert contents(tmp_path) == before


def test_another_file_in_its_place_is_seen(duck: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.duckdb", "CREATE TABLE customer AS SELECT 1 AS a")
    with connect(duck) as db:
        shutil.move(other, duck)
        assert db.execute("SELECT count(*) FROM customer").rows == ((1,),)
        duck.unlink()
        assert "no such file" in str(db.execute("SELECT 1").error or "")


def test_two_at_once_in_one_process_and_one_that_writes_elsewhere(duck: Path) -> None:
    with connect(duck) as one, connect(duck) as other:
        assert one.execute("SELECT count(*) FROM nation").rows == other.execute("SELECT count(*) FROM nation").rows


def test_without_the_library(duck: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_client, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sqljury\[duckdb\]'"):
        connect(duck)


def test_duckdb_is_never_loaded_into_the_process_that_asks(duck: Path) -> None:
    code = (
        "import sys\nfrom sqljury.db.connect import connect\n"
        f"with connect({str(duck)!r}) as db:\n    print(db.execute('SELECT 1').rows, 'duckdb' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "((1,),) False"

"""Built once, refreshed when need be, whole or not at all, whoever else is at it."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from value_indexes import fill, index_of

from sqljury.db.base import Database
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import CancelledError, DatabaseError
from sqljury.schema.introspect import introspect
from sqljury.values import ValueIndex, build, index_path, open_or_build, store
from sqljury.values import store as versions

WORDS = ["Riga", "Oslo", "Rome", "Paris", "Turin", "Lima"]
CONTENT = st.lists(st.text(min_size=1, max_size=8), max_size=8)


def same(one: ValueIndex, other: ValueIndex) -> bool:
    ours, theirs = one._stored.arrays, other._stored.arrays
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)


def by_content(db: Database, tables: list[str]) -> dict[str, str | None]:
    """What a server that counts the changes of each table would tell."""
    return {name: repr(db.catalog(f'SELECT value FROM "{name}" ORDER BY id')) for name in tables}


@settings(max_examples=25, deadline=None)
@given(before=CONTENT, after=CONTENT, kept=CONTENT)
def test_a_refresh_equals_a_build(before: list[str], after: list[str], kept: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLJURY_CACHE", folder)
        for reader in (versions.VERSION_READERS["sqlite"], by_content):
            patch.setitem(versions.VERSION_READERS, "sqlite", reader)
            path = fill(Path(folder) / "a.db", t=before, u=kept)
            index_of(path)
            fill(path, t=after)
            refreshed = index_of(path)
            with SQLiteDatabase(path) as db:
                fresh = build(db, introspect(db))
            assert same(refreshed, fresh)
            assert (refreshed.columns, refreshed.notes) == (fresh.columns, fresh.notes)


def test_only_tables_that_changed_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(versions.VERSION_READERS, "sqlite", by_content)
    path = fill(tmp_path / "a.db", t=WORDS, u=["Ann", "Bo"])
    index_of(path)
    fill(path, t=["Kyiv", *WORDS])
    asked: list[str] = []
    monkeypatch.setattr(SQLiteDatabase, "execute", spied(SQLiteDatabase.execute, asked))
    index = index_of(path)
    assert asked
    assert all("FROM t " in sql for sql in asked)
    assert index.search("Kyiv")[0].how == index.search("Ann")[0].how == "exact"


def spied(execute, asked):  # type: ignore[no-untyped-def]
    def spy(self, sql, *rest, **named):  # type: ignore[no-untyped-def]
        asked.append(sql)
        return execute(self, sql, *rest, **named)

    return spy


def test_an_unchanged_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    index_of(path)
    asked: list[str] = []
    monkeypatch.setattr(SQLiteDatabase, "execute", spied(SQLiteDatabase.execute, asked))
    index_of(path)
    assert asked == []
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE t SET value = 'Bonn' WHERE value = 'Riga'")  # same length, same row count
    connection.close()
    assert index_of(path).search("Bonn")[0].how == "exact"
    assert asked


def test_a_change_in_the_log_counts(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = wal")
    index_of(path)
    writer.execute("INSERT INTO t (value) VALUES ('Kyiv')")
    writer.commit()
    assert index_of(path).search("Kyiv")[0].how == "exact"
    writer.close()


def test_a_change_of_the_schema_counts(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    index_of(path)
    fill(path, u=["Ann"])
    assert set(index_of(path).columns) == {("t", "value"), ("u", "value")}
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE t")
    connection.close()
    assert index_of(path).search("Riga") == []


def test_an_engine_that_cannot_tell_is_read_again_after_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(versions.VERSION_READERS, "sqlite")
    path = fill(tmp_path / "a.db", t=WORDS)
    index_of(path)
    fill(path, t=["Kyiv"])
    assert index_of(path).search("Kyiv") == []
    later = time.time() + 25 * 3600
    monkeypatch.setattr("sqljury.values.index.time.time", lambda: later)
    assert index_of(path).search("Kyiv")[0].how == "exact"


def test_the_same_file_by_another_name_has_one_index(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with SQLiteDatabase(path) as one, SQLiteDatabase(link) as other:
        names = {index_path(db, introspect(db)).name.partition("-")[2] for db in (one, other)}
    assert len(names) == 1


def test_nothing_is_written_beside_the_database(tmp_path: Path, empty_cache: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    path = fill(folder / "a.db", t=WORDS)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    index = index_of(path)
    assert [file.name for file in folder.iterdir()] == ["a.db"]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert index.path is not None
    assert index.path.parent == empty_cache
    assert index.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("when", ["reading t.value", "indexing", "folding", "reading meanings"])
def test_a_stopped_build_leaves_nothing(when: str, tmp_path: Path, empty_cache: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS, u=WORDS)
    stop = threading.Event()

    def progress(what: str, done: int, total: int) -> None:
        if what == when:
            stop.set()

    # The step at which it is noticed comes next; after the last one the index is whole.
    if when == "reading meanings":
        assert index_of(path, progress=progress, cancel=stop).search("Riga")
        return
    with pytest.raises(CancelledError):
        index_of(path, progress=progress, cancel=stop)
    assert [file for file in empty_cache.iterdir() if file.suffix != ".lock"] == []
    assert index_of(path).search("Riga")[0].how == "exact"


def test_an_error_while_writing_leaves_the_old_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    old = index_of(path)
    assert old.path is not None
    before = old.path.read_bytes()
    fill(path, t=["Kyiv"])

    def pack(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "_pack", pack)
    with pytest.raises(KeyboardInterrupt):
        index_of(path)
    monkeypatch.undo()
    assert old.path.read_bytes() == before
    assert list(old.path.parent.glob("*.tmp")) == []


def test_what_a_killed_builder_left_is_cleared(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    with SQLiteDatabase(path) as db:
        place = index_path(db, introspect(db))
    place.parent.mkdir(parents=True)
    left = place.with_name(place.name + ".abc.tmp")
    left.write_bytes(b"half")
    index_of(path)
    assert not left.exists()


BUILDER = """
import sys
from sqljury import connect
from sqljury.schema.introspect import introspect
from sqljury.values import open_or_build
with connect(sys.argv[1]) as db:
    steps = []
    index = open_or_build(db, introspect(db), progress=lambda what, done, total: steps.append(what))
    print(index.search("Riga")[0].how, any(what.startswith("reading") for what in steps))
"""


def test_builders_at_once_build_once(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS + [f"name {number}" for number in range(3000)])
    command = [sys.executable, "-c", BUILDER, str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = sorted(process.communicate(timeout=120)[0].split()[1] for process in running)
    assert said == ["False", "False", "True"]


def test_threads_share_an_index(tmp_path: Path) -> None:
    index = index_of(fill(tmp_path / "a.db", t=WORDS))
    expected = index.search_many(["Rga", "capital", "Paris"])
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(index.search_many(["Rga", "capital", "Paris"]))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_a_damaged_index_is_built_anew_with_a_note(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    place = index_of(path).path
    assert place is not None
    whole = place.read_bytes()
    begin = 20 + int.from_bytes(whole[8:16], "little")
    sections = json.loads(whole[20:begin])["sections"].values()
    places = [*range(0, begin, 97), *(begin + at for _, at, shape, _ in sections if shape[0])]
    damaged = [whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :] for at in places]
    damaged += [whole[:at] for at in range(0, len(whole), len(whole) // 23)] + [whole + b"x", b"\0" * 1000]
    for content in damaged:
        place.write_bytes(content)
        with pytest.warns(RuntimeWarning, match="it is rebuilt"):
            assert index_of(path).search("Riga")[0].how == "exact"


def test_damage_that_was_not_looked_for_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_CHECKED_BYTES", 0)
    path = fill(tmp_path / "a.db", t=WORDS)
    place = index_of(path).path
    assert place is not None
    whole = place.read_bytes()
    failed = 0
    begin = 20 + int.from_bytes(whole[8:16], "little")
    for at in range(begin, len(whole), (len(whole) - begin) // 40):
        place.write_bytes(whole[:at] + b"\xff" * 16 + whole[at + 16 :])
        with SQLiteDatabase(path) as db:
            index = open_or_build(db, introspect(db))
        try:
            index.search_many(["Riga", "Osloo", "capital"])
        except DatabaseError as error:
            failed += "search again" in str(error) and not place.exists()
    assert failed


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_without_a_cache_it_is_built_for_the_run(tmp_path: Path, empty_cache: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    empty_cache.parent.mkdir()
    empty_cache.parent.chmod(0o500)
    with pytest.warns(RuntimeWarning, match="for this run only"):
        assert index_of(path).search("Riga")[0].how == "exact"


def test_where_the_cache_is_a_file_it_is_built_for_the_run(tmp_path: Path, empty_cache: Path) -> None:
    path = fill(tmp_path / "a.db", t=WORDS)
    empty_cache.parent.write_text("in the way")
    with pytest.warns(RuntimeWarning, match="for this run only"):
        assert index_of(path).search("Riga")[0].how == "exact"


def test_hostile_content(tmp_path: Path) -> None:
    hostile = ["a\0b", "\x1b[31mred", "\u202etxt", "x' OR 1=1 --", '"; DROP TABLE t', "é" * 100, "\ufeffBOM", "%_\\"]
    path = fill(tmp_path / "a.db", t=hostile)
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO t (value) VALUES (CAST(x'ff41fe' AS TEXT))")
        connection.execute("INSERT INTO t (value) VALUES (?)", ("z" * 2_000_000,))
        connection.execute('CREATE TABLE "odd ""name" ("a ""b" TEXT, "select" TEXT)')
        connection.execute("INSERT INTO \"odd \"\"name\" VALUES ('Ann', 'Bo')")
    connection.close()
    index = index_of(path)
    assert index.columns[("t", "value")] == len(hostile) + 1
    for value in hostile:
        assert index.search(value)[0].value == value
    assert index.search("\ufffdA\ufffd")[0].how == "exact"
    assert index.search("Bo")[0].column == "select"
    assert index.search("z" * 5_000_000) == index.search("z" * 200)


@pytest.mark.shared
def test_spider(tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[3] / "shared/spider/database/world_1/world_1.sqlite"
    index = index_of(source)
    assert index.search("arbua")[0].value == "Aruba"
    assert "United States" in [match.value for match in index.search("USA")]
    assert "France" in [match.value for match in index.search("French")]

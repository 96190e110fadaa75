from __future__ import annotations

import os
import shutil
import sqlite3
import time
import traceback
from pathlib import Path

import pytest

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, DatabaseLockedError, DatabaseNotFoundError, NotADatabaseError


def assert_one_clear_line(error: Exception, *parts: str) -> None:
    text = str(error)
    assert "\n" not in text
    assert all(part in text for part in parts), text


def test_path_string_and_pathlike(shop: Path) -> None:
    for target in (str(shop), shop):
        with connect(target) as db:
            assert isinstance(db, Database)
            assert (db.name, db.dialect, db.url) == ("shop", "sqlite", f"sqlite:///{shop}")
            assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_urls(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    for url in (f"sqlite:///{shop}", f"sqlite:////{str(shop).lstrip('/')}", "sqlite:///shop.db", "SQLite:///shop%2Edb"):
        with connect(url) as db:
            assert db.execute("SELECT 1").ok


@pytest.mark.parametrize(
    "name", ["a b.db", "q?mode=rwc&x.db", "h#ash.db", "100%41.db", "größe ✓.db", "'quote\".db", "-.db"]
)
def test_names_that_mean_something_in_a_uri(shop: Path, name: str) -> None:
    odd = shop.with_name(name)
    shutil.move(shop, odd)
    with connect(odd) as db:
        assert db.execute("SELECT count(*) FROM nation").rows == ((2,),)
    assert os.listdir(odd.parent) == [name]


def test_home_folder_is_expanded(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(shop.parent))
    connect("~/shop.db").close()


@pytest.mark.parametrize(
    "target", ["/no/such/shop.db", "", "shop.db/inside", ":memory:", "a\x00b", "sqlite:///gone.db"]
)
def test_missing(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatabaseNotFoundError) as caught:
        connect(target)
    assert_one_clear_line(caught.value, "check")
    assert os.listdir(tmp_path) == []  # SQLite creates what it does not find, unless told not to


def test_two_slashes(tmp_path: Path) -> None:
    with pytest.raises(DatabaseNotFoundError, match="three slashes"):
        connect("sqlite://shop.db")


def test_unknown_scheme_does_not_show_the_password() -> None:
    with pytest.raises(DatabaseError) as caught:
        connect("oracle://scott:tiger@host/db")
    assert_one_clear_line(caught.value, "'oracle'", "sqlite://")
    assert "tiger" not in str(caught.value)


def test_folder_and_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "pipe", "not a regular file")):
        with pytest.raises(NotADatabaseError) as caught:
            connect(path)
        assert_one_clear_line(caught.value, words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty file"),
        (b"id,name\n1,Ann\n", "not an SQLite database"),
        (b"\x00" * 5000, "not an SQLite database"),
        (b"SQLite format 3\x00", "cut off in its header"),
        (b"SQLite format 3\x00" + b"\xff" * 4080, "corrupt"),
    ],
)
def test_other_kinds_of_file(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(NotADatabaseError) as caught:
        connect(path)
    assert_one_clear_line(caught.value, str(path), words)
    assert path.read_bytes() == content


def test_truncated(shop: Path) -> None:
    shop.write_bytes(shop.read_bytes()[:8192])
    with pytest.raises(NotADatabaseError) as caught:
        connect(shop)
    assert_one_clear_line(caught.value, "cut off at 8192 of")


def test_corrupt_schema_page(shop: Path) -> None:
    data = bytearray(shop.read_bytes())
    data[100:4096] = os.urandom(3996)
    shop.write_bytes(data)
    with pytest.raises(NotADatabaseError) as caught:
        connect(shop)
    assert_one_clear_line(caught.value, "is corrupt")


def test_corrupt_data_page_is_an_error_of_the_query(shop: Path) -> None:
    data = bytearray(shop.read_bytes())
    data[4096:] = b"\x99" * (len(data) - 4096)
    shop.write_bytes(data)
    with connect(shop) as db:
        result = db.execute("SELECT * FROM customer")
    assert result.error is not None
    assert str(result.error).startswith("database: database disk image is malformed")


def test_locked(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqljury.db.sqlite.LOCK_SECONDS", 0.3)
    writer = sqlite3.connect(shop, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    start = time.monotonic()
    with pytest.raises(DatabaseLockedError) as caught:
        connect(shop)
    assert 0.2 < time.monotonic() - start < 10
    assert_one_clear_line(caught.value, "locked", "try again")
    writer.execute("ROLLBACK")
    connect(shop).close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_without_permission(shop: Path) -> None:
    shop.chmod(0)
    with pytest.raises(DatabaseError, match="permissions"):
        connect(shop)


@pytest.mark.parametrize(
    "target",
    [
        "u:sECret@h/x",
        "postgresql:/u:sECret@h/x",
        "host=h password=sECret",
        "sqlite://u:sECret@h/x",
        "duckdb://u:sECret@h/x",
        "sqlite:///u:sECret@h/x",
        "duckdb:///u:12/sECret@h/x",
        "postgresql:/u:12/sECret@h/x",
        "u:my sECret@h/x",
        "Server=h;Uid=u;Pwd=sECret",
        "u:sECret@postgresql://h/x",
    ],
)
def test_what_may_hold_a_password_is_not_shown(target: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        connect(target)
    assert "sECret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "mysql", "mariadb"])
@pytest.mark.parametrize(
    "rest",
    [
        "u:12/sECret@h/x",
        "u:/sECret@h/x",
        "u:12/3/sECret@h:1/x?sslmode=disable",
        "u:12@34/sECret@h/x",
        "u:12@sECret@127.0.0.1:1/x",
        "u:12@sECret/@127.0.0.1:1/x",
        "u:12?sECret=1@h/x",
        "u:12?sECret@h/x",
        "u:12#sECret@h:1x/x",
        "u:[sECret@h:1x/x",
        "u:sECret%ZZ@h/x",
        ":12/sECret@h/x",
        "h:1/x?password=12&sECret=1",
        "h:1/x?password=12#sECret",
    ],
)
def test_a_password_with_odd_characters_is_not_shown(scheme: str, rest: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        connect(f"{scheme}://{rest}")
    assert_one_clear_line(caught.value)
    assert "sECret" not in "".join(traceback.format_exception(caught.value))


def test_files_whose_names_look_like_urls(shop: Path) -> None:
    odd = shop.with_name("u:12@h.db")
    shutil.move(shop, odd)
    connect(odd).close()
    connect(f"sqlite:///{odd}").close()

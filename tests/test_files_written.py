"""Files that are written whole or not at all, and files whose bytes are not what they should be."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sqljury import FakeModel, connect
from sqljury.errors import DatasetError, NotADatabaseError
from sqljury.evaluation import run_folder as folder
from sqljury.llm.base import Message, Sampling
from sqljury.llm.cache import Cached
from sqljury.resources import write_whole
from sqljury.testing import store

SETTINGS = {"dataset": {"name": "x"}, "recipe": {"name": "fast"}, "model": "fake", "seed": 1, "more": "x" * 5_000}

ON_A_FULL_DISK = """
import json, resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
from sqljury.evaluation import run_folder as folder
from sqljury.errors import SqljuryError
try:
    with folder.claimed(Path(sys.argv[1]), json.loads(sys.argv[3])):
        pass
except SqljuryError as error:
    sys.exit(f"sqljury: {error}")
"""


def test_a_file_is_written_whole_with_the_rights_it_had(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_whole(file, "one \ud800\n")
    assert file.read_bytes() == b"one \\ud800\n"
    mask = os.umask(0)
    os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask
    file.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(file)
    write_whole(link, b"two")
    assert (file.read_bytes(), file.stat().st_mode & 0o777, link.is_symlink()) == (b"two", 0o640, True)
    assert sorted(os.listdir(tmp_path)) == ["a.json", "link"]


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a device or a pipe"):
        write_whole(tmp_path / "pipe", "text")
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    file.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(file, "after")
    assert caught.value.filename == str(file)
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.json"]


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no limit on the size of files here")
@pytest.mark.parametrize("room", [0, 1_000])
def test_a_run_begun_on_a_full_disk_can_be_begun_again(tmp_path: Path, room: int) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-c", ON_A_FULL_DISK, str(out), str(room), json.dumps(SETTINGS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert str(out / "run.json") in done.stderr
    assert "Traceback" not in done.stderr
    assert not (out / "run.json").exists()
    with folder.claimed(out, SETTINGS) as (_, before):
        assert before == []
    assert folder.described(out) == SETTINGS


@pytest.mark.parametrize("length", [0, 1_000])
def test_settings_that_an_earlier_version_cut_off_are_written_again(tmp_path: Path, length: int) -> None:
    (tmp_path / "run.json").write_text((json.dumps(SETTINGS, indent=2) + "\n")[:length])
    with folder.claimed(tmp_path, SETTINGS):
        pass
    assert folder.described(tmp_path) == SETTINGS
    for foreign in ("{}", '{"other'):
        (tmp_path / "run.json").write_text(foreign)
        with pytest.raises(DatasetError), folder.claimed(tmp_path, SETTINGS):
            pass
        assert (tmp_path / "run.json").read_text() == foreign


def kept(path: Path) -> int:
    """How often the model was asked, of three times, by a cache of its replies."""
    model = FakeModel("SELECT 1")
    for _ in range(3):
        reply = Cached(model, path).complete([Message("user", "q")], Sampling())
        assert reply.completions[0].text == "SELECT 1"
    return len(model.calls)


SPOILED = {
    "a reply in another encoding": "UPDATE reply SET body = CAST(x'5b5b22ff' AS TEXT)",
    "a reply that is a number": "UPDATE reply SET body = 5",
    "a reply that holds a number": """UPDATE reply SET body = '[[5, "stop", []]]'""",
    "a log-probability that is a text": """UPDATE reply SET body = '[["a", "stop", [["a", "x", []]]]]'""",
    "no completion": "UPDATE reply SET body = '[]'",
    "another table": "DROP TABLE reply; CREATE TABLE reply (x)",
    "another version": "PRAGMA user_version = 99",
}


@pytest.mark.filterwarnings("ignore:The cache of replies")
@pytest.mark.parametrize("how", SPOILED)
def test_a_spoiled_cache_is_used_again(tmp_path: Path, how: str) -> None:
    path = tmp_path / "cache.db"
    assert kept(path) == 1
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SPOILED[how])
    assert kept(path) == 1
    assert kept(path) == 0


def spoil(path: Path, what: bytes, by: bytes) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = delete")
    raw = path.read_bytes()
    assert what in raw
    path.write_bytes(raw.replace(what, by))


@pytest.mark.filterwarnings("ignore:The cache of replies")
@pytest.mark.parametrize(
    ("what", "by"), [(b"CREATE TABLE reply", b"CREATE TABL\xff reply"), (b"body text", b"bo\xffy text")]
)
def test_a_cache_whose_names_are_no_utf8_is_put_aside(tmp_path: Path, what: bytes, by: bytes) -> None:
    path = tmp_path / "cache.db"
    kept(path)
    spoil(path, what, by)
    assert kept(path) == 1
    assert kept(path) == 0
    assert (tmp_path / "cache.db.damaged").exists()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_cache_that_is_no_file_is_done_without(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "cache.db"
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.warns(RuntimeWarning, match="not used"):
        assert kept(path) == 3


@pytest.mark.parametrize(
    ("what", "by"),
    [(b"CREATE TABLE spoiled", b"CREATE TABL\xff spoiled"), (b"tablespoiledspoiled", b"tablespoile\xffspoile\xfe")],
)
def test_a_schema_that_is_no_utf8_is_said_to_be_corrupt(tmp_path: Path, what: bytes, by: bytes) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE spoiled (a)")
        connection.commit()
    spoil(path, what, by)
    with pytest.raises(NotADatabaseError, match=r"shop\.db: is corrupt"):
        connect(path)


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe{}", "{}".encode("utf-16"), b"[" * 100_000, b'{"version": 1, "databases": []}', b"\0"]
)
def test_a_manifest_of_any_bytes_is_an_error_of_ours(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / store.MANIFEST).write_bytes(raw)
    with pytest.raises(DatasetError, match=store.MANIFEST):
        store.load(tmp_path)

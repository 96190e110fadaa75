"""Files of data, asked about as if they were tables of a database: read in place, through DuckDB."""

from __future__ import annotations

import glob
import gzip
import os
import re
import stat
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from sqljury.db.base import DEFAULT_LIMITS
from sqljury.db.duckdb import DuckDBDatabase, settings
from sqljury.db.duckdb_client import PROCESS_BYTES, TEMP_BYTES, Worker, WorkerLostError
from sqljury.errors import DatabaseError, DatabaseNotFoundError, MissingExtraError, NotADatabaseError
from sqljury.parallel.watch import Watch
from sqljury.types import Limits, Result

ENDINGS: Final = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json.gz": "json",
    ".jsonl.gz": "json",
    ".xlsx": "xlsx",
}
"""What each ending, in lower case, says about a file."""

DATABASES: Final = (".db", ".duckdb", ".ddb", ".sqlite", ".sqlite3")
MAX_FILES: Final = 1000

_BUILD_LIMITS: Final = Limits(seconds=120.0)
_LINE_BYTES: Final = 1 << 16
_NOT_DATA: Final = (".", "~$")
"""How hidden files begin, and those in which Excel notes who has a workbook open."""

_GLOB: Final = re.compile(r"[*?\[]")


class FilesDatabase(DuckDBDatabase):
    """Files behind views of the same names, in a small database of their own in a temporary folder."""

    def __init__(self, target: str, paths: Sequence[str]) -> None:
        self._target, self._paths = target, tuple(paths)
        self._own = tempfile.TemporaryDirectory(prefix="sqljury-files-")
        try:
            catalog, readable = _build(paths, self._own.name)
            super().__init__(catalog, files=readable)
        except BaseException:
            self._own.cleanup()
            raise
        self.name = _name(target, paths)
        self._known = {path: (_state(path), _first_line(path)) for path in paths}

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query, as the base class does.

        Raises ``DatabaseError`` where a file is gone, or has other columns than it had when it was opened: its view
        would give their cells under the old names.
        """
        for path, (state, line) in self._known.items():
            now = _state(path)
            if now is None:
                raise DatabaseNotFoundError(f"{path}: is no longer there; put it back, or connect again without it")
            if now != state and (changed := _first_line(path)) != line:
                raise DatabaseError(f"{path}: its columns have changed since it was opened; connect again")
            if now != state:
                self._known[path] = now, changed
        return super().execute(sql, limits, cancel)

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that were asked for."""
        return self._paths

    @property
    def url(self) -> str:
        """What was asked for, as an absolute path."""
        return os.path.abspath(self._target)

    def __repr__(self) -> str:
        return f"FilesDatabase({self._target!r})"

    def close(self) -> None:
        """End the processes and delete what was built for the files."""
        super().close()
        self._own.cleanup()


def _state(path: str) -> tuple[int, int] | None:
    """Size and time of change; None for a file that is not there."""
    try:
        known = os.stat(path)
    except OSError:
        return None
    return known.st_size, known.st_mtime_ns


def _first_line(path: str) -> bytes:
    """What names the columns of a text; empty for other kinds, whose readers take names as they stand."""
    kind = ending(path)
    if ENDINGS[kind] != "csv":
        return b""
    try:
        with gzip.open(path) if kind.endswith(".gz") else open(path, "rb") as stream:
            return stream.readline(_LINE_BYTES)
    except (OSError, EOFError):
        return b""


def is_data(path: str) -> bool:
    """Whether the path is for ``open_files``: a folder, a pattern that names no file, or an ending of data."""
    if "\x00" in path:
        return False
    if os.path.isdir(path):
        return True
    if os.path.exists(path):
        return ending(path) != "" or (os.path.isfile(path) and Path(path).suffix.lower() not in ("", *DATABASES))
    return _GLOB.search(path) is not None or ending(path) != ""


def ending(path: str) -> str:
    """The ending that says what is in the file, in lower case; empty where it says nothing."""
    name = os.path.basename(path).lower()
    return next((known for known in sorted(ENDINGS, key=len, reverse=True) if name.endswith(known)), "")


def open_files(target: str, schemas: Sequence[str] = ()) -> FilesDatabase:
    """The files that ``target`` names, a table each; a workbook gives one for each sheet.

    ``target`` is a file, a folder (its own files, not those of folders in it) or a pattern with ``*``, ``?``, ``[]``
    or ``**``. Raises ``DatabaseNotFoundError`` where nothing matches, ``NotADatabaseError`` for a folder without data
    or a file that is not what its ending says, ``DatabaseError`` for what cannot be read, ``MissingExtraError``
    without the libraries.
    """
    if schemas:
        raise DatabaseError(f"{target}: files have no schemas; leave {', '.join(schemas)} out")
    paths = find(target)
    if len(paths) > MAX_FILES:
        raise DatabaseError(
            f"{target}: these are {len(paths)} files, and {MAX_FILES} at most can be asked about at once"
        )
    try:
        for path in paths:
            _refuse_unreadable(path)
        return FilesDatabase(target, paths)
    except NotADatabaseError as error:
        if len(paths) == 1:
            raise
        # Left out unasked, a table would be missing without anyone noticing.
        raise NotADatabaseError(f"{error}; mend it, or give a pattern or folder without it") from None


def find(target: str) -> list[str]:
    """The files, sorted by path; what a folder or a pattern has beside files of data is left out.

    A link that is named itself is followed wherever it leads; one that a folder or a pattern has, within the folder.
    """
    if os.path.isdir(target):
        paths = _data_in(os.path.join(target, name) for name in os.listdir(target))
        if not paths:
            raise NotADatabaseError(f"{target}: is a folder without any file of data; it needs {_spelled()}")
        _refuse_leaving(paths, target)
        return paths
    if os.path.exists(target):
        if not ending(target):
            raise NotADatabaseError(f"{target}: no reader for this kind of file; give a database or {_spelled()}")
        return [target]
    if not _GLOB.search(target):
        raise DatabaseNotFoundError(f"{target}: no such file; check the path")
    matches = glob.glob(target, recursive=True)
    paths = _data_in(matches)
    if not matches:
        raise DatabaseNotFoundError(f"{target}: no file matches; check the pattern")
    if not paths:
        raise NotADatabaseError(f"{target}: matches nothing that can be read; it should match {_spelled()}")
    _refuse_leaving(paths, os.path.dirname(_GLOB.split(target, maxsplit=1)[0]) or os.curdir)
    return paths


def _refuse_leaving(paths: Iterable[str], folder: str) -> None:
    """Refuse links to files outside ``folder``: who can write to it may not be allowed to read them."""
    root = os.path.join(os.path.realpath(folder), "")
    for path in paths:
        if not os.path.realpath(path).startswith(root):
            raise DatabaseError(
                f"{path}: is a link to a file outside {folder}; give that file itself, or copy it there"
            )


def _data_in(paths: Iterable[str]) -> list[str]:
    return sorted(
        path
        for path in paths
        if ending(path) and os.path.isfile(path) and not os.path.basename(path).startswith(_NOT_DATA)
    )


def _refuse_unreadable(path: str) -> None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise NotADatabaseError(f"{path}: is not a regular file")
        with open(path, "rb"):
            pass
    except OSError as error:
        raise DatabaseError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    if not status.st_size:
        raise NotADatabaseError(f"{path}: is an empty file; there is nothing to ask about")


def _build(paths: Sequence[str], folder: str) -> tuple[str, list[str]]:
    """The path of a database with a view for each file, and the files that it reads."""
    catalog = os.path.join(folder, "files.duckdb")
    sources = [
        {"path": os.path.abspath(path), "shown": path, "kind": ENDINGS[ending(path)], "stem": _stem(path)}
        for path in paths
    ]
    worker = Worker(folder, "files_build")
    try:
        order = {
            "build": catalog,
            "sources": sources,
            "folder": folder,
            "config": settings(folder),
            "process_bytes": PROCESS_BYTES,
            "file_bytes": TEMP_BYTES,
        }
        watch = Watch(_BUILD_LIMITS)
        reply = worker.ask(order, watch)
    except WorkerLostError:
        why = watch.reason or "the process that read them ended, most likely out of memory"
        raise DatabaseError(f"{paths[0]}{' and others' * (len(paths) > 1)}: cannot be read ({why})") from None
    finally:
        worker.close()
    if "readable" in reply:
        return catalog, [str(path) for path in reply["readable"]]
    shown, message = str(reply.get("shown") or paths[0]), " ".join(str(reply["message"]).split())[:300]
    if reply["kind"] == "missing":
        raise MissingExtraError("openpyxl", "duckdb")
    if reply["kind"] in ("memory", "interrupted"):
        raise DatabaseError(f"{shown}: is too large to be read ({message})")
    raise NotADatabaseError(f"{shown}: {message}")


def _name(target: str, paths: Sequence[str]) -> str:
    """A short name: of the folder, of the only file, else of the folder that a pattern starts in."""
    if os.path.isdir(target):
        return os.path.basename(os.path.abspath(target)) or "files"
    if len(paths) == 1:
        return _stem(paths[0])
    start = os.path.dirname(os.path.abspath(target))
    return "files" if _GLOB.search(start) else os.path.basename(start) or "files"


def _stem(path: str) -> str:
    return os.path.basename(path)[: -len(ending(path))]


def _spelled() -> str:
    return "files that end in " + ", ".join(sorted(ENDINGS))

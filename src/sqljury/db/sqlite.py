"""SQLite files, read through four walls: the parser, a read-only connection, a process of its own, limits.

The file's header is read before SQLite opens it, to decide how to open it without leaving a file beside it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.db import readonly
from sqljury.db.base import DEFAULT_LIMITS, FileDatabase, first_bytes, lost, read_bytes
from sqljury.db.sqlite_client import Reply, Worker, WorkerLostError, result_of
from sqljury.db.sqlite_walls import MayRead
from sqljury.db.sqlite_workers import WORKERS
from sqljury.errors import DatabaseError, DatabaseLockedError, NotADatabaseError, QueryError, SqljuryError
from sqljury.parallel.watch import Watch
from sqljury.types import Limits, Result, Row

LOCK_SECONDS: Final = 2.0
"""How long to wait for a lock that another program holds."""

_OPEN_SECONDS: Final = 30.0
_CATALOG_SECONDS: Final = 20.0
"""What queries of the project's own that come to nothing may take together; the next ones get what is left."""

_LEAST_SECONDS: Final = 0.5
_CATALOG_ROWS: Final = 1_000_000
_MAGIC: Final = b"SQLite format 3\x00"
_HEADER_BYTES: Final = 100
_WAL: Final = 2

Read = Callable[[str, int], bytes]


class SQLiteDatabase(FileDatabase):
    """An SQLite file opened for reading; see ``Database`` for its methods and ``connect`` for its errors.

    Each running query has a process of its own, which is kept for the next one.
    """

    dialect = "sqlite"
    schemas: tuple[str, ...] = ()

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # SQLite looks for the log beside what a link leads to, not beside the link.
        self.path = os.path.realpath(path) if os.path.islink(path) else os.fspath(path)
        self.name = Path(path).stem
        self._closed = False
        self._catalog_seconds = _CATALOG_SECONDS
        self._number = WORKERS.register(file=True)
        weakref.finalize(self, WORKERS.abandon, self._number)
        try:
            self._start(Watch(Limits(seconds=_OPEN_SECONDS)))
        except BaseException:
            self.close()
            raise

    def execute(
        self,
        sql: str,
        limits: Limits = DEFAULT_LIMITS,
        cancel: threading.Event | None = None,
        *,
        may_read: MayRead | None = None,
    ) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``.

        SQLite itself refuses a query that reads a column for which ``may_read`` says no.
        """
        watch = Watch(limits, cancel)
        return readonly.run(sql, self.dialect, watch, lambda: self._run(sql, (), watch, may_read=may_read))

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        """Rows of a query of the project's own, with PRAGMA functions allowed; never for others' SQL."""
        limits = Limits(seconds=max(self._catalog_seconds, _LEAST_SECONDS), rows=_CATALOG_ROWS)
        result = self._run(sql, parameters, Watch(limits), trusted=True)
        if result.error is not None:
            self._catalog_seconds -= result.seconds  # a hostile file may have a thousand views that take for ever
            raise QueryError(f"{self.path}: {result.error}")
        return list(result.rows)

    def close(self) -> None:
        """End the idle processes now, those in use when their query ends."""
        self._closed = True
        WORKERS.release(self._number)

    @property
    def _idle(self) -> list[Worker]:
        return WORKERS.idle(self._number)

    def _start(self, watch: Watch) -> None:
        """Open the file in a process, which shows whether it can be read at all."""
        for first in (True, False):
            try:
                with WORKERS.lend(self._number) as worker:
                    self._opened(worker, watch)
                return
            except WorkerLostError as ended:
                if watch.kind is None and ended.again and first:
                    continue
                if watch.kind is None:
                    what = "cannot be opened: the process that reads it ended, most likely out of memory"
                    raise DatabaseError(f"{self.path}: {what}") from None
                what = f"cannot be opened within {_OPEN_SECONDS:g} s, most likely because of a virtual table"
                raise DatabaseError(f"{self.path}: {what}; drop it with the program that made it") from None

    def _run(
        self,
        sql: str,
        parameters: Sequence[str],
        watch: Watch,
        *,
        trusted: bool = False,
        may_read: MayRead | None = None,
    ) -> Result:
        """Run until it works, fails for good, or the lock that another program holds outlasts the patience."""
        result: Result | None = None
        again = True
        while result is None:
            if self._closed:
                raise DatabaseError(f"{self.path}: was closed; connect again")
            if watch.stop():
                return Result(error=lost(watch), seconds=watch.seconds)
            try:
                with WORKERS.lend(self._number) as worker:
                    result = self._attempt(worker, sql, parameters, watch, trusted=trusted, may_read=may_read)
            except WorkerLostError as ended:
                if watch.kind is not None or not (ended.again and again):
                    return Result(error=lost(watch), seconds=watch.seconds)
                again = False
        return result

    def _attempt(
        self,
        worker: Worker,
        sql: str,
        parameters: Sequence[str],
        watch: Watch,
        *,
        trusted: bool,
        may_read: MayRead | None,
    ) -> Result | None:
        """Run it once; None when that must be done again, because another program is writing or has written."""
        how = self._opened(worker, watch)
        reply = worker.query(self._number, sql, parameters, watch, trusted=trusted, may_read=may_read)
        if reply[0] == "failed":
            if _is_busy(reply[1]):
                _wait_for_lock(watch, self.path)
                return None
            return result_of(reply, watch)
        # Without locks a writer may have come in between: what was read may be half old, half new.
        return result_of(reply, watch) if is_current(self.path, how) or watch.stop() else None

    def _opened(self, worker: Worker, watch: Watch) -> Opening:
        """How the worker has the file open, which it has not if it was replaced or, read without locks, changed."""
        how: Opening | None = worker.opened.get(self._number)
        if how is not None and is_current(self.path, how):
            worker.opened.move_to_end(self._number)
            return how
        while True:
            how = inspect(self.path, lambda path, count: worker.read(path, count, watch))
            reply = worker.ask(("open", self._number, how.uri, how.file_bytes), watch)
            worker.opened.pop(self._number, None)
            if reply[0] == "done":
                worker.opened[self._number] = how
                return how
            if not _is_busy(reply[1]):
                raise _open_error(self.path, reply)
            _wait_for_lock(watch, self.path)


def _is_busy(code: int) -> bool:
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _wait_for_lock(watch: Watch, path: str) -> None:
    """Give the other program a moment; raises ``DatabaseLockedError`` once that was long enough."""
    if watch.seconds >= LOCK_SECONDS or watch.stop():
        raise DatabaseLockedError(f"{path}: another program holds it locked; close that program or try again")
    time.sleep(0.01)


def _open_error(path: str, reply: Reply) -> SqljuryError:
    _, code, message, *_ = reply
    if code & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return NotADatabaseError(f"{path}: is corrupt ({message}); restore it from a copy")
    base = os.path.basename(path)
    if code & 0xFF == sqlite3.SQLITE_READONLY:
        return DatabaseError(
            f"{path}: a write was interrupted and left {base}-journal; "
            "open it once with the program that writes to it, which rolls the write back"
        )
    if code & 0xFF == sqlite3.SQLITE_CANTOPEN and size_or_none(path + "-wal") is not None:
        return DatabaseError(
            f"{path}: its latest changes are in {base}-wal, which cannot be read in a folder without "
            "permission to write; copy the file and its -wal elsewhere, or open it once with its own program"
        )
    return DatabaseError(f"{path}: cannot be opened ({message})")


class Signature(NamedTuple):
    """Equal signatures mean the same, unchanged file."""

    device: int
    inode: int
    size: int
    modified_ns: int
    log_bytes: int | None


class Opening(NamedTuple):
    """How to open a file: the URI for SQLite, its size, and whether SQLite will take no lock on it."""

    uri: str
    file_bytes: int
    immutable: bool
    signature: Signature


def inspect(path: str, read: Read = read_bytes) -> Opening:
    """How to open the file at ``path``; raises what ``connect`` raises when it is no SQLite database.

    ``read`` returns the first bytes of a file: where the program may have it open itself, ``Worker.read`` is to.

    A database in WAL mode is opened as immutable while it has no log: SQLite would otherwise leave a
    ``-shm`` and a ``-wal`` file beside it. Nobody can be writing then; whether somebody started to is for the
    caller to see from the signature.
    """
    header = _header(path, read)
    log_bytes = size_or_none(path + "-wal")
    in_use = log_bytes is not None and size_or_none(path + "-shm") is not None
    immutable = header[18] == _WAL and not log_bytes and not in_use
    signature = _sign(path)
    if log_bytes is None:
        _refuse_truncated(path, header, signature.size)
    uri = Path(os.path.realpath(path)).as_uri() + "?mode=ro" + ("&immutable=1" if immutable else "")
    return Opening(uri, signature.size + (log_bytes or 0), immutable, signature)


def is_current(path: str, how: Opening) -> bool:
    """Whether a connection opened so still reads the file at ``path`` as it is."""
    try:
        if how.immutable:
            return _sign(path) == how.signature
        # SQLite's locks see to changes in the file, but not to another file put in its place.
        now = os.stat(path)
    except OSError:
        return False
    return now.st_ino == how.signature.inode and now.st_dev == how.signature.device


def _sign(path: str) -> Signature:
    status = os.stat(path)
    log_bytes = size_or_none(path + "-wal")
    return Signature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, log_bytes)


def size_or_none(path: str) -> int | None:
    """The size of the file in bytes, None when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _header(path: str, read: Read) -> bytes:
    """The first 100 bytes, once they are known to be SQLite's."""
    header = first_bytes(path, _HEADER_BYTES, read)
    if not header.startswith(_MAGIC):
        raise NotADatabaseError(f"{path}: is not an SQLite database (or an encrypted one); check the path")
    if len(header) < _HEADER_BYTES:
        raise NotADatabaseError(f"{path}: is cut off in its header; restore it from a copy")
    return header


def _refuse_truncated(path: str, header: bytes, size: int) -> None:
    """SQLite itself notices a missing page only when a query needs it."""
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    pages = int.from_bytes(header[28:32], "big")
    # SQLite's own rule for trusting the page count: otherwise it is that of an older writer.
    counted = header[24:28] == header[92:96] and page_size.bit_count() == 1
    if counted and size < pages * page_size:
        message = f"{path}: is cut off at {size} of {pages * page_size} bytes; restore it from a copy"
        raise NotADatabaseError(message)

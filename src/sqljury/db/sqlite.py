"""SQLite files, read through four walls: the parser, a read-only connection, a process of its own, limits."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.db import readonly
from sqljury.db.base import DEFAULT_LIMITS, FileDatabase, lost
from sqljury.db.sqlite_client import Reply, Worker, WorkerLostError, result_of
from sqljury.db.sqlite_opening import SERIALS, Opening, Signature, inspect, is_current, is_settled, sign, size_or_none
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
_LOOK_SECONDS: Final = 1.0
_LOOKS_SECONDS: Final = 10.0
"""What looks at the counters that come to nothing may take together; then the file is not looked at any more."""

_COUNTERS: Final = "SELECT s.schema_version, d.data_version FROM pragma_schema_version AS s, pragma_data_version AS d"
"""SQLite's counters: of changes of the schema, and of commits by other connections than the one that is asked."""

_WRITTEN_SECONDS: Final = 0.01
_CATALOG_ROWS: Final = 1_000_000


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
        self._looks = 0
        self._looks_seconds = _LOOKS_SECONDS
        self._version: Hashable | None = None
        self._seen: tuple[tuple[Any, ...], Signature]
        self._since = 0
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

    def version(self) -> Hashable | None:
        """A value that is another one after every change of the file, whoever made it; None where that is not known.

        SQLite's own counters are asked on a connection that is kept for that, and the file's identity, size and times
        and those of its log are compared. What was read after a call belongs to the value that the call returned.
        Threads that call while another looks share the next look.
        """
        before = self._looks
        if self._closed or self._looks_seconds <= 0:
            return None
        try:
            with WORKERS.lookout() as worker:
                if self._looks == before:
                    self._looks += 1
                    self._version = None
                    self._version = self._look(worker)
                return self._version
        except (SqljuryError, OSError):
            return None

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
                    self._seen = (), self._opened(worker, watch).signature
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

    def _look(self, worker: Worker) -> Hashable | None:
        """The version as it is now; None while the file is being changed or is locked.

        SQLite takes its pages and its schema for current by a few bytes of the file, which another file that is written
        over this one may have too. So after a change in its place the file is opened again by every worker.
        """
        watch = Watch(Limits(seconds=_LOOK_SECONDS, rows=1))
        try:
            signature = sign(self.path)
            if signature.place != self._seen[1].place:
                self._since = next(SERIALS)
            counted = self._counted(worker, watch)
            if (counted, signature) != self._seen:
                if sign(self.path) != signature:
                    return None
                self._seen = counted, signature
        except WorkerLostError:
            self._looks_seconds -= watch.seconds
            return None
        return self._seen if signature.settled else None

    def _counted(self, worker: Worker, watch: Watch) -> tuple[Any, ...]:
        """The number of the opening, in which SQLite's counters can be compared, and these counters."""
        how = self._opened(worker, watch)
        reply = worker.query(self._number, _COUNTERS, (), watch, trusted=True)
        if reply[0] == "failed":
            raise QueryError(f"{self.path}: {reply[4]}")
        return (how.serial, *reply[2][0])

    def _opened(self, worker: Worker, watch: Watch) -> Opening:
        """How the worker has the file open, which it has not if it was replaced or, read without locks, changed."""
        how: Opening | None = worker.opened.get(self._number)
        if how is not None and how.serial > self._since and is_current(self.path, how):
            worker.opened.move_to_end(self._number)
            return how
        while True:
            try:
                how = inspect(self.path, lambda path, count: worker.read(path, count, watch))
            except NotADatabaseError:
                if watch.stop() or is_settled(self.path):
                    raise
                time.sleep(_WRITTEN_SECONDS)  # another program may be in the middle of writing it
                continue
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

"""SQLite files, read through three walls: the parser, a read-only connection, limits."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.closing import Closing
from sqljury.db import parsing, readonly, sqlite_file
from sqljury.db.base import DEFAULT_LIMITS, error_text
from sqljury.db.sqlite_walls import Authorizer, MayRead, authorizer, functions_for, harden, narrowed
from sqljury.db.watch import Watch
from sqljury.errors import (
    DatabaseError,
    DatabaseLockedError,
    NotADatabaseError,
    QueryError,
    QueryRefusedError,
    SqljuryError,
)
from sqljury.types import Limits, Result, Row

LOCK_SECONDS: Final = 2.0
"""How long to wait for a lock that another program holds."""

_OPEN_SECONDS: Final = 30.0
_BUSY_SECONDS: Final = 0.1
_STEPS_PER_CHECK: Final = 1000  # about 15 µs apart, and 2 % of the time of a query
_DENIALS: Final = ("not authorized", "is prohibited", "unsafe use of")  # some come with the code of a common error
_CATALOG_LIMITS: Final = Limits(seconds=60.0, rows=1_000_000)


class _Opened(NamedTuple):
    connection: sqlite3.Connection
    how: sqlite_file.Opening
    authorize: Authorizer


class _StoppedError(Exception):
    """Stopped while a connection was being opened; the watch says why."""


class SQLiteDatabase(Closing):
    """An SQLite file opened for reading; see ``Database`` for its methods and ``connect`` for its errors.

    Each running query has a connection of its own, kept for the next one.
    """

    dialect = "sqlite"
    schemas: tuple[str, ...] = ()

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # SQLite looks for the log beside what a link leads to, not beside the link.
        self.path = os.path.realpath(path) if os.path.islink(path) else os.fspath(path)
        self.name = Path(path).stem
        self._idle: list[_Opened] = []
        self._lock = threading.Lock()
        self._closed = False
        try:
            with self._connection(Watch(Limits(seconds=_OPEN_SECONDS))):
                pass  # the first connection shows whether the file can be read at all
        except _StoppedError:
            what = f"cannot be opened within {_OPEN_SECONDS:g} s, most likely because of a virtual table"
            raise DatabaseError(f"{self.path}: {what}; drop it with the program that made it") from None

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that hold the data."""
        return (self.path,)

    @property
    def url(self) -> str:
        """``sqlite:///`` and the absolute path."""
        return f"sqlite:///{os.path.abspath(self.path)}"

    def __repr__(self) -> str:
        return f"SQLiteDatabase({self.path!r})"

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
        try:
            with parsing.under(watch):
                readonly.check(sql, self.dialect)
            return self._run(sql, (), watch, trusted=False, may_read=may_read)
        except QueryRefusedError as error:
            return Result(error=error_text(error.kind, str(error)), seconds=watch.seconds)
        except DatabaseLockedError as error:
            return Result(error=error_text("locked", str(error)), seconds=watch.seconds)
        except DatabaseError as error:
            return Result(error=error_text("database", str(error)), seconds=watch.seconds)

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        """Rows of a query of the project's own, with PRAGMA functions allowed; never for others' SQL."""
        result = self._run(sql, parameters, Watch(_CATALOG_LIMITS), trusted=True)
        if result.error is not None:
            raise QueryError(f"{self.path}: {result.error}")
        return list(result.rows)

    def close(self) -> None:
        """Close the idle connections now, those in use when their query ends."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.connection.close()

    def _run(
        self, sql: str, parameters: Sequence[str], watch: Watch, *, trusted: bool, may_read: MayRead | None = None
    ) -> Result:
        """Run until it works, fails for good, or the lock that another program holds outlasts the patience."""
        result: Result | None = None
        try:
            while result is None:
                with self._connection(watch) as opened:
                    result = self._attempt(opened, sql, parameters, watch, trusted=trusted, may_read=may_read)
        except _StoppedError:
            return Result(error=_stopped(watch), seconds=watch.seconds)
        return result

    def _attempt(
        self,
        opened: _Opened,
        sql: str,
        parameters: Sequence[str],
        watch: Watch,
        *,
        trusted: bool,
        may_read: MayRead | None,
    ) -> Result | None:
        """Run it once; None when that must be done again, because another program is writing or has written."""
        try:
            narrow = _narrow(opened, may_read)
            result = fetch(narrow.connection, narrow.authorize, sql, parameters, watch, trusted=trusted)
        except sqlite3.Error as error:
            if _is_busy(error):
                _wait_for_lock(watch, self.path)
                return None
            return Result(error=explain(error, watch), seconds=watch.seconds)
        finally:
            if may_read is not None:
                opened.connection.set_authorizer(opened.authorize)
        # Without locks a writer may have come in between: what was read may be half old, half new.
        return result if sqlite_file.is_current(self.path, opened.how) or watch.stop() else None

    @contextlib.contextmanager
    def _connection(self, watch: Watch) -> Iterator[_Opened]:
        """Lend a connection to the file as it is now."""
        if self._closed:
            raise DatabaseError(f"{self.path}: was closed; connect again")
        opened = self._take() or _open(self.path, watch)
        try:
            yield opened
        finally:
            with self._lock:
                keep = not self._closed
                if keep:
                    self._idle.append(opened)
            if not keep:
                opened.connection.close()

    def _take(self) -> _Opened | None:
        """An idle connection, unless the file was replaced or, read without locks, changed."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                opened = self._idle.pop()
            if sqlite_file.is_current(self.path, opened.how):
                return opened
            opened.connection.close()


def _narrow(opened: _Opened, may_read: MayRead | None) -> _Opened:
    """The connection, which from now on lets only those columns be read."""
    if may_read is None:
        return opened
    opened = opened._replace(authorize=narrowed(opened.authorize, may_read))
    opened.connection.set_authorizer(opened.authorize)
    return opened


def _open(path: str, watch: Watch) -> _Opened:
    """A new connection behind every wall; raises ``_StoppedError`` when ``watch`` says so."""
    while True:
        how = sqlite_file.inspect(path)
        connection = sqlite3.connect(
            how.uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.text_factory = _decode
            connection.set_progress_handler(watch.stop, _STEPS_PER_CHECK)
            harden(connection, how.file_bytes)
            authorize = authorizer(functions_for(_prime(connection, watch)))
            connection.set_progress_handler(None, 0)
            connection.set_authorizer(authorize)
            return _Opened(connection, how, authorize)
        except sqlite3.Error as error:
            connection.close()
            if watch.kind is not None:
                raise _StoppedError from None
            if not _is_busy(error):
                raise _open_error(path, error) from None
            _wait_for_lock(watch, path)
        except BaseException:
            connection.close()
            raise


def _prime(connection: sqlite3.Connection, watch: Watch) -> list[str]:
    """Start virtual tables while they may still prepare statements of their own; the schema's definitions.

    These statements may read a view that somebody put in the place of a table, and that never ends.
    """
    schema = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    quoted = (name.replace('"', '""') for name, sql in schema if (sql or "").upper().startswith("CREATE VIRTUAL"))
    sources = [*(f'"{name}"' for name in quoted), "json_each('[]')", "json_tree('[]')"]
    for source in sources:
        with contextlib.suppress(sqlite3.Error):  # of a module that this SQLite does not have
            connection.execute(f"SELECT 1 FROM {source} LIMIT 0").close()  # noqa: S608
        if watch.kind is not None:
            raise _StoppedError
    return [sql or "" for _, sql in schema]


def fetch(
    connection: sqlite3.Connection,
    authorize: Authorizer,
    sql: str,
    parameters: Sequence[str],
    watch: Watch,
    *,
    trusted: bool = False,
) -> Result:
    """Step through the rows, counting what they take; ``authorize`` is in force, and again after a trusted query.

    Raises ``sqlite3.Error``, which ``explain`` turns into words.
    """
    connection.set_progress_handler(watch.stop, _STEPS_PER_CHECK)
    if trusted:
        connection.set_authorizer(None)
    cursor = connection.cursor()
    try:
        cursor.execute(sql, parameters)
        return _rows(cursor, watch)
    except (UnicodeError, OverflowError, ValueError, MemoryError, sqlite3.Warning) as error:
        return Result(error=explain(error, watch), seconds=watch.seconds)
    finally:
        cursor.close()
        if trusted:
            connection.set_authorizer(authorize)
        connection.set_progress_handler(None, 0)


def _rows(cursor: sqlite3.Cursor, watch: Watch) -> Result:
    limits = watch.limits
    rows: list[Row] = []
    size = 0
    for row in cursor:
        if len(rows) >= limits.rows:
            return _result(cursor, rows, watch, truncated=True)
        size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if size > limits.bytes:
            reason = f"the rows take more than {limits.bytes} bytes; select fewer columns or rows"
            return Result(error=error_text("limit", reason), seconds=watch.seconds)
        if watch.stop():
            return Result(error=_stopped(watch), seconds=watch.seconds)
        rows.append(row)
    return _result(cursor, rows, watch, truncated=False)


def _result(cursor: sqlite3.Cursor, rows: list[Row], watch: Watch, *, truncated: bool) -> Result:
    columns = tuple(str(column[0]) for column in cursor.description or ())
    return Result(columns, tuple(rows), truncated, seconds=watch.seconds)


def _decode(data: bytes) -> str:
    """Text as stored, what is not UTF-8 in it replaced; SQLite does not check."""
    return data.decode("utf-8", errors="replace")


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _wait_for_lock(watch: Watch, path: str) -> None:
    """Give the other program a moment; raises ``DatabaseLockedError`` once that was long enough."""
    if watch.seconds >= LOCK_SECONDS or watch.stop():
        raise DatabaseLockedError(f"{path}: another program holds it locked; close that program or try again")
    time.sleep(0.01)


def _stopped(watch: Watch) -> str:
    return error_text(watch.kind or "limit", watch.reason or "stopped")


def explain(error: Exception, watch: Watch) -> str:
    """The line for ``Result.error``; SQLite's own words where the query is at fault."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if watch.reason is not None:
        return _stopped(watch)
    if code == sqlite3.SQLITE_INTERRUPT:
        # Nobody else interrupts: an exception in the progress handler did, and SQLite swallowed it.
        raise KeyboardInterrupt
    if isinstance(error, MemoryError) or code == sqlite3.SQLITE_NOMEM:
        return error_text("limit", "out of memory; ask for less")
    if code == sqlite3.SQLITE_TOOBIG:
        return error_text("limit", f"{error}; a value or the statement is too long")
    if code == sqlite3.SQLITE_FULL:
        return error_text("limit", "the disk for temporary files is full; ask for less")
    if code == sqlite3.SQLITE_AUTH or any(words in str(error) for words in _DENIALS):
        return error_text("refused", f"{error}; only reading tables with known functions is allowed")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return error_text("refused", f"{error}; the database is open for reading only")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return error_text("database", f"{error}; check the file, or restore it from a copy")
    return error_text("sql", str(error))


def _open_error(path: str, error: sqlite3.Error) -> SqljuryError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return NotADatabaseError(f"{path}: is corrupt ({error}); restore it from a copy")
    base = os.path.basename(path)
    if code & 0xFF == sqlite3.SQLITE_READONLY:
        return DatabaseError(
            f"{path}: a write was interrupted and left {base}-journal; "
            "open it once with the program that writes to it, which rolls the write back"
        )
    if code & 0xFF == sqlite3.SQLITE_CANTOPEN and sqlite_file.size_or_none(path + "-wal") is not None:
        return DatabaseError(
            f"{path}: its latest changes are in {base}-wal, which cannot be read in a folder without "
            "permission to write; copy the file and its -wal elsewhere, or open it once with its own program"
        )
    return DatabaseError(f"{path}: cannot be opened ({error})")

"""What runs in a process of its own: SQLite behind its walls, one order at a time.

A process, because SQLite looks at the clock between the steps of a running query only: it may compile a statement, or
be inside one call of a function, for minutes and gigabytes. A process can be ended, and the system limits its memory.

Orders and replies are tuples of plain values, each as eight bytes with its length and then ``marshal``'s form, which
holds values only. The process starts in a few milliseconds because nothing is imported that takes long: not even
``typing``, and in the place of ``sqlite3`` the module written in C that is its core (see ``COMMAND``).
"""

from __future__ import annotations

import _thread
import contextlib
import marshal
import os
import signal
import sqlite3
import time
from select import select
from sys import getsizeof

from sqljury.db.sqlite_walls import FUNCTIONS, INTERNAL_NAMES, Authorizer, authorizer, functions_for, harden, narrowed
from sqljury.db.worker_process import limit_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Final

    from sqljury.types import Row

COMMAND: Final = (
    "import sys, _signal, _sqlite3\n"
    "package = type(sys)('sqljury')\n"
    "package.__path__ = [sys.argv[1]]\n"
    "sys.modules.update(sqljury=package, sqlite3=_sqlite3, signal=_signal)\n"
    "from sqljury.db.sqlite_worker import main\n"
    "main()\n"
)
"""What Python is started with, and the folder of the package: the package's own start would import all of it."""

PROCESS_BYTES: Final = 1280 * 1024**2
"""What the process may take, where the system can limit it; with ``HELD_BYTES`` in the caller, less than 2 GiB."""

HEAP_BYTES: Final = 1024**3
"""What SQLite may take by its own account."""

FILE_BYTES: Final = 1280 * 1024**2
"""How large a temporary file may get; what a query writes in all is limited from outside."""

HEADER_BYTES: Final = 8
MARSHAL_VERSION: Final = 2  # the later ones look up each value in a table of those before

SPIN_SECONDS: Final = 0.0005 if (os.cpu_count() or 1) > 1 else 0.0
"""How long either side looks for the next message before it sleeps, giving way to others: to be woken takes several
times as long as a small query (53 against 8 µs a round trip, measured on two cores)."""

_BUSY_SECONDS: Final = 0.1
_CHUNK_BYTES: Final = 4 * 1024**2
_CELL_BYTES: Final = 8
_ROW_BYTES: Final = 56
_DENIALS: Final = ("not authorized", "is prohibited", "unsafe use of")  # some come with the code of a common error
_CLOSED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)

OUT_OF_MEMORY: Final = ("limit", "out of memory; ask for less")

Reply = tuple["Any", ...]


def main(taken: int = 0) -> None:
    """Serve orders until the caller closes the connection, or is gone; ``taken`` are bytes it was started with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's to handle
    channel = _Channel(os.dup(1))
    os.dup2(2, 1)
    _thread.stack_size(256 * 1024)
    _thread.start_new_thread(_end_with_the_caller, ())
    limit_process(taken + PROCESS_BYTES, FILE_BYTES)
    server = _Server(channel)
    while True:
        channel.write(server.serve(channel.read()))
        if server.rest_seconds is not None:
            channel.wait(server.rest_seconds)
            server.rest_seconds = None


def _end_with_the_caller() -> None:
    """Wait for the end of standard input, which the caller never writes to; SQLite runs without holding this up."""
    os.read(0, 1)
    os._exit(0)


class _Channel:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def wait(self, seconds: float) -> None:
        """End the process if there is no message within so many seconds."""
        if not select([self._descriptor], [], [], seconds)[0]:
            os._exit(0)

    def read(self) -> Any:
        """The next message; ends the process where there is none."""
        patience = time.monotonic() + SPIN_SECONDS
        while time.monotonic() < patience and not select([self._descriptor], [], [], 0)[0]:
            os.sched_yield()
        data = os.read(self._descriptor, 65536)
        while len(data) < HEADER_BYTES or len(data) < HEADER_BYTES + int.from_bytes(data[:HEADER_BYTES], "little"):
            more = os.read(self._descriptor, 1024**2)
            if not more:
                os._exit(0)
            data += more
        return marshal.loads(memoryview(data)[HEADER_BYTES:])  # noqa: S302 - from the process that started this one

    def write(self, message: Reply) -> None:
        """Send one message."""
        body = marshal.dumps(message, MARSHAL_VERSION)
        header = len(body).to_bytes(HEADER_BYTES, "little")
        for part in (header + body,) if len(body) < _CHUNK_BYTES else (header, body):
            unwritten = memoryview(part)
            while unwritten:
                unwritten = unwritten[os.write(self._descriptor, unwritten) :]


class _Opened:
    def __init__(
        self, connection: sqlite3.Connection, definitions: Sequence[str], functions: frozenset[str] = FUNCTIONS
    ) -> None:
        self.connection = connection
        self.functions = functions
        self.absent = _absent(connection)
        self.authorize: Authorizer = authorizer(functions, self.absent)
        self._defined = any(map(self._names_internal, definitions))

    def may_mean_internal(self, sql: str) -> bool:
        """Whether the query, or a view that it may read, has the name of a table that shows SQLite's inside."""
        return self._defined or self._names_internal(sql)

    def _names_internal(self, sql: str) -> bool:
        lowered = sql.lower()
        return any(name in lowered for name in INTERNAL_NAMES - self.absent)


class _Server:
    def __init__(self, channel: _Channel) -> None:
        self.rest_seconds: float | None = None
        self._channel = channel
        self._opened: dict[int, _Opened] = {}
        self._orders: dict[str, Callable[..., Reply]] = {
            "open": self.open,
            "tables": self.tables,
            "fill": self.fill,
            "query": self.query,
            "close": self.close,
            "read": self.read,
            "rest": self.rest,
        }

    def serve(self, order: Sequence[Any]) -> Reply:
        """The reply to one order, whatever goes wrong with it."""
        try:
            return self._orders[order[0]](*order[1:])
        except (MemoryError, sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError, ValueError) as error:
            return ("failed", _code(error), str(error), *explain(error))

    def open(self, key: int, uri: str, file_bytes: int) -> Reply:
        """Open a file behind every wall, under this number from now on."""
        self.close(key)
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.text_factory = _decode
            _limit_heap(connection)
            harden(connection, file_bytes)
            definitions = _prime(connection)
            opened = _Opened(connection, definitions, functions_for(definitions))
            connection.set_authorizer(opened.authorize)
        except BaseException:
            connection.close()
            raise
        self._opened[key] = opened
        return ("done",)

    def tables(self, key: int, statements: Sequence[str]) -> Reply:
        """Make a database in memory with these tables, under this number from now on."""
        self.close(key)
        connection = sqlite3.connect(":memory:", isolation_level=None)
        try:
            _limit_heap(connection)
            for statement in statements:
                connection.execute(statement)
            harden(connection, 0)
        except BaseException:
            connection.close()
            raise
        self._opened[key] = _Opened(connection, statements)
        connection.set_authorizer(self._opened[key].authorize)
        return ("done",)

    def fill(self, key: int, tables: Sequence[tuple[str, Sequence[Row]]], skip: bool) -> Reply:
        """Replace the rows of all tables, given by their quoted names; says whether SQLite took them."""
        opened = self._opened[key]
        with _writing(opened) as connection:
            try:
                connection.execute("BEGIN")
                for name, rows in tables:
                    connection.execute(f"DELETE FROM {name}")  # noqa: S608 - a quoted name
                    _insert(connection, name, rows, skip=skip)
                if not skip and connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
                    raise sqlite3.IntegrityError
                connection.execute("COMMIT")
            except (sqlite3.Error, OverflowError, UnicodeError):
                connection.execute("ROLLBACK")
                return ("done", False)
        return ("done", True)

    def query(
        self, key: int, sql: str, parameters: Sequence[str], limits: tuple[int, int, int], trusted: bool, ask: bool
    ) -> Reply:
        """Run one query; ``limits`` are rows, bytes of cells, and bytes that the rows may take in the caller.

        A ``trusted`` one runs without the authorizer. With ``ask``, the caller is asked which columns may be read.
        """
        opened = self._opened[key]
        if trusted:
            return self._query(opened, sql, parameters, limits, None)
        within = _pinned(opened) if opened.may_mean_internal(sql) else contextlib.nullcontext(opened.authorize)
        with within as authorize:
            asking = narrowed(authorize, self._asking()) if ask else authorize
            return self._query(opened, sql, parameters, limits, asking)

    def _query(
        self,
        opened: _Opened,
        sql: str,
        parameters: Sequence[str],
        limits: tuple[int, int, int],
        authorize: Authorizer | None,
    ) -> Reply:
        usual = authorize is opened.authorize  # to set one takes time, for SQLite compiles every statement anew
        if not usual:
            opened.connection.set_authorizer(authorize)
        cursor = opened.connection.cursor()
        try:
            cursor.execute(sql, parameters)
            return self._rows(cursor, *limits)
        finally:
            cursor.close()
            if not usual:
                opened.connection.set_authorizer(opened.authorize)

    def close(self, key: int) -> Reply:
        """Forget the database of this number, if there is one."""
        opened = self._opened.pop(key, None)
        if opened is not None:
            opened.connection.close()
        return ("done",)

    def read(self, path: bytes, count: int) -> Reply:
        """The first bytes of a file, or nothing, the number and the words of the system's error."""
        try:
            with open(path, "rb", buffering=0) as file:
                return ("done", file.read(count), 0, "")
        except OSError as error:
            return ("done", None, error.errno, error.strerror)

    def rest(self, seconds: float) -> Reply:
        """Forget every database, and end the process unless another order comes within so many seconds."""
        for key in list(self._opened):
            self.close(key)
        self.rest_seconds = seconds
        return ("done",)

    def _asking(self) -> Callable[[str, str, str], bool]:
        known: dict[tuple[str, str, str], bool] = {}

        def may_read(table: str, column: str, view: str) -> bool:
            key = table, column, view
            if key not in known:
                self._channel.write(("ask", *key))
                known[key] = self._channel.read() is True
            return known[key]

        return may_read

    def _rows(self, cursor: sqlite3.Cursor, most_rows: int, most_bytes: int, most_held: int) -> Reply:
        rows: list[Row] = []
        size = held = pending = 0
        truncated = False
        for count, row in enumerate(cursor):
            if count >= most_rows:
                truncated = True
                break
            size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
            if size > most_bytes:
                return _too_large(f"the rows take more than {most_bytes} bytes; select fewer columns or rows")
            taken = sum(map(getsizeof, row)) + _CELL_BYTES * len(row) + _ROW_BYTES
            held, pending = held + taken, pending + taken
            if held > most_held:
                return _too_large(f"the rows take more than {most_held // 1024**2} MiB of memory; select fewer")
            rows.append(row)
            if pending > _CHUNK_BYTES:
                self._channel.write(("rows", rows))
                rows, pending = [], 0
        columns = tuple(str(column[0]) for column in cursor.description or ())
        return ("done", columns, rows, truncated)


def _too_large(message: str) -> Reply:
    return ("failed", 0, message, "limit", message)


def _limit_heap(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")


def _decode(data: bytes) -> str:
    """Text as stored, what is not UTF-8 in it replaced; SQLite does not check."""
    return data.decode("utf-8", errors="replace")


def _prime(connection: sqlite3.Connection) -> list[str]:
    """Start virtual tables while they may still prepare statements of their own; the schema's definitions.

    These statements may read a view that somebody put in the place of a table, and that never ends: the caller does.
    """
    schema = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    quoted = (name.replace('"', '""') for name, sql in schema if (sql or "").upper().startswith("CREATE VIRTUAL"))
    for source in (*(f'"{name}"' for name in quoted), "json_each('[]')", "json_tree('[]')"):
        with contextlib.suppress(sqlite3.Error):  # of a module that this SQLite does not have
            connection.execute(f"SELECT 1 FROM {source} LIMIT 0").close()  # noqa: S608
    return [sql or "" for _, sql in schema]


@contextlib.contextmanager
def _writing(opened: _Opened) -> Iterator[sqlite3.Connection]:
    """The connection while the project's own statements run, outside the walls."""
    opened.connection.set_authorizer(None)
    opened.connection.execute("PRAGMA query_only=OFF")
    try:
        yield opened.connection
    finally:
        opened.connection.execute("PRAGMA query_only=ON")
        opened.connection.set_authorizer(opened.authorize)


@contextlib.contextmanager
def _pinned(opened: _Opened) -> Iterator[Authorizer]:
    """What a query may do that may mean an internal table, while the schema cannot change.

    A table or view of the database is read in the place of an internal one of its name. Without a transaction, another
    program could drop it between the look and the query, which would then read the internal one.
    """
    connection = opened.connection
    connection.set_authorizer(None)
    try:
        connection.execute("BEGIN")
        names = connection.execute("SELECT lower(name) FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        yield authorizer(opened.functions, opened.absent.union(name for (name,) in names))
    finally:
        connection.set_authorizer(None)
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.set_authorizer(opened.authorize)


def _absent(connection: sqlite3.Connection) -> frozenset[str]:
    """The names of internal tables that this SQLite does not have; none where it does not say."""
    modules = {name.lower() for (name,) in connection.execute("PRAGMA module_list")}
    return INTERNAL_NAMES - modules if modules else frozenset()


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Row], *, skip: bool) -> None:
    if not rows:
        return
    sql = f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"  # noqa: S608 - a quoted name
    if not skip:
        connection.executemany(sql, rows)
        return
    for row in rows:  # OR IGNORE would still fail for a text as rowid
        with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeError):
            connection.execute(sql, row)


def _code(error: Exception) -> int:
    """SQLite's code of an error; names and definitions that cannot be read as UTF-8 are a corrupt file."""
    unreadable = sqlite3.SQLITE_CORRUPT if isinstance(error, UnicodeDecodeError) else 0
    code: int = getattr(error, "sqlite_errorcode", unreadable)
    return code


def explain(error: Exception) -> tuple[str, str]:
    """The kind of the error and its line; SQLite's own words where the query is at fault."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, MemoryError) or code == sqlite3.SQLITE_NOMEM:
        return OUT_OF_MEMORY
    if code == sqlite3.SQLITE_TOOBIG:
        return "limit", f"{error}; a value or the statement is too long"
    if code == sqlite3.SQLITE_FULL:
        return "limit", "the disk for temporary files is full; ask for less"
    if code == sqlite3.SQLITE_AUTH or any(words in str(error) for words in _DENIALS):
        return "refused", f"{error}; only reading tables with known functions is allowed"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return "refused", f"{error}; the database is open for reading only"
    if code in _CLOSED:
        return "database", f"{error}; check the file, or restore it from a copy"
    return "sql", str(error)

"""DuckDB files, read through four walls: the parser, a read-only connection, a process of its own, limits."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from sqljury.db import readonly
from sqljury.db.base import DEFAULT_LIMITS, FileDatabase, failed, failure, first_bytes, lost
from sqljury.db.duckdb_client import ENGINE_BYTES, PROCESS_BYTES, TEMP_BYTES, Reply, Worker, WorkerLostError
from sqljury.db.schemas import choose
from sqljury.db.sqlite_workers import read_head
from sqljury.errors import (
    DatabaseError,
    DatabaseLockedError,
    DatabaseNotFoundError,
    NotADatabaseError,
    QueryError,
    QueryRefusedError,
)
from sqljury.parallel.watch import Watch
from sqljury.types import FailureKind, Limits, QueryFailure, Result, Row

LOCK_SECONDS: Final = 2.0
"""How long to wait for a lock that another program holds."""

MAX_WORKERS: Final = 4
"""How many queries run at once; a further one waits for its turn, and its time starts then."""

_OPEN_LIMITS: Final = Limits(seconds=30.0)
_CATALOG_LIMITS: Final = Limits(seconds=60.0, rows=1_000_000, bytes=256 * 1024 * 1024)
_MAIN: Final = "main"
_FILLED_SCHEMAS: Final = """
    SELECT schema_name, count(*) FROM (
        SELECT database_name, schema_name, internal, temporary FROM duckdb_tables() UNION ALL
        SELECT database_name, schema_name, internal, temporary FROM duckdb_views())
    WHERE database_name = current_database() AND NOT internal AND NOT temporary GROUP BY 1 ORDER BY 1
"""
_TURN_SECONDS: Final = 0.05
_CALL: Final = re.compile(r"(\w+)\"?\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*\(", re.DOTALL)
_SYNTAX_WORDS: Final = """
    array_agg array_extract array_slice contains count_star current_catalog current_date current_localtime
    current_localtimestamp current_role current_schema current_user date_part factorial get_current_time
    get_current_timestamp ilike_escape json_extract like_escape list_apply list_filter list_value ltrim
    map map_extract map_extract_value not_ilike_escape not_like_escape overlay position regexp_full_match regexp_matches
    row rtrim session_user struct_extract struct_extract_at struct_pack substring timezone to_centuries to_days
    to_decades to_hours to_json to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
    to_weeks to_years trim trunc unnest user
"""
_SYNTAX: Final = frozenset(_SYNTAX_WORDS.split())
"""Functions that a query runs without calling them, as ``extract(year FROM d)`` runs ``date_part``.

Found by giving every function of DuckDB 2.0.1 a macro of its name and running over 200 forms of its syntax; ``to_json``
is what the process that runs queries calls. Such a file is not opened, since sqljury's own queries would run them too.
"""
OPERATOR: Final = re.compile(r"[^\w\s]")
"""How the name of a macro begins that is written as an operator."""
_KINDS: Final[dict[str, FailureKind]] = {"refused": "refused", "limit": "limit", "sql": "sql", "locked": "locked"}
_MAGIC: Final = b"DUCK"
_MAGIC_AT: Final = 8  # behind the checksum of the first block
_HEADER_BYTES: Final = 3 * 4096  # the main header and the two that take turns
SQLITE_MAGIC: Final = b"SQLite format 3\x00"


class Identity(NamedTuple):
    """Equal identities mean that no other file was put in this one's place."""

    device: int
    inode: int


class _Opened(NamedTuple):
    worker: Worker
    identity: Identity
    macros: frozenset[str]


class _StoppedError(Exception):
    """Stopped before there was a process to run the query in."""

    def __init__(self, failure: QueryFailure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class DuckDBDatabase(FileDatabase):
    """A DuckDB file opened for reading; see ``Database`` for its methods and ``connect`` for its errors.

    ``files`` are what queries may read beside the database, for views over them. Each running query has a process of
    its own, kept for the next one.
    """

    dialect = "duckdb"

    def __init__(self, path: str | os.PathLike[str], schemas: Sequence[str] = (), files: Sequence[str] = ()) -> None:
        self.path = os.fspath(path)
        self.name = Path(self.path).stem
        self.schemas = tuple(schemas)
        self._files = tuple(files)
        self._idle: list[_Opened] = []
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(MAX_WORKERS)
        self._closed = False
        inspect(self.path)  # before a process is started for it
        self._folder = tempfile.TemporaryDirectory(prefix="sqljury-")
        try:
            with self._connection(_OPEN_LIMITS, None):
                pass  # the first connection shows whether the file can be read at all
            if not self.schemas and not self._files:
                self._choose_schemas()
        except _StoppedError:
            self.close()
            message = f"{self.path}: cannot be opened within {_OPEN_LIMITS.seconds:g} s; restore it from a copy"
            raise NotADatabaseError(message) from None
        except BaseException:
            self.close()
            raise

    def _choose_schemas(self) -> None:
        """Ask about the schemas that have tables, as ``choose`` finds them, if not only ``main``."""
        listed = [tuple(row) for row in self.catalog(_FILLED_SCHEMAS)]
        path = [(_MAIN, sum(tables for name, tables in listed if name == _MAIN))]
        self.schemas = choose(self.url, path, lambda: [row for row in listed if row[0] != _MAIN])
        if self.schemas:
            with self._lock:
                idle, self._idle = self._idle, []
            for opened in idle:  # which look names up in ``main``
                opened.worker.close()

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``."""
        watch = Watch(limits, cancel)
        return readonly.run(sql, self.dialect, watch, lambda: self._run(sql, (), watch.left, cancel, trusted=False))

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        """Rows of a query of the project's own on the catalogue; never for others' SQL.

        Lists come as JSON, as from ``execute``, where there are no ``parameters``.
        """
        result = self._run(sql, parameters, _CATALOG_LIMITS, None, trusted=True)
        if result.error is not None:
            raise QueryError(f"{self.path}: {result.error}")
        return list(result.rows)

    def close(self) -> None:
        """End the idle processes now, those in use when their query ends."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.worker.close()
        with contextlib.suppress(OSError):
            self._folder.cleanup()

    def _run(
        self, sql: str, parameters: Sequence[str], limits: Limits, cancel: threading.Event | None, *, trusted: bool
    ) -> Result:
        waited = Watch(limits, cancel)
        try:
            with self._connection(limits, cancel) as (opened, watch):
                if not trusted:
                    _check_macros(sql, opened.macros)
                order = {"sql": sql, "parameters": list(parameters), "trusted": trusted}
                try:
                    reply = opened.worker.ask({**order, "rows": limits.rows, "bytes": limits.bytes}, watch)
                except WorkerLostError:
                    watch.stop()
                    return Result(error=lost(watch), seconds=watch.seconds)
                return self._result(reply, watch)
        except _StoppedError as stopped:
            return Result(error=stopped.failure, seconds=waited.seconds)

    def _result(self, reply: Reply, watch: Watch) -> Result:
        if "rows" in reply:
            rows = tuple(tuple(row) for row in reply["rows"])
            return Result(tuple(reply["columns"]), rows, bool(reply["truncated"]), seconds=watch.seconds)
        kind, message = str(reply["kind"]), str(reply["message"])
        if kind == "interrupted":
            return Result(error=lost(watch), seconds=watch.seconds)
        if kind == "memory":
            return failed("limit", f"{message.rstrip('.')}; ask for less", watch)
        return failed(_KINDS.get(kind, "database"), message, watch)

    @contextlib.contextmanager
    def _connection(self, limits: Limits, cancel: threading.Event | None) -> Iterator[tuple[_Opened, Watch]]:
        """Lend a process that has the file open as it is now; its start counts as the query's time, waiting does not.

        Raises ``_StoppedError`` when cancelled before its turn, or stopped before the process was there.
        """
        while (cancelled := cancel is not None and cancel.is_set()) or not self._turns.acquire(timeout=_TURN_SECONDS):
            if cancelled:
                raise _StoppedError(failure("cancelled", "stopped on request"))
        try:
            if self._closed:
                raise DatabaseError(f"{self.path}: was closed; connect again")
            watch = Watch(limits, cancel)
            opened = self._take() or self._open(watch, cancel)
            try:
                if watch.kind is not None:
                    raise _StoppedError(lost(watch))
                yield opened, watch
            finally:
                self._put_back(opened)
        finally:
            self._turns.release()

    def _take(self) -> _Opened | None:
        """An idle process, unless another file was put in the place of the one it has open."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                opened = self._idle.pop()
            if opened.worker.alive and _identity(self.path) == opened.identity:
                return opened
            opened.worker.close()

    def _put_back(self, opened: _Opened) -> None:
        with self._lock:
            keep = not self._closed and opened.worker.alive
            if keep:
                self._idle.append(opened)
        if not keep:
            opened.worker.close()

    def _open(self, watch: Watch, cancel: threading.Event | None) -> _Opened:
        """A new process with the file open behind every wall."""
        reading = Watch(watch.left, cancel)  # ``watch`` would follow the process that reads the header
        try:
            identity = inspect(self.path, lambda path, count: read_head(path, count, reading))
        except DatabaseError:
            if reading.kind is not None:
                raise _StoppedError(lost(reading)) from None
            raise
        worker = Worker(self._folder.name)
        order = {
            "open": os.path.realpath(self.path),
            "config": settings(self._folder.name),
            "files": list(self._files),
            "search_path": _search_path(self.schemas),
            "schemas": list(self.schemas),
            "lock_seconds": LOCK_SECONDS,
            "process_bytes": PROCESS_BYTES,
            "file_bytes": TEMP_BYTES,
        }
        try:
            reply = worker.ask(order, watch)
        except WorkerLostError as error:
            if watch.kind is not None:
                raise _StoppedError(lost(watch)) from None
            raise NotADatabaseError(f"{self.path}: cannot be opened ({error}); restore it from a copy") from None
        if "ok" not in reply:
            worker.close()
            _refuse_open(self.path, str(reply.get("kind")), str(reply.get("message")))
        macros = frozenset(str(name).lower() for name in reply["macros"])
        if implicit := sorted(name for name in macros if name in _SYNTAX or OPERATOR.match(name)):
            worker.close()
            raise DatabaseError(
                f"{self.path}: its macro {implicit[0][:60]} takes the place of a built-in function or operator in any "
                "query, so that none is run; drop the macro or give it another name"
            )
        return _Opened(worker, identity, macros)


def _check_macros(sql: str, macros: frozenset[str]) -> None:
    """Refuse a call of what the database itself defines, also under the name of a built-in function."""
    called = {match[1].lower() for match in _CALL.finditer(sql)} if macros else set()
    if refused := sorted(called & macros):
        raise QueryRefusedError(f"{refused[0]} is a macro of the database, and only built-in functions may be called")


def settings(folder: str) -> dict[str, Any]:
    """DuckDB's settings from its start on, with ``folder`` for temporary files."""
    return {
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_persistent_secrets": "false",
        "python_enable_replacements": "false",
        "memory_limit": f"{ENGINE_BYTES}B",
        "threads": min(4, os.cpu_count() or 1),
        "temp_directory": folder,
        "max_temp_directory_size": f"{TEMP_BYTES}B",
    }


def _search_path(schemas: Sequence[str]) -> str:
    return ",".join('"' + name.replace('"', '""') + '"' for name in schemas)


def _refuse_open(path: str, kind: str, message: str) -> NoReturn:
    line = " ".join(message.split())[:300]
    if kind == "locked":
        raise DatabaseLockedError(f"{path}: another program holds it locked; close that program or try again")
    if kind == "schema":
        raise DatabaseError(f"{path}: {line}")
    hopeless = kind == "database" and "encrypt" not in line.lower() and "version" not in line.lower()
    if hopeless or line.startswith("Corrupt database"):
        raise NotADatabaseError(f"{path}: is corrupt ({line}); restore it from a copy")
    raise DatabaseError(f"{path}: cannot be opened ({line})")


def kind(path: str) -> str:
    """What the first bytes say: ``duckdb``, ``sqlite``, or nothing where they say neither or cannot be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # reading a pipe would wait for its writer
            return ""
        return _kind(read_head(path, _MAGIC_AT + len(_MAGIC) + 8))
    except (OSError, ValueError):
        return ""


def _kind(head: bytes) -> str:
    if head.startswith(SQLITE_MAGIC):
        return "sqlite"
    return "duckdb" if head[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] == _MAGIC else ""


def inspect(path: str, read: Callable[[str, int], bytes] = read_head) -> Identity:
    """The identity of the DuckDB file at ``path``; raises what ``connect`` raises for another file.

    Another process reads it: closing the file here would drop the locks on it that the program itself holds through
    DuckDB, and a second writer could destroy what the program writes.
    """
    identity = _identity(path)
    header = first_bytes(path, _HEADER_BYTES, read)
    if _kind(header) != "duckdb":
        raise NotADatabaseError(f"{path}: is not a DuckDB database; check the path")
    if len(header) < _HEADER_BYTES:
        raise NotADatabaseError(f"{path}: is cut off in its header; restore it from a copy")
    if identity is None:
        raise DatabaseNotFoundError(f"{path}: no such file; check the path")
    return identity


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return Identity(status.st_dev, status.st_ino)

"""A database on a server, read through three walls: the parser, a read-only transaction, limits.

Connections are kept for the next query; a thread watches each query that runs.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self
from urllib.parse import quote

from sqljury.db import readonly
from sqljury.db.base import DEFAULT_LIMITS, failed, failure, lost
from sqljury.db.schemas import choose
from sqljury.errors import DatabaseError, DatabaseNotFoundError, MissingExtraError, QueryError
from sqljury.parallel.watch import Watch
from sqljury.resources import Closing
from sqljury.types import FailureKind, Limits, QueryFailure, Result, Row

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

_CATALOG_LIMITS: Final = Limits(seconds=60.0, rows=5_000_000, bytes=1024**3)
_CELL_BYTES: Final = 8  # what a cell without a length counts

KEPT: Final = 8
"""Connections kept open between queries; more are opened while more queries run at once."""

_POLL_SECONDS: Final = 0.02
_GRACE_SECONDS: Final = 0.25  # for the server to obey, before the line is cut

SERVER_STOPPED: Final = "stopped by the server"
"""The reason of a driver for a query that ran into the server's own time limit, which is that of the query."""

LOST: Final = "the connection was lost while the query ran; try again"
"""The reason of a driver when the server or the network went away."""

_HIDDEN: Final = "…"
_PART: Final = re.compile(r"[\w.,@:$ /\\+-]{0,128}")
_SECRET: Final = re.compile(r"passw|pwd|secret|token", re.IGNORECASE)


def shown_url(scheme: str, user: str, host: str, port: object, database: str, *, known: bool) -> str:
    """The URL of a server as errors show it: user, host, port and database, and no setting that may be a secret.

    ``known`` says that a password is given beside the user. Where none is, what stands in the user's place may be one;
    and so may be what has the marks of a connection string. There ``…`` stands.
    """
    odd = ":" in user or not known
    owner = f"{_HIDDEN if odd or not _tellable(user) else quote(user, safe='')}@" if user else ""
    address = f"[{host}]" if ":" in host else quote(host, safe=",.-_")
    address = address if _tellable(host) else _HIDDEN
    name = quote(database, safe="") if _tellable(database) else _HIDDEN
    return f"{scheme}://{owner}{address}{f':{port}' if port else ''}/{name}"


def without(text: str, secrets: Iterable[object]) -> str:
    """``text`` of a server or library without these values, which it may quote."""
    for secret in sorted({str(value) for value in secrets if value}, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", _HIDDEN, text)
    return text


def _tellable(part: str) -> bool:
    return bool(_PART.fullmatch(part)) and not _SECRET.search(part)


class AdministratorWarning(UserWarning):
    """A connection has rights that reading does not need: if every wall fails, a query has them too."""


class Driver(Protocol):
    """What differs between servers; connections are the driver library's own."""

    dialect: str
    url: str
    identity: str
    """The URL with the user in any case: what may be read depends on who asks. It is shown nowhere."""
    name: str
    usable_schemas: str
    """A query for the names of the schemas that this user may use."""
    path_schemas: str
    """A query for the schemas in which names are looked up, with the number of readable tables; empty for none."""
    other_schemas: str
    """A query for all other schemas that have readable tables, likewise; empty where the URL itself names one."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the library raises when a query fails."""

    def pool(self) -> Pool:
        """A pool of fresh connections; opening one raises ``DatabaseError`` or one of its kinds."""

    def use(self, schemas: tuple[str, ...]) -> None:
        """Let new connections look names up in these schemas, the default one first."""

    def begin(self, connection: Any, seconds: float) -> None:
        """Start a read-only transaction whose statement the server stops after ``seconds``."""

    def stream(self, connection: Any, sql: str, parameters: Sequence[str]) -> Generator[tuple[Any, ...], None, None]:
        """The names of the columns, then the rows as plain cells, as they arrive."""

    def rollback(self, connection: Any) -> bool:
        """End the transaction; whether the connection can be used again."""

    def cancel(self, connection: Any) -> None:
        """From another thread: have the server end what the connection runs."""

    def sever(self, connection: Any) -> None:
        """From another thread: cut the line, so that whoever waits on it gives up."""

    def explain(self, error: Exception) -> tuple[FailureKind, str]:
        """Why a query failed."""

    def administrator(self, connection: Any) -> str:
        """The rights that make this user more than a reader, empty without any."""


class ServerDatabase(Closing):
    """A database on a server; see ``Database`` for its methods and ``connect`` for its errors."""

    def __init__(self, driver: Driver, schemas: tuple[str, ...] = ()) -> None:
        self.dialect = driver.dialect
        self.url = driver.url
        self.identity = driver.identity
        self.name = driver.name
        self.schemas = schemas
        self._driver = driver
        self._pool = driver.pool()
        try:
            with self._pool.lend() as lent:  # the first one shows whether the server can be reached at all
                rights = driver.administrator(lent.connection)
            usable = {str(name) for (name,) in self.catalog(driver.usable_schemas)} if schemas else set()
            if not schemas:
                self._choose_schemas()
            if missing := [schema for schema in schemas if schema not in usable]:
                raise DatabaseNotFoundError(f"{self.url}: no schema {missing[0]!r} that this user may use; check it")
        except BaseException:
            self._pool.close()
            raise
        if rights:
            warnings.warn(
                f"{self.url}: this user {rights}; connect as one that may only read, see docs/security.md",
                AdministratorWarning,
                stacklevel=4,
            )

    def __repr__(self) -> str:
        return f"ServerDatabase({self.url!r})"

    def _choose_schemas(self) -> None:
        """Ask about the schemas that have tables, as ``choose`` finds them, if not only the default one."""
        driver = self._driver
        path = self.catalog(driver.path_schemas) if driver.path_schemas else []
        chosen = choose(self.url, path, lambda: self.catalog(driver.other_schemas) if driver.other_schemas else [])
        if chosen:
            driver.use(chosen)
            self.schemas, self.name = chosen, driver.name
            self._pool.close()
            self._pool = driver.pool()

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``."""
        watch = Watch(limits, cancel)
        return readonly.run(sql, self.dialect, watch, lambda: self._run(sql, (), watch))

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        """Rows of a query of the project's own, ``%s`` for each parameter; never for others' SQL."""
        result = self._run(sql, parameters, Watch(_CATALOG_LIMITS))
        if result.error is not None:
            raise QueryError(f"{self.url}: {result.error}")
        return list(result.rows)

    def close(self) -> None:
        """Close the idle connections now, those in use when their query ends."""
        self._pool.close()

    def _run(self, sql: str, parameters: Sequence[str], watch: Watch) -> Result:
        """Lend a connection for this query and take it back clean, or not at all."""
        driver = self._driver
        with self._pool.lend() as lent:
            connection = lent.connection
            guard = Guard(watch, lambda: driver.cancel(connection), lambda: driver.sever(connection))
            try:
                with guard:
                    driver.begin(connection, max(watch.limits.seconds - watch.seconds, 0.0))
                    result = self._fetch(connection, sql, parameters, watch, guard)
            except driver.errors + (UnicodeError, ValueError, MemoryError) as error:  # noqa: RUF005
                result = Result(error=self._explain(error, watch), seconds=watch.seconds)
            lent.usable = not guard.interrupted and driver.rollback(connection)
        return result

    def _fetch(self, connection: Any, sql: str, parameters: Sequence[str], watch: Watch, guard: Guard) -> Result:
        limits = watch.limits
        rows: list[Row] = []
        size = 0
        with contextlib.closing(self._driver.stream(connection, sql, parameters)) as stream:
            columns = next(stream)
            for row in stream:
                if len(rows) >= limits.rows:
                    guard.give_up()
                    return Result(columns, tuple(rows), truncated=True, seconds=watch.seconds)
                size += sum(len(cell) if isinstance(cell, str | bytes) else _CELL_BYTES for cell in row)
                if size > limits.bytes:
                    guard.give_up()
                    reason = f"the rows take more than {limits.bytes} bytes; select fewer columns or rows"
                    return failed("limit", reason, watch)
                rows.append(row)
        if watch.stop():  # some functions give a value when the server stops them
            return Result(error=lost(watch), seconds=watch.seconds)
        return Result(columns, tuple(rows), seconds=watch.seconds)

    def _explain(self, error: Exception, watch: Watch) -> QueryFailure:
        if watch.kind is not None:
            return lost(watch)
        if isinstance(error, MemoryError):
            return failure("limit", "out of memory; ask for less")
        if not isinstance(error, self._driver.errors):
            return failure("sql", f"{type(error).__name__}: {error}")
        kind, reason = self._driver.explain(error)
        if kind == "limit" and reason == SERVER_STOPPED:
            reason = f"stopped after {watch.limits.seconds:g} s; ask for less"
        return failure(kind, f"{self.url}: {reason}" if kind == "database" else reason)


def reset(line: socket.socket) -> None:
    """Cut a line under whoever reads from it, and have it reset once it is closed.

    A server that waits to write rows heeds no order to stop. Without a reset it goes on waiting, for minutes where the
    client's buffer was full when it hung up.
    """
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("hh" if os.name == "nt" else "ii", 1, 0))
    line.shutdown(socket.SHUT_RDWR)


def number(text: str) -> int | float | str:
    """A decimal number: an int when it has no point, else the nearest float; text where no float is near."""
    if text.lstrip("-").isdecimal():
        return int(text)
    value = float(text)
    if value in (float("inf"), float("-inf")) and "inf" not in text.lower():
        return text
    return value


class Pool:
    """SQLAlchemy's pool over the connections that ``connect`` opens, each tested before it is lent again.

    ``dialect`` makes SQLAlchemy's dialect, which knows how this driver tests a connection; ``url`` is for messages,
    ``extra`` for the one about a library that is missing.
    """

    def __init__(self, url: str, extra: str, connect: Callable[[], Any], dialect: Callable[[], Dialect]) -> None:
        try:
            from sqlalchemy.pool import QueuePool
        except ImportError:
            raise MissingExtraError("sqlalchemy", extra) from None
        self._url = url
        self._closed = False
        self._pool = QueuePool(
            connect,
            pool_size=KEPT,
            max_overflow=-1,
            pre_ping=True,
            use_lifo=True,
            reset_on_return=None,  # whoever borrowed it rolls back, or gives it up
            dialect=dialect(),
        )

    @contextlib.contextmanager
    def lend(self) -> Iterator[Lent]:
        """A connection that answers; raises ``DatabaseError`` once closed, and what ``connect`` raises."""
        if self._closed:
            raise DatabaseError(f"{self._url}: was closed; connect again")
        held = self._pool.connect()
        lent = Lent(held.driver_connection)
        try:
            yield lent
        except BaseException:
            lent.usable = False
            raise
        finally:
            if not lent.usable or self._closed:
                held.invalidate()
            held.close()

    def close(self) -> None:
        """Close the idle connections now, those in use when their query ends."""
        self._closed = True
        self._pool.dispose()


class Lent:
    """A connection on loan; not ``usable`` any more, it is closed when it comes back."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.usable = True


class Guard:
    """Watches a query from a thread of its own: once ``watch`` says stop, the server is told to, then the line is cut.

    ``cancel`` asks the server to end the query, ``sever`` makes the waiting client give up; both are called from
    other threads than the query's. After an interruption the connection is not to be used again: an order to stop may
    arrive late and hit the next query.
    """

    def __init__(self, watch: Watch, cancel: Callable[[], None], sever: Callable[[], None]) -> None:
        self.interrupted = False
        self._watch = watch
        self._cancel = cancel
        self._sever = sever
        self._done = threading.Event()
        self._ending = threading.Lock()
        self._thread = threading.Thread(target=self._look, name="sqljury-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def give_up(self) -> None:
        """The rest of the rows is not wanted: have the server end the query, and wait for nothing."""
        self.interrupt()
        with contextlib.suppress(Exception):
            self._sever()

    def interrupt(self) -> None:
        """Have the server end the query; without effect the second time."""
        with self._ending:
            if self.interrupted or self._done.is_set():
                return
            self.interrupted = True
            orders = threading.Thread(target=self._order, name="sqljury-cancel", daemon=True)
            orders.start()
            # A server that cannot be reached must not hold the client up.
            orders.join(_GRACE_SECONDS)

    def _order(self) -> None:
        # Whatever goes wrong with the order, cutting the line works.
        with contextlib.suppress(Exception):
            self._cancel()

    def _look(self) -> None:
        while not self._done.wait(_POLL_SECONDS):
            if self._watch.stop():
                break
        else:
            return
        self.interrupt()
        if not self._done.wait(_GRACE_SECONDS):
            with contextlib.suppress(Exception):
                self._sever()

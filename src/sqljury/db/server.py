"""A database on a server, read through three walls: the parser, a read-only transaction, limits.

Exact decimal numbers of a server as plain cells.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from typing import Any, Final, Protocol
from urllib.parse import quote

from sqljury.db import readonly
from sqljury.db.base import DEFAULT_LIMITS, failure
from sqljury.db.pool import Guard, Pool
from sqljury.errors import DatabaseError, DatabaseNotFoundError, QueryError, QueryRefusedError
from sqljury.parallel.watch import Watch
from sqljury.resources import Closing
from sqljury.sql import parse as parsing
from sqljury.types import FailureKind, Limits, QueryFailure, Result, Row

_CATALOG_LIMITS: Final = Limits(seconds=60.0, rows=5_000_000, bytes=1024**3)
_CELL_BYTES: Final = 8  # what a cell without a length counts


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
    place = f"[{host}]" if ":" in host else quote(host, safe=",.-_")
    place = place if _tellable(host) else _HIDDEN
    name = quote(database, safe="") if _tellable(database) else _HIDDEN
    return f"{scheme}://{owner}{place}{f':{port}' if port else ''}/{name}"


def without(text: str, secrets: Iterable[object]) -> str:
    """``text`` of a server or library without these values, which it may quote."""
    for secret in sorted({str(one) for one in secrets if one}, key=len, reverse=True):
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

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the library raises when a query fails."""

    def pool(self) -> Pool:
        """A pool of fresh connections; opening one raises ``DatabaseError`` or one of its kinds."""

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
        """What makes this user more than a reader, empty for one that is none."""

    def missing_schemas(self, db: ServerDatabase, schemas: tuple[str, ...]) -> tuple[str, ...]:
        """Those of ``schemas`` that are not there, or cannot be looked into."""


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
            missing = driver.missing_schemas(self, schemas) if schemas else ()
            if missing:
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

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``."""
        watch = Watch(limits, cancel)
        try:
            with parsing.under(watch):
                readonly.check(sql, self.dialect)
            return self._run(sql, (), watch)
        except QueryRefusedError as error:
            return Result(error=failure(error.kind, str(error)), seconds=watch.seconds)
        except DatabaseError as error:
            return Result(error=failure("database", str(error)), seconds=watch.seconds)

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
        """Take the rows as they come, counting what they take."""
        limits = watch.limits
        rows: list[Row] = []
        size = 0
        with closing(self._driver.stream(connection, sql, parameters)) as stream:
            columns = next(stream)
            for row in stream:
                if len(rows) >= limits.rows:
                    guard.give_up()
                    return Result(columns, tuple(rows), truncated=True, seconds=watch.seconds)
                size += sum(len(cell) if isinstance(cell, str | bytes) else _CELL_BYTES for cell in row)
                if size > limits.bytes:
                    guard.give_up()
                    reason = f"the rows take more than {limits.bytes} bytes; select fewer columns or rows"
                    return Result(error=failure("limit", reason), seconds=watch.seconds)
                rows.append(row)
        if watch.stop():  # some functions give a value when the server stops them
            return Result(error=self._stopped(watch), seconds=watch.seconds)
        return Result(columns, tuple(rows), seconds=watch.seconds)

    def _explain(self, error: Exception, watch: Watch) -> QueryFailure:
        if watch.kind is not None:
            return self._stopped(watch)
        if isinstance(error, MemoryError):
            return failure("limit", "out of memory; ask for less")
        if not isinstance(error, self._driver.errors):
            return failure("sql", f"{type(error).__name__}: {error}")
        kind, reason = self._driver.explain(error)
        if kind == "limit" and reason == SERVER_STOPPED:
            reason = f"stopped after {watch.limits.seconds:g} s; ask for less"
        return failure(kind, f"{self.url}: {reason}" if kind == "database" else reason)

    @staticmethod
    def _stopped(watch: Watch) -> QueryFailure:
        return failure(watch.kind or "limit", watch.reason or "stopped")


SERVER_STOPPED: Final = "stopped by the server"
"""The reason of a driver for a query that ran into the server's own time limit, which is that of the query."""

LOST: Final = "the connection was lost while the query ran; try again"
"""The reason of a driver when the server or the network went away."""


def one_line(text: str) -> str:
    """Printable text of a server or driver, on one line."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def number(text: str) -> int | float | str:
    """A decimal number: an int when it has no point, else the nearest float; text where no float is near."""
    if text.lstrip("-").isdecimal():
        return int(text)
    value = float(text)
    if value in (float("inf"), float("-inf")) and "inf" not in text.lower():
        return text
    return value

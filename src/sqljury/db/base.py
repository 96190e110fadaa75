"""What every engine offers, and how a failed query says why it failed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Protocol, Self, runtime_checkable

from sqljury.types import FailureKind, Limits, QueryFailure, Result, Row

DEFAULT_LIMITS: Final = Limits()

MAX_ERROR_CHARS: Final = 500


@runtime_checkable
class Database(Protocol):
    """A database opened for reading; every method may be called from several threads at once."""

    @property
    def name(self) -> str:
        """A short name for prompts and messages: a file's stem, a server's database."""

    @property
    def dialect(self) -> str:
        """The SQL dialect by sqlglot's name: ``sqlite``, ``postgres``, ``mysql``, ``duckdb``."""

    @property
    def schemas(self) -> tuple[str, ...]:
        """The schemas that were asked for, the default one first; empty for the default alone."""

    @property
    def url(self) -> str:
        """Where it is, without any password."""

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``, nothing is raised.

        ``cancel`` stops the running query once set.
        """

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        """Rows of a query of the project's own on the engine's catalogue; never for SQL written by others.

        Raises ``DatabaseError`` when the catalogue cannot be read, ``QueryError`` when this query fails.
        """

    def close(self) -> None:
        """Release every connection; a query still running ends first. Closing twice is harmless."""

    def __enter__(self) -> Self:
        """The database itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""


class Runs(Protocol):
    """The part of a database that evaluation needs."""

    def execute(self, sql: str, limits: Limits = ...) -> Result:
        """Run one query; whatever is wrong with it becomes ``Result.error``."""


def failure(kind: FailureKind, message: str) -> QueryFailure:
    """The failure with the message on one line: printable and cut."""
    line = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    if len(line) > MAX_ERROR_CHARS:
        line = line[: MAX_ERROR_CHARS - 1] + "…"
    return QueryFailure(kind, line or ("unknown error" if kind == "sql" else ""))

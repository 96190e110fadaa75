"""What running a query may use, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Cell = None | int | float | str | bytes
Row = tuple[Any, ...]

FailureKind = Literal["refused", "limit", "cancelled", "locked", "database", "sql", "missing", "code"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one query: seconds of wall time, rows fetched, bytes of all fetched cells."""

    seconds: float = 30.0
    rows: int = 10_000
    bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class QueryFailure:
    """Why a query gave no result; ``str`` is the message, after the kind unless that is sql, missing or code.

    ``refused``: not a plain read, or not allowed; ``limit``: over its time, rows or memory; ``cancelled``: by the user;
    ``locked``: by another program; ``database``: it cannot be used; ``sql``: the engine's complaint about the query;
    ``missing``: no query was written; ``code``: the program that was run in place of a query failed.
    """

    kind: FailureKind
    message: str

    def __str__(self) -> str:
        return self.message if self.kind in ("sql", "missing", "code") else f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Result:
    """What running a query gave: rows, or ``error`` and no rows.

    ``truncated`` says that the row limit cut the result; ``seconds`` is wall time.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    truncated: bool = False
    error: QueryFailure | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """The query ran, whatever it returned."""
        return self.error is None

    @property
    def finds(self) -> bool:
        """The query found something: it has a row, and more than zeros and NULLs in a single one."""
        return self.ok and bool(self.rows) and (len(self.rows) > 1 or any(self.rows[0]))

    @property
    def error_kind(self) -> FailureKind | None:
        """The kind of ``error``, None when the query ran."""
        return None if self.error is None else self.error.kind

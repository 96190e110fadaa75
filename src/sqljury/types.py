"""The values that pass between steps: frozen, comparable, without behaviour beyond reading themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Cell = None | int | float | str | bytes
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question in plain language; ``evidence`` is outside knowledge (BIRD's term), ``id`` seeds random choices."""

    text: str
    evidence: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as declared; ``unique`` means a key or UNIQUE constraint on this column alone."""

    name: str
    type: str = ""
    not_null: bool = False
    unique: bool = False


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """``columns`` of the table that holds it refer to ``ref_columns`` of ``ref_table``, position by position."""

    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view; ``unique_keys`` holds each UNIQUE constraint's columns, the primary key not among them."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    kind: Literal["table", "view"] = "table"


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables and views of one database, in the order the database lists them."""

    name: str
    dialect: str
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use: seconds of wall time, rows fetched, bytes of all fetched cells together."""

    seconds: float = 30.0
    rows: int = 10_000
    bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Result:
    """What running a query gave: rows, or ``error`` and no rows.

    ``truncated`` says that the row limit cut the result; ``seconds`` is wall time.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    truncated: bool = False
    error: str | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """The query ran, whatever it returned."""
        return self.error is None

    @property
    def empty(self) -> bool:
        """The query ran and returned no row."""
        return self.ok and not self.rows


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair of a candidate: the query before, why it needed one, and who repaired it."""

    before: str
    reason: str
    by: Literal["schema", "model"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query that might answer the question, and all that is known of it.

    ``sql`` is empty when no query could be read out of the reply. ``logprob`` is the sum of the natural-log
    probabilities of the generated tokens, None where the backend gives none. ``group`` numbers the set of
    candidates with the same result (0 is the largest), None when the query failed.
    """

    sql: str
    generator: str
    logprob: float | None = None
    result: Result = field(default_factory=Result)
    group: int | None = None
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """Model calls, tokens (``cached_tokens`` of the prompt's were not computed again), wall seconds, US dollars."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

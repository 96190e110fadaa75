"""Reads from a database the values that a question could mention, and decides which columns hold such values."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqljury.db.base import Database
from sqljury.errors import CancelledError
from sqljury.patterns import regex
from sqljury.sql.text import quote_name, quote_table
from sqljury.types import Column, Limits, Schema, Table

MAX_CHARS: Final = 100
"""Longer values are prose rather than names, and are left out."""

_MOSTLY: Final = 0.9
_PROSE_CHARS, _PROSE_WORDS = 60, 8
_TEXT_TYPE: Final = regex(r"char|text|clob|string|enum|^$", re.IGNORECASE)
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_SHAPES: Final = (
    ("numbers, dates or times", regex(r"[\d\s.,:;/%$€£+()#*-]*\d[\d\s.,:;/%$€£+()#*-]*(?:e-?\d+)?")),
    ("numbers, dates or times", regex(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[t ][\d:.,+ -]*(?:z|[ap]m|utc|gmt)?")),
    (
        "numbers, dates or times",
        regex(rf"(?:\d{{1,2}}[ -])?{_MONTH}[ -]\d{{1,4}}(?:,? \d{{2,4}})?(?: [\d:apm ]+)?"),
    ),
    ("UUIDs", regex(r"\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?")),
    ("hashes", regex(r"(?:0x)?(?=[a-f]*\d)[\da-f]{16,}")),
    ("addresses of pages or files", regex(r"(?:[a-z][a-z\d+.-]*://|www\.)\S+")),
    ("e-mail addresses", regex(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
    ("encoded data", regex(r"(?=\S*\d)(?=\S*[a-z])[\w+/=-]{20,}")),
    ("documents", regex(r"\s*(?:\{.*\}|\[.*\]|<.*>)\s*", re.DOTALL)),
)


def is_text(declared: str) -> bool:
    """Whether a column of this type holds text; one without a type may."""
    return _TEXT_TYPE.search(declared) is not None


def no_names(values: Sequence[str]) -> str | None:
    """What the values of a column are if they are not names; None if they may be names."""
    if not values:
        return None
    lowered = [value.strip().lower() for value in values]
    enough = _MOSTLY * len(lowered)
    for what in dict.fromkeys(what for what, _ in _SHAPES):
        shapes = [shape for name, shape in _SHAPES if name == what]
        if sum(any(shape.fullmatch(value) for shape in shapes) for value in lowered) >= enough:
            return what
    chars, words = sum(map(len, lowered)), sum(len(value.split()) for value in lowered)
    if chars > _PROSE_CHARS * len(lowered) and words > _PROSE_WORDS * len(lowered):
        return "long text"
    return None


Progress = Callable[[str, int, int], None]
"""Called with (activity, steps done, steps in all)."""

Skip = Callable[[str, str], bool]
"""Whether the values of a column, given by table and column, must not be read."""

SAMPLE_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on reading: distinct values of one column and of all columns, seconds for one column."""

    column_values: int = 1_000_000
    all_values: int = 5_000_000
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The sorted values of a column; ``why`` is the reason for missing ones."""

    table: str
    column: str
    values: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the values of a database."""

    db: Database
    bounds: Bounds = field(default_factory=Bounds)
    cancel: threading.Event | None = None

    def table(self, table: Table, columns: Iterable[str]) -> Iterable[ColumnValues]:
        """The values of these columns of the table; raises ``CancelledError``."""
        wanted = set(columns)
        for column in table.columns:
            if column.name in wanted:
                yield self._column(table, column)

    def _column(self, table: Table, column: Column) -> ColumnValues:
        if column.values:
            return ColumnValues(table.name, column.name, tuple(sorted(column.values)))
        name = quote_name(column.name, self.db.dialect)
        source = f"FROM {quote_table(table.name, table.schema, self.db.dialect)} WHERE {name} IS NOT NULL"
        sample, why, _ = self._texts(f"SELECT {name} {source} LIMIT {SAMPLE_ROWS}", SAMPLE_ROWS)
        why = why or no_names(sample) or ""
        if why:
            return ColumnValues(table.name, column.name, (), why)
        short = f"SELECT DISTINCT {name} {source} AND length({name}) <= {MAX_CHARS}"
        texts, why, cut = self._texts(short, self.bounds.column_values)
        values = sorted({text for text in texts if len(text) <= MAX_CHARS and text.strip()})
        # The first rows may differ from the rest, so a thousand values of all are tested again.
        if what := no_names(values[:: len(values) // 1000 + 1]):
            return ColumnValues(table.name, column.name, (), what)
        if cut:
            why = f"has more values than the {self.bounds.column_values:,} that were read"
        return ColumnValues(table.name, column.name, tuple(values), why)

    def _texts(self, sql: str, rows: int) -> tuple[list[str], str, bool]:
        """The texts that a query of one column returns, why there are none, and whether there are more."""
        limits = Limits(self.bounds.seconds, rows, bytes=rows * MAX_CHARS * 4 + (64 << 20))
        result = self.db.execute(sql, limits, self.cancel)
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("The reading of values was cancelled.")
        if result.error is not None:
            return [], f"cannot be read ({result.error})", False
        return [row[0] for row in result.rows if isinstance(row[0], str)], "", result.truncated


def text_columns(schema: Schema, skip: Skip | None = None) -> dict[str, tuple[str, ...]]:
    """The columns to read, by table; views are left out, since they show values of tables."""
    return {
        table.name: tuple(
            column.name
            for column in table.columns
            if is_text(column.type) and not (skip is not None and skip(table.name, column.name))
        )
        for table in schema.tables
        if not table.is_view
    }

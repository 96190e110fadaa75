"""Reads the values worth finding out of a database, a column at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from sqljury.db.base import Database
from sqljury.errors import CancelledError
from sqljury.schema.names import quote_name, quote_table
from sqljury.schema.values.kinds import MAX_CHARS, is_text, no_names
from sqljury.types import Column, Limits, Schema, Table

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, steps done, steps in all)."""

Skip = Callable[[str, str], bool]
"""Whether a column, given as the names of table and column, must not be looked into."""

SAMPLE_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read at most: different values of one column and of all, seconds for one column."""

    column_values: int = 1_000_000
    all_values: int = 5_000_000
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Found:
    """What was read from one column: its values, sorted; ``why`` some are missing, or all are."""

    table: str
    column: str
    values: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """What reading a database for its values needs to know."""

    db: Database
    bounds: Bounds = field(default_factory=Bounds)
    cancel: threading.Event | None = None

    def table(self, table: Table, columns: Iterable[str]) -> Iterable[Found]:
        """What stands in these columns of the table; raises ``CancelledError``."""
        wanted = set(columns)
        for column in table.columns:
            if column.name in wanted:
                yield self._column(table, column)

    def _column(self, table: Table, column: Column) -> Found:
        if column.values:
            return Found(table.name, column.name, tuple(sorted(column.values)))
        name = quote_name(column.name, self.db.dialect)
        source = f"FROM {quote_table(table.name, table.schema, self.db.dialect)} WHERE {name} IS NOT NULL"
        sample, why, _ = self._texts(f"SELECT {name} {source} LIMIT {SAMPLE_ROWS}", SAMPLE_ROWS)
        why = why or no_names(sample) or ""
        if why:
            return Found(table.name, column.name, (), why)
        short = f"SELECT DISTINCT {name} {source} AND length({name}) <= {MAX_CHARS}"
        texts, why, cut = self._texts(short, self.bounds.column_values)
        values = sorted({text for text in texts if len(text) <= MAX_CHARS and text.strip()})
        # The first rows may be unlike the rest, so all are looked at again, a thousand of them closely.
        if what := no_names(values[:: len(values) // 1000 + 1]):
            return Found(table.name, column.name, (), what)
        if cut:
            why = f"has more values than the {self.bounds.column_values:,} that were read"
        return Found(table.name, column.name, tuple(values), why)

    def _texts(self, sql: str, rows: int) -> tuple[list[str], str, bool]:
        """The texts that a query of one column gives, or why there are none; and whether there are more."""
        limits = Limits(self.bounds.seconds, rows, bytes=rows * MAX_CHARS * 4 + (64 << 20))
        result = self.db.execute(sql, limits, self.cancel)
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("The reading of values was cancelled.")
        if result.error is not None:
            return [], f"cannot be read ({result.error})", False
        return [row[0] for row in result.rows if isinstance(row[0], str)], "", result.truncated


def text_columns(schema: Schema, skip: Skip | None = None) -> dict[str, tuple[str, ...]]:
    """The columns to read, by table; views show what tables hold, and are left out."""
    return {
        table.name: tuple(
            column.name
            for column in table.columns
            if is_text(column.type) and not (skip is not None and skip(table.name, column.name))
        )
        for table in schema.tables
        if table.kind == "table"
    }

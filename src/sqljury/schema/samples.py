"""Reads the first rows of tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqljury.access.guard import skip
from sqljury.db.base import Database
from sqljury.sql.text import quote_name, quote_table
from sqljury.types import Limits, Result, Row, Schema, Table

_LIMITS: Final = Limits(seconds=2.0, bytes=16 * 1024 * 1024)
_MORE: Final = Limits(seconds=1.0, bytes=2 * 1024 * 1024)
"""For rows beyond those that are needed."""

TOO_LARGE: Final = "…"
"""Replaces the cells of a column that is too large to be read for a sample."""

MASKED: Final = "…"
"""Replaces the cells of a column that access rules mask."""


def sample(
    db: Database, schema: Schema, rows: int = 3, *, views: bool = False, least: int | None = None
) -> dict[str, Result]:
    """The first rows of each table, by its name; ``views`` includes views, which may be computed whole for it.

    Where ``rows`` rows take more than a second or 2 MiB, only the first ``least`` are read, if given; none for 0.
    """
    chosen = (table for table in schema.tables if views or table.kind != "view")
    return {table.name: sample_rows(db, table, rows, least) for table in chosen}


def sample_rows(db: Database, table: Table, rows: int = 3, least: int | None = None) -> Result:
    """The first ``rows`` rows in storage order, without a scan; ``error`` is set if the table cannot be read.

    Columns too large to read (16 MiB in these rows) are filled with ``TOO_LARGE``. Columns that access rules mask are
    filled with ``MASKED`` and not read. ``least`` is explained at ``sample``.
    """
    names = [column.name for column in table.columns]
    masked = skip(db)
    read = [name for name in names if not masked(table.name, name)]
    result = _read(db, table, read, rows, least)
    return result if len(read) == len(names) or not result.ok else _with_masked(result, names, read)


def _with_masked(result: Result, names: list[str], read: list[str]) -> Result:
    """The rows with the columns that were not read filled in."""
    at = {name: index for index, name in enumerate(read)}
    rows = tuple(tuple(row[at[name]] if name in at else MASKED for name in names) for row in result.rows)
    return replace(result, columns=tuple(names), rows=rows)


def _read(db: Database, table: Table, names: list[str], rows: int, least: int | None) -> Result:
    if least is not None and least < rows:
        result = db.execute(_select(db, table, names, rows), Limits(_MORE.seconds, rows, _MORE.bytes))
        if result.ok or not least:
            return result
        rows = least
    limits = Limits(_LIMITS.seconds, rows, _LIMITS.bytes)
    result = db.execute(_select(db, table, names, rows), limits)
    if result.ok or len(names) <= 1:
        return result
    single = [db.execute(_select(db, table, [name], rows), limits) for name in names]
    count = max(len(column.rows) for column in single)
    if not count:
        return result
    cells = [[row[0] for row in column.rows] or [TOO_LARGE] * count for column in single]
    columns = list(zip(*cells, strict=False))
    return Result(columns=tuple(names), rows=tuple(Row(row) for row in columns), seconds=result.seconds)


def _select(db: Database, table: Table, names: list[str], rows: int) -> str:
    columns = ", ".join(quote_name(name, db.dialect) for name in names) or "1"
    source = quote_table(table.name, table.schema, db.dialect)
    return f"SELECT {columns} FROM {source} LIMIT {int(rows)}"  # noqa: S608

"""DuckDB without any wall of its own: what keeps a query from it is the check alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import duckdb

from sqljury.db.base import DEFAULT_LIMITS, failure
from sqljury.resources import Closing
from sqljury.types import Column, Limits, Result, Row, Schema, Table


class PlainDuckDB(Closing):
    """A DuckDB database in memory; executes whatever it is given."""

    name = "shop"
    dialect = "duckdb"
    schemas: tuple[str, ...] = ()
    url = "duckdb:///:memory:"

    def __init__(self, script: str) -> None:
        self._connection = duckdb.connect(":memory:")
        self._connection.execute(script)
        self.received: list[str] = []

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        self.received.append(sql)
        try:
            found = self._connection.cursor().execute(sql)
            columns = tuple(column[0] for column in found.description or ())
            return Result(columns, tuple(found.fetchmany(limits.rows)))
        except duckdb.Error as error:
            return Result(error=failure("sql", str(error)))

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> list[Row]:
        return [tuple(row) for row in self._connection.cursor().execute(sql, list(parameters)).fetchall()]

    def close(self) -> None:
        self._connection.close()


def schema_of(db: PlainDuckDB) -> Schema:
    """Tables, views and columns; enough for rules."""
    listed = db.catalog(
        "SELECT table_name, 'table', NULL FROM duckdb_tables() WHERE NOT internal "
        "UNION ALL SELECT view_name, 'view', sql FROM duckdb_views() WHERE NOT internal ORDER BY 1"
    )
    tables = []
    for name, kind, definition in listed:
        rows = db.catalog(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index", (name,)
        )
        columns = tuple(Column(str(column), str(type_)) for column, type_ in rows)
        tables.append(Table(str(name), columns, kind=kind, definition=definition or ""))
    return Schema("shop", "duckdb", tuple(tables))

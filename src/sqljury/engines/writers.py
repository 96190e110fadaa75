"""Writes a copied database to an engine: SQLite and DuckDB files, databases of PostgreSQL and MySQL servers.

Only what this package creates is written to; content goes in as parameters or as data, never as SQL.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from sqljury.engines.ddl import add_keys, create_in_sqlite, create_table, in_order, quoted
from sqljury.engines.source import CopiedTable, Source
from sqljury.errors import DatabaseError, MissingExtraError
from sqljury.resources import must_write
from sqljury.types import Cell, Table

BATCH: Final = 1000
"""Rows that go to MySQL at once."""

Views = Callable[[Table], str | None]
"""The SELECT of a view in the engine's dialect; None where it cannot be translated."""


def write_sqlite(source: Source, file: Path) -> None:
    """Write the tables without keys, and the views, to a new SQLite file; replaces ``file`` when done."""
    with _new_file(file) as part, contextlib.closing(sqlite3.connect(part)) as connection:
        for table in source.tables:
            connection.execute(create_in_sqlite(table))
            marks = ", ".join("?" for _ in table.types)
            connection.executemany(f"INSERT INTO {quoted(table.name)} VALUES ({marks})", table.rows)  # noqa: S608
        for view in source.views:
            try:
                connection.execute(view.definition)
            except sqlite3.Error:
                source.changes["views that cannot be made"] += 1
        connection.commit()


def write_duckdb(source: Source, file: Path, views: Views) -> None:
    """Write the database to a new DuckDB file; replaces ``file`` when done."""
    import duckdb

    with _new_file(file) as part:
        part.unlink()
        with duckdb.connect(str(part)) as connection:
            for table in in_order(source):
                _fill_duckdb(connection, table, part.with_suffix(".csv"))
            _make_views(source, "duckdb", views, connection.execute, duckdb.Error)


def _fill_duckdb(connection: Any, table: CopiedTable, scratch: Path) -> None:
    connection.execute(create_table(table, "duckdb", keys=True))
    if not table.rows:
        return
    try:
        with scratch.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(",".join(map(_csv_cell, row)) + "\n" for row in table.rows)
        options = (
            "FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '\\N', "
            "ALLOW_QUOTED_NULLS false, PARALLEL false, NEW_LINE '\\n', MAX_LINE_SIZE 100000000"
        )
        name = str(scratch).replace("'", "''")
        connection.execute(f"COPY {quoted(table.name, 'duckdb')} FROM '{name}' ({options})")
    finally:
        scratch.unlink(missing_ok=True)


def _csv_cell(value: Cell) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, bytes):
        value = "".join(f"\\x{byte:02X}" for byte in value)
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)


def write_postgres(source: Source, connection: Any, views: Views) -> None:
    """Write the database into the empty one that this connection of psycopg, in autocommit, is to."""
    import psycopg

    for table in source.tables:
        connection.execute(create_table(table, "postgres", keys=False).encode())
        with connection.cursor().copy(f"COPY {quoted(table.name, 'postgres')} FROM STDIN".encode()) as copy:
            for row in table.rows:
                copy.write_row(row)
    _run_each(source, add_keys(source.tables, "postgres"), lambda sql: connection.execute(sql.encode()), psycopg.Error)
    _make_views(source, "postgres", views, lambda sql: connection.execute(sql.encode()), psycopg.Error)
    connection.execute(b"ANALYZE")


def write_mysql(source: Source, connection: Any, views: Views) -> None:
    """Write the database into the empty one that this connection of PyMySQL is to."""
    import pymysql

    with connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES'")
        for table in source.tables:
            cursor.execute(create_table(table, "mysql", keys=False))
            marks = ", ".join("%s" for _ in table.types)
            name = quoted(table.name, "mysql").replace("%", "%%")
            insert = f"INSERT INTO {name} VALUES ({marks})"  # noqa: S608
            for start in range(0, len(table.rows), BATCH):
                cursor.executemany(insert, table.rows[start : start + BATCH])
        connection.commit()
        _run_each(source, add_keys(source.tables, "mysql"), cursor.execute, pymysql.Error)
        _make_views(source, "mysql", views, cursor.execute, pymysql.Error)
    connection.commit()


def _run_each(source: Source, statements: Iterable[str], run: Callable[[str], Any], errors: type[Exception]) -> None:
    for statement in statements:
        try:
            run(statement)
        except errors:
            source.changes["keys that the engine refuses"] += 1


def _make_views(source: Source, dialect: str, views: Views, run: Callable[[str], Any], errors: type[Exception]) -> None:
    for view in source.views:
        select = views(view)
        try:
            if select is not None:
                run(f"CREATE VIEW {quoted(view.name, dialect)} AS {select}")
        except errors:
            select = None
        source.changes["views that cannot be made"] += select is None


@contextlib.contextmanager
def _new_file(file: Path) -> Iterator[Path]:
    """An empty file beside ``file`` to write, which then takes its place; removed where writing fails."""
    with must_write(file, DatabaseError, "give another folder"):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.stem[:64]}.", suffix=".part", dir=file.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def need(library: str, extra: str) -> None:
    """Raise ``MissingExtraError`` where a client library is not installed."""
    from importlib.util import find_spec

    if find_spec(library) is None:
        raise MissingExtraError(library, extra)

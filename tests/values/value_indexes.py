"""Databases to index, and indexes without a database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect
from sqljury.values import ValueIndex, open_or_build
from sqljury.values.collect import ColumnValues
from sqljury.values.index import arrays
from sqljury.values.search import Searcher
from sqljury.values.store import Stored


def fill(path: Path, **tables: Sequence[object]) -> Path:
    """A database with a table ``name(id, value TEXT)`` for each of these; dated back, so that its time is settled."""
    with sqlite3.connect(path) as connection:
        for name, values in tables.items():
            connection.execute(f'CREATE TABLE IF NOT EXISTS "{name}" (id INTEGER PRIMARY KEY, value TEXT)')
            connection.execute(f'DELETE FROM "{name}"')
            connection.executemany(f'INSERT INTO "{name}" (value) VALUES (?)', ((value,) for value in values))
    connection.close()
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 60_000_000_000))
    return path


def index_of(path: Path, **options: object) -> ValueIndex:
    """The index of the database as it is now."""
    with SQLiteDatabase(path) as db:
        return open_or_build(db, introspect(db), **options)  # type: ignore[arg-type]


def searcher(columns: Mapping[str, Sequence[str]]) -> Searcher:
    """An index of these values as they are, nothing left out."""
    found = [ColumnValues("t", name, tuple(sorted(set(values)))) for name, values in columns.items()]
    header = {"columns": [{"table": one.table, "column": one.column} for one in found]}
    return Searcher(Stored(header, arrays(found, lambda what, done, total: None)))

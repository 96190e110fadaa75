"""Reads the schema of a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqljury.db.base import Database
from sqljury.errors import DatabaseError, EmptyDatabaseError
from sqljury.schema import duckdb, mysql, postgres, sqlite
from sqljury.schema.guard import Guarded
from sqljury.types import Schema, Table

READERS: Final[dict[str, Callable[[Database], tuple[Table, ...]]]] = {
    "sqlite": sqlite.tables,
    "duckdb": duckdb.tables,
    "postgres": postgres.tables,
    "mysql": mysql.tables,
}
"""From dialect to what lists the tables and views of such a database."""


def introspect(db: Database) -> Schema:
    """Tables and views with columns, types, keys and NOT NULL, in the order the database lists them.

    Raises ``EmptyDatabaseError`` when there is no table or view to ask about, ``DatabaseError`` when the
    catalogue cannot be read. Behind access rules it is what may be seen.
    """
    if isinstance(db, Guarded):
        return db.schema
    try:
        reader = READERS[db.dialect]
    except KeyError:
        raise DatabaseError(f"{db.url}: schemas of {db.dialect} cannot be read yet") from None
    tables = reader(db)
    if not tables:
        raise EmptyDatabaseError(f"{db.url}: has no table to ask about; give a database with data in it")
    return Schema(name=db.name, dialect=db.dialect, tables=tables)

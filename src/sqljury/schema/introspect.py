"""Reads the schema of a database, whatever its engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqljury.access.guard import Guarded
from sqljury.db.base import Database
from sqljury.errors import DatabaseError, EmptyDatabaseError, SqljuryError
from sqljury.schema import duckdb, servers, sqlite
from sqljury.sql.text import plain
from sqljury.types import Schema, Table

READERS: Final[dict[str, Callable[[Database], tuple[Table, ...]]]] = {
    "sqlite": sqlite.tables,
    "duckdb": duckdb.tables,
    "postgres": servers.postgres_tables,
    "mysql": servers.mysql_tables,
}
"""By dialect, the function that lists the tables and views of a database."""

_SCHEMAS: Final = (
    "SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_schema NOT IN "
    "('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys') ORDER BY 1"
)
"""Schemas with tables that the user may access; in MySQL these are databases."""

_LISTED_SCHEMAS: Final = 10


def introspect(db: Database) -> Schema:
    """Tables and views with columns, types and keys in the database's order; with access rules, the visible ones.

    Raises ``EmptyDatabaseError`` if there is no table or view, ``DatabaseError`` if the catalogue cannot be read.
    """
    if isinstance(db, Guarded):
        return db.schema
    try:
        reader = READERS[db.dialect]
    except KeyError:
        raise DatabaseError(f"{db.url}: schemas of {db.dialect} cannot be read yet") from None
    tables = reader(db)
    if not tables:
        raise EmptyDatabaseError(f"{db.url}: {_what_is_missing(db)}")
    default = db.schemas[0] if len(db.schemas) > 1 else ""
    return Schema(name=db.name, dialect=db.dialect, tables=tables, default=default)


def _what_is_missing(db: Database) -> str:
    """Why there are no tables and what to do; often they are in another schema."""
    if db.dialect == "sqlite":
        return "has no table to ask about; give a database with data in it"
    try:
        others = [str(name) for (name,) in db.catalog(_SCHEMAS) if str(name) not in db.schemas]
    except SqljuryError:
        others = []
    if not others:
        return "has no table to ask about, or none that this user may read; give a database with data in it"
    listed = ", ".join(plain(name, 60) for name in others[:_LISTED_SCHEMAS]) + ", ..." * (len(others) > _LISTED_SCHEMAS)
    where = f"schema {', '.join(db.schemas)}" if db.schemas else "its default schema"
    return f"has no table to ask about in {where}; choose a schema that has some with --schema: {listed}"

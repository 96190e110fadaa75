"""Whether SQLite accepts a query on a schema, asked of an empty database: nothing is run."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.errors import DatabaseError
from sqljury.metrics.spider.names import Names
from sqljury.types import Limits

LIMITS: Final = Limits(seconds=5.0)
"""For compiling one query, which can take as long as one likes."""


def is_valid(sql: str, names: Names) -> bool:
    """Whether the query can be compiled on the schema.

    Only for queries that begin with SELECT or a parenthesis: SQLite acts on some PRAGMAs while it compiles them.
    """
    ddl = tuple(
        (table, f"CREATE TABLE {_quoted(table)} ({', '.join(map(_quoted, columns))})")
        for table, columns in names.tables.items()
    )
    try:
        return _empty_database(ddl).compiles(sql, LIMITS)
    except DatabaseError:
        return False


@lru_cache(maxsize=64)
def _empty_database(ddl: tuple[tuple[str, str], ...]) -> MemoryDatabase:
    """One for each schema."""
    return MemoryDatabase(dict(ddl))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

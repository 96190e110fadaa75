"""Whether SQLite accepts a query on a schema, asked of an empty database: nothing is run."""

from __future__ import annotations

import sqlite3
import threading
from functools import lru_cache

from sqljury.metrics.spider.names import Names


def is_valid(sql: str, names: Names) -> bool:
    """Whether the query can be compiled on the schema.

    Only for queries that begin with SELECT or a parenthesis: SQLite acts on some PRAGMAs while it compiles them.
    """
    ddl = tuple(
        f"CREATE TABLE {_quoted(table)} ({', '.join(map(_quoted, columns))})" for table, columns in names.tables.items()
    )
    try:
        _empty_database(ddl, threading.get_ident()).execute(f"EXPLAIN {sql}")
    except (sqlite3.Error, sqlite3.Warning, ValueError, UnicodeError):
        return False
    return True


@lru_cache(maxsize=64)
def _empty_database(ddl: tuple[str, ...], _: int) -> sqlite3.Connection:
    """One for each schema and thread, for SQLite's connections stay in theirs."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in ddl:
        connection.execute(statement)
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

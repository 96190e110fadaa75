"""Which columns a query reads, as SQLite itself tells while it compiles it."""

from __future__ import annotations

import sqlite3


def reads(connection: sqlite3.Connection, sql: str) -> set[tuple[str, str]]:
    """Table and column, in small letters, of all that ``sql`` reads; raises ``sqlite3.Error`` when it does not compile.

    What it reads through a view counts as read too. A table of which no column is read has the column "".
    """
    found: set[tuple[str, str]] = set()

    def note(action: int, first: str | None, second: str | None, _db: str | None, _source: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            found.add(((first or "").lower(), (second or "").lower()))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    try:
        connection.execute(f"EXPLAIN {sql}").close()
    finally:
        connection.set_authorizer(None)
    return found

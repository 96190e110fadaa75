"""Whether a table is as it was: a text for each, equal only as long as its values are, found without reading them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Final

from sqljury.db.base import Database
from sqljury.db.sqlite_workers import read_head
from sqljury.errors import SqljuryError

_SETTLED_NS: Final = 2_000_000_000
"""A file changed more recently than this could change again without a later time of change to show for it."""


def versions(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """The version of each table; None where the engine cannot tell."""
    teller = TELLERS.get(db.dialect)
    return dict.fromkeys(tables) if teller is None else teller(db, tables)


def _files(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """One for all tables: which files the data is in, their sizes and times, and what SQLite counts in them.

    No engine of files keeps anything of the kind for a table: row counts and the highest rowid miss every UPDATE.
    """
    sources = tuple(getattr(db, "sources", ()))
    if not sources:
        return dict.fromkeys(tables)
    parts, newest = [], 0
    for source in sources:
        for name, begin, end in ((source, 24, 28), (source + "-wal", 0, 32), (source + ".wal", 0, 32)):
            try:
                status = os.stat(name)
                head = read_head(name, end)[begin:]
            except OSError:
                parts.append("none")
                continue
            newest = max(newest, status.st_mtime_ns)
            identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            parts.append(f"{'-'.join(map(str, identity))}-{head.hex()}")
    now = time.time_ns()
    if 0 <= now - newest < _SETTLED_NS:
        parts.append(f"unsettled at {now}")
    return dict.fromkeys(tables, " ".join(parts))


def _postgres(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """How many rows were ever written, by the server's own count, which may lag by a second, and the table's file.

    TRUNCATE is not counted, but gives a table another file. A partitioned table has neither count nor file of its own.
    """
    try:
        rows = db.catalog(
            "SELECT CASE WHEN schemaname = current_schema() THEN relname ELSE schemaname || '.' || relname END, "
            "relid || ' ' || n_tup_ins || ' ' || n_tup_upd || ' ' || n_tup_del || ' ' || pg_relation_filenode(relid) "
            "FROM pg_stat_user_tables WHERE pg_relation_filenode(relid) IS NOT NULL"
        )
    except SqljuryError:
        return dict.fromkeys(tables)
    known = {str(name): str(version) for name, version in rows}
    return {table: known.get(table) for table in tables}


TELLERS: Final[dict[str, Callable[[Database, Sequence[str]], dict[str, str | None]]]] = {
    "sqlite": _files,
    "duckdb": _files,
    "postgres": _postgres,
}
"""From dialect to what tells the versions of such a database's tables."""

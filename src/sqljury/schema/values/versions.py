"""Whether a table is as it was: a text for each, equal only as long as its values are, found without reading them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Final

from sqljury.db.base import Database

_SETTLED_NS: Final = 2_000_000_000
"""A file changed more recently than this could change again without a later time of change to show for it."""


def versions(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """The version of each table; None where the engine cannot tell."""
    teller = TELLERS.get(db.dialect)
    return dict.fromkeys(tables) if teller is None else teller(db, tables)


def _sqlite(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """One for all tables: which file it is, its size, time and count of changes, and the same of its log.

    SQLite keeps nothing of the kind for a table: row counts and the highest rowid miss every UPDATE.
    """
    path = str(getattr(db, "path", ""))
    parts, newest = [], 0
    for name, begin, end in ((path, 24, 28), (path + "-wal", 0, 32)):
        try:
            with open(name, "rb") as file:
                status = os.fstat(file.fileno())
                head = file.read(end)[begin:]
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


TELLERS: Final[dict[str, Callable[[Database, Sequence[str]], dict[str, str | None]]]] = {"sqlite": _sqlite}
"""From dialect to what tells the versions of such a database's tables."""

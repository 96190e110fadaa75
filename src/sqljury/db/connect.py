"""From a path or URL to an open database."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from sqljury.db.base import Database
from sqljury.errors import DatabaseError, DatabaseNotFoundError


def connect(target: str | os.PathLike[str]) -> Database:
    """Open a database for reading: a path to an SQLite file, or ``sqlite:///relative``, ``sqlite:////absolute``.

    Raises ``DatabaseNotFoundError``, ``NotADatabaseError``, ``DatabaseLockedError``, or ``DatabaseError`` for
    an unknown scheme or an unreadable file. That it has tables is first checked when its schema is read.
    """
    text = os.fspath(target)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return _sqlite_file(text)
    try:
        engine = ENGINES[scheme.lower()]
    except KeyError:
        # Only the scheme is named: the rest of a URL may hold a password.
        known = ", ".join(f"{name}:///PATH" for name in sorted(ENGINES))
        message = f"no engine for the URL scheme {scheme[:40]!r}; give the path of an SQLite file, or {known}"
        raise DatabaseError(message) from None
    return engine(rest)


def _sqlite_url(rest: str) -> Database:
    if not rest.startswith("/"):
        raise DatabaseNotFoundError(f"sqlite://{rest}: an SQLite URL has three slashes, sqlite:///PATH")
    return _sqlite_file(unquote(rest[1:]))


def _sqlite_file(path: str) -> Database:
    from sqljury.db.sqlite import SQLiteDatabase

    return SQLiteDatabase(os.path.expanduser(path))


ENGINES: Final[dict[str, Callable[[str], Database]]] = {"sqlite": _sqlite_url}
"""From URL scheme to what opens the part after ``://``."""

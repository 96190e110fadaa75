"""From a path or URL to an open database."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote

from sqljury.db.base import Database
from sqljury.errors import DatabaseError, DatabaseNotFoundError

_SECRET: Final = re.compile(r":[^/@\s]+@|passw", re.IGNORECASE)
"""What looks like a password within a text that is no URL."""


def connect(target: str | os.PathLike[str], schemas: Sequence[str] = ()) -> Database:
    """Open a database for reading, given as a path or a URL; docs/databases.md lists both.

    ``schemas`` names those to ask about, the default one first; an engine without schemas refuses any. Raises
    ``DatabaseNotFoundError``, ``NotADatabaseError``, ``DatabaseLockedError``, ``DatabaseError`` for an unknown scheme
    or what cannot be read, ``MissingExtraError`` where the engine's library is not installed. That it has tables is
    first checked when its schema is read.
    """
    text = os.fspath(target)
    if "://" not in text and _SECRET.search(text) and not os.path.exists(text):
        # A URL or a connection string without its slashes may hold a password, so it is not shown.
        raise DatabaseNotFoundError(
            "no such file; a URL begins with its engine and ://, as in postgresql://USER@HOST/DATABASE"
        )
    scheme, separator, _ = text.partition("://")
    if not separator:
        return _file(text, tuple(schemas))
    try:
        engine = ENGINES[scheme.lower()]
    except KeyError:
        # Only the scheme is named: the rest of a URL may hold a password.
        known = ", ".join(f"{name}://" for name in sorted(ENGINES))
        message = f"no engine for the URL scheme {scheme[:40]!r}; give the path of a file, or a URL with {known}"
        raise DatabaseError(message) from None
    return engine(text, tuple(schemas))


def _shown(rest: str) -> str:
    return "..." if "@" in rest else rest


def _sqlite_url(url: str, schemas: tuple[str, ...]) -> Database:
    _, _, rest = url.partition("://")
    if not rest.startswith("/"):
        raise DatabaseNotFoundError(f"sqlite://{_shown(rest)}: an SQLite URL has three slashes, sqlite:///PATH")
    return _sqlite_file(unquote(rest[1:]), schemas)


def _duckdb_url(url: str, schemas: tuple[str, ...]) -> Database:
    _, _, rest = url.partition("://")
    if not rest.startswith("/"):
        raise DatabaseNotFoundError(f"duckdb://{_shown(rest)}: a DuckDB URL has three slashes, duckdb:///PATH")
    return _duckdb_file(unquote(rest[1:]), schemas)


def _file(path: str, schemas: tuple[str, ...]) -> Database:
    from sqljury.db import duckdb_file, files

    path = os.path.expanduser(path)
    if duckdb_file.kind(path) == "duckdb":
        return _duckdb_file(path, schemas)
    if duckdb_file.kind(path) != "sqlite" and files.is_data(path):
        return files.open_files(path, schemas)
    return _sqlite_file(path, schemas)


def _duckdb_file(path: str, schemas: tuple[str, ...]) -> Database:
    from sqljury.db.duckdb import DuckDBDatabase

    return DuckDBDatabase(os.path.expanduser(path), schemas)


def _sqlite_file(path: str, schemas: tuple[str, ...]) -> Database:
    from sqljury.db.sqlite import SQLiteDatabase

    if schemas:
        raise DatabaseError(f"{path}: an SQLite file has no schemas; leave {', '.join(schemas)} out")
    return SQLiteDatabase(os.path.expanduser(path))


def _postgres(url: str, schemas: tuple[str, ...]) -> Database:
    from sqljury.db.postgres import open_postgres

    return open_postgres(url, schemas)


def _mysql(url: str, schemas: tuple[str, ...]) -> Database:
    from sqljury.db.mysql import open_mysql

    return open_mysql(url, schemas)


ENGINES: Final[dict[str, Callable[[str, tuple[str, ...]], Database]]] = {
    "sqlite": _sqlite_url,
    "duckdb": _duckdb_url,
    "postgresql": _postgres,
    "postgres": _postgres,
    "mysql": _mysql,
    "mariadb": _mysql,
}
"""From URL scheme to what opens such a URL, with the schemas to ask about."""

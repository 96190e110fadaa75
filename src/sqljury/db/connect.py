"""From a path or URL to an open database."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote

from sqljury.db.base import Database
from sqljury.errors import DatabaseError, DatabaseNotFoundError

_SECRET: Final = re.compile(
    r":.*@|passw|pwd|\b(?:host|hostaddr|user|uid|user id|dbname|database|server|port|sslmode|service)\s*=",
    re.IGNORECASE | re.DOTALL,
)
"""What looks like a password within a text that is no URL."""

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{0,39}", re.IGNORECASE)


def connect(target: str | os.PathLike[str], schemas: Sequence[str] = ()) -> Database:
    """Open a database for reading, given as a path or a URL; docs/databases.md lists both.

    ``schemas`` names those to ask about, the default one first; an engine without schemas refuses any. Raises
    ``DatabaseNotFoundError``, ``NotADatabaseError``, ``DatabaseLockedError``, ``DatabaseError`` for an unknown scheme
    or what cannot be read, ``MissingExtraError`` where the engine's library is not installed. That it has tables is
    first checked when its schema is read.
    """
    text = os.fspath(target)
    scheme, separator, _ = text.partition("://")
    if not separator:
        _refuse_secret(text)
        return _file(text, tuple(schemas))
    try:
        engine = ENGINES[scheme.lower()]
    except KeyError:
        # Only the scheme is named: the rest of a URL may hold a password.
        known = ", ".join(f"{name}://" for name in sorted(ENGINES))
        what = f"the URL scheme {scheme!r}" if _SCHEME.fullmatch(scheme) else "what stands before ://"
        message = f"no engine for {what}; give the path of a file, or a URL with {known}"
        raise DatabaseError(message) from None
    return engine(text, tuple(schemas))


def _refuse_secret(path: str) -> None:
    """Refuse, without showing it, what names no file and may be a URL or a connection string that lacks its slashes."""
    full = os.path.expanduser(path)
    if _SECRET.search(path) and not os.path.exists(full) and not glob.glob(full, recursive=True):
        raise DatabaseNotFoundError(
            "no such file; a URL begins with its engine and ://, as in postgresql://USER@HOST/DATABASE"
        )


def _refuse_unclear(url: str) -> None:
    """Refuse a server's URL in which an ``@`` or ``/`` may belong to the password: a part of it would be shown."""
    scheme, _, rest = url.partition("://")
    authority = re.split("[/?]", rest, maxsplit=1)[0]
    after = rest[len(authority) :]
    if authority.count("@") > 1 or (":" in authority and "@" in after):
        raise DatabaseError(
            f"{scheme}://…: it is not clear where the password ends; within it write @ as %40, / as %2F and ? as %3F"
        )


def _sqlite_url(url: str, schemas: tuple[str, ...]) -> Database:
    return _sqlite_file(_path(url), schemas)


def _duckdb_url(url: str, schemas: tuple[str, ...]) -> Database:
    return _duckdb_file(_path(url), schemas)


def _path(url: str) -> str:
    scheme, _, rest = url.partition("://")
    path = unquote(rest.removeprefix("/"))
    _refuse_secret(path)
    if not rest.startswith("/"):
        raise DatabaseNotFoundError(f"{scheme}://{rest}: the URL of a file has three slashes, {scheme}:///PATH")
    return path


def _file(path: str, schemas: tuple[str, ...]) -> Database:
    from sqljury.db import duckdb as duckdb_file
    from sqljury.db import files
    from sqljury.db.sqlite_workers import WORKERS

    path = os.path.expanduser(path)
    with WORKERS.kept():
        kind = duckdb_file.kind(path)
        if kind == "duckdb":
            return _duckdb_file(path, schemas)
        if kind != "sqlite" and files.is_data(path):
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

    _refuse_unclear(url)
    return open_postgres(url, schemas)


def _mysql(url: str, schemas: tuple[str, ...]) -> Database:
    from sqljury.db.mysql import open_mysql

    _refuse_unclear(url)
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

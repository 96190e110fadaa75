"""Where copied databases are: files in a folder, or a PostgreSQL or MySQL server, started by this program or given.

On a given server only databases that were created here are written to and dropped; their names begin with
``sqljury_bench_``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote, urlsplit, urlunsplit

from sqljury.db.base import one_line
from sqljury.db.mysql_url import read_url
from sqljury.db.private_server import ADMINISTRATOR, Server, start_mariadb, start_postgres
from sqljury.engines.ddl import quoted
from sqljury.engines.source import Source
from sqljury.engines.writers import Views, need, write_duckdb, write_mysql, write_postgres, write_sqlite
from sqljury.errors import DatabaseError, InputError

PREFIX: Final = "sqljury_bench_"

ENGINES: Final = ("sqlite", "duckdb", "postgresql", "mysql")
DIALECTS: Final = {"sqlite": "sqlite", "duckdb": "duckdb", "postgresql": "postgres", "mysql": "mysql"}
"""sqlglot's name of each engine's dialect."""

SERVED: Final = {"postgresql": ("postgresql", "postgres"), "mysql": ("mysql", "mariadb")}
"""The URL schemes of engines that are servers."""

_NAME_CHARS: Final = 63
_AVERAGE_DIGITS: Final = "--div-precision-increment=12"
"""Without it MariaDB, unlike other engines, rounds averages to 4 decimals."""


class Home(Protocol):
    """A folder or server that holds copied databases."""

    def make(self, name: str, source: Source, views: Views) -> str:
        """Write the database and return what ``connect`` opens; raises ``DatabaseError``."""

    def close(self) -> None:
        """Remove databases and servers that end with the command."""


class Files:
    """SQLite files without keys, or DuckDB files, in a folder that keeps them."""

    def __init__(self, engine: str, folder: Path) -> None:
        self._engine, self._folder = engine, folder
        if engine == "duckdb":
            need("duckdb", "duckdb")

    def path(self, name: str) -> Path:
        """The file of a database, whether it is there or not."""
        return self._folder / f"{name}.{self._engine}"

    def make(self, name: str, source: Source, views: Views) -> str:
        """Write the file whole, or not at all."""
        file = self.path(name)
        try:
            if self._engine == "sqlite":
                write_sqlite(source, file)
            else:
                write_duckdb(source, file, views)
        except OSError as error:
            raise DatabaseError(f"{file}: cannot be written ({error.strerror}); make room") from None
        except Exception as error:
            if isinstance(error, DatabaseError):
                raise
            raise DatabaseError(f"{name}: cannot be copied to {self._engine} ({one_line(str(error))[:300]})") from None
        return str(file)

    def close(self) -> None:
        """Files stay: the folder's owner removes them."""


class _OnServer:
    """Databases on a server; ``url`` is empty for a server of this program's, which starts with the first database."""

    scheme: str
    first: str
    """A database that every server has."""

    def __init__(self, url: str = "") -> None:
        self._prefix = f"{PREFIX}{secrets.token_hex(3)}_" if url else ""
        self._server: Server | None = None
        self._admin, self._reader = url, ""
        self._made: list[str] = []

    def make(self, name: str, source: Source, views: Views) -> str:
        """Create the database under the prefix of this home, and fill it."""
        if not self._admin:
            self._start()
        full = f"{self._prefix}{name}"[:_NAME_CHARS]
        before = len(self._made)
        try:
            self._fill(full, source, views)
        except self._errors() as error:
            with suppress(*self._errors()):
                self._drop(self._made[before:])  # never one that was there
            raise DatabaseError(f"{name}: cannot be copied to {self.scheme} ({one_line(str(error))[:300]})") from None
        return _with_database(self._reader or self._admin, full)

    def close(self) -> None:
        """Stop and remove the server of this program's; on another one drop what was created."""
        if self._server is not None:
            self._server.stop()
            self._server, self._admin = None, ""
        elif self._made:
            with suppress(*self._errors()):
                self._drop(self._made)
        self._made = []

    def _start(self) -> None:
        password, reader, reading = (
            secrets.token_urlsafe(24),
            f"reader_{secrets.token_hex(4)}",
            secrets.token_urlsafe(24),
        )
        self._server = self._started(password)
        where = f"127.0.0.1:{self._server.port}/{self.first}"
        self._admin = f"{self.scheme}://{ADMINISTRATOR}:{quote(password, safe='')}@{where}"
        self._make_reader(reader, reading)
        self._reader = f"{self.scheme}://{reader}:{quote(reading, safe='')}@{where}"

    @property
    def _reader_name(self) -> str:
        return urlsplit(self._reader).username or ""

    def _started(self, password: str) -> Server:
        raise NotImplementedError

    def _errors(self) -> tuple[type[Exception], ...]:
        raise NotImplementedError

    def _make_reader(self, name: str, password: str) -> None:
        raise NotImplementedError

    def _fill(self, name: str, source: Source, views: Views) -> None:
        raise NotImplementedError

    def _drop(self, names: list[str]) -> None:
        raise NotImplementedError


class Postgres(_OnServer):
    """Databases on a PostgreSQL server."""

    scheme, first = "postgresql", "postgres"

    def __init__(self, url: str = "") -> None:
        need("psycopg", "postgres")
        super().__init__(url)

    def _started(self, password: str) -> Server:
        return start_postgres(password)

    def _errors(self) -> tuple[type[Exception], ...]:
        import psycopg

        return (psycopg.Error,)

    def _connect(self, database: str = "") -> Any:
        import psycopg

        return psycopg.connect(_with_database(self._admin, database) if database else self._admin, autocommit=True)

    def _make_reader(self, name: str, password: str) -> None:
        with self._connect() as connection:
            connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())

    def _fill(self, name: str, source: Source, views: Views) -> None:
        with self._connect() as connection:
            connection.execute(
                f"CREATE DATABASE {quoted(name, 'postgres')} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'".encode()
            )
        self._made.append(name)
        with self._connect(name) as connection:
            if connection.info.dbname != name:  # ?dbname= in a URL goes before its path
                raise DatabaseError("the server's URL chooses a database in its options; leave dbname and service out")
            write_postgres(source, connection, views)
            if self._reader:
                connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {self._reader_name}".encode())

    def _drop(self, names: list[str]) -> None:
        with self._connect() as connection:
            for name in names:
                connection.execute(f"DROP DATABASE IF EXISTS {quoted(name, 'postgres')} WITH (FORCE)".encode())


class MySQL(_OnServer):
    """Databases on a MySQL or MariaDB server; texts compare by their bytes, as in SQLite."""

    scheme, first = "mysql", "information_schema"

    def __init__(self, url: str = "") -> None:
        need("pymysql", "mysql")
        super().__init__(url)

    def _started(self, password: str) -> Server:
        return start_mariadb(password, _AVERAGE_DIGITS)

    def _errors(self) -> tuple[type[Exception], ...]:
        import pymysql

        return (pymysql.Error,)

    def _connect(self, database: str = "") -> Any:
        import pymysql

        address = read_url(_with_database(self._admin, database or self.first), ())
        return pymysql.connect(**address.arguments(), charset="utf8mb4", local_infile=False)

    def _make_reader(self, name: str, password: str) -> None:
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE USER {name}@'%%' IDENTIFIED BY %s", (password,))

    def _fill(self, name: str, source: Source, views: Views) -> None:
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {quoted(name, 'mysql')} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        self._made.append(name)
        with self._connect(name) as connection, connection.cursor() as cursor:
            write_mysql(source, connection, views)
            if self._reader:
                pattern = name.replace("_", "\\_")
                cursor.execute(f"GRANT SELECT, SHOW VIEW ON {quoted(pattern, 'mysql')}.* TO {self._reader_name}@'%'")

    def _drop(self, names: list[str]) -> None:
        with self._connect() as connection, connection.cursor() as cursor:
            for name in names:
                cursor.execute(f"DROP DATABASE IF EXISTS {quoted(name, 'mysql')}")


def home(engine: str, folder: Path, server: str = "") -> Home:
    """The home for an engine; raises ``InputError`` for a server that is not of it."""
    if server and urlsplit(server).scheme.lower() not in SERVED.get(engine, ()):
        # The URL is not shown: it may hold a password.
        wanted = " or ".join(f"{scheme}://" for scheme in SERVED.get(engine, ()))
        what = f"give a URL with {wanted}" if wanted else "its databases are files, so leave the server out"
        raise InputError(f"the server does not run {engine}; {what}")
    makers: dict[str, Callable[[], Home]] = {
        "postgresql": lambda: Postgres(server),
        "mysql": lambda: MySQL(server),
    }
    return makers.get(engine, lambda: Files(engine, folder))()


def _with_database(url: str, name: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"/{quote(name, safe='')}"))

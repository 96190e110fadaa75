"""PostgreSQL: the driver behind ``postgresql://``.

Cells are numbers, booleans, bytes, and for everything else the text that PostgreSQL writes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections.abc import Generator, Sequence
from typing import Any, Final
from urllib.parse import quote
from weakref import WeakKeyDictionary

from sqljury.db.base import one_line
from sqljury.db.server import LOST, SERVER_STOPPED, Pool, ServerDatabase, number, reset, shown_url, without
from sqljury.errors import DatabaseError, DatabaseNotFoundError, MissingExtraError, NotADatabaseError
from sqljury.types import FailureKind

CONNECT_SECONDS: Final = 10
LOCK_SECONDS: Final = 2.0
TEMP_FILES: Final = "1GB"
_CHUNK: Final = 64
_FORM: Final = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with odd characters as %XX"

_PINNED: Final = (
    # the parser and the server must agree where text ends
    *("standard_conforming_strings = on", "client_encoding = 'UTF8'"),
    # what cells look like
    *("datestyle = 'ISO, YMD'", "intervalstyle = 'postgres'", "bytea_output = 'hex'", "extra_float_digits = 1"),
    *("client_min_messages = error", "idle_in_transaction_session_timeout = '5min'"),
)
_SESSION: Final = """
    SELECT current_setting('is_superuser') = 'on',
        coalesce((SELECT rolname FROM pg_catalog.pg_roles WHERE rolname = 'pg_read_all_data'), ''),
        current_setting('server_version_num')::int,
        (SELECT least(setting::bigint, 65536) FROM pg_catalog.pg_settings WHERE name = 'work_mem'),
        current_setting('search_path')
"""

READABLE: Final = """
    c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
        AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d
            WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
"""
"""What may be asked about, of relations ``c`` in schemas ``n``: partitions belong to their parent, and tables that an
extension created for itself are left out."""

_PATH_SCHEMAS: Final = f"""
    SELECT n.nspname::text, EXISTS (
        SELECT 1 FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND {READABLE})::int
    FROM unnest(current_schemas(false)) WITH ORDINALITY AS p (name, number)
        JOIN pg_catalog.pg_namespace n ON n.nspname = p.name
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    ORDER BY p.number
"""  # noqa: S608 - a condition of its own
_OTHER_SCHEMAS: Final = f"""
    SELECT n.nspname::text, count(*)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND NOT n.nspname = ANY (current_schemas(false))
        AND {READABLE}
    GROUP BY n.nspname ORDER BY n.nspname
"""  # noqa: S608

_RIGHTS: Final = """
    SELECT right_ FROM pg_catalog.pg_roles AS r, LATERAL (VALUES
        ('SUPERUSER', r.rolsuper), ('CREATEROLE', r.rolcreaterole), ('CREATEDB', r.rolcreatedb),
        ('BYPASSRLS', r.rolbypassrls), ('REPLICATION', r.rolreplication)) AS v (right_, has)
    WHERE v.has AND r.rolname IN (session_user, current_user)
    UNION SELECT rolname::text FROM pg_catalog.pg_roles
    WHERE rolname IN ('pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
        AND pg_catalog.pg_has_role(oid, 'MEMBER')
        AND NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
"""

_WHOLE: Final = ("int2", "int4", "int8", "oid")
_FLOATING: Final = ("float4", "float8")
_NOT_FOUND: Final = (
    ("does not exist", "check the database and the user"),
    ("could not translate host name", "no host of that name; check it"),
    ("failed to resolve host", "no host of that name; check it"),
    ("Connection refused", "no server answers there; start it, or check host and port"),
    ("No such file or directory", "no server answers on that socket; start it, or give host and port"),
)
_REFUSED: Final = (
    ("password authentication failed", "the user or the password is wrong; check both"),
    ("no password supplied", "a password is needed; put it into the URL, PGPASSWORD or ~/.pgpass"),
    ("too many clients", "the server has no connection left; try again later"),
    ("remaining connection slots", "the server has no connection left; try again later"),
    ("too many connections", "the server has no connection left for this user or database; try again later"),
    ("server does not support SSL", "the server has no TLS; set it up there, or write ?sslmode=disable"),
    ("no encryption", "the server does not let this user in without TLS; write ?sslmode=require"),
    ("no pg_hba.conf entry", "the server does not let this user in from here; ask its administrator"),
    ("certificate verify failed", "the server's certificate is not trusted; give ?sslrootcert=FILE"),
    ("root certificate file", "the certificate to check the server's with is missing; give ?sslrootcert=FILE"),
    ("is starting up", "the server is starting; try again"),
    ("is shutting down", "the server is shutting down; start it again"),
    ("permission denied for database", "this user may not connect to the database; have CONNECT granted"),
    ("timeout expired", f"no answer within {CONNECT_SECONDS} s; check host and port"),
    ("invalid sslmode value", "no such sslmode; use disable, prefer, require, verify-ca or verify-full"),
)


def open_postgres(url: str, schemas: tuple[str, ...] = ()) -> ServerDatabase:
    """Connect to a URL as libpq takes it; see ``connect`` for the errors."""
    return ServerDatabase(PostgresDriver(url, schemas), schemas)


class PostgresDriver:
    """How to talk to PostgreSQL through psycopg; see ``Driver``."""

    dialect = "postgres"
    usable_schemas = "SELECT nspname::text FROM pg_catalog.pg_namespace WHERE has_schema_privilege(oid, 'USAGE')"
    path_schemas = _PATH_SCHEMAS
    other_schemas = _OTHER_SCHEMAS

    def __init__(self, url: str, schemas: tuple[str, ...]) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError("psycopg", "postgres") from None
        self._psycopg = psycopg
        self._schemas = schemas
        self._preludes: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._settings = _settings(url)
        self.name = str(self._settings.get("dbname") or self._settings.get("user") or "postgres")
        self.url = _shown(self._settings)
        self.identity = "\n".join(str(self._settings.get(name) or "") for name in ("user", "host", "port", "dbname"))

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Every error of psycopg."""
        return (self._psycopg.Error,)

    def pool(self) -> Pool:
        """A pool of connections, each outside any transaction."""

        def dialect() -> Any:
            from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

            return PGDialect_psycopg(dbapi=self._psycopg)  # type: ignore[no-untyped-call]

        return Pool(self.url, "postgres", self._connect, dialect)

    def _connect(self) -> Any:
        try:
            connection = self._psycopg.connect(
                **self._settings, autocommit=True, context=adapt(), prepare_threshold=None
            )
        except (self._psycopg.Error, UnicodeError) as error:
            problem = _connect_problem(self.url, without(str(error), _secrets(self._settings)))
        else:
            try:
                connection.execute(f"SET statement_timeout = '{CONNECT_SECONDS}s'".encode())
                self._preludes[connection] = _prelude(connection, self._schemas)
                return connection
            except self._psycopg.Error as error:
                problem = DatabaseError(f"{self.url}: the session cannot be set up ({one_line(str(error))})")
                connection.close()
        raise problem  # outside the handler: the driver's error stays out of the chain

    def use(self, schemas: tuple[str, ...]) -> None:
        """Put these schemas before the role's search path, in new connections."""
        self._schemas = schemas

    def begin(self, connection: Any, seconds: float) -> None:
        """A read-only transaction within which nothing can be made writable again: see the comment in ``_prelude``."""
        timeout = max(1, round(seconds * 1000))
        connection.execute(f"{self._preludes[connection]} SET LOCAL statement_timeout = {timeout}".encode())

    def stream(self, connection: Any, sql: str, parameters: Sequence[str]) -> Generator[tuple[Any, ...], None, None]:
        """Rows by the extended protocol, which takes one statement only, a few at a time."""
        from psycopg import capabilities

        cursor = connection.cursor()
        size = _CHUNK if capabilities.has_stream_chunked() else 1
        rows = cursor.stream(sql.encode(), list(parameters) if parameters else None, size=size)
        with contextlib.closing(rows):
            first = next(rows, None)
            if first is None:
                yield _columns(connection, sql) if not parameters else ()
                return
            yield tuple(column.name for column in cursor.description)
            yield first
            yield from rows

    def rollback(self, connection: Any) -> bool:
        """End the transaction; not usable when that fails, or something else than a transaction was open."""
        if connection.closed or connection.info.transaction_status.name not in ("INTRANS", "INERROR", "IDLE"):
            return False
        try:
            connection.execute(b"ROLLBACK")
        except self._psycopg.Error:
            return False
        return True

    def administrator(self, connection: Any) -> str:
        """By the attributes of the role, and those roles that reach files, programs or rows of all tables."""
        rights = {name for name, *_ in connection.execute(_RIGHTS.encode()).fetchall()}
        return f"has the rights {', '.join(sorted(rights))}" if rights else ""

    def cancel(self, connection: Any) -> None:
        """Send PostgreSQL's cancel request over a connection of its own."""
        connection.cancel_safe(timeout=2.0)

    def sever(self, connection: Any) -> None:
        """Shut the socket down under libpq."""
        with socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
            reset(line)

    def explain(self, error: Exception) -> tuple[FailureKind, str]:
        """By SQLSTATE; the server's own words and hint where the query is at fault."""
        assert isinstance(error, self._psycopg.Error)
        state = error.sqlstate or ""
        text = one_line(error.diag.message_primary or str(error))
        if state == "57014":
            return "limit", SERVER_STOPPED
        if state == "55P03":
            return "locked", f"{text}; another program holds a table locked: try again"
        if state == "25006":
            return "refused", f"{text}; only reading is allowed"
        if state == "42501":
            return "sql", f"{text}; have it granted to this user, or use other tables"
        if state.startswith("53") and state != "53300":
            return "limit", f"{text}; ask for less"
        if state.startswith("54"):
            return "limit", f"{text}; write a simpler query"
        if state.startswith(("57P", "08")) or (not state and isinstance(error, self._psycopg.OperationalError)):
            return "database", LOST
        if state.startswith(("58", "XX")):
            return "database", f"{text}; the server's log says more"
        hint = one_line(error.diag.message_hint or "")
        return "sql", f"{text} ({hint})" if hint else text


def _settings(url: str) -> dict[str, Any]:
    """The URL as libpq's settings; what libpq says of a bad one may hold the password, and is not shown."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    scheme, _, rest = url.partition("://")
    try:
        settings = dict(conninfo_to_dict(f"{scheme.lower()}://{rest}"))
    except (psycopg.Error, UnicodeError):
        settings = {}
    port = str(settings.get("port") or "")
    ports = [part for part in port.split(",") if part]
    if (not settings and rest) or not all(part.isdecimal() and 0 < int(part) < 65536 for part in ports):
        what = "its port is not a number from 1 to 65535" if settings else "libpq cannot read it"
        raise DatabaseError(f"{scheme}://…: {what}; write {_FORM}")
    if "\x00" in "".join(map(str, settings.values())):
        raise DatabaseError(f"{scheme}://…: has %00 in it; write {_FORM}")
    settings.setdefault("connect_timeout", CONNECT_SECONDS)
    settings.setdefault("application_name", "sqljury")
    # A server that is gone without a word must be noticed.
    for name, value in (("keepalives_idle", 10), ("keepalives_interval", 5), ("keepalives_count", 3)):
        settings.setdefault(name, value)
    settings.setdefault("tcp_user_timeout", 30_000)
    return settings


def _shown(settings: dict[str, Any]) -> str:
    """The URL again, of user, host, port and database only: other settings may hold secrets."""
    user, host, port, database = (str(settings.get(name) or "") for name in ("user", "host", "port", "dbname"))
    known = bool(settings.get("password") or os.environ.get("PGPASSWORD"))
    return shown_url("postgresql", user, host, port, database, known=known)


def _secrets(settings: dict[str, Any]) -> list[object]:
    """Values that libpq may quote, of which some are secrets."""
    shown = {"host", "port", "dbname", "user", "sslmode", "application_name"}
    given = [value for name, value in settings.items() if isinstance(value, str) and name not in shown]
    user, database = str(settings.get("user") or ""), str(settings.get("dbname") or "")
    return [*given, *(text for text in (user, database) if text and quote(text, safe="") not in _shown(settings))]


def _prelude(connection: Any, schemas: tuple[str, ...]) -> str:
    """What opens every transaction, as one message of several statements.

    Set for the transaction alone, so that neither a pooler in between nor an earlier query can have changed it.
    A superuser reads as ``pg_read_all_data``, without the rights to reach files and programs of the server.
    """
    superuser, reader, version, work_mem, search_path = connection.execute(_SESSION.encode()).fetchone()
    local = [*_PINNED, f"lock_timeout = '{LOCK_SECONDS:g}s'", f"work_mem = {work_mem}"]
    if version >= 140_000:
        local.append("client_connection_check_interval = '1s'")  # a query nobody waits for any more ends
    if schemas:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in schemas)
        local.append(f"search_path = {', '.join(filter(None, (names, search_path)))}")
    if superuser:
        local.append(f"temp_file_limit = '{TEMP_FILES}'")
        if reader:
            # Row-level security applies to that role: a query it would cut short fails instead.
            local += ["row_security = off", f"ROLE {reader}"]
    settings = " ".join(f"SET LOCAL {setting};" for setting in local)
    # After the first query, and again inside a savepoint, PostgreSQL refuses to make the transaction writable.
    return f"BEGIN READ ONLY; {settings} SELECT 1; SAVEPOINT s;"


def _columns(connection: Any, sql: str) -> tuple[str, ...]:
    """The columns of a query that gave no row, for which psycopg's stream does not tell them."""
    connection.pgconn.prepare(b"", sql.encode())
    described = connection.pgconn.describe_prepared(b"")
    return tuple((described.fname(at) or b"").decode("utf-8", "replace") for at in range(described.nfields))


def _connect_problem(url: str, text: str) -> DatabaseError:
    for sign, advice in _REFUSED:
        if sign in text:
            return DatabaseError(f"{url}: {advice}")
    for sign, advice in _NOT_FOUND:
        if sign in text:
            detail = one_line(text).rpartition("FATAL: ")[2] if "FATAL: " in text else ""
            return DatabaseNotFoundError(f"{url}: {detail}; {advice}" if detail else f"{url}: {advice}")
    if "invalid response to SSL negotiation" in text or "server closed the connection unexpectedly" in text:
        return NotADatabaseError(
            f"{url}: what answers there is not a PostgreSQL server, or one that stops; check host and port"
        )
    return DatabaseError(f"{url}: cannot be opened ({one_line(text)[:300]})")


@functools.cache
def adapt() -> Any:
    """The context for ``psycopg.connect`` that turns cells into plain ones."""
    from psycopg.adapt import AdaptersMap, Loader
    from psycopg.postgres import types
    from psycopg.types.bool import BoolLoader
    from psycopg.types.numeric import FloatLoader, IntLoader
    from psycopg.types.string import ByteaLoader, StrDumperUnknown

    class Text(Loader):
        """Text as it is, what is not UTF-8 in it replaced: a database of encoding SQL_ASCII does not check."""

        def load(self, data: Any) -> str:
            return str(data, "utf-8", "replace")

    class Numeric(Loader):
        def load(self, data: Any) -> int | float | str:
            return number(str(data, "ascii"))

    adapters = AdaptersMap(types=types)
    adapters.register_dumper(str, StrDumperUnknown)
    adapters.register_loader(0, Text)  # of any type without a loader of its own
    for name in _WHOLE:
        adapters.register_loader(name, IntLoader)
    for name in _FLOATING:
        adapters.register_loader(name, FloatLoader)
    adapters.register_loader("numeric", Numeric)
    adapters.register_loader("bool", BoolLoader)
    adapters.register_loader("bytea", ByteaLoader)
    return _Context(adapters)


class _Context:
    """What psycopg calls an ``AdaptContext``, of no connection yet."""

    connection = None

    def __init__(self, adapters: Any) -> None:
        self.adapters = adapters

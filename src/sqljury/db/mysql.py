"""MySQL and MariaDB: the driver behind ``mysql://`` and ``mariadb://``.

Cells are numbers, bytes for binary columns, and for everything else the text that MySQL writes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, Final

from sqljury.db.base import one_line
from sqljury.db.mysql_url import FORM, read_url
from sqljury.db.server import LOST, SERVER_STOPPED, Pool, ServerDatabase, number, reset
from sqljury.errors import DatabaseError, DatabaseNotFoundError, MissingExtraError, NotADatabaseError
from sqljury.sql import literals
from sqljury.types import Cell, FailureKind

CONNECT_SECONDS: Final = 10
LOCK_SECONDS: Final = 2
TEMP_BYTES: Final = 1024**3

_PARSED_OTHERWISE: Final = """
    ANSI ANSI_QUOTES NO_BACKSLASH_ESCAPES IGNORE_SPACE PIPES_AS_CONCAT HIGH_NOT_PRECEDENCE
    ORACLE MSSQL DB2 POSTGRESQL MAXDB
"""
PARSED_OTHERWISE: Final = frozenset(_PARSED_OTHERWISE.split())
"""Parts of ``sql_mode`` that make the server read a query otherwise than the parser does; taken out."""

_REFUSED: Final = {
    1045: "the user or the password is wrong; check both",
    1698: "the user or the password is wrong; check both",
    1251: "the server's way to check passwords is not known to PyMySQL; use mysql_native_password",
    1040: "the server has no connection left; try again later",
    1203: "the server has no connection left for this user; try again later",
    1226: "the server has no connection left for this user; try again later",
    1130: "the server does not let anyone in from here; ask its administrator",
    1053: "the server is shutting down; start it again",
    3159: "the server does not let anyone in without TLS; write ?ssl-mode=REQUIRED",
}
_LOST: Final = frozenset({1053, 1079, 1080, 1152, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2014, 2026, 2055, 0})
_POWERS: Final = frozenset(
    {
        *("SUPER", "FILE", "CREATE USER", "GRANT OPTION", "PROCESS", "RELOAD", "SHUTDOWN", "SYSTEM_VARIABLES_ADMIN"),
        *("SET USER", "READ_ONLY ADMIN", "ROLE_ADMIN", "SET_USER_ID", "BINLOG ADMIN", "CONNECTION ADMIN"),
    }
)
"""What reading does not need; ALL PRIVILEGES has them all."""
_SYNTAX: Final = 1064
_TIME: Final = frozenset({1317, 1969, 3024})
_DENIED: Final = frozenset({1044, 1142, 1143, 1227, 1370, 1345, 1356})
_WRITES: Final = frozenset({1290, 1792, 1836, 4108})
_LIMITS: Final = frozenset({3, 1021, 1026, 1037, 1038, 1041, 1104, 1114, 1135, 1153, 1301, 1436, 1456, 1713, 3636})
_LOCKED: Final = frozenset({1205, 1213, 3572})

_LISTED: Final = 10
_NAME_CHARS: Final = 60
_BINARY: Final = 63  # the character set that stands for none
_DECIMAL: Final = frozenset({0, 246})
_WHOLE: Final = frozenset({1, 2, 3, 8, 9, 13})
_FLOATING: Final = frozenset({4, 5})
_BIT: Final = 16
_GEOMETRY: Final = 255
_TEXTS: Final = frozenset({15, 249, 250, 251, 252, 253, 254})
_ENUM_OR_SET: Final = 0x0100 | 0x0800


_DATABASES: Final = """
    SELECT table_schema, count(*) FROM information_schema.tables
    WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
        AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')
    GROUP BY table_schema ORDER BY table_schema
"""


def open_mysql(url: str, schemas: tuple[str, ...] = ()) -> ServerDatabase:
    """Connect to ``mysql://USER:PASSWORD@HOST:PORT/DATABASE``; see ``connect`` for the errors.

    Without a database it is the only one that has tables, or the few that have.
    """
    db = ServerDatabase(MySQLDriver(url, schemas), schemas)
    if db.name:
        return db
    with db:
        names = [one_line(str(name))[:_NAME_CHARS] for name, _ in db.catalog(_DATABASES)]
    known = f"there are {', '.join(names[:_LISTED])}{', ...' * (len(names) > _LISTED)}" if names else "it sees none"
    raise DatabaseNotFoundError(f"{db.url}: names no database, and {known}; write {FORM}")


class MySQLDriver:
    """How to talk to MySQL and MariaDB through PyMySQL; see ``Driver``."""

    dialect = "mysql"
    usable_schemas = "SELECT schema_name FROM information_schema.schemata"
    path_schemas = ""

    def __init__(self, url: str, schemas: tuple[str, ...]) -> None:
        try:
            import pymysql
        except ImportError:
            raise MissingExtraError("pymysql", "mysql") from None
        self._pymysql = pymysql
        self._address = read_url(url, schemas)
        self.other_schemas = "" if self._address.database else _DATABASES
        self.name = self._address.database
        self.url = self._address.shown
        self.identity = self._address.identity
        self._pin = ""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Every error of PyMySQL, and what a cut line makes it raise."""
        return (self._pymysql.Error, OSError, AttributeError)

    def pool(self) -> Pool:
        """A pool of connections, each outside any transaction."""

        def dialect() -> Any:
            from sqlalchemy.dialects.mysql.pymysql import MySQLDialect_pymysql

            return MySQLDialect_pymysql(dbapi=self._pymysql)

        return Pool(self.url, "mysql", self._connect, dialect)

    def _connect(self) -> Any:
        problem: DatabaseError
        try:
            connection = self._open()
        except (self._pymysql.Error, OSError, RuntimeError, ValueError) as error:
            problem = _connect_problem(self.url, self.name, error)
        else:
            try:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT @@version, @@sql_mode")
                    version, mode = (_text(cell) for cell in cursor.fetchone())
                self._pin = _pin(version, mode)
                return connection
            except self._pymysql.Error as error:
                problem = DatabaseError(f"{self.url}: the session cannot be set up ({one_line(str(error))})")
                connection.close()
        raise problem  # outside the handler: the driver's error stays out of the chain

    def _open(self) -> Any:
        from pymysql.converters import encoders

        connection = self._pymysql.connect(
            **self._address.arguments(),
            charset="utf8mb4",
            use_unicode=False,  # cells come as bytes, and become what their column says
            conv=dict(encoders),
            connect_timeout=CONNECT_SECONDS,
            read_timeout=CONNECT_SECONDS,  # a server of another kind may wait for us to speak first
            autocommit=True,
            local_infile=False,
            program_name="sqljury",
        )
        connection._read_timeout = None  # queries have limits of their own
        return connection

    def use(self, schemas: tuple[str, ...]) -> None:
        """Connect to the first of these databases from now on."""
        self.name = schemas[0]
        self._address = replace(self._address, database=self.name)

    def begin(self, connection: Any, seconds: float) -> None:
        """A read-only transaction, in a session set so that parser and server agree where text ends."""
        with connection.cursor() as cursor:
            cursor.execute(self._pin.replace("SECONDS", f"{max(seconds, 0.001):.3f}"))
            cursor.execute("START TRANSACTION READ ONLY")

    def stream(self, connection: Any, sql: str, parameters: Sequence[str]) -> Generator[tuple[Any, ...], None, None]:
        """Rows as the server sends them, not gathered first."""
        if not parameters:
            self._refuse_other_than_a_query(connection, sql)
        cursor = connection.cursor(self._pymysql.cursors.SSCursor)
        try:
            cursor.execute(sql, tuple(parameters) or None)
            if cursor.description is None:
                raise self._pymysql.err.ProgrammingError(0, "the statement is no query")
            yield tuple(_text(column[0]) for column in cursor.description)
            convert: list[Callable[[bytes], Any]] = [plain(field) for field in cursor._result.fields]
            while (row := cursor.fetchone()) is not None:
                yield tuple([None if cell is None else to(cell) for to, cell in zip(convert, row, strict=True)])
        finally:
            try:
                cursor.close()  # reads the rest, which an interrupted server ends with an error
            except self.errors:
                if cursor._result is not None:
                    cursor._result.unbuffered_active = False  # else it reads again, from a dead line, when collected
                cursor.connection = None

    def _refuse_other_than_a_query(self, connection: Any, sql: str) -> None:
        """Let the server itself say that ``sql`` is a query without INTO: between parentheses nothing else parses.

        A read-only transaction does not stop DROP DATABASE, SET GLOBAL, SET PASSWORD or INTO OUTFILE. Preparing does
        not run anything.
        """
        text = literals.before_semicolon(sql, self.dialect)
        with connection.cursor() as cursor:
            try:
                cursor.execute("PREPARE sqljury FROM %s", (f"({text}\n)",))
            except self._pymysql.err.ProgrammingError as error:
                if error.args[0] != _SYNTAX:
                    raise
                # MariaDB takes no WITH after a bare parenthesis.
                with contextlib.suppress(self._pymysql.err.ProgrammingError):
                    cursor.execute("PREPARE sqljury FROM %s", (f"SELECT EXISTS ({text}\n)",))
                    return
                raise

    def rollback(self, connection: Any) -> bool:
        """End the transaction; not usable when that fails."""
        try:
            connection.rollback()
        except self.errors:
            return False
        return True

    def administrator(self, connection: Any) -> str:
        """By what the server says it has granted, to the user or to its roles in force."""
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW GRANTS")
                grants = [_text(row[0]).partition(" ON ") for row in cursor.fetchall()]
        except self._pymysql.Error:
            return ""
        powers = {
            right.strip()
            for rights, _, target in grants
            for right in rights.upper().removeprefix("GRANT ").split(",")
            if right.strip() in _POWERS or (right.strip().startswith("ALL PRIVILEGES") and target)
        }
        return f"has the rights {', '.join(sorted(powers))}" if powers else ""

    def cancel(self, connection: Any) -> None:
        """``KILL QUERY`` through a connection of its own."""
        with contextlib.closing(self._open()) as control, control.cursor() as cursor:
            cursor.execute("KILL QUERY %s", (connection.thread_id(),))

    def sever(self, connection: Any) -> None:
        """Shut the socket down under PyMySQL."""
        reset(connection._sock)

    def explain(self, error: Exception) -> tuple[FailureKind, str]:
        """By error number; the server's own words where the query is at fault."""
        if not isinstance(error, self._pymysql.Error):
            return "database", LOST
        code, text = _parts(error)
        if code in _TIME:
            return "limit", SERVER_STOPPED
        if code in _LOST and not (code == 0 and text):
            return "database", LOST
        if code in _LOCKED:
            return "locked", f"{text}; another program holds a table locked: try again"
        if code in _WRITES:
            return "refused", f"{text}; only reading is allowed"
        if code in _DENIED:
            return "sql", f"{text}; have it granted to this user, or use other tables"
        if code in _LIMITS:
            return "limit", f"{text}; ask for less"
        return "sql", text or type(error).__name__


def _pin(version: str, mode: str) -> str:
    """One SET for all that a query must find as it is, with SECONDS for its time limit."""
    kept = ",".join(part for part in mode.split(",") if part not in PARSED_OTHERWISE)
    settings = [f"sql_mode = '{kept}'", f"lock_wait_timeout = {LOCK_SECONDS}"]
    settings.append(f"innodb_lock_wait_timeout = {LOCK_SECONDS}")
    if "mariadb" in version.lower():
        settings += ["max_statement_time = SECONDS", f"tmp_disk_table_size = {TEMP_BYTES}"]
    else:
        settings.append("max_execution_time = GREATEST(1, CAST(SECONDS * 1000 AS UNSIGNED))")
    return f"SET NAMES utf8mb4, {', '.join('SESSION ' + setting for setting in settings)}"


def _text(cell: bytes | str) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell


def _parts(error: Exception) -> tuple[int, str]:
    """The number and the one-line text of an error of PyMySQL, which has either, both or none."""
    numbers = [part for part in error.args if isinstance(part, int)]
    words = [str(part) for part in error.args if not isinstance(part, int)]
    return (numbers[0] if numbers else 0), one_line(" ".join(words))


def _connect_problem(url: str, database: str, error: Exception) -> DatabaseError:
    code, text = _parts(error)
    lowered = text.lower()
    if "ssl" in lowered and ("doesn't support" in lowered or "does not support" in lowered or "required" in lowered):
        return DatabaseError(f"{url}: the server has no TLS; set it up there, or write ?ssl-mode=DISABLED")
    if "certificate" in lowered:
        return DatabaseError(f"{url}: the server's certificate is not trusted; give ?ssl-ca=FILE")
    if code in _REFUSED:
        return DatabaseError(f"{url}: {_REFUSED[code]}")
    if code == 1049:
        return DatabaseNotFoundError(f"{url}: no database {database!r}; check it")
    if code == 1044:
        return DatabaseError(f"{url}: no rights in a database {database!r}; check the name, or have SELECT granted")
    if code in (2002, 2003, 2005):
        return _unreachable(url, lowered)
    if code in _LOST or isinstance(error, OSError):
        return NotADatabaseError(f"{url}: what answers there is not a MySQL server, or hung up; check host and port")
    return DatabaseError(f"{url}: cannot be opened ({text[:300] or type(error).__name__})")


def _unreachable(url: str, text: str) -> DatabaseError:
    if "timed out" in text:
        return DatabaseError(f"{url}: no answer within {CONNECT_SECONDS} s; check host and port")
    if "name or service" in text or "resolution" in text or "no address" in text or "nodename" in text:
        return DatabaseNotFoundError(f"{url}: no host of that name; check it")
    return DatabaseNotFoundError(f"{url}: no server answers there; start it, or check host and port")


def plain(column: Any) -> Callable[[bytes], Cell]:
    """What turns the bytes of this result column into a cell; dates and times stay text, odd ones too."""
    kind = column.type_code
    if kind in _WHOLE:
        return int
    if kind in _FLOATING:
        return float
    if kind in _DECIMAL:
        return _decimal
    if kind == _BIT:
        return _bits
    if kind == _GEOMETRY or (kind in _TEXTS and column.charsetnr == _BINARY and not column.flags & _ENUM_OR_SET):
        return bytes
    return _text


def _decimal(data: bytes) -> Cell:
    return number(data.decode("ascii"))


def _bits(data: bytes) -> Cell:
    return int.from_bytes(data, "big")

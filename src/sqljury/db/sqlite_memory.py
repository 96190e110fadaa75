"""Small SQLite databases in memory, one after another, behind the walls that files have."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence

from sqljury.closing import Closing
from sqljury.db import parsing, readonly
from sqljury.db.base import DEFAULT_LIMITS, error_text
from sqljury.db.sqlite import explain, fetch
from sqljury.db.sqlite_walls import authorizer, harden
from sqljury.db.watch import Watch
from sqljury.errors import DatabaseError, QueryRefusedError
from sqljury.types import Limits, Result, Row


class MemoryDatabase(Closing):
    """Tables whose rows are replaced as a whole, and read-only queries on them; for one thread.

    ``execute`` is as ``Database`` describes it. Making the tables costs about a millisecond, filling them again some
    microseconds a row.
    """

    dialect = "sqlite"

    def __init__(self, tables: Mapping[str, str]) -> None:
        """``tables`` are statements that create them, by name; raises ``DatabaseError`` where SQLite takes one not."""
        self._names = {name: '"' + name.replace('"', '""') + '"' for name in tables}
        self._authorize = authorizer()
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        try:
            for statement in tables.values():
                self._connection.execute(statement)
            harden(self._connection, 0)
        except sqlite3.Error as error:
            self._connection.close()
            raise DatabaseError(f"the schema cannot be written to a new SQLite database ({error})") from None
        self._connection.set_authorizer(self._authorize)

    def fill(self, rows: Mapping[str, Sequence[Row]], *, skip: bool = False) -> bool:
        """Replace all rows; whether SQLite took them, else the rows of before stay.

        Every constraint that the tables declare is checked, foreign keys as SQLite does. ``skip`` leaves out rows that
        break another constraint, instead of refusing all.
        """
        with self._writing() as connection:
            try:
                connection.execute("BEGIN")
                for name, quoted in self._names.items():
                    connection.execute(f"DELETE FROM {quoted}")  # noqa: S608 - a quoted name
                    _insert(connection, quoted, rows.get(name, ()), skip=skip)
                if not skip and connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
                    raise sqlite3.IntegrityError
                connection.execute("COMMIT")
            except (sqlite3.Error, OverflowError, UnicodeError):
                connection.execute("ROLLBACK")
                return False
        return True

    def rows(self) -> dict[str, list[Row]]:
        """All rows as SQLite keeps them, by table."""
        with self._writing() as connection:
            return {
                name: connection.execute(f"SELECT * FROM {quoted} ORDER BY rowid").fetchall()  # noqa: S608
                for name, quoted in self._names.items()
            }

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``."""
        watch = Watch(limits, cancel)
        try:
            with parsing.under(watch):
                readonly.check(sql, self.dialect)
            return fetch(self._connection, self._authorize, sql, (), watch)
        except QueryRefusedError as error:
            return Result(error=error_text(error.kind, str(error)), seconds=watch.seconds)
        except sqlite3.Error as error:
            return Result(error=explain(error, watch), seconds=watch.seconds)

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The connection while the project's own statements run, outside the walls."""
        self._connection.set_authorizer(None)
        self._connection.execute("PRAGMA query_only=OFF")
        try:
            yield self._connection
        finally:
            self._connection.execute("PRAGMA query_only=ON")
            self._connection.set_authorizer(self._authorize)


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Row], *, skip: bool) -> None:
    if not rows:
        return
    sql = f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"  # noqa: S608 - a quoted name
    if not skip:
        connection.executemany(sql, rows)
        return
    for row in rows:  # OR IGNORE would still fail for a text as rowid
        with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeError):
            connection.execute(sql, row)

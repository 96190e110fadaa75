"""Small SQLite databases in memory, one after another, behind the walls that files have."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sqljury.db import readonly
from sqljury.db.base import DEFAULT_LIMITS, failed, lost
from sqljury.db.sqlite_client import Reply, Worker, WorkerLostError, result_of
from sqljury.db.sqlite_workers import WORKERS
from sqljury.errors import DatabaseError, QueryRefusedError
from sqljury.parallel.watch import Watch
from sqljury.resources import Closing
from sqljury.sql.meter import under
from sqljury.types import Cell, Limits, Result, Row

OWN_LIMITS: Final = Limits(rows=1_000_000)
"""For the statements that make, fill and read the tables; a condition of a table may be as hostile as a query."""

_PLAIN: Final = frozenset({type(None), bool, int, float, str, bytes})


class MemoryDatabase(Closing):
    """Tables whose rows are replaced as a whole, and read-only queries on them; for one thread.

    ``execute`` is as ``Database`` describes it. The database is in a process that runs queries on files too; where that
    had to be ended, it is made anew in the next one. Making the tables costs about a millisecond, filling them again
    some microseconds a row.
    """

    dialect = "sqlite"

    def __init__(self, tables: Mapping[str, str]) -> None:
        """``tables`` are statements that create them, by name; raises ``DatabaseError`` where SQLite takes one not."""
        self._names = {name: '"' + name.replace('"', '""') + '"' for name in tables}
        self._statements = tuple(tables.values())
        self._filled: Reply | None = None
        self._fills = 0
        self._closed = False
        self._number = WORKERS.register(file=False)
        weakref.finalize(self, WORKERS.abandon, self._number)
        try:
            self._run(lambda _worker: ("done",), Watch(OWN_LIMITS))
        except BaseException:
            self.close()
            raise

    def fill(self, rows: Mapping[str, Sequence[Row]], *, skip: bool = False) -> bool:
        """Replace all rows; whether SQLite took them, else the rows of before stay.

        Every constraint that the tables declare is checked, foreign keys as SQLite does. ``skip`` leaves out rows that
        break another constraint, instead of refusing all.
        """
        try:
            plain = [(quoted, list(map(_plain, rows.get(name, ())))) for name, quoted in self._names.items()]
        except TypeError:
            return False
        order = ("fill", self._number, plain, skip)
        watch = Watch(OWN_LIMITS)

        def fill(worker: Worker) -> Reply:
            reply = worker.ask(order, watch)
            if reply == ("done", True):
                self._filled, self._fills = order, self._fills + 1
                worker.opened[self._number] = self._fills
            return reply

        try:
            return self._run(fill, watch) == ("done", True)
        except DatabaseError:
            return False

    def rows(self) -> dict[str, list[Row]]:
        """All rows as SQLite keeps them, by table; raises ``DatabaseError`` where they are too many."""
        tables = {}
        for name, quoted in self._names.items():
            result = self._query(f"SELECT * FROM {quoted} ORDER BY rowid", Watch(OWN_LIMITS), trusted=True)  # noqa: S608
            if result.error is not None:
                raise DatabaseError(f"the rows of {name} cannot be read ({result.error})")
            tables[name] = list(result.rows)
        return tables

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one read-only query; whatever is wrong with it becomes ``Result.error``."""
        watch = Watch(limits, cancel)
        try:
            with under(watch):
                readonly.check(sql, self.dialect)
            return self._query(sql, watch)
        except QueryRefusedError as error:
            return failed(error.kind, str(error), watch)
        except DatabaseError as error:
            return failed(watch.kind or "database", watch.reason or str(error), watch)

    def compiles(self, sql: str, limits: Limits = DEFAULT_LIMITS) -> bool:
        """Whether SQLite can compile the query, which is not run; for text that begins as a query does."""
        return self._query(f"EXPLAIN {sql}", Watch(replace(limits, rows=0)), trusted=True).ok

    def close(self) -> None:
        """Forget everything."""
        self._closed = True
        WORKERS.release(self._number)

    def _query(self, sql: str, watch: Watch, *, trusted: bool = False) -> Result:
        reply = self._run(lambda worker: worker.query(self._number, sql, (), watch, trusted=trusted), watch)
        return result_of(reply, watch)

    def _run(self, action: Callable[[Worker], Reply], watch: Watch) -> Reply:
        again = True
        while not self._closed:
            if watch.stop():
                raise DatabaseError(str(lost(watch)))
            try:
                with WORKERS.lend(self._number) as worker:
                    self._make(worker, watch)
                    return action(worker)
            except WorkerLostError as ended:
                if watch.kind is not None or not (ended.again and again):
                    raise DatabaseError(str(lost(watch))) from None
                again = False
        raise DatabaseError("the database in memory was closed")

    def _make(self, worker: Worker, watch: Watch) -> None:
        if worker.opened.get(self._number) == self._fills:
            return
        worker.opened.pop(self._number, None)
        reply = worker.ask(("tables", self._number, self._statements), watch)
        if reply[0] == "failed":
            raise DatabaseError(f"the schema cannot be written to a new SQLite database ({reply[2]})")
        if self._filled is not None and worker.ask(self._filled, watch) != ("done", True):
            raise DatabaseError("the rows cannot be written to a new SQLite database")
        worker.opened[self._number] = self._fills


def _plain(row: Row) -> Row:
    """The row with cells that can be sent to another process; raises ``TypeError`` for what SQLite does not take."""
    if all(type(cell) in _PLAIN for cell in row):
        return tuple(row)
    return tuple(map(_plain_cell, row))


def _plain_cell(cell: Any) -> Cell:
    for kind in (int, float, str):
        if isinstance(cell, kind):
            return kind(cell)
    if cell is None:
        return None
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell)
    raise TypeError(type(cell).__name__)

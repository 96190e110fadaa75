"""A database behind access rules: hidden data is not in its schema, and no query reaches it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from sqljury.access.catalog import default_schema, read_catalog
from sqljury.access.check import Checker
from sqljury.access.rules import Access, compiled
from sqljury.access.words import secrets, tells
from sqljury.db.base import DEFAULT_LIMITS, Database, failure
from sqljury.db.contents import content_version
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import InputError, QueryRefusedError
from sqljury.parallel.watch import Watch
from sqljury.resources import Closing
from sqljury.sql.meter import under
from sqljury.sql.text import quote_table
from sqljury.types import Limits, Result, Schema

_WITHHELD: Final = "the query failed, and the reason cannot be shown under access rules; check its names and types"

_MISSING: Final = re.compile(
    r"HINT|Perhaps you meant|There is a column named|Did you mean|Candidate|does not exist|no such|not found|Unknown"
)
"""Signs of an error about an unknown name, to which engines add similar names, perhaps hidden ones."""

_DENIALS: Final = ("is prohibited", "not authorized")  # followed by the name that SQLite's authorizer denied


class Guarded(Closing):
    """A ``Database`` that shows the visible part of another one, and refuses queries that read the rest.

    Limits, cancellation and results are those of the wrapped database. ``whole`` is its schema, ``schema`` what is
    visible of it. Tables and columns created after this object are not visible.
    """

    def __init__(self, db: Database, schema: Schema, access: Access) -> None:
        """Raises ``InputError`` if a pattern matches nothing in ``schema``, or no table remains visible.

        So does a condition on rows that cannot be used.
        """
        default = default_schema(db)
        self._db, self.whole = db, schema
        self._rules = compiled(schema, access, default, read_catalog(db, default))
        self._checker = Checker(self._rules.rules) if access.hides else None
        self.row_rules = access.rows
        self._secret = secrets(schema, self._rules.shown)
        self._try_rows()

    @property
    def name(self) -> str:
        """See the wrapped database."""
        return self._db.name

    @property
    def dialect(self) -> str:
        """See the wrapped database."""
        return self._db.dialect

    @property
    def schemas(self) -> tuple[str, ...]:
        """See the wrapped database."""
        return self._db.schemas

    @property
    def sources(self) -> tuple[str, ...]:
        """The files of the wrapped database, if any."""
        return tuple(getattr(self._db, "sources", ()))

    @property
    def url(self) -> str:
        """See the wrapped database."""
        return self._db.url

    @property
    def identity(self) -> str:
        """See the wrapped database; its URL if it has no identity."""
        return str(getattr(self._db, "identity", self._db.url))

    def version(self) -> Hashable | None:
        """Another value after every change of the wrapped database; None where it cannot tell."""
        return content_version(self._db)

    @property
    def schema(self) -> Schema:
        """The visible tables and columns."""
        return self._rules.shown

    def __repr__(self) -> str:
        return f"Guarded({self._db!r})"

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one query that reads only visible data; any other query is ``refused`` and not sent."""
        if self._checker is None:
            return self._db.execute(sql, limits, cancel)
        watch = Watch(limits, cancel)
        try:
            with under(watch):
                text = self._checker.check(sql)
                may_read = self._rules.wall(text) if isinstance(self._db, SQLiteDatabase) else None
        except QueryRefusedError as error:
            return Result(error=failure(error.kind, str(error)), seconds=watch.seconds)
        limits = watch.left
        if isinstance(self._db, SQLiteDatabase):
            result = self._db.execute(text, limits, cancel, may_read=may_read)
        else:
            result = self._db.execute(text, limits, cancel)
        return self._censored(result, sql)

    def _try_rows(self) -> None:
        """Raise ``InputError`` for a condition that the database refuses: nothing could be read at all.

        Tables and views that are hidden are not tried, since no query reads them.
        """
        for table in self.schema.tables:
            name = table.name
            if name not in self._rules.rules.conditions:
                continue
            sql = f"SELECT count(*) FROM {quote_table(table.name, table.schema, self.dialect)}"  # noqa: S608
            error = self.execute(sql).error
            if error is not None and error.kind != "limit":  # a large table may take longer than a try
                raise InputError(f"rows: the condition on {name} cannot be used: {error}")

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> NoReturn:  # noqa: ARG002
        """Raises ``QueryRefusedError``, since the catalogue shows everything; use ``schema``."""
        raise QueryRefusedError(f"{self.url}: the catalogue is closed by access rules; use the schema that was read")

    def masked(self, table: str, column: str) -> bool:
        """Whether values of this column must be neither sampled nor indexed: it is masked or hidden."""
        if (table, column) in self._rules.masked:
            return True
        shown = (known.columns for known in self.schema.tables if known.name == table)
        return not any(known.name == column for columns in shown for known in columns)

    def tells(self, text: str) -> bool:
        """Whether a text names what is hidden."""
        return tells(text, self._secret)

    def close(self) -> None:
        """Close the wrapped database."""
        self._db.close()

    def _censored(self, result: Result, sql: str) -> Result:
        """The result, its error without names that the query does not have and that may not be seen."""
        if result.error is None:
            return result
        error = str(result.error)
        if any(words in error for words in _DENIALS):
            return replace(result, error=failure("refused", _WITHHELD))
        if _MISSING.search(error) or tells(error, self._secret - _words(sql, self._secret)):
            return replace(result, error=failure(result.error.kind, _WITHHELD))
        return result


def guard(db: Database, schema: Schema, access: Access) -> Database:
    """``db`` behind these rules, or ``db`` itself if there are none; ``schema`` is its whole schema.

    Raises ``InputError`` if a pattern matches nothing in ``schema``, or no table remains visible.
    """
    return Guarded(db, schema, access) if access else db


def skip(db: Database) -> Callable[[str, str], bool]:
    """The function that says, by table and column, whose values must be neither sampled nor indexed."""
    return db.masked if isinstance(db, Guarded) else lambda _table, _column: False


def _words(sql: str, secret: frozenset[str]) -> frozenset[str]:
    """The secret names that the query itself has."""
    return frozenset(name for name in secret if tells(sql, frozenset({name})))

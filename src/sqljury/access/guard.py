"""A database behind access rules: what may not be seen is not in its schema, and no query reaches it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from sqljury.access import catalog as access_catalog
from sqljury.access.check import Checker
from sqljury.access.rules import Access, compiled, secrets, tells
from sqljury.db.base import DEFAULT_LIMITS, Database, failure
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import QueryRefusedError
from sqljury.parallel.watch import Watch
from sqljury.resources import Closing
from sqljury.sql import parse as parsing
from sqljury.types import Limits, Result, Schema

_WITHHELD: Final = "the query failed, and the reason cannot be shown under access rules; check its names and types"

_MISSING: Final = re.compile(
    r"HINT|Perhaps you meant|There is a column named|Did you mean|Candidate|does not exist|no such|not found|Unknown"
)
"""Signs of an error about a name, to which engines add which other names there are when a hidden one is alike."""

_DENIALS: Final = ("is prohibited", "not authorized")  # with the name of what SQLite's authorizer denied


class Guarded(Closing):
    """A ``Database`` that shows the visible part of another, and refuses queries that touch the rest.

    Limits, cancellation and results are the other's. ``schema`` is the visible schema. The rules hold for the tables
    and columns there were when it was made; later ones are not visible.
    """

    def __init__(self, db: Database, schema: Schema, access: Access) -> None:
        """Raises ``InputError`` when a pattern matches nothing in ``schema``, or the rules leave nothing."""
        default = access_catalog.default_schema(db)
        self._db = db
        self._found = compiled(schema, access, default, access_catalog.read(db, default))
        self._checker = Checker(self._found.rules) if access.allow or access.deny else None
        self._secret = secrets(schema, self._found.shown)

    @property
    def name(self) -> str:
        """The other's."""
        return self._db.name

    @property
    def dialect(self) -> str:
        """The other's."""
        return self._db.dialect

    @property
    def schemas(self) -> tuple[str, ...]:
        """The other's."""
        return self._db.schemas

    @property
    def sources(self) -> tuple[str, ...]:
        """The other's files, where it has some."""
        return tuple(getattr(self._db, "sources", ()))

    @property
    def url(self) -> str:
        """The other's."""
        return self._db.url

    @property
    def identity(self) -> str:
        """The other's, its URL where it has none."""
        return str(getattr(self._db, "identity", self._db.url))

    @property
    def schema(self) -> Schema:
        """The tables and columns that may be seen."""
        return self._found.shown

    def __repr__(self) -> str:
        return f"Guarded({self._db!r})"

    def execute(self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> Result:
        """Run one query that reads nothing but what may be seen; anything else is ``refused`` and not sent."""
        if self._checker is None:
            return self._db.execute(sql, limits, cancel)
        watch = Watch(limits, cancel)
        try:
            with parsing.under(watch):
                text = self._checker.check(sql)
        except QueryRefusedError as error:
            return Result(error=failure(error.kind, str(error)), seconds=watch.seconds)
        limits = watch.left
        if isinstance(self._db, SQLiteDatabase):
            result = self._db.execute(text, limits, cancel, may_read=self._found.may_read)
        else:
            result = self._db.execute(text, limits, cancel)
        return self._told(result, sql)

    def catalog(self, sql: str, parameters: Sequence[str] = ()) -> NoReturn:  # noqa: ARG002
        """The catalogue shows everything, so it is closed: raises ``QueryRefusedError``; use ``schema``."""
        raise QueryRefusedError(f"{self.url}: the catalogue is closed by access rules; use the schema that was read")

    def masked(self, table: str, column: str) -> bool:
        """Whether values of this column must not be sampled nor indexed: it is masked, or not to be seen."""
        if (table, column) in self._found.masked:
            return True
        return not any(
            other.name == table and any(one.name == column for one in other.columns) for other in self.schema.tables
        )

    def close(self) -> None:
        """Close the other."""
        self._db.close()

    def _told(self, result: Result, sql: str) -> Result:
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
    """``db`` behind these rules; ``schema`` is all of its schema. Without rules it is ``db`` itself.

    Raises ``InputError`` when a pattern matches nothing in ``schema``, or the rules leave nothing to ask about.
    """
    return Guarded(db, schema, access) if access else db


def skip(db: Database) -> Callable[[str, str], bool]:
    """What tells, by table and column, whose values must be left alone; for samples and for the value index."""
    return db.masked if isinstance(db, Guarded) else _open


def _open(_table: str, _column: str) -> bool:
    return False


def _words(sql: str, secret: frozenset[str]) -> frozenset[str]:
    """The secret names that the query itself has."""
    return frozenset(name for name in secret if tells(sql, frozenset({name})))

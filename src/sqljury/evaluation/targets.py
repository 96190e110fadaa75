"""The databases of an evaluation, opened when they are needed and closed when too many are open."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.reading import Document
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, DatabaseNotFoundError, DatasetError
from sqljury.metrics.case import Remembered, Target
from sqljury.metrics.esm import ForeignKeys
from sqljury.metrics.esm_plus import Facts
from sqljury.metrics.spider import Names
from sqljury.metrics.suite import Trial, open_trials
from sqljury.schema.introspect import introspect
from sqljury.testing.store import Entry, load

MAX_OPEN: Final = 200
"""Files open at once; a test suite alone may have a hundred."""


class Targets:
    """From the name of a database to all that metrics know of it.

    ``files``, paths or URLs, comes from ``datasets.folders``, ``tables`` is Spider's ``tables.json``, whose foreign
    keys count instead of the databases' own; ``suite`` is a folder of ``sqljury suite build``. Raises ``DatasetError``
    for one that cannot be read, or for a suite that lacks one of the databases.
    """

    def __init__(
        self,
        files: Mapping[str, Sequence[str | Path]],
        tables: Path | Document | None = None,
        suite: Path | None = None,
    ) -> None:
        self.suite = suite
        self._suite = {} if suite is None else _suite_entries(suite, files)
        self._files = {name: tuple(paths) for name, paths in files.items()}
        self._entries = {} if tables is None else read_tables(tables)
        self._open: OrderedDict[str, tuple[Target, list[Database]]] = OrderedDict()
        self._unusable: dict[str, DatabaseError] = {}
        self.before: Callable[[], None] = _nothing

    @property
    def files(self) -> list[str | Path]:
        """The paths and URLs of all databases, with those of the suite."""
        files: list[str | Path] = [path for paths in self._files.values() for path in paths]
        if self.suite is not None:
            files += [self.suite / name / member.file for name in self._files for member in self._suite[name].members]
        return files

    def target(self, db_id: str, before: Callable[[], None] | None = None) -> Target:
        """The database of this name; ``before`` is called ahead of each query that runs on any of them from now on.

        Raises ``DatabaseError`` where there is none, or it cannot be opened; it is not tried again.
        """
        self.before = before or _nothing
        if db_id in self._unusable:
            raise self._unusable[db_id]
        if db_id not in self._open:
            try:
                self._open[db_id] = self._opened(db_id)
            except DatabaseError as error:
                self._unusable[db_id] = error
                raise
        self._open.move_to_end(db_id)
        return self._open[db_id][0]

    def _opened(self, db_id: str) -> tuple[Target, list[Database]]:
        if db_id not in self._files:
            raise DatabaseNotFoundError(f"there is no database {db_id!r}; add {db_id}/{db_id}.sqlite")
        members = self._suite[db_id].members if db_id in self._suite else ()
        self._make_room(len(self._files[db_id]) + len(members))
        databases: list[Database] = []
        try:
            databases += (connect(path) for path in self._files[db_id])
            return self._target(db_id, databases), databases
        except BaseException:
            for database in databases:
                database.close()
            raise

    def close(self) -> None:
        """Close every database."""
        for _, databases in self._open.values():
            for database in databases:
                database.close()
        self._open.clear()

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: the files' names, none of them open."""
        return {**self.__dict__, "_open": OrderedDict(), "_unusable": {}, "before": _nothing}

    def _target(self, db_id: str, databases: list[Database]) -> Target:
        schema = introspect(databases[0])
        entry = self._entries.get(db_id)
        keys = ForeignKeys.of_schema(schema) if entry is None else ForeignKeys.of_entry(entry)
        remembered = tuple(Remembered(database, self._tell) for database in databases)
        trials = self._trials(db_id, databases)
        return Target(schema, Names.of_schema(schema), keys, Facts.of_schema(schema), remembered, trials)

    def _trials(self, db_id: str, opened: list[Database]) -> tuple[Trial, ...]:
        """The suite's databases, added to what is ``opened``."""

        def open_(file: Path) -> Remembered:
            opened.append(connect(file))
            return Remembered(opened[-1], self._tell)

        return () if self.suite is None else open_trials(self.suite, db_id, self._suite[db_id], open_)

    def _tell(self) -> None:
        self.before()

    def _make_room(self, wanted: int) -> None:
        while self._open and sum(len(databases) for _, databases in self._open.values()) + wanted > MAX_OPEN:
            _, (_, databases) = self._open.popitem(last=False)
            for database in databases:
                database.close()


def _nothing() -> None:
    """Pickles, as a lambda does not."""


def _suite_entries(folder: Path, names: Iterable[str]) -> dict[str, Entry]:
    entries = load(folder)
    for name in names:
        if name not in entries:
            raise DatasetError(
                f"{folder}: has no databases for {name!r}; run `sqljury suite build` with this gold file"
            )
    return entries


def read_tables(file: Path | Document) -> dict[str, dict[str, Any]]:
    """The entries of Spider's ``tables.json`` by database; raises ``DatasetError`` where it is not one."""
    document = Document.of(file)
    try:
        return {entry["db_id"]: entry for entry in json.loads(document.raw)}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DatasetError(f"{document}: is not a tables.json as Spider has it ({error!r})") from None

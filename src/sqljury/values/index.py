"""The value index of a database: built, kept in the user's cache, refreshed and searched."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sqljury.db.base import Database
from sqljury.errors import CancelledError, DatabaseError
from sqljury.language import embed
from sqljury.llm.models import cache_dir
from sqljury.types import Schema
from sqljury.values import store
from sqljury.values.assemble import arrays
from sqljury.values.collect import Bounds, Found, Progress, Reader, Skip, text_columns
from sqljury.values.search import Match, Searcher
from sqljury.values.store import versions

MAX_AGE_SECONDS: Final = 24 * 3600.0
"""How long an index is good where the engine cannot tell whether a table changed."""

_LOCK_SECONDS: Final = 0.2


class ValueIndex:
    """The values of a database, to be searched for those near a text; may be used by several threads at once."""

    def __init__(self, path: Path | None, stored: store.Stored) -> None:
        self.path = path
        self._stored = stored
        self._searcher = Searcher(stored)

    @property
    def columns(self) -> dict[tuple[str, str], int]:
        """How many different values each column that was indexed has, by table and column."""
        counts = (((one["table"], one["column"]), one["count"]) for one in self._stored.header["columns"])
        return {place: count for place, count in counts if count}

    @property
    def notes(self) -> dict[tuple[str, str], str]:
        """Why values of a text column are missing, or all are: ``e-mail addresses``, ``long text``, ..."""
        found = self._stored.header["columns"]
        return {(one["table"], one["column"]): one["why"] for one in found if one["why"]}

    def search(self, text: str, limit: int = 5) -> list[Match]:
        """The ``limit`` values nearest to the text, best first, each once for every column that has it."""
        return self.search_many([text], limit)[0]

    def search_many(self, texts: Sequence[str], limit: int = 5) -> list[list[Match]]:
        """The same for several texts, such as the keywords of a question.

        Raises ``DatabaseError`` for an index that turns out to be damaged; it is then built anew at the next use.
        """
        try:
            return self._searcher.search(texts, limit)
        except (IndexError, KeyError, ValueError, OverflowError) as error:
            if self.path is not None:
                self.path.unlink(missing_ok=True)
            message = f"{self.path}: the value index is damaged ({error}) and was removed; search again"
            raise DatabaseError(message) from None


@dataclass(frozen=True, slots=True)
class _Work:
    """A database, what of it is indexed, and who is told."""

    db: Database
    schema: Schema
    columns: dict[str, tuple[str, ...]]
    bounds: Bounds
    progress: Progress | None
    cancel: threading.Event | None

    def check(self, what: str, done: int, total: int) -> None:
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("The building of the value index was cancelled.")
        if self.progress is not None:
            self.progress(what, done, total)


def open_or_build(
    db: Database,
    schema: Schema,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    skip_columns: Skip | None = None,
    bounds: Bounds | None = None,
) -> ValueIndex:
    """The value index of the database as it is now, built or refreshed if need be.

    Columns for which ``skip_columns`` is true, given table and column, are not looked into; each set of them has an
    index of its own. Raises ``CancelledError`` once ``cancel`` is set.
    """
    return _current(_work(db, schema, progress, cancel, skip_columns, bounds), anew=False)


def build(
    db: Database,
    schema: Schema,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    skip_columns: Skip | None = None,
    bounds: Bounds | None = None,
) -> ValueIndex:
    """The same, but everything is read again."""
    return _current(_work(db, schema, progress, cancel, skip_columns, bounds), anew=True)


def index_path(db: Database, schema: Schema, skip_columns: Skip | None = None) -> Path:
    """Where the index of this database, without these columns, lies or would lie: in the user's cache."""
    left_out = [
        (table.name, column.name)
        for table in schema.tables
        for column in table.columns
        if skip_columns is not None and skip_columns(table.name, column.name)
    ]
    identity = json.dumps([_where(db), db.schemas, left_out])
    name = re.sub(r"[^\w-]+", "_", db.name)[:40]
    return cache_dir() / "values" / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:20]}.index"


def _where(db: Database) -> str:
    """What is the same for the same database, by whatever name it was reached."""
    files: tuple[str, ...] = tuple(getattr(db, "sources", ()))
    return os.path.realpath(files[0]) if len(files) == 1 else str(getattr(db, "identity", db.url))


def _work(
    db: Database,
    schema: Schema,
    progress: Progress | None,
    cancel: threading.Event | None,
    skip: Skip | None,
    bounds: Bounds | None,
) -> tuple[_Work, Path]:
    columns = text_columns(schema, skip)
    return _Work(db, schema, columns, bounds or Bounds(), progress, cancel), index_path(db, schema, skip)


def _current(asked: tuple[_Work, Path], *, anew: bool) -> ValueIndex:
    work, path = asked
    if not anew and (kept := _read(path)) is not None and _is_fresh(kept, work):
        return ValueIndex(path, kept)
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(str(path) + ".lock")
        while True:
            work.check("waiting for another process that builds it", 0, 1)
            try:
                lock.acquire(timeout=_LOCK_SECONDS)
                break
            except Timeout:
                continue
    except OSError as error:
        return _without_file(work, path, error)
    try:
        kept = _read(path)
        if not anew and kept is not None and _is_fresh(kept, work):
            return ValueIndex(path, kept)
        for left in path.parent.glob(f"{path.name}.*.tmp"):  # by a process that was killed: we hold the lock
            left.unlink(missing_ok=True)
        header, made = _make(work, None if anew else kept)
        try:
            return ValueIndex(path, store.write(path, header, made))
        except OSError as error:
            return _without_file(work, path, error, (header, made))
    finally:
        lock.release()


def _read(path: Path) -> store.Stored | None:
    """The index as it lies there, None when there is none; a damaged one is told of and built anew."""
    try:
        return store.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (store.DamagedError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        warnings.warn(f"The value index {path} {reason}; it is built anew.", RuntimeWarning, stacklevel=2)
        return None


def _without_file(
    work: _Work, path: Path, error: OSError, made: tuple[dict[str, Any], store.Arrays] | None = None
) -> ValueIndex:
    message = f"The value index {path} cannot be kept ({error.strerror}); it is built for this run only."
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    header, built = made or _make(work, None)
    return ValueIndex(None, store.write_unnamed(header, built))


def _is_fresh(kept: store.Stored, work: _Work) -> bool:
    """Whether this index is that of the database as it is now."""
    now = versions(work.db, list(work.columns))
    if not _fits(kept, work) or kept.header["versions"].keys() != now.keys():
        return False
    aged = time.time() - kept.header["made"] > MAX_AGE_SECONDS
    return all(kept.header["versions"][table] == now[table] and not (now[table] is None and aged) for table in now)


def _fits(kept: store.Stored, work: _Work) -> bool:
    """Whether this index is of the same columns, made in the same way."""
    return bool(
        kept.header["bounds"] == asdict(work.bounds)
        and kept.header["vectors"] == embed.available()
        and _columns(kept) == {table: columns for table, columns in work.columns.items() if columns}
    )


def _columns(kept: store.Stored) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one in kept.header["columns"]:
        found[one["table"]] = (*found.get(one["table"], ()), one["column"])
    return found


def _make(work: _Work, kept: store.Stored | None) -> tuple[dict[str, Any], store.Arrays]:
    """Header and arrays: tables that did not change are taken from ``kept``, the others read."""
    # Before reading: what changes meanwhile has another version next time.
    now = versions(work.db, list(work.columns))
    known = _unchanged(kept, work, now) if kept is not None else {}
    reader = Reader(work.db, work.bounds, work.cancel)
    found: list[Found] = []
    left = work.bounds.all_values
    total = sum(map(len, work.columns.values()))
    for table in work.schema.tables:
        columns = work.columns.get(table.name, ())
        for one in known.get(table.name) or reader.table(table, columns):
            work.check(f"reading {one.table}.{one.column}", len(found), total)
            if len(one.values) > left:
                why = f"would be beyond the {work.bounds.all_values:,} values of an index"
                one = Found(one.table, one.column, (), why)
            left -= len(one.values)
            found.append(one)
    header = {
        "database": work.db.url,
        "made": time.time(),
        "bounds": asdict(work.bounds),
        "versions": now,
        "vectors": embed.available(),
        "columns": [
            {"table": one.table, "column": one.column, "count": len(one.values), "why": one.why} for one in found
        ],
    }
    return header, arrays(found, work.check)


def _unchanged(kept: store.Stored, work: _Work, now: dict[str, str | None]) -> dict[str, list[Found]]:
    """By table, what the index holds of tables that are as they were, their columns too."""
    if kept.header["bounds"] != asdict(work.bounds):
        return {}
    columns, then = _columns(kept), kept.header["versions"]
    same = {t for t in now if now[t] is not None and now[t] == then.get(t) and columns.get(t) == work.columns[t]}
    if not same:
        return {}
    values = Searcher(kept).values_by_column()
    found: dict[str, list[Found]] = {}
    for number, one in enumerate(kept.header["columns"]):
        if one["table"] in same:
            column = Found(one["table"], one["column"], tuple(sorted(values.get(number, ()))), one["why"])
            found.setdefault(one["table"], []).append(column)
    return found

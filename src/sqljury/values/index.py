"""The value index of a database: built, stored in the user's cache, refreshed and searched."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import threading
import time
import warnings
from array import array
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.db.base import Database
from sqljury.errors import CancelledError, DatabaseError
from sqljury.language import embed
from sqljury.llm.models import cache_dir
from sqljury.types import Schema
from sqljury.values import grams, store
from sqljury.values.collect import Bounds, ColumnValues, Progress, Reader, Skip, text_columns
from sqljury.values.search import Match, Searcher
from sqljury.values.spelling import fold, usual
from sqljury.values.store import versions

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_AGE_SECONDS: Final = 24 * 3600.0
"""How long an index is valid if the engine cannot tell whether a table changed."""

COLUMN_VALUES: Final = 2_000
"""Columns with more distinct values than this hold names rather than notions, and are not searched by meaning."""
ALL_VALUES: Final = 50_000
"""Values that are searched by meaning in all, from the columns with the fewest first; 1 KB each."""

SEARCHES: Final = 256
"""Texts whose matches are kept with an open index: questions on a database share many of their words."""

_LOCK_SECONDS: Final = 0.2


class ValueIndex:
    """The values of a database, which can be searched for those near a text; may be used by several threads at once.

    A search that finds it ``damaged`` says so there; it is of no further use then.
    """

    def __init__(self, path: Path | None, stored: store.Stored) -> None:
        self.path = path
        self.damaged = False
        self._stored = stored
        self._searcher = Searcher(stored)
        self._found = functools.lru_cache(SEARCHES)(self._search)

    @property
    def columns(self) -> dict[tuple[str, str], int]:
        """The number of distinct values of each indexed column, by table and column."""
        columns = self._stored.header["columns"]
        return {(column["table"], column["column"]): column["count"] for column in columns if column["count"]}

    @property
    def notes(self) -> dict[tuple[str, str], str]:
        """Why some or all values of a text column are not indexed: ``e-mail addresses``, ``long text``, ..."""
        columns = self._stored.header["columns"]
        return {(column["table"], column["column"]): column["why"] for column in columns if column["why"]}

    def search(self, text: str, limit: int = 5) -> list[Match]:
        """The ``limit`` values nearest to the text, best first, each once for every column that holds it."""
        return self.search_many([text], limit)[0]

    def search_many(self, texts: Sequence[str], limit: int = 5) -> list[list[Match]]:
        """``search`` for several texts, such as the keywords of a question.

        Raises ``DatabaseError`` for a damaged index, and removes it so that the next use rebuilds it.
        """
        try:
            return [list(self._found(text, limit)) for text in texts]
        except (IndexError, KeyError, ValueError, OverflowError) as error:
            self.damaged = True
            if self.path is not None:
                self.path.unlink(missing_ok=True)
            message = f"{self.path}: the value index is damaged ({error}) and was removed; search again"
            raise DatabaseError(message) from None

    def _search(self, text: str, limit: int) -> tuple[Match, ...]:
        return tuple(self._searcher.search([text], limit)[0])


@dataclass(frozen=True, slots=True)
class _Work:
    """A database, the columns to index, and how to report progress and to cancel."""

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
    """The value index of the database's current content, built or refreshed if necessary.

    Columns for which ``skip_columns(table, column)`` is true are not read; each set of them has an index of its own.
    Raises ``CancelledError`` once ``cancel`` is set.
    """
    work = _Work(db, schema, text_columns(schema, skip_columns), bounds or Bounds(), progress, cancel)
    return _current(work, index_path(db, schema, skip_columns), anew=False)


def build(
    db: Database,
    schema: Schema,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    skip_columns: Skip | None = None,
    bounds: Bounds | None = None,
) -> ValueIndex:
    """``open_or_build`` that reads everything again."""
    work = _Work(db, schema, text_columns(schema, skip_columns), bounds or Bounds(), progress, cancel)
    return _current(work, index_path(db, schema, skip_columns), anew=True)


def index_path(db: Database, schema: Schema, skip_columns: Skip | None = None) -> Path:
    """The path, in the user's cache, of the index of what may be read of this database.

    Where rules hide or mask something, each choice of columns has an index of its own, or sessions with different rules
    would rebuild it in turn. An index of everything stays where it is when the schema changes.
    """
    whole: Schema = getattr(db, "whole", schema)  # what access rules hide is not in ``schema``
    known = {(table.name, column.name) for table in whole.tables for column in table.columns}
    shown = [
        (table.name, column.name, skip_columns is None or not skip_columns(table.name, column.name))
        for table in schema.tables
        for column in table.columns
    ]
    narrowed = {(table, column) for table, column, read in shown if read} != known
    rows = getattr(db, "row_rules", ())  # who sees other rows has other values
    identity = json.dumps([_location(db), db.schemas, shown if narrowed else [], *rows])
    name = re.sub(r"[^\w-]+", "_", db.name)[:40]
    return cache_dir() / "values" / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:20]}.index"


def _location(db: Database) -> str:
    """A text that is the same for one database, by whatever path it is opened."""
    files: tuple[str, ...] = tuple(getattr(db, "sources", ()))
    return os.path.realpath(files[0]) if len(files) == 1 else str(getattr(db, "identity", db.url))


def _current(work: _Work, path: Path, *, anew: bool) -> ValueIndex:
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
        for leftover in path.parent.glob(f"{path.name}.*.tmp"):  # of a killed process: this one holds the lock
            leftover.unlink(missing_ok=True)
        header, made = _make(work, None if anew else kept)
        try:
            return ValueIndex(path, store.write(path, header, made))
        except OSError as error:
            return _without_file(work, path, error, (header, made))
    finally:
        lock.release()


def _read(path: Path) -> store.Stored | None:
    """The stored index, None if there is none or, with a warning, if it is damaged."""
    try:
        return store.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (store.DamagedError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        warnings.warn(f"The value index {path} {reason}; it is rebuilt.", RuntimeWarning, stacklevel=2)
        return None


def _without_file(
    work: _Work, path: Path, error: OSError, made: tuple[dict[str, Any], store.Arrays] | None = None
) -> ValueIndex:
    message = f"The value index {path} cannot be stored ({error.strerror}); it is built for this run only."
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    header, built = made or _make(work, None)
    return ValueIndex(None, store.write_unnamed(header, built))


def _is_fresh(kept: store.Stored, work: _Work) -> bool:
    """Whether the index has the database's current content."""
    now = versions(work.db, list(work.columns))
    if not _fits(kept, work) or kept.header["versions"].keys() != now.keys():
        return False
    aged = time.time() - kept.header["made"] > MAX_AGE_SECONDS
    return all(kept.header["versions"][table] == now[table] and not (now[table] is None and aged) for table in now)


def _fits(kept: store.Stored, work: _Work) -> bool:
    """Whether the index is of the same columns and was built with the same bounds and embeddings."""
    return bool(
        kept.header["bounds"] == asdict(work.bounds)
        and kept.header["vectors"] == embed.available()
        and _columns(kept) == {table: columns for table, columns in work.columns.items() if columns}
    )


def _columns(kept: store.Stored) -> dict[str, tuple[str, ...]]:
    columns: dict[str, tuple[str, ...]] = {}
    for column in kept.header["columns"]:
        columns[column["table"]] = (*columns.get(column["table"], ()), column["column"])
    return columns


def _make(work: _Work, kept: store.Stored | None) -> tuple[dict[str, Any], store.Arrays]:
    """Header and arrays, with unchanged tables taken from ``kept`` and the others read."""
    # Before reading, so that a change during it shows as another version next time.
    now = versions(work.db, list(work.columns))
    known = _unchanged(kept, work, now) if kept is not None else {}
    reader = Reader(work.db, work.bounds, work.cancel)
    read: list[ColumnValues] = []
    remaining = work.bounds.all_values
    total = sum(map(len, work.columns.values()))
    for table in work.schema.tables:
        columns = work.columns.get(table.name, ())
        for column in known.get(table.name) or reader.table(table, columns):
            work.check(f"reading {column.table}.{column.column}", len(read), total)
            if len(column.values) > remaining:
                why = f"would be beyond the {work.bounds.all_values:,} values of an index"
                column = ColumnValues(column.table, column.column, (), why)
            remaining -= len(column.values)
            read.append(column)
    header = {
        "database": work.db.url,
        "made": time.time(),
        "bounds": asdict(work.bounds),
        "versions": now,
        "vectors": embed.available(),
        "columns": [
            {"table": column.table, "column": column.column, "count": len(column.values), "why": column.why}
            for column in read
        ],
    }
    return header, arrays(read, work.check)


def _unchanged(kept: store.Stored, work: _Work, now: dict[str, str | None]) -> dict[str, list[ColumnValues]]:
    """The values of tables that are unchanged, with the same columns, by table."""
    if kept.header["bounds"] != asdict(work.bounds):
        return {}
    columns, then = _columns(kept), kept.header["versions"]
    same = {t for t in now if now[t] is not None and now[t] == then.get(t) and columns.get(t) == work.columns[t]}
    if not same:
        return {}
    values = Searcher(kept).values_by_column()
    by_table: dict[str, list[ColumnValues]] = {}
    for number, column in enumerate(kept.header["columns"]):
        if column["table"] in same:
            sorted_values = tuple(sorted(values.get(number, ())))
            known = ColumnValues(column["table"], column["column"], sorted_values, column["why"])
            by_table.setdefault(known.table, []).append(known)
    return by_table


Check = Callable[[str, int, int], None]


def arrays(columns: Sequence[ColumnValues], check: Check) -> dict[str, NDArray[Any]]:
    """The arrays of an index, as docs/value_index.md lists them; ``check`` receives progress and may raise.

    Values that fold to the same key are adjacent. Equal input gives equal arrays.
    """
    import numpy as np

    known: dict[str, int] = {}
    key_of, column_of = array("I"), array("I")
    for number, column in enumerate(columns):
        check("folding", number, len(columns))
        key_of.extend(known.setdefault(fold(value), len(known)) for value in column.values)
        column_of.extend([number] * len(column.values))
    keys = list(known)
    del known
    texts = [value for column in columns for value in column.values]
    owners = np.asarray(key_of, dtype=np.uint32)
    order = np.argsort(owners, kind="stable")
    sorted_owners = owners[order]
    starts, lists = grams.invert(keys, lambda done: check("indexing", done, len(keys)))
    notions = _notions(columns, owners)
    check("reading meanings", 0, len(notions))
    key_letters, key_at = _joined(keys)
    text_letters, text_at = _joined([texts[at] for at in order])
    return {
        "keys": key_letters,
        "key_at": key_at,
        "texts": text_letters,
        "text_at": text_at,
        "first": np.searchsorted(sorted_owners, np.arange(len(keys) + 1)).astype(np.uint32),
        "column": np.asarray(column_of, dtype=np.uint32)[order],
        "starts": starts.astype(np.uint32),
        "lists": lists,
        "vector_keys": owners[notions],
        "vectors": embed.vectors([usual(texts[at]) for at in notions])
        if embed.available()
        else np.zeros((0, 0), np.float32),
    }


def _notions(columns: Sequence[ColumnValues], owners: NDArray[Any]) -> list[int]:
    """Positions of the values to search by meaning, one for each key, from the columns with the fewest values."""
    if not embed.available():
        return []
    begins, total = [], 0
    for column in columns:
        begins.append(total)
        total += len(column.values)
    few = sorted(range(len(columns)), key=lambda number: len(columns[number].values))
    chosen: dict[int, int] = {}
    for number in few:
        count = len(columns[number].values)
        if count > COLUMN_VALUES or len(chosen) + count > ALL_VALUES:
            break
        for at in range(begins[number], begins[number] + count):
            chosen.setdefault(int(owners[at]), at)
    return sorted(chosen.values())


def _joined(texts: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The concatenated UTF-8 texts, and the offset of each, followed by the end of the last."""
    import numpy as np

    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

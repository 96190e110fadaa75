"""The schema of a database with the keys that it does not declare, found once and kept in the user's cache."""

from __future__ import annotations

import hashlib
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.access.guard import skip
from sqljury.db.base import Database
from sqljury.keys.infer import Inferred, infer, merged, worth_reading
from sqljury.keys.profile import (
    Bounds,
    ColumnProfile,
    Reader,
    TableProfile,
    inclusion_sql,
    may_be_key,
    read_table,
)
from sqljury.schema.introspect import introspect
from sqljury.types import Column, ForeignKey, Schema, Table
from sqljury.values import index_path, store
from sqljury.values.collect import Progress
from sqljury.values.index import MAX_AGE_SECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT: Final = 7
"""The version of the inference: raise it with each change, so that stored keys are inferred again."""

RETRY_SECONDS: Final = 600.0
"""After this time a table that could not be read or compared, for lack of time or for an error, is tried again."""

Counts = dict[tuple[str, tuple[str, ...], str, tuple[str, ...]], tuple[int, int]]
"""By table, columns, other table and key: values that were looked up, and those that were there."""


def known_schema(
    db: Database, progress: Progress | None = None, cancel: threading.Event | None = None, bounds: Bounds | None = None
) -> Schema:
    """The schema as ``introspect`` reads it, with likely keys that the database does not declare.

    Rows are read within ``bounds`` unless the cache holds the keys of the present rows; columns that access rules mask
    or hide are not read. Raises what ``introspect`` raises, and ``CancelledError`` once ``cancel`` is set.
    """
    schema = introspect(db)
    work = _Work(db, schema, bounds or Bounds(), progress, cancel)
    path = index_path(db, schema, skip(db)).with_suffix(".keys")
    kept = _read(path, work)
    if kept is None or not kept.fresh:
        kept = _found(work, kept)
        _write(path, work, kept)
    return merged(schema, kept.inferred)


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """A database, what is to be read of it, and how to report progress and to cancel."""

    db: Database
    schema: Schema
    bounds: Bounds
    progress: Progress | None
    cancel: threading.Event | None
    tables: list[Table] = field(init=False)
    print: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", worth_reading(self.schema))
        parts = (FORMAT, asdict(self.bounds), self.schema.dialect, self.schema.tables)
        object.__setattr__(self, "print", hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest())

    def columns(self, table: Table) -> list[Column]:
        """The columns of a table to read."""
        masked = skip(self.db)
        return [
            column
            for column in table.columns
            if may_be_key(column, self.db.dialect) and not masked(table.name, column.name)
        ]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was found: ``versions`` are those of the tables that were read; ``fresh``: they are the same now.

    Tables that ``inferred`` lacks were not compared, for lack of time.
    """

    versions: dict[str, str | None]
    profiles: dict[str, TableProfile]
    counts: Counts
    inferred: dict[str, Inferred]
    made: float
    fresh: bool = True


def _found(work: _Work, kept: _Kept | None) -> _Kept:
    """The keys, with the tables and pairs of ``kept`` that have not changed."""
    names = [table.name for table in work.tables]
    versions = store.versions(work.db, names)  # before reading: a change during it shows as another version next time
    reader = Reader(work.db, work.bounds, work.cancel)
    reader.check()
    then = kept.versions if kept is not None else {}
    same = {name for name in names if versions[name] is not None and versions[name] == then.get(name)}
    profiles = {name: kept.profiles[name] for name in same if not kept.profiles[name].why} if kept is not None else {}
    for done, table in enumerate(work.tables):
        if table.name not in profiles:
            if work.progress is not None:
                work.progress(f"looking for keys: {table.name}", done, len(names))
            profiles[table.name] = read_table(reader, table, work.columns(table))
    counts: Counts = {pair: count for pair, count in kept.counts.items() if {pair[0], pair[2]} <= same} if kept else {}

    def contained(
        table: Table, columns: tuple[str, ...], target: Table, key: tuple[str, ...]
    ) -> tuple[int, int] | None:
        pair = table.name, columns, target.name, key
        if pair not in counts:
            sql = inclusion_sql(table, columns, target, key, work.db.dialect, work.bounds)
            result = reader.rows(sql, 1)
            if isinstance(result, str) or not result.rows:
                return None
            counts[pair] = int(result.rows[0][0]), int(result.rows[0][1] or 0)
        return counts[pair]

    inferred = infer(work.schema, profiles, contained, has_time=_clock(reader))
    if missing := len(work.schema.tables) - len(inferred):
        message = (
            f"No keys were looked for in {missing:,} of the {len(work.schema.tables):,} tables of {work.db.name}: "
            f"comparing the others took {work.bounds.compare_seconds:g} s. Declare keys, or add them to the notes."
        )
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    return _Kept(versions, profiles, counts, inferred, time.time())


def _clock(reader: Reader) -> Callable[[], bool]:
    """Whether time is left for comparing, counted from now; raises ``CancelledError`` once ``cancel`` is set."""
    end = time.monotonic() + reader.bounds.compare_seconds

    def has_time() -> bool:
        reader.check()
        return time.monotonic() < end

    return has_time


def _read(path: Path, work: _Work) -> _Kept | None:
    """What was stored of this schema with these bounds, None if there is none or it is damaged."""
    try:
        stored = store.read(path)
        if stored.header.get("print") != work.print:
            return None
        kept = _unpacked(stored)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (store.DamagedError, OSError, KeyError, TypeError, ValueError, IndexError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"The keys in {path} cannot be used ({reason}); they are looked for again."
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return None
    now = store.versions(work.db, [table.name for table in work.tables])
    aged = time.time() - kept.made > MAX_AGE_SECONDS
    unread = any(profile.why for profile in kept.profiles.values()) or len(kept.inferred) < len(work.schema.tables)
    fresh = (
        not (unread and time.time() - kept.made > RETRY_SECONDS)
        and kept.versions.keys() == now.keys()
        and all(kept.versions[name] == now[name] and not (now[name] is None and aged) for name in now)
    )
    return _Kept(kept.versions, kept.profiles, kept.counts, kept.inferred, kept.made, fresh)


def _write(path: Path, work: _Work, kept: _Kept) -> None:
    """Store what was found; where that is impossible it is looked for again next time."""
    header, arrays = _packed(work, kept)
    try:
        store.write(path, header, arrays)
    except (NotADirectoryError, FileExistsError):
        return  # there is no cache at all, which the cache of replies has said
    except OSError as error:
        message = f"The keys found in {work.db.name} cannot be stored in {path} ({error.strerror})."
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def _packed(work: _Work, kept: _Kept) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    import numpy as np

    values: list[int] = []
    tables: dict[str, Any] = {}
    for name, profile in kept.profiles.items():
        columns = {}
        for column, seen in profile.columns.items():
            columns[column] = (seen.count, seen.nulls, len(seen.values), seen.unique, seen.low, seen.high)
            values += sorted(seen.values)
        tables[name] = (profile.rows, profile.whole, profile.checked, profile.compound, profile.why, columns)
    header = {
        "database": work.db.url,
        "print": work.print,
        "made": kept.made,
        "versions": kept.versions,
        "tables": tables,
        "counts": [(*pair, *count) for pair, count in kept.counts.items()],
        "inferred": {
            name: (table_keys.candidate_keys, [asdict(key) for key in table_keys.foreign_keys])
            for name, table_keys in kept.inferred.items()
        },
    }
    return header, {"values": np.asarray(values, dtype=np.uint64)}


def _key(stored: dict[str, Any]) -> ForeignKey:
    parts: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in stored.items()}
    return ForeignKey(**parts)


def _unpacked(stored: store.Stored) -> _Kept:
    header, values, at = stored.header, stored.arrays["values"], 0
    profiles = {}
    for name, (rows, whole, checked, compound, why, columns) in header["tables"].items():
        seen = {}
        for column, (count, nulls, size, unique, low, high) in columns.items():
            seen[column] = ColumnProfile(count, nulls, frozenset(values[at : at + size].tolist()), unique, low, high)
            at += size
        profiles[name] = TableProfile(rows, whole, checked, seen, tuple(compound), why)
    inferred = {
        name: Inferred(
            tuple(tuple(map(str, key)) for key in candidates),
            tuple(map(_key, keys)),
        )
        for name, (candidates, keys) in header["inferred"].items()
    }
    counts = {(a, tuple(b), c, tuple(d)): (int(e), int(f)) for a, b, c, d, e, f in header["counts"]}
    return _Kept(dict(header["versions"]), profiles, counts, inferred, float(header["made"]))

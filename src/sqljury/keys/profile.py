"""What is read of a database to find its keys: for each table a sample of rows, and whether a column is unique.

Every query is bounded in rows and in time, and all of them together in time. Of values only hashes are kept.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from sqljury.db.base import Database
from sqljury.errors import CancelledError
from sqljury.keys.names import is_identifier, ownership, table_words
from sqljury.patterns import regex
from sqljury.sql.text import quote_name, quote_table
from sqljury.types import Column, Limits, Result, Row, Table

KEY_CHARS: Final = 100
"""Texts longer than this are prose: a column that holds one is not a key."""

_COLUMNS: Final = 100
"""Columns read of one table; those called like identifiers come first."""

_CHECKED: Final = 3
"""Columns of a table whose uniqueness is checked beyond the sample."""

_NO_KEY: Final = regex(
    r"bool|\bbit\b|json|xml|blob|bytea|binary|geo|point|polygon|linestring|struct|map|list|array|\[|interval|vector",
    re.IGNORECASE,
)
_FRACTION: Final = regex(r"float|real|double|money", re.IGNORECASE)
_WHOLE: Final = regex(r"-?\d{1,18}")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on reading: seconds in all and for a query, sampled rows of a table, rows searched for duplicates.

    ``compare_seconds`` limit what comes after it, the comparison of columns and keys.
    """

    seconds: float = 10.0
    query_seconds: float = 5.0
    compare_seconds: float = 10.0
    sample_rows: int = 2_000
    rows: int = 200_000


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What was seen of a column: ``values`` are hashes of its distinct values, all of them if its table was read whole.

    ``unique`` is None where that is not known; ``low`` and ``high`` are set if all values are whole numbers.
    """

    count: int = 0
    nulls: int = 0
    values: frozenset[int] = frozenset()
    unique: bool | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class TableProfile:
    """What was seen of a table: ``rows`` of it, which were all if ``whole``.

    Columns that are not there were not read. ``checked`` rows were searched for duplicates. ``compound`` lists the
    first columns if they are unique together and no single column of the table is. ``why`` is the reason for missing
    rows.
    """

    rows: int = 0
    whole: bool = False
    checked: int = 0
    columns: dict[str, ColumnProfile] = field(default_factory=dict)
    compound: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Runs bounded queries on a database until the time is spent."""

    db: Database
    bounds: Bounds = field(default_factory=Bounds)
    cancel: threading.Event | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that are left for reading."""
        return self.bounds.seconds - (time.monotonic() - self.started)

    def rows(self, sql: str, limit: int) -> Result | str:
        """The result of a query, or why there is none; raises ``CancelledError``."""
        self.check()
        if self.left <= 0:
            return "not read: the time was spent"
        limits = Limits(max(min(self.left, self.bounds.query_seconds), 0.05), limit, 64 << 20)
        result = self.db.execute(sql, limits, self.cancel)
        self.check()
        return result if result.error is None else f"not read ({result.error})"

    def check(self) -> None:
        """Raise ``CancelledError`` once ``cancel`` is set."""
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("The search for keys was cancelled.")


def read_table(reader: Reader, table: Table, columns: Sequence[Column]) -> TableProfile:
    """The profile of these columns of a table, from at most three queries; raises ``CancelledError``."""
    chosen = sorted(columns, key=lambda column: not is_identifier(column.name))[:_COLUMNS]
    if not chosen:
        return TableProfile()
    dialect, most = reader.db.dialect, reader.bounds.sample_rows
    source = quote_table(table.name, table.schema, dialect)
    listed = ", ".join(quote_name(column.name, dialect) for column in chosen)
    result = reader.rows(f"SELECT {listed} FROM {source} LIMIT {most}", most)  # noqa: S608
    if isinstance(result, str):
        return TableProfile(why=result)
    whole = len(result.rows) < most and not result.truncated
    profiles = {
        column.name: seen
        for at, column in enumerate(chosen)
        if (seen := _profile([row[at] for row in result.rows], dialect)) is not None
    }
    compound = _compound(table, [column.name for column in chosen], result.rows, profiles)
    if whole:
        return TableProfile(len(result.rows), True, len(result.rows), profiles, compound)
    return _checked(reader, table, source, profiles, TableProfile(len(result.rows), compound=compound))


def _compound(
    table: Table, read: Sequence[str], rows: Sequence[Row], profiles: dict[str, ColumnProfile]
) -> tuple[str, ...]:
    """The first columns of a table, up to ``_TOGETHER``, if their values are unique and not NULL together only."""
    if len(rows) < _FEW_ROWS or any(seen.unique and is_identifier(name) for name, seen in profiles.items()):
        return ()
    first: list[str] = []
    for column in table.columns[:_TOGETHER]:
        seen = profiles.get(column.name)
        if seen is None or seen.nulls or seen.unique:
            return ()
        first.append(column.name)
        positions = [read.index(name) for name in first]
        if len({tuple(row[position] for position in positions) for row in rows}) == len(rows):
            return tuple(first) if len(first) > 1 else ()
    return ()


_TOGETHER: Final = 4
_FEW_ROWS: Final = 3


def may_be_key(column: Column, dialect: str) -> bool:
    """Whether a column of this type may be part of a key; SQLite and files declare whole numbers as ``REAL``."""
    if _NO_KEY.search(column.type):
        return False
    return dialect == "sqlite" or not _FRACTION.search(column.type)


def hashed(value: object, dialect: str = "") -> int:
    """A number of 63 bits that equal values share, whether they are numbers or the same as text."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    if dialect == "mysql":
        text = text.rstrip().casefold()
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def _profile(cells: Sequence[Any], dialect: str) -> ColumnProfile | None:
    """The profile of a column's cells, None if it holds what no key holds."""
    present = [cell for cell in cells if cell is not None and cell != ""]
    if any(_is_no_key(cell) for cell in present):
        return None
    values = {hashed(cell, dialect) for cell in present}
    numbers = _whole_numbers(present)
    return ColumnProfile(
        count=len(present),
        nulls=len(cells) - len(present),
        values=frozenset(values),
        unique=None if not present else len(values) == len(cells),
        low=min(numbers, default=None),
        high=max(numbers, default=None),
    )


def _is_no_key(cell: object) -> bool:
    if isinstance(cell, bytes | bool):
        return True
    if isinstance(cell, float):
        return not cell.is_integer()
    return isinstance(cell, str) and len(cell) > KEY_CHARS


def _whole_numbers(cells: Iterable[Any]) -> list[int]:
    """The cells as whole numbers; none if one of them is something else."""
    numbers = []
    for cell in cells:
        if not isinstance(cell, int | float) and not _WHOLE.fullmatch(str(cell)):
            return []
        numbers.append(int(cell))
    return numbers


def _checked(
    reader: Reader, table: Table, source: str, profiles: dict[str, ColumnProfile], seen: TableProfile
) -> TableProfile:
    """The profile of a table larger than the sample, with the columns that may be keys searched for duplicates."""
    order, sampled = [column.name for column in table.columns], seen.rows
    unique = [name for name in profiles if profiles[name].unique and profiles[name].count == sampled]
    entity = table_words(table.name)
    if any(ownership(entity, name) for name in unique):  # names take long to compare, and it has a key
        unique = [name for name in unique if is_identifier(name)]
    unique.sort(key=lambda name: (-ownership(entity, name), not is_identifier(name), order.index(name)))
    known = {name: replace(profile, unique=None if profile.unique else False) for name, profile in profiles.items()}
    dialect, most, names = reader.db.dialect, reader.bounds.rows, unique[:_CHECKED]
    if not names:
        return replace(seen, checked=sampled, columns=known)
    quoted = [quote_name(name, dialect) for name in names]
    # PostgreSQL has no MIN of some types, such as UUIDs.
    ends = [
        f"MIN({name}), MAX({name})" if profiles[column].low is not None else "NULL, NULL"
        for column, name in zip(names, quoted, strict=True)
    ]
    counts = ", ".join(f"COUNT({q}), COUNT(DISTINCT {q}), {both}" for q, both in zip(quoted, ends, strict=True))
    part = f"(SELECT {', '.join(quoted)} FROM {source} LIMIT {most}) AS part"  # noqa: S608
    result = reader.rows(f"SELECT COUNT(*), {counts} FROM {part}", 1)  # noqa: S608
    if isinstance(result, str) or not result.rows:
        return replace(seen, columns=known, why=result if isinstance(result, str) else "not read")
    known.update(zip(names, _counted(result.rows[0], [known[name] for name in names]), strict=True))
    return replace(seen, checked=int(result.rows[0][0]), columns=known)


def _counted(row: Row, seen: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    rows, counted = int(row[0]), []
    for at, profile in enumerate(seen):
        present, distinct, low, high = row[1 + 4 * at : 5 + 4 * at]
        numbers = _whole_numbers([low, high]) if profile.low is not None and low is not None else []
        counted.append(
            replace(
                profile,
                count=int(present),
                nulls=rows - int(present),
                unique=int(distinct) == rows,
                low=numbers[0] if numbers else None,
                high=numbers[1] if numbers else None,
            )
        )
    return counted


def inclusion_sql(
    table: Table, columns: Sequence[str], other: Table, key: Sequence[str], dialect: str, bounds: Bounds
) -> str:
    """A query that counts sampled distinct values of columns, and those that are among the values of ``key``."""
    names, key_names = ([quote_name(name, dialect) for name in both] for both in (columns, key))
    source = quote_table(table.name, table.schema, dialect)
    target = quote_table(other.name, other.schema, dialect)
    listed = ", ".join(f"{name} AS v{at}" for at, name in enumerate(names))
    given = " AND ".join(f"{name} IS NOT NULL" for name in names)
    rows = f"SELECT {listed} FROM {source} WHERE {given} LIMIT {bounds.sample_rows}"  # noqa: S608
    values = ", ".join(f"v{at}" for at in range(len(names)))
    some = f"SELECT DISTINCT {values} FROM ({rows}) AS seen LIMIT {SAMPLED_VALUES}"  # noqa: S608
    if len(names) == 1:
        is_in = f"v0 IN (SELECT {key_names[0]} FROM {target})"  # noqa: S608
    else:
        equal = " AND ".join(f"other.{name} = some_values.v{at}" for at, name in enumerate(key_names))
        is_in = f"EXISTS (SELECT 1 FROM {target} AS other WHERE {equal})"  # noqa: S608
    return f"SELECT COUNT(*), SUM(CASE WHEN {is_in} THEN 1 ELSE 0 END) FROM ({some}) AS some_values"  # noqa: S608


SAMPLED_VALUES: Final = 200
"""Distinct values of a column that are looked up in a table that is too large to be read whole."""

Contained = Callable[[Table, tuple[str, ...], Table, tuple[str, ...]], tuple[int, int] | None]
"""For columns and key, how many values were looked up and how many were there; None if that is not known."""

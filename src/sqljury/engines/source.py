"""A benchmark's SQLite database, read whole and made ready for another engine: types, rows, and the keys that hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.engines.columns import NUMBERS, WHOLE, CopiedType, converted, is_whole_text, type_of
from sqljury.errors import DatabaseError
from sqljury.schema.introspect import introspect
from sqljury.sql.text import quote_name
from sqljury.types import ForeignKey, Limits, Row, Schema, Table

LIMITS: Final = Limits(seconds=600.0, rows=20_000_000, bytes=4 * 1024**3)
"""For reading one table."""

_PASSES: Final = 5
"""How often types are passed along foreign keys: a chain of keys is rarely longer."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table for another engine: its columns' types by position, its rows, and the keys that its rows keep."""

    table: Table
    types: tuple[CopiedType, ...]
    rows: tuple[Row, ...] = field(repr=False)
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()

    @property
    def name(self) -> str:
        """The table's."""
        return self.table.name

    def type(self, column: str) -> CopiedType:
        """The type of the column of exactly this name."""
        return self.types[[known.name for known in self.table.columns].index(column)]

    def values(self, columns: Sequence[str]) -> Iterator[Row]:
        """The values of these columns, row by row."""
        names = [column.name for column in self.table.columns]
        positions = [names.index(column) for column in columns]
        return (tuple(row[position] for position in positions) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Source:
    """A database to copy; ``changes`` counts by kind what in the copy is not as in the file."""

    schema: Schema
    tables: tuple[CopiedTable, ...]
    views: tuple[Table, ...]
    changes: Counter[str]

    @property
    def named(self) -> dict[str, CopiedTable]:
        """The tables by exact name."""
        return {table.name: table for table in self.tables}

    def without_keys(self) -> Source:
        """The same without primary, unique and foreign keys."""
        return replace(
            self,
            tables=tuple(replace(table, primary_key=(), unique_keys=(), foreign_keys=()) for table in self.tables),
        )


def read(file: Path, *, typed: bool = True) -> Source:
    """The database in ``file``; raises ``DatabaseError`` for one that cannot be read.

    With ``typed`` values become what their column's type is on another engine, otherwise they stay SQLite's.
    """
    with connect(file) as db:
        schema = introspect(db)
        raw = {table.name: _rows(db, table) for table in schema.tables if table.kind == "table"}
    changes: Counter[str] = Counter()
    tables = [_copied(table, raw.pop(table.name)) for table in schema.tables if table.kind == "table"]
    if typed:
        tables = _harmonised(tables, changes)
        tables = [_converted(table, changes) for table in tables]
        tables = _with_keys(tables, changes)
    return Source(schema, tuple(tables), tuple(table for table in schema.tables if table.kind == "view"), changes)


def _rows(db: Database, table: Table) -> tuple[Row, ...]:
    columns = ", ".join(quote_name(column.name, "sqlite") for column in table.columns)
    result = db.execute(f"SELECT {columns} FROM {quote_name(table.name, 'sqlite')}", LIMITS)  # noqa: S608
    if result.error is not None or result.truncated:
        raise DatabaseError(
            f"{db.url}: the table {table.name!r} cannot be copied ({result.error or 'it has too many rows'})"
        )
    return result.rows


def _copied(table: Table, rows: tuple[Row, ...]) -> CopiedTable:
    columns: Iterable[Sequence[object]] = zip(*rows, strict=True) if rows else ([] for _ in table.columns)
    types = tuple(
        type_of(column.type, values)  # type: ignore[arg-type]
        for column, values in zip(table.columns, columns, strict=True)
    )
    return CopiedTable(table, types, rows)


def _harmonised(tables: list[CopiedTable], changes: Counter[str]) -> list[CopiedTable]:
    """Columns that a foreign key ties get one type: servers want that, while SQLite does not care."""
    named = {table.name: table for table in tables}
    for _ in range(_PASSES):
        before = dict(named)
        for table in tables:
            for key in table.table.foreign_keys:
                for column, ref_column in zip(key.columns, key.ref_columns, strict=True):
                    _harmonise(named, (table.name, column), (key.ref_table, ref_column))
        if named == before:
            break
    for table in tables:
        pairs = zip(table.types, named[table.name].types, strict=True)
        changes["columns whose type follows that of the key"] += sum(
            {old.kind, new.kind} - WHOLE != set() and old.kind != new.kind for old, new in pairs
        )
    return list(named.values())


def _harmonise(named: dict[str, CopiedTable], first: tuple[str, str], second: tuple[str, str]) -> None:
    if not {first[0], second[0]} <= named.keys():
        return
    types = [named[table].type(column) for table, column in (first, second)]
    kinds = {kind.kind for kind in types}
    if kinds == {"text"}:
        _set(
            named,
            (first, second),
            CopiedType("text", 0 if 0 in (types[0].length, types[1].length) else max(types[0].length, types[1].length)),
        )
        return
    if len(kinds) < 2:
        return
    if kinds <= WHOLE:
        _set(named, (first, second), CopiedType("bigint"))
    elif kinds <= NUMBERS | {"text"}:
        values = [value for table, column in (first, second) for (value,) in named[table].values([column])]
        if all(value is None or is_whole_text(value) for value in values):
            _set(named, (first, second), CopiedType("bigint"))


def _set(named: dict[str, CopiedTable], columns: Iterable[tuple[str, str]], kind: CopiedType) -> None:
    for name, column in columns:
        table = named[name]
        types = [
            replace(kind, fits=copied.fits) if declared.name == column else copied
            for declared, copied in zip(table.table.columns, table.types, strict=True)
        ]
        named[name] = replace(table, types=tuple(types))


def _converted(table: CopiedTable, changes: Counter[str]) -> CopiedTable:
    changes["columns whose values do not fit the declared type"] += sum(not copied.fits for copied in table.types)
    kinds = [copied.kind for copied in table.types]
    rows = tuple(tuple(converted(cell, kind) for cell, kind in zip(row, kinds, strict=True)) for row in table.rows)
    changes["texts without characters that the engine has not"] += sum(
        isinstance(cell, str) and cell != new
        for row, now in zip(table.rows, rows, strict=True)
        for cell, new in zip(row, now, strict=True)
        if isinstance(new, str)
    )
    return replace(table, rows=rows)


def _with_keys(tables: list[CopiedTable], changes: Counter[str]) -> list[CopiedTable]:
    """The tables with those of their declared keys that their rows keep; others are counted."""
    named: dict[str, CopiedTable] = {}
    for table in tables:
        primary = table.table.primary_key
        holds = bool(primary) and _is_unique(table, primary, nulls=False)
        changes["primary keys that rows violate"] += bool(primary) and not holds
        unique = [key for key in table.table.unique_keys if key != primary and _is_unique(table, key)]
        changes["unique keys that rows violate"] += (
            len(table.table.unique_keys) - len(unique) - (primary in table.table.unique_keys)
        )
        named[table.name] = replace(table, primary_key=primary if holds else (), unique_keys=tuple(unique))
    for table in tables:
        kept = [key for key in table.table.foreign_keys if _holds(key, table.name, named, changes)]
        named[table.name] = replace(named[table.name], foreign_keys=tuple(kept))
    return list(named.values())


def _is_unique(table: CopiedTable, columns: Sequence[str], *, nulls: bool = True) -> bool:
    values = list(table.values(columns))
    if not nulls and any(None in row for row in values):
        return False
    whole = [row for row in values if None not in row]
    return len(set(whole)) == len(whole)


def _holds(key: ForeignKey, name: str, named: dict[str, CopiedTable], changes: Counter[str]) -> bool:
    """Whether the rows keep this foreign key; what it refers to becomes a unique key where it is none."""
    target = named.get(key.ref_table)
    if target is None:
        changes["foreign keys to what is not a table"] += 1
        return False
    table = named[name]
    pairs = zip(key.columns, key.ref_columns, strict=True)
    if any(table.type(column).kind != target.type(ref_column).kind for column, ref_column in pairs):
        changes["foreign keys between columns of different types"] += 1
        return False
    referenced = set(target.values(key.ref_columns))
    if any(None not in row and row not in referenced for row in table.values(key.columns)):
        changes["foreign keys that rows violate"] += 1
        return False
    known = {target.primary_key, *target.unique_keys}
    if key.ref_columns not in known:
        if not _is_unique(target, key.ref_columns):
            changes["foreign keys to columns that are not unique"] += 1
            return False
        changes["unique keys added for a foreign key"] += 1
        named[key.ref_table] = replace(target, unique_keys=(*target.unique_keys, key.ref_columns))
    return True

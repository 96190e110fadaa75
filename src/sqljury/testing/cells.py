"""Values for the cells of small databases: the column's own, the constants of queries and their near misses, new ones.

Zhong et al. 2020, section 4.1. Floating-point numbers are multiples of 1/8, so that their sum does not depend on the
order of the rows; those that a query names are kept as they are.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from sqljury.db.base import Runs
from sqljury.sql.affinity import Affinity, affinity
from sqljury.sql.tree import Facts
from sqljury.types import Cell, Column, Limits, Schema, Table

Kind = Literal["int", "real", "text", "date"]

ColumnKey = tuple[str, str]
"""The names of a table and a column."""

SAMPLED: Final = 40
"""Values of a column that are read from the user's database."""

READ: Final = Limits(seconds=5.0, rows=SAMPLED, bytes=4 * 1024 * 1024)
MAX_TEXT: Final = 200
NULL_SHARE: Final = 0.1

_FIRST_DAY: Final = date(1990, 1, 1)
_DAYS: Final = 12_000
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Source:
    """What the cells of one column are drawn from; ``nulls`` says that NULL is among it."""

    kind: Kind
    known: tuple[Cell, ...] = ()
    nulls: bool = False

    def draw(self, rng: random.Random, novelty: float) -> Cell:
        """One value; ``novelty`` is the share of new ones among those that are not NULL."""
        if self.nulls and rng.random() < NULL_SHARE:
            return None
        if not self.known or rng.random() < novelty:
            return fresh(rng, self.kind)
        return rng.choice(self.known)


def fresh(rng: random.Random, kind: Kind) -> Cell:
    """A random value of this kind."""
    if kind == "int":
        return rng.randrange(rng.choice((10, 100, 10_000)))
    if kind == "real":
        return rng.randrange(8_000) / 8
    if kind == "date":
        return (_FIRST_DAY + timedelta(days=rng.randrange(_DAYS))).isoformat()
    return "".join(rng.choices(_LETTERS, k=rng.randint(2, 8))).capitalize()


def sampled(schema: Schema, database: Runs) -> dict[ColumnKey, list[Cell]]:
    """Some values of each column of the user's database, NULL first where there is one."""
    return {(table.name, column.name): _sampled(database, table, column) for table, column in _columns(schema)}


def sources(
    schema: Schema,
    samples: Mapping[ColumnKey, Sequence[Cell]] | None = None,
    facts: Facts | None = None,
    nulls: bool = False,
) -> dict[ColumnKey, Source]:
    """What the cells of each column are drawn from.

    ``samples`` are values of the columns. NULL is drawn where there is one among them, with ``nulls`` wherever the
    schema allows it. Columns that a query compares share their values.
    """
    facts, samples = facts or Facts({}, frozenset()), samples or {}
    values: dict[ColumnKey, list[Cell]] = {}
    with_null: set[ColumnKey] = set()
    for table, column in _columns(schema):
        key = table.name, column.name
        sample = samples.get(key, ())
        if None in sample:
            with_null.add(key)
        values[key] = [_snapped(value) for value in sample if value is not None and _short(value)]
    shared = _shared(facts, values)
    drawn = {}
    for table, column in _columns(schema):
        key, name = (table.name, column.name), column.name.lower()
        known = [*values[key], *shared.get(name, ()), *_near(facts.constants.get(name, ()))]
        nullable = not column.not_null and column.name not in table.row_key
        null = nullable and (nulls or key in with_null)
        drawn[key] = Source(_kind(column, values[key]), tuple(dict.fromkeys(known)), null)
    return drawn


def _columns(schema: Schema) -> list[tuple[Table, Column]]:
    return [(table, column) for table in schema.tables if not table.is_view for column in table.columns]


def _sampled(database: Runs, table: Table, column: Column) -> list[Cell]:
    name, of = quoted(column.name), quoted(table.name)
    return [
        row[0]
        for sql in (
            f"SELECT {name} FROM {of} WHERE {name} IS NULL LIMIT 1",  # noqa: S608 - quoted, and read-only besides
            f"SELECT DISTINCT {name} FROM {of} WHERE {name} IS NOT NULL LIMIT {SAMPLED}",  # noqa: S608
        )
        for row in database.execute(sql, READ).rows
    ]


def quoted(name: str) -> str:
    """The name in double quotes, as SQLite reads any name."""
    return '"' + name.replace('"', '""') + '"'


def _shared(facts: Facts, values: Mapping[ColumnKey, Sequence[Cell]]) -> dict[str, list[Cell]]:
    """By column name the values of the columns that queries compare it with; foreign keys are kept elsewhere."""
    by_name: dict[str, list[Cell]] = {}
    for (_, name), cells in values.items():
        by_name.setdefault(name.lower(), []).extend(cells)
    shared: dict[str, list[Cell]] = {}
    for pair in sorted(sorted(names) for names in facts.linked):
        for name, other in (pair, reversed(pair)):
            shared.setdefault(name, []).extend(by_name.get(other, ()))
    return shared


def _near(constants: Sequence[Cell]) -> list[Cell]:
    """The constants of queries, and what a slightly other query would choose."""
    values: list[Cell] = []
    for value in constants:
        values.append(value)
        if isinstance(value, (int, float)):
            values += [value - 1, value + 1]
        elif isinstance(value, str):
            values += [f"{value}x", f"x{value}", f"{value} {value}"]
    return values


def _kind(column: Column, values: Sequence[Cell]) -> Kind:
    if any(isinstance(value, str) for value in values):
        return "date" if all(_is_date(value) for value in values) else "text"
    if any(isinstance(value, float) for value in values):
        return "real"
    if values:
        return "int"
    if "DATE" in column.type.upper():
        return "date"
    kinds: dict[Affinity, Kind] = {"INTEGER": "int", "REAL": "real", "NUMERIC": "real", "TEXT": "text", "BLOB": "text"}
    return "int" if "BOOL" in column.type.upper() else kinds[affinity(column.type)]


def _is_date(value: Cell) -> bool:
    try:
        return isinstance(value, str) and len(value) == len("2026-11-21") and bool(date.fromisoformat(value))
    except ValueError:
        return False


def _snapped(value: Cell) -> Cell:
    return round(value * 8) / 8 if isinstance(value, float) and abs(value) < 1e12 else value


def _short(value: Cell) -> bool:
    return not isinstance(value, (str, bytes)) or len(value) <= MAX_TEXT

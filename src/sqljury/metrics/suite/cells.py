"""Values for the cells of fuzzed databases: the column's own, the constants of queries and their near misses, new ones.

Zhong et al. 2020, section 4.1. Floating-point numbers are multiples of 1/8, so that their sum does not depend on the
order of the rows; those that a query names are kept as they are.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from sqljury.metrics.execution import Runs
from sqljury.metrics.suite.reading import Facts
from sqljury.types import Cell, Column, Limits, Schema, Table

Kind = Literal["int", "real", "text", "date"]
Affinity = Literal["INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC"]

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
    """A value of this kind that comes from nowhere."""
    if kind == "int":
        return rng.randrange(rng.choice((10, 100, 10_000)))
    if kind == "real":
        return rng.randrange(8_000) / 8
    if kind == "date":
        return (_FIRST_DAY + timedelta(days=rng.randrange(_DAYS))).isoformat()
    return "".join(rng.choices(_LETTERS, k=rng.randint(2, 8))).capitalize()


def affinity(declared: str) -> Affinity:
    """The affinity of a column of this declared type (SQLite's documentation, "Determination Of Column Affinity")."""
    name = declared.upper()
    if "INT" in name:
        return "INTEGER"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not name or "BLOB" in name:
        return "BLOB"
    return "REAL" if any(part in name for part in ("REAL", "FLOA", "DOUB")) else "NUMERIC"


def stored(value: Cell, into: Affinity) -> Cell:
    """The value that SQLite keeps when this one is written into such a column."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = float(value)  # as SQLite reads such a constant
    if value is None or isinstance(value, bytes) or into == "BLOB":
        return value
    if into == "TEXT":
        return value if isinstance(value, str) else f"{value:.15g}" if _fraction(value) else _whole(value)
    if isinstance(value, str):
        number = _number(value)
        if number is None:
            return value
        value = number
    if into == "REAL":
        return float(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def sources(
    schema: Schema, database: Runs | None = None, facts: Facts | None = None, nulls: bool = False
) -> dict[tuple[str, str], Source]:
    """By table and column what its cells are drawn from.

    NULL is drawn where the column of ``database`` holds some, with ``nulls`` wherever the schema lets it. Columns that
    a foreign key or a query compares share what is known of them.
    """
    facts = facts or Facts({}, frozenset())
    own: dict[tuple[str, str], list[Cell]] = {}
    holes: set[tuple[str, str]] = set()
    for table, column in _columns(schema):
        values = _sampled(database, table, column) if database is not None else []
        at = table.name, column.name
        if None in values:
            holes.add(at)
        own[at] = [_snapped(value) for value in values if value is not None and _short(value)]
    shared = _shared(facts, own)
    found = {}
    for table, column in _columns(schema):
        at = table.name, column.name
        kind = _kind(column, own[at])
        known = [*own[at], *shared.get(column.name.lower(), ()), *_near(facts.constants.get(column.name.lower(), ()))]
        nullable = not column.not_null and column.name not in table.primary_key
        found[at] = Source(kind, tuple(dict.fromkeys(known)), nullable and (nulls or at in holes))
    return found


def _columns(schema: Schema) -> list[tuple[Table, Column]]:
    return [(table, column) for table in schema.tables if table.kind == "table" for column in table.columns]


def _sampled(database: Runs, table: Table, column: Column) -> list[Cell]:
    """Some values of the column, NULL first where there is one; none where it cannot be read."""
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
    """The name as SQLite takes it whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def _shared(facts: Facts, own: dict[tuple[str, str], list[Cell]]) -> dict[str, list[Cell]]:
    """By column name the values of the columns it is compared with in queries; foreign keys are kept elsewhere."""
    by_name: dict[str, list[Cell]] = {}
    for (_, name), values in own.items():
        by_name.setdefault(name.lower(), []).extend(values)
    shared: dict[str, list[Cell]] = {}
    for pair in sorted(sorted(names) for names in facts.linked):
        for name, other in (pair, reversed(pair)):
            shared.setdefault(name, []).extend(by_name.get(other, ()))
    return shared


def _near(constants: Sequence[Cell]) -> list[Cell]:
    """The constants of queries, and what a slightly other query would choose."""
    found: list[Cell] = []
    for value in constants:
        found.append(value)
        if isinstance(value, (int, float)):
            found += [value - 1, value + 1]
        elif isinstance(value, str):
            found += [f"{value}x", f"x{value}", f"{value} {value}"]
    return found


def _kind(column: Column, values: Sequence[Cell]) -> Kind:
    """By what the column holds, else by its declared type."""
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


def _number(text: str) -> int | float | None:
    """The number that SQLite reads the whole text as, which excludes Python's underscores and words for infinity."""
    plain = text.strip(" \t\n\r\f\v")
    if not plain or plain.strip("0123456789+-.eE"):
        return None
    try:
        whole = int(plain)
    except ValueError:
        try:
            return float(plain)
        except ValueError:
            return None
    return whole if abs(whole) < 2**63 else float(plain)


def _fraction(value: int | float) -> bool:
    return isinstance(value, float) and not (value.is_integer() and abs(value) < 1e15)


def _whole(value: int | float) -> str:
    return f"{int(value)}.0" if isinstance(value, float) else str(value)

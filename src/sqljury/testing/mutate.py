"""A database changed a little, where queries that are almost the same differ: at the edges of their conditions.

The operators follow what Zhong et al. 2020 (section 4.1) and Chandra et al. 2015 ("Data generation for testing and
grading SQL queries", section 5) aim at: constants and their near misses, ties, NULL, duplicates, rows without partner.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, NamedTuple

from sqljury.testing.cells import ColumnKey, fresh
from sqljury.testing.draw import LARGEST, SMALLEST, Origin
from sqljury.testing.shape import Rows
from sqljury.types import Cell, Row

MOST_CHANGES: Final = 4
STEPS: Final = (1, 31, 366)
"""Days between a date and its neighbour."""

_NEW: Final = 0.3
"""Share of cells that are made up, where a known value of the column would do."""


class _Position(NamedTuple):
    table: str
    row: int
    column: int


class Mutator:
    """Changes databases of one origin; foreign keys hold, other constraints may break: the caller asks SQLite."""

    def __init__(self, origin: Origin, rng: random.Random) -> None:
        self._origin = origin
        self._shape = origin.shape
        self._rng = rng
        self._keyed = {name: self._shape.key_columns(name) for name in self._shape.tables}
        self._columns = {name: [column.name for column in table.columns] for name, table in self._shape.tables.items()}
        self._operators: tuple[Callable[[Rows], None], ...] = (
            *(self._constant, self._constant, self._tie, self._tie, self._duplicate, self._duplicate),
            *(self._beside, self._partner, self._partnerless, self._add, self._value, self._null),
        )

    def changed(self, rows: Rows) -> Rows:
        """Another database, with one to four changes."""
        copy = {name: list(held) for name, held in rows.items()}
        for _ in range(self._rng.randint(1, MOST_CHANGES)):
            self._rng.choice(self._operators)(copy)
        return self._shape.closed(copy)

    def _free(self, rows: Rows, *, constants: bool = False) -> list[_Position]:
        """Cells that belong to no key; with ``constants`` only those of columns that a query compares with one."""
        return [
            _Position(name, row, index)
            for name, held in rows.items()
            for row in range(len(held))
            for index, column in enumerate(self._columns[name])
            if index not in self._keyed[name] and (not constants or (name, column) in self._origin.constants)
        ]

    def _key(self, position: _Position) -> ColumnKey:
        return position.table, self._columns[position.table][position.column]

    def _set(self, rows: Rows, position: _Position, cell: Cell) -> None:
        held = rows[position.table]
        changed = list(held[position.row])
        changed[position.column] = cell
        held[position.row] = tuple(changed)

    def _constant(self, rows: Rows) -> None:
        """A constant that a query compares the column with, or a value just beside it."""
        if positions := self._free(rows, constants=True):
            position = self._rng.choice(positions)
            self._set(rows, position, self._rng.choice(self._origin.constants[self._key(position)]))

    def _tie(self, rows: Rows) -> None:
        """The value that another row has in this column."""
        if positions := self._free(rows):
            position = self._rng.choice(positions)
            self._set(rows, position, self._rng.choice(rows[position.table])[position.column])

    def _value(self, rows: Rows) -> None:
        """Any other value the column may have; a small number where queries add it up or sort it."""
        if positions := self._free(rows):
            position = self._rng.choice(positions)
            key = self._key(position)
            if key in self._origin.measured:
                self._set(rows, position, self._rng.randint(SMALLEST, LARGEST))
            else:
                self._set(rows, position, self._origin.sources[key].draw(self._rng, _NEW))

    def _beside(self, rows: Rows) -> None:
        """The value next to the one there: a number by one, a date by a day, a month or a year."""
        if positions := self._free(rows):
            position = self._rng.choice(positions)
            cell = rows[position.table][position.row][position.column]
            sign = self._rng.choice((-1, 1))
            if isinstance(cell, int | float):
                self._set(rows, position, cell + sign)
            elif isinstance(cell, str) and (moved := _moved(cell, sign * self._rng.choice(STEPS))):
                self._set(rows, position, moved)

    def _null(self, rows: Rows) -> None:
        """NULL, where it is allowed."""
        optional = {name: self._shape.optional(name) for name in rows}
        positions = [
            _Position(name, row, index)
            for name, held in rows.items()
            for row in range(len(held))
            for index in optional[name]
        ]
        if positions:
            self._set(rows, self._rng.choice(positions), None)

    def _duplicate(self, rows: Rows) -> None:
        """The same row again, under a key of its own."""
        if names := [name for name, held in rows.items() if held]:
            name = self._rng.choice(names)
            rows[name].append(self._renamed(name, self._rng.choice(rows[name]), rows[name]))

    def _renamed(self, name: str, row: Row, held: list[Row]) -> Row:
        """The row with another value in one column of each key, if possible one without a foreign key."""
        cells = list(row)
        referring = {index for link in self._shape.links_of[name] for index in link.columns}
        for key in self._shape.keys(name):
            free = [index for index in key if index not in referring]
            if free:
                cells[free[-1]] = self._other(name, free[-1], held)
            else:
                self._refer(name, cells, key[-1])
        return tuple(cells)

    def _other(self, name: str, index: int, held: list[Row]) -> Cell:
        """A value of the column that none of the rows has."""
        source = self._origin.sources[name, self._columns[name][index]]
        taken = {row[index] for row in held}
        if all(isinstance(cell, int) for cell in taken):
            return max((cell for cell in taken if isinstance(cell, int)), default=0) + 1
        known = [cell for cell in source.known if cell not in taken]
        return self._rng.choice(known) if known else fresh(self._rng, source.kind)

    def _refer(self, name: str, cells: list[Cell], index: int) -> None:
        for link in self._shape.links_of[name]:
            parents = self._origin.pool[link.parent]
            if index in link.columns and parents:
                cells[:] = link.pointed(tuple(cells), self._rng.choice(parents))

    def _partner(self, rows: Rows) -> None:
        """Another parent for a row, so that some rows lose their partner and others get a second one."""
        links = [link for link in self._shape.links if rows[link.child] and rows[link.parent]]
        if links:
            link = self._rng.choice(links)
            held = rows[link.child]
            index = self._rng.randrange(len(held))
            held[index] = link.pointed(held[index], self._rng.choice(rows[link.parent]))

    def _partnerless(self, rows: Rows) -> None:
        """A row that no other refers to: a new one, or one whose partners are removed."""
        links = [link for link in self._shape.links if rows[link.parent] and link.parent != link.child]
        if not links:
            return
        link = self._rng.choice(links)
        parent = self._rng.choice(rows[link.parent])
        if self._rng.random() < 0.5:
            rows[link.parent].append(self._renamed(link.parent, parent, rows[link.parent]))
        else:
            offered = link.offered(parent)
            rows[link.child] = [row for row in rows[link.child] if link.wanted(row) != offered]

    def _add(self, rows: Rows) -> None:
        """One more of the user's rows, with what it refers to."""
        if names := [name for name in rows if self._origin.pool[name]]:
            name = self._rng.choice(names)
            taken = {table: dict.fromkeys(held) for table, held in rows.items()}
            self._origin.take(taken, name, self._rng.choice(self._origin.pool[name]))
            for table, held in taken.items():
                rows[table].extend(row for row in held if row not in set(rows[table]))


def _moved(text: str, days: int) -> str | None:
    """The text with the date that it begins with moved by so many days; None where it begins with none."""
    try:
        return (date.fromisoformat(text[:10]) + timedelta(days=days)).isoformat() + text[10:]
    except (ValueError, OverflowError):
        return None

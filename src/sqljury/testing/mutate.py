"""A database changed a little, where queries that are almost the same part: at the edges of their conditions.

The operators follow what Zhong et al. 2020 (section 4.1) and Chandra et al. 2015 ("Data generation for testing and
grading SQL queries", section 5) aim at: constants and their near misses, ties, NULL, repetition, rows without partner.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, NamedTuple

from sqljury.testing.cells import fresh
from sqljury.testing.draw import Origin
from sqljury.testing.fuzz import Rows
from sqljury.types import Cell, Row

MOST_CHANGES: Final = 4
STEPS: Final = (1, 31, 366)
"""Days between a date and one beside it."""

_NEW: Final = 0.3
"""Share of new keys and cells that are made up, where a value the column knows would do."""


class _Place(NamedTuple):
    table: str
    row: int
    column: int


class Mutator:
    """Changes databases of one origin; the random numbers are the caller's.

    What it makes may break a constraint, mostly a unique key: the caller asks SQLite. Foreign keys are seen to by
    ``Shape.closed``.
    """

    def __init__(self, origin: Origin, rng: random.Random) -> None:
        self._origin = origin
        self._shape = origin.shape
        self._rng = rng
        self._keyed = {
            name: {at for key in self._shape.keys(name) for at in key}
            | {at for link in self._shape.links_of[name] for at in link.columns}
            for name in self._shape.tables
        }
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

    def _places(self, rows: Rows, *, constants: bool = False) -> list[_Place]:
        """Cells of no key, those first in question that a query compares, aggregates or sorts."""
        return [
            _Place(name, row, at)
            for name, held in rows.items()
            for row in range(len(held))
            for at, column in enumerate(self._columns[name])
            if at not in self._keyed[name] and (not constants or (name, column) in self._origin.constants)
        ]

    def _set(self, rows: Rows, place: _Place, cell: Cell) -> None:
        held = rows[place.table]
        held[place.row] = tuple(cell if at == place.column else old for at, old in enumerate(held[place.row]))

    def _constant(self, rows: Rows) -> None:
        """A constant that a query compares the column with, or a value just beside it."""
        if places := self._places(rows, constants=True):
            place = self._rng.choice(places)
            at = place.table, self._columns[place.table][place.column]
            self._set(rows, place, self._rng.choice(self._origin.constants[at]))

    def _tie(self, rows: Rows) -> None:
        """The value that another row has in this column."""
        if places := self._places(rows):
            place = self._rng.choice(places)
            self._set(rows, place, self._rng.choice(rows[place.table])[place.column])

    def _value(self, rows: Rows) -> None:
        """Any other value the column may have; a small number where queries add it up or sort it."""
        if places := self._places(rows):
            place = self._rng.choice(places)
            at = place.table, self._columns[place.table][place.column]
            measured = at in self._origin.measured
            drawn = self._rng.randint(1, 10) if measured else self._origin.sources[at].draw(self._rng, _NEW)
            self._set(rows, place, drawn)

    def _beside(self, rows: Rows) -> None:
        """The value next to the one there: a number by one, a date by a day, a month or a year."""
        if places := self._places(rows):
            place = self._rng.choice(places)
            cell = rows[place.table][place.row][place.column]
            sign = self._rng.choice((-1, 1))
            if isinstance(cell, int | float):
                self._set(rows, place, cell + sign)
            elif isinstance(cell, str) and (moved := _moved(cell, sign * self._rng.choice(STEPS))):
                self._set(rows, place, moved)

    def _null(self, rows: Rows) -> None:
        """NULL, where it may stand."""
        optional = {name: self._shape.optional(name) for name in rows}
        places = [
            _Place(name, row, at) for name, held in rows.items() for row in range(len(held)) for at in optional[name]
        ]
        if places:
            self._set(rows, self._rng.choice(places), None)

    def _duplicate(self, rows: Rows) -> None:
        """The same row again, under a key of its own."""
        if names := [name for name, held in rows.items() if held]:
            name = self._rng.choice(names)
            rows[name].append(self._renamed(name, self._rng.choice(rows[name]), rows[name]))

    def _renamed(self, name: str, row: Row, held: list[Row]) -> Row:
        """The row with other values in one column of each key, of those that refer to nothing where there is one."""
        cells = list(row)
        referring = {at for link in self._shape.links_of[name] for at in link.columns}
        for key in self._shape.keys(name):
            own = [at for at in key if at not in referring]
            if own:
                cells[own[-1]] = self._other(name, own[-1], held)
            else:
                self._refer(name, cells, key[-1])
        return tuple(cells)

    def _other(self, name: str, at: int, held: list[Row]) -> Cell:
        """A value of the column that none of the rows has."""
        source = self._origin.sources[name, self._columns[name][at]]
        taken = {row[at] for row in held}
        if all(isinstance(cell, int) for cell in taken):
            return max((cell for cell in taken if isinstance(cell, int)), default=0) + 1
        known = [cell for cell in source.known if cell not in taken]
        return self._rng.choice(known) if known else fresh(self._rng, source.kind)

    def _refer(self, name: str, cells: list[Cell], at: int) -> None:
        links = [link for link in self._shape.links_of[name] if at in link.columns]
        for link in links:
            parents = self._origin.pool[link.parent]
            if parents:
                cells[:] = link.pointed(tuple(cells), self._rng.choice(parents))

    def _partner(self, rows: Rows) -> None:
        """Another of the rows there to refer to, so that some lose their partner and others get a second."""
        links = [link for link in self._shape.links if rows[link.child] and rows[link.parent]]
        if links:
            link = self._rng.choice(links)
            held = rows[link.child]
            at = self._rng.randrange(len(held))
            held[at] = link.pointed(held[at], self._rng.choice(rows[link.parent]))

    def _partnerless(self, rows: Rows) -> None:
        """A row that nothing refers to: a new one, or one whose partners go."""
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
    """The date at the beginning of the text so many days later, with what stands behind it; None for another text."""
    try:
        return (date.fromisoformat(text[:10]) + timedelta(days=days)).isoformat() + text[10:]
    except (ValueError, OverflowError):
        return None

"""What a small database is good for: whether it has all that is in play, and tells the queries apart.

TS-SQL, section 3: high coverage and non-duality, checked here by program. Where no query is known, as for a new
question, only coverage can be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.resources import Closing
from sqljury.sql.mutate import neighbours
from sqljury.sql.resolve import column_names
from sqljury.sql.text import cell_text, plain
from sqljury.testing.agents.linking import Linked, Place
from sqljury.testing.fuzz import Rows
from sqljury.testing.shape import Shape
from sqljury.testing.trial import Pair, Trial, pairs_of
from sqljury.types import Cell, Result, Row
from sqljury.types.serialize import one_line

FAULTS: Final = 6
"""Faults told at once."""

NEAR: Final = 8
"""Neighbours of one query (``metrics.suite.neighbours``) that data should tell from it, and queries that have some."""

NEARED: Final = 3

_SQL_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class Look:
    """What was found of one database.

    ``rows`` are those of it that break no constraint. ``uncovered`` are tables, columns and values in play that do not
    occur, ``idle`` the queries that return nothing, ``together`` the pairs of queries that it does not tell apart, and
    ``near`` counts neighbours that it does not tell from their query, some of which mean the same.
    Queries are numbered as they were given; those that SQLite cannot run are in none of them.
    """

    rows: Rows
    uncovered: tuple[str, ...]
    idle: tuple[int, ...]
    together: tuple[Pair, ...]
    near: int

    @property
    def fails(self) -> tuple[int, int, int, int]:
        """How much is wrong: what is told least apart first, what matters least last."""
        return len(self.together), len(self.idle), len(self.uncovered), self.near


class Judge(Closing):
    """Looks at databases of one shape; for one thread."""

    def __init__(self, linked: Linked, shape: Shape) -> None:
        """Raises ``DatabaseError`` when SQLite does not take the schema."""
        self._linked = linked
        self.shape = shape
        places = [at for at, sql in enumerate(linked.queries) if sql]
        texts = [linked.queries[at] or "" for at in places]
        columns = column_names(shape.schema)
        near = [(at, other) for at, sql in enumerate(texts[:NEARED]) for other in neighbours(sql, columns, NEAR)]
        self._trial = Trial(shape, [*texts, *(other for _, other in near)])
        self._trial.load({})
        runs = {at for at, result in enumerate(self._trial.results) if result.ok}
        self._asked = {at: place for at, place in enumerate(places) if at in runs}
        self._pairs = {pair for pair in pairs_of(len(places)) if runs.issuperset(pair)}
        beside = enumerate((at for at, _ in near), len(places))
        self._near = {(at, number) for number, at in beside if runs.issuperset((at, number))}

    def look(self, rows: Mapping[str, Sequence[Row]]) -> Look:
        """What these rows are good for, once those that break a constraint are taken away."""
        whole = {name: list(rows.get(name, ())) for name in self.shape.tables}
        if self.shape.closed(whole) != whole or not self._trial.load(whole):
            whole = self._trial.mended(whole)
        apart = self._trial.apart(self._pairs)
        idle = tuple(place for at, place in self._asked.items() if not says_something(self._trial.results[at]))
        together = sorted((self._asked[one], self._asked[other]) for one, other in self._pairs - apart)
        near = self._near - self._trial.apart(self._near)
        return Look(whole, tuple(self._uncovered(whole)), idle, tuple(together), len(near))

    def _uncovered(self, rows: Rows) -> list[str]:
        found = []
        for name, table in self.shape.tables.items():
            if not rows[name]:
                found.append(f"the table {plain(name, 80)} has no rows")
                continue
            for at, column in enumerate(table.columns):
                if all(row[at] is None for row in rows[name]):
                    found.append(f"the column {plain(name, 80)}.{plain(column.name, 80)} is empty")
        for column_name, value in sorted({(column.lower(), value) for (_, column), value in self._values()}, key=str):
            if not any(_holds(cell, value) for cell in self._cells(rows, column_name)):
                found.append(f"no row has {cell_text(value)!r} in the column {plain(column_name, 80)}")
        return found

    def _values(self) -> list[tuple[Place, Cell]]:
        return [(place, value) for place, values in self._linked.values.items() for value in values]

    def _cells(self, rows: Rows, column: str) -> list[Cell]:
        """The cells of all columns of that name: which of them a query means is not always to be seen."""
        return [
            row[at]
            for name, table in self.shape.tables.items()
            for at, one in enumerate(table.columns)
            if one.name.lower() == column
            for row in rows[name]
        ]

    def close(self) -> None:
        """Forget the databases."""
        self._trial.close()


def says_something(result: Result) -> bool:
    """Whether there is more than NULL and 0 in a result."""
    return result.ok and any(cell not in (None, 0, "") for row in result.rows for cell in row)


def faults(look: Look, queries: Sequence[str]) -> list[str]:
    """What is wrong with a database in words, for whoever made it; at most ``FAULTS`` lines."""
    lines = list(look.uncovered)
    lines += [
        f"this query must find something, and finds nothing (no rows, or 0): {_line(queries[at])}" for at in look.idle
    ]
    lines += [
        "rows are missing on which these two queries return different rows: "
        f"{_line(queries[one])} and {_line(queries[other])}"
        for one, other in look.together
    ]
    return lines[:FAULTS]


def _line(sql: str) -> str:
    return plain(one_line(sql, "sqlite"), _SQL_CHARS)


def _holds(cell: Cell, value: Cell) -> bool:
    """Whether the cell is the value, or has it within, as what LIKE looks for."""
    if isinstance(cell, str) and isinstance(value, str):
        return value.casefold() in cell.casefold()
    return cell == value or str(cell) == str(value)

"""How good a small database is as a test: whether it has all that is in play, and tells the queries apart.

TS-SQL, section 3: high coverage and non-duality, checked by program. Without queries, as for a new question, only
coverage is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.resources import Closing
from sqljury.sql.mutate import neighbours
from sqljury.sql.resolve import column_names
from sqljury.sql.text import cell_text, plain
from sqljury.testing.agents.linking import Linked
from sqljury.testing.shape import Rows, Shape
from sqljury.testing.trial import Pair, Trial, pairs_of
from sqljury.types import Cell, Result, Row
from sqljury.types.serialize import one_line

FAULTS: Final = 6
"""Faults that the model is told at once."""

NEAR: Final = 8
"""Neighbours of one query (``sql.mutate.neighbours``) that data should tell from it."""

NEARED: Final = 3
"""Queries whose neighbours are tried."""

_SQL_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class Verdict:
    """How good one database is.

    ``rows`` are those that break no constraint. ``uncovered`` are tables, columns and values in play that do not occur,
    ``idle`` the queries that return nothing, ``together`` the pairs of queries that it does not tell apart; ``near``
    counts neighbours that it does not tell from their query, some of which mean the same. Queries are indexes in the
    order given; those that SQLite cannot run are in none of them.
    """

    rows: Rows
    uncovered: tuple[str, ...]
    idle: tuple[int, ...]
    together: tuple[Pair, ...]
    near: int

    @property
    def fails(self) -> tuple[int, int, int, int]:
        """How much is wrong, the most important first."""
        return len(self.together), len(self.idle), len(self.uncovered), self.near


class Judge(Closing):
    """Judges databases of one shape; for one thread."""

    def __init__(self, linked: Linked, shape: Shape) -> None:
        """Raises ``DatabaseError`` when SQLite does not take the schema."""
        self._linked = linked
        self.shape = shape
        given = [(index, sql) for index, sql in enumerate(linked.queries) if sql]
        texts = [sql for _, sql in given]
        columns = column_names(shape.schema)
        near = [
            (number, neighbour)
            for number, sql in enumerate(texts[:NEARED])
            for neighbour in neighbours(sql, columns, NEAR)
        ]
        self._trial = Trial(shape, [*texts, *(neighbour for _, neighbour in near)])
        self._trial.load({})
        runs = {number for number, result in enumerate(self._trial.results) if result.ok}
        self._index_of = {number: index for number, (index, _) in enumerate(given) if number in runs}
        self._pairs = {pair for pair in pairs_of(len(given)) if runs.issuperset(pair)}
        pairs = ((query, number) for number, (query, _) in enumerate(near, len(given)))
        self._near = {pair for pair in pairs if runs.issuperset(pair)}

    def verdict(self, rows: Mapping[str, Sequence[Row]]) -> Verdict:
        """How good these rows are, without those that break a constraint."""
        whole = {name: list(rows.get(name, ())) for name in self.shape.tables}
        if self.shape.closed(whole) != whole or not self._trial.load(whole):
            whole = self._trial.mended(whole)
        apart = self._trial.apart(self._pairs)
        results, index_of = self._trial.results, self._index_of
        idle = tuple(index for number, index in index_of.items() if not says_something(results[number]))
        together = sorted((index_of[first], index_of[second]) for first, second in self._pairs - apart)
        near = self._near - self._trial.apart(self._near)
        return Verdict(whole, tuple(self._uncovered(whole)), idle, tuple(together), len(near))

    def _uncovered(self, rows: Rows) -> list[str]:
        lacking = []
        for name, table in self.shape.tables.items():
            if not rows[name]:
                lacking.append(f"the table {plain(name, 80)} has no rows")
                continue
            for index, column in enumerate(table.columns):
                if all(row[index] is None for row in rows[name]):
                    lacking.append(f"the column {plain(name, 80)}.{plain(column.name, 80)} is empty")
        values = {(key[1].lower(), value) for key, values in self._linked.values.items() for value in values}
        for column_name, value in sorted(values, key=str):
            if not any(_holds(cell, value) for cell in self._cells(rows, column_name)):
                lacking.append(f"no row has {cell_text(value)!r} in the column {plain(column_name, 80)}")
        return lacking

    def _cells(self, rows: Rows, column_name: str) -> list[Cell]:
        """The cells of all columns of that name: which of them a query means is not always clear."""
        return [
            row[index]
            for name, index, column in self.shape.columns()
            if column.name.lower() == column_name
            for row in rows[name]
        ]

    def close(self) -> None:
        """Forget the databases."""
        self._trial.close()


def says_something(result: Result) -> bool:
    """Whether there is more than NULL and 0 in a result."""
    return result.ok and any(cell not in (None, 0, "") for row in result.rows for cell in row)


def faults(verdict: Verdict, queries: Sequence[str]) -> list[str]:
    """What is wrong with a database, as lines for the model that wrote it; at most ``FAULTS``."""
    lines = list(verdict.uncovered)
    lines += [
        f"this query must find something, and finds nothing (no rows, or 0): {_line(queries[index])}"
        for index in verdict.idle
    ]
    lines += [
        "rows are missing on which these two queries return different rows: "
        f"{_line(queries[first])} and {_line(queries[second])}"
        for first, second in verdict.together
    ]
    return lines[:FAULTS]


def _line(sql: str) -> str:
    return plain(one_line(sql, "sqlite"), _SQL_CHARS)


def _holds(cell: Cell, value: Cell) -> bool:
    """Whether the cell is the value or contains it, as LIKE searches."""
    if isinstance(cell, str) and isinstance(value, str):
        return value.casefold() in cell.casefold()
    return cell == value or str(cell) == str(value)

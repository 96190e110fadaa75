"""Queries tried on small databases: which of them differ there, and not by luck."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.resources import Closing
from sqljury.sql.compare import TRIAL, same
from sqljury.sql.scan import orders
from sqljury.sql.tree import column_names
from sqljury.testing.fuzz import Rows
from sqljury.testing.shape import Shape
from sqljury.testing.ties import Ranked, decided, ranked
from sqljury.types import Limits, Result, Row

LIMITS: Final = Limits(seconds=0.5, rows=2_000, bytes=4 * 1024 * 1024)
"""For one query on one small database."""

Pair = tuple[int, int]


class Trial(Closing):
    """Some queries in SQLite's words, and one small database after another.

    Each database is kept twice, the second time without keys and with its rows the other way round: what changes
    between the two is no answer but luck (``metrics/suite/ties.py``).
    """

    def __init__(self, shape: Shape, queries: Sequence[str], limits: Limits = LIMITS) -> None:
        """Raises ``DatabaseError`` when SQLite does not take the schema."""
        self.queries = tuple(queries)
        self._shape = shape
        self._limits = limits
        self._names = column_names(shape.schema)
        self._ordered = [orders(sql) for sql in queries]
        self._ties: dict[tuple[int, bool], tuple[Ranked, ...] | None] = {}
        self._own = MemoryDatabase(shape.statements())
        self._plain = MemoryDatabase(shape.statements(plain=True))
        self._rows: Mapping[str, Sequence[Row]] = {}
        self._results: list[Result] | None = None
        self._turned: list[Result] | None = None

    def load(self, rows: Mapping[str, Sequence[Row]]) -> bool:
        """Take these rows for the ones before; no, and nothing changes, where SQLite sees a constraint broken.

        Foreign keys to columns that are no key are not SQLite's to see; ``Shape.closed`` keeps those.
        """
        if not self._own.fill(rows):
            return False
        self._rows, self._results, self._turned = rows, None, None
        return True

    @property
    def results(self) -> list[Result]:
        """What each query returns on the database loaded last."""
        if self._results is None:
            self._results = [self._own.execute(sql, self._limits) for sql in self.queries]
        return self._results

    def mended(self, rows: Mapping[str, Sequence[Row]]) -> Rows:
        """Load these rows without those that break a constraint or refer to none, and return what is left."""
        self._own.fill(rows, skip=True)
        left = self._shape.closed(self._own.rows())
        self.load(left)
        return left

    def classes(self) -> tuple[int, ...]:
        """By query the number of the first that it does not differ from; one that fails is with no other."""
        apart, found = self.apart(pairs_of(len(self.queries))), list[int]()
        for number, result in enumerate(self.results):
            with_it = (one for one in sorted(set(found)) if (one, number) not in apart and _whole(self.results[one]))
            found.append(next(with_it, number) if _whole(result) else number)
        return tuple(found)

    def apart(self, pairs: Collection[Pair]) -> frozenset[Pair]:
        """Those of the pairs whose two queries differ here, however ties fall and rows are stored.

        The order of rows counts where both queries have an ORDER BY of their own. They differ where one has but one
        answer and the other gives another one, whichever way rows are stored; where both answers are a matter of luck,
        only by their numbers of rows.
        """
        return frozenset(pair for pair in pairs if self._differ(*pair))

    def settled(self, number: int) -> bool:
        """Whether this query has but one answer on the database loaded last, however ties fall and rows are stored."""
        self._turn()
        assert self._turned is not None
        results = self.results[number], self._turned[number]
        return _whole(*results) and self._settled(number, results, self._ordered[number])

    def close(self) -> None:
        """Forget the databases."""
        self._own.close()
        self._plain.close()

    def _differ(self, one: int, other: int) -> bool:
        left, right = self.results[one], self.results[other]
        ordered = self._ordered[one] and self._ordered[other]
        if not _whole(left, right) or same(left, right, TRIAL, ordered=ordered):
            return False
        self._turn()
        assert self._turned is not None
        ours, theirs = (left, self._turned[one]), (right, self._turned[other])
        if not _whole(*ours, *theirs):
            return False
        if all(len(a.rows) != len(b.rows) for a in ours for b in theirs):
            return True
        if any(same(a, b, TRIAL, ordered=ordered) for a in ours for b in theirs):
            return False
        return self._settled(one, ours, ordered) or self._settled(other, theirs, ordered)

    def _settled(self, number: int, results: tuple[Result, Result], ordered: bool) -> bool:
        """Whether this query has but one answer here."""
        return same(*results, TRIAL, ordered=ordered) and self._decided(number, ordered)

    def _turn(self) -> None:
        if self._turned is None:
            self._plain.fill({name: rows[::-1] for name, rows in self._rows.items()})
            self._turned = [self._plain.execute(sql, self._limits) for sql in self.queries]

    def _decided(self, number: int, ordered: bool) -> bool:
        key = number, ordered
        if key not in self._ties:
            self._ties[key] = ranked(self.queries[number], self._names, ordered=ordered)
        return decided(self._own, self._ties[key], self._limits)


def pairs_of(count: int) -> frozenset[Pair]:
    """All pairs of so many queries."""
    return frozenset(combinations(range(count), 2))


def finds(result: Result) -> bool:
    """Whether a query found something: a row, and more in it than NULL and 0."""
    return any(cell not in (None, 0) for row in result.rows for cell in row)


def _whole(*results: Result) -> bool:
    return all(result.ok and not result.truncated for result in results)

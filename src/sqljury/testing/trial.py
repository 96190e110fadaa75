"""Queries on small databases: what they return there, which of them differ other than by luck, and which pass."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.resources import Closing
from sqljury.sql.compare import COMPUTED, RELAXED, TRIAL, Policy, same
from sqljury.sql.resolve import column_names
from sqljury.sql.scan import orders
from sqljury.sql.translate import in_sqlite
from sqljury.testing.shape import Rows, Shape
from sqljury.testing.ties import Ranked, decided, ranked
from sqljury.types import Limits, QueryFailure, Result, Row, Schema, TestCase, Tried

LIMITS: Final = Limits(seconds=0.5, rows=2_000, bytes=4 * 1024 * 1024)
"""For one query on one small database."""

UNTRANSLATED: Final = "the query cannot be translated to SQLite, which runs the tests"

_SORTS: Final = re.compile(r"\.(?:sort_values|sort_index|nlargest|nsmallest)\(|\bsorted\(")

Pair = tuple[int, int]


class Trial(Closing):
    """Some queries in SQLite's dialect, and one small database after another.

    Each database is kept twice, the second time without keys and with its rows in reverse: what changes between the two
    is a matter of luck, as are ties (``testing.ties``).
    """

    def __init__(self, shape: Shape, queries: Sequence[str], limits: Limits = LIMITS) -> None:
        """Raises ``DatabaseError`` when SQLite does not take the schema."""
        self.queries = tuple(queries)
        self._shape = shape
        self._limits = limits
        self._names = column_names(shape.schema)
        self._ordered = [orders(sql) for sql in queries]
        self._ties: dict[tuple[int, bool], tuple[Ranked, ...] | None] = {}
        self._keyed = MemoryDatabase(shape.statements())
        self._plain = MemoryDatabase(shape.statements(plain=True))
        self._rows: Mapping[str, Sequence[Row]] = {}
        self._results: list[Result] | None = None
        self._reversed: list[Result] | None = None

    def load(self, rows: Mapping[str, Sequence[Row]]) -> bool:
        """Replace the rows; False, and nothing changes, where SQLite sees a constraint broken.

        SQLite does not see foreign keys to columns that are not a key; ``Shape.closed`` keeps those.
        """
        if not self._keyed.fill(rows):
            return False
        self._rows, self._results, self._reversed = rows, None, None
        return True

    @property
    def results(self) -> list[Result]:
        """What each query returns on the database loaded last."""
        if self._results is None:
            self._results = [self._keyed.execute(sql, self._limits) for sql in self.queries]
        return self._results

    def mended(self, rows: Mapping[str, Sequence[Row]]) -> Rows:
        """Load these rows without those that break a constraint or refer to none, and return what is left."""
        self._keyed.fill(rows, skip=True)
        kept = self._shape.closed(self._keyed.rows())
        self.load(kept)
        return kept

    def classes(self) -> tuple[int, ...]:
        """For each query the index of the first that it does not differ from; one that fails is alone."""
        apart, firsts = self.apart(pairs_of(len(self.queries))), list[int]()
        for index, result in enumerate(self.results):
            like = (first for first in sorted(set(firsts)) if (first, index) not in apart)
            firsts.append(next((f for f in like if _whole(self.results[f])), index) if _whole(result) else index)
        return tuple(firsts)

    def apart(self, pairs: Collection[Pair]) -> frozenset[Pair]:
        """Those of the pairs whose two queries differ here, however ties fall and rows are stored.

        The order of rows counts where both queries have an ORDER BY of their own. They differ where one has a single
        answer and the other gives another one, whichever way rows are stored; where both answers are a matter of luck,
        only by their numbers of rows.
        """
        return frozenset(pair for pair in pairs if self._differ(*pair))

    def settled(self, index: int) -> bool:
        """Whether this query has a single answer on the database loaded last, however ties fall and rows are stored."""
        results = self.results[index], self._in_reverse()[index]
        return _whole(*results) and self._settled(index, results, self._ordered[index])

    def close(self) -> None:
        """Forget the databases."""
        self._keyed.close()
        self._plain.close()

    def _differ(self, first: int, second: int) -> bool:
        left, right = self.results[first], self.results[second]
        ordered = self._ordered[first] and self._ordered[second]
        if not _whole(left, right) or same(left, right, TRIAL, ordered=ordered):
            return False
        turned = self._in_reverse()
        ours, theirs = (left, turned[first]), (right, turned[second])
        if not _whole(*ours, *theirs):
            return False
        if all(len(a.rows) != len(b.rows) for a in ours for b in theirs):
            return True
        if any(same(a, b, TRIAL, ordered=ordered) for a in ours for b in theirs):
            return False
        return self._settled(first, ours, ordered) or self._settled(second, theirs, ordered)

    def _settled(self, index: int, results: tuple[Result, Result], ordered: bool) -> bool:
        return same(*results, TRIAL, ordered=ordered) and self._decided(index, ordered)

    def _in_reverse(self) -> list[Result]:
        if self._reversed is None:
            self._plain.fill({name: rows[::-1] for name, rows in self._rows.items()})
            self._reversed = [self._plain.execute(sql, self._limits) for sql in self.queries]
        return self._reversed

    def _decided(self, index: int, ordered: bool) -> bool:
        key = index, ordered
        if key not in self._ties:
            self._ties[key] = ranked(self.queries[index], self._names, ordered=ordered)
        return decided(self._keyed, self._ties[key], self._limits)


def pairs_of(count: int) -> frozenset[Pair]:
    """All pairs of so many queries."""
    return frozenset(combinations(range(count), 2))


def translated(queries: Sequence[str], schema: Schema) -> dict[int, str]:
    """By index, those of the queries of the schema's dialect that can be translated to SQLite, in SQLite's dialect."""
    texts = ((index, in_sqlite(sql, schema)) for index, sql in enumerate(queries))
    return {index: text for index, text in texts if text is not None}


def classes_of_all(classes: Sequence[int], indexes: Collection[int], count: int) -> tuple[int, ...]:
    """The classes of the queries at these indexes as classes of all ``count``; each other query is alone in its own."""
    listed = list(indexes)
    known = {index: listed[first] for index, first in zip(listed, classes, strict=True)}
    return tuple(known.get(index, index) for index in range(count))


def grouped(results: Sequence[Result], policy: Policy) -> list[list[int]]:
    """The indexes of results that are the same, group by group as they come; failed and cut results are left out."""
    groups: list[list[int]] = []
    for index, result in enumerate(results):
        if _whole(result):
            group = next((group for group in groups if same(results[group[0]], result, policy)), None)
            if group is None:
                groups.append([index])
            else:
                group.append(index)
    return groups


def finds(result: Result) -> bool:
    """Whether a query found something: a row, and more in it than NULL and 0."""
    return any(cell not in (None, 0) for row in result.rows for cell in row)


def _whole(*results: Result) -> bool:
    return all(result.ok and not result.truncated for result in results)


def run_case(case: TestCase, queries: Sequence[str], how: str = "", by: str = "", code: str = "") -> Tried:
    """Run the queries, in the dialect of the case's schema, on the case and compare them with what is expected.

    Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    return judged(Tried(case, tuple(queries), _results(case, queries), (), how, by, code))


def rerun(test: Tried, queries: Sequence[str]) -> Tried:
    """Run other queries on the same case, as ``run_case``; ``classes`` stay empty."""
    return run_case(test.case, queries, test.how, test.by, test.code)


def judged(test: Tried) -> Tried:
    """The test with ``passed`` by the case's expected result; None for a query that cannot be run.

    What a model wrote is compared in the relaxed equality of Li & Xie 2024 (section 3), and order counts as far as
    ``_in_order`` says. What a program computed is exact (TS-SQL, Algorithm 1): cells and columns must be the same, and
    order counts where the program sorts too. In both, the order of a query that leaves ties open does not count.
    """
    expected = test.case.expected
    if expected is None:
        return replace(test, passed=(None,) * len(test.queries))
    if test.by == "code":
        policy, ordered = COMPUTED, [_SORTS.search(test.code) is not None] * len(test.queries)
    else:
        policy, ordered = RELAXED, _in_order(test.queries, test.results)
    if any(ordered):
        ordered = [counts and fixed for counts, fixed in zip(ordered, _settled_orders(test), strict=True)]
    passed = (
        same(expected, result, policy, ordered=counts) if result.ok else None
        for result, counts in zip(test.results, ordered, strict=True)
    )
    return replace(test, passed=tuple(passed))


def _settled_orders(test: Tried) -> list[bool]:
    """Which queries return their rows in an order that leaves nothing open on the case."""
    schema = test.case.schema
    names = column_names(schema)
    with MemoryDatabase(Shape(schema, {}).statements(plain=True)) as db:
        db.fill(test.case.tables)
        texts = (in_sqlite(sql, schema) or "" for sql in test.queries)
        return [orders(sql) and decided(db, ranked(sql, names, ordered=True), LIMITS) for sql in texts]


def _results(case: TestCase, queries: Sequence[str]) -> tuple[Result, ...]:
    texts = translated(queries, case.schema)
    shape = Shape(case.schema, {})
    for plain in (False, True):  # rows that a model wrote may break a constraint, and are used as they are
        with MemoryDatabase(shape.statements(plain=plain)) as small:
            if small.fill(case.tables):
                return tuple(
                    small.execute(texts[index], LIMITS) if index in texts else _failed(UNTRANSLATED)
                    for index in range(len(queries))
                )
    return tuple(_failed("SQLite does not take the rows of this case") for _ in queries)


def _failed(message: str) -> Result:
    return Result(error=QueryFailure("sql", message))


def _in_order(queries: Sequence[str], results: Sequence[Result]) -> list[bool]:
    """For which queries the order of rows counts: those with an ORDER BY, if all have one or two differ by it alone.

    Else a query with an ORDER BY that the question does not ask for would fail where the same without it passes.
    """
    sorts = [orders(sql) for sql in queries]
    sorted_results = [result for result, has_order in zip(results, sorts, strict=True) if has_order]

    def reordered(result: Result) -> bool:
        return any(
            same(result, other, RELAXED) and not same(result, other, RELAXED, ordered=True) for other in sorted_results
        )

    return [has_order and (all(sorts) or reordered(result)) for result, has_order in zip(results, sorts, strict=True)]

"""Whether queries do what a program said on its test case: the same table, as TS-SQL has it (Algorithm 1).

Queries on one test case: what each returns there, and whether that is what is expected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.sql.affinity import number_of
from sqljury.sql.scan import orders
from sqljury.sql.translate import in_sqlite
from sqljury.sql.tree import column_names
from sqljury.testing.agree import agree_relaxed
from sqljury.testing.shape import Shape
from sqljury.testing.ties import decided, ranked
from sqljury.testing.trial import LIMITS, alike
from sqljury.types import Cell, QueryFailure, Result, TestCase, Tried

_SORTS: Final = re.compile(r"\.(?:sort_values|sort_index|nlargest|nsmallest)\(|\bsorted\(")


def judged_by_code(one: Tried) -> Tried:
    """The same with ``passed`` by the result that the program gave; None for a query that cannot be run.

    Unlike what a model wrote down, what was computed is exact: cells and columns must be the same, but for a text that
    is a number, which frames hold as one in a key whose parent does. The order of rows counts where both the query and
    the program sort, and the query's order leaves no ties.
    """
    expected = one.case.expected
    if expected is None:
        return replace(one, passed=(None,) * len(one.queries))
    sorted_ = settled(one) if _SORTS.search(one.code) else [False] * len(one.queries)
    passed = (
        alike(_numbered(expected), _numbered(result), ordered) if result.ok else None
        for result, ordered in zip(one.results, sorted_, strict=True)
    )
    return replace(one, passed=tuple(passed))


def _numbered(result: Result) -> Result:
    return replace(result, rows=tuple(tuple(map(_number, row)) for row in result.rows))


def _number(cell: Cell) -> Cell:
    number = number_of(cell) if isinstance(cell, str) else None
    return cell if number is None else number


def settled(one: Tried) -> list[bool]:
    """Which queries return their rows in an order that leaves nothing open on the case."""
    names = column_names(one.case.schema)
    with MemoryDatabase(Shape(one.case.schema, {}).statements(plain=True)) as db:
        db.fill(one.case.tables)
        texts = (in_sqlite(sql, one.case.schema) or "" for sql in one.queries)
        return [orders(sql) and decided(db, ranked(sql, names, ordered=True), LIMITS) for sql in texts]


UNSAID: Final = "the query cannot be said in SQLite's words, in which small databases are"


def tried(case: TestCase, queries: Sequence[str], how: str = "", by: str = "", code: str = "") -> Tried:
    """The queries, in the dialect of the case's schema, run there and held against what is expected.

    Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    return judged(Tried(case, tuple(queries), _results(case, queries), (), how, by, code))


def again(one: Tried, queries: Sequence[str]) -> Tried:
    """Other queries on the same case, as ``tried``; it does not say which of them differ but by luck."""
    return tried(one.case, queries, one.how, one.by, one.code)


def judged(one: Tried) -> Tried:
    """The same with ``passed`` by the case's expected result, in the relaxed equality of Li & Xie 2024, section 3.

    The rows must be the same, as ``agree`` compares cells; columns that only one side has do not count. Order counts
    for queries that ask for one, as far as ``_in_order`` says and ties do not leave it open. Where a program said what
    is expected, its own equality holds (``by_code``).
    """
    if one.by == "code":
        return judged_by_code(one)
    expected = one.case.expected
    if expected is None:
        return replace(one, passed=(None,) * len(one.queries))
    counts = _in_order(one.queries, one.results)
    if any(counts):
        counts = [own and fixed for own, fixed in zip(counts, settled(one), strict=True)]
    passed = (
        agree_relaxed(expected, result, ordered=in_order) if result.ok else None
        for result, in_order in zip(one.results, counts, strict=True)
    )
    return replace(one, passed=tuple(passed))


def _results(case: TestCase, queries: Sequence[str]) -> tuple[Result, ...]:
    texts = [in_sqlite(sql, case.schema) for sql in queries]
    shape = Shape(case.schema, {})
    for plain in (False, True):  # rows that somebody wrote may break a constraint, and are shown as they are
        with MemoryDatabase(shape.statements(plain=plain)) as small:
            if small.fill(case.tables):
                return tuple(
                    Result(error=QueryFailure("sql", UNSAID)) if text is None else small.execute(text, LIMITS)
                    for text in texts
                )
    return tuple(Result(error=QueryFailure("sql", "SQLite does not take the rows of this case")) for _ in texts)


def _in_order(queries: Sequence[str], results: Sequence[Result]) -> list[bool]:
    """For which queries the order of rows counts: those with an ORDER BY, if all have one or two differ by it alone.

    Else a query that sorts what nobody asked to be sorted would fail where the same without ORDER BY passes.
    """
    sorts = [orders(sql) for sql in queries]
    among = [result for result, own in zip(results, sorts, strict=True) if own]

    def turned(result: Result) -> bool:
        return any(
            agree_relaxed(result, other, ordered=False) and not agree_relaxed(result, other, ordered=True)
            for other in among
        )

    return [own and (all(sorts) or turned(result)) for result, own in zip(results, sorts, strict=True)]

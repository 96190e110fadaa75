"""Queries on one test case: what each returns there, and whether that is what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.metrics.text import orders
from sqljury.schema.translate import in_sqlite
from sqljury.testcases.agree import agree_relaxed
from sqljury.testcases.by_code import judged_by_code, settled
from sqljury.testcases.shape import Shape
from sqljury.testcases.trial import LIMITS
from sqljury.types import Result, TestCase, Tried

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
                return tuple(Result(error=UNSAID) if text is None else small.execute(text, LIMITS) for text in texts)
    return tuple(Result(error="SQLite does not take the rows of this case") for _ in texts)


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

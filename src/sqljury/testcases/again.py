"""Queries on one test case: what each returns there, and whether that is what is expected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.errors import QueryLimitError
from sqljury.metrics.results import same_but_for_columns
from sqljury.metrics.text import orders
from sqljury.schema.translate import in_sqlite
from sqljury.testcases.shape import Shape
from sqljury.testcases.trial import LIMITS
from sqljury.types import Result, TestCase, Tried

DECIMALS: Final = 2
"""Digits after the point in which an expected number must agree: who computes by hand writes no more."""

MOST_DIGITS: Final = 15
"""Longer texts of digits are codes, which a number would not hold."""

UNSAID: Final = "the query cannot be said in SQLite's words, in which small databases are"

_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?")


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

    The rows must be the same; columns that only one side has do not count, nor does the type of a number, nor what is
    beyond ``DECIMALS``. Order counts for queries that ask for one, as far as ``_in_order`` says.
    """
    expected = one.case.expected
    if expected is None:
        return replace(one, passed=(None,) * len(one.queries))
    wanted, own = _plain(expected), [_plain(result) for result in one.results]
    ordered = _in_order(one.queries, own)
    return replace(
        one, passed=tuple(_passes(wanted, result, in_order) for result, in_order in zip(own, ordered, strict=True))
    )


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
        return any(_passes(result, other, False) and not _passes(result, other, True) for other in among)

    return [own and (all(sorts) or turned(result)) for result, own in zip(results, sorts, strict=True)]


def _passes(expected: Result, result: Result, ordered: bool) -> bool | None:
    """None where nobody can tell."""
    if not result.ok:
        return None
    try:
        return same_but_for_columns(expected, result, ordered)
    except QueryLimitError:
        return None


def _plain(result: Result) -> Result:
    return replace(result, rows=tuple(tuple(map(_cell, row)) for row in result.rows))


def _cell(cell: Any) -> Any:
    """A cell as it is compared: text that is a number is one, for it cannot be told apart where it was read."""
    if isinstance(cell, str):
        text = cell.strip()
        if len(text) > MOST_DIGITS or not _NUMBER.fullmatch(text):
            return text
        cell = float(text)
    if isinstance(cell, float | Decimal) and isfinite(cell):
        return round(float(cell), DECIMALS)  # equal to the integer where it is one
    return cell

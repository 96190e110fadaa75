"""Whether queries do what a program said on its test case: the same table, as TS-SQL has it (Algorithm 1)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.metrics.affinity import number_of
from sqljury.metrics.suite.reading import column_names
from sqljury.metrics.suite.ties import decided, ranked
from sqljury.metrics.text import orders
from sqljury.schema.translate import in_sqlite
from sqljury.testcases.shape import Shape
from sqljury.testcases.trial import LIMITS, alike
from sqljury.types import Cell, Result, Tried

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

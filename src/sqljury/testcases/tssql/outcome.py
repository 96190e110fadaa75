"""What queries do on a test case whose expected result a program said: equality, as TS-SQL has it (Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.metrics.suite.reading import column_names
from sqljury.metrics.suite.ties import decided, ranked
from sqljury.metrics.text import orders
from sqljury.schema.translate import in_sqlite
from sqljury.testcases.shape import Shape
from sqljury.testcases.trial import LIMITS, Pair, alike, pairs_of
from sqljury.types import Result, Tried

_SORTS: Final = re.compile(r"\.(?:sort_values|sort_index|nlargest|nsmallest)\(|\bsorted\(")


def on_case(tried: Tried, queries: Sequence[str]) -> Tried:
    """Other queries, in the dialect of the case's schema, on the same case; raises ``DatabaseError`` for its schema.

    The order of rows counts where both the query and the program sort, and the query's order leaves no ties.
    """
    case = tried.case
    results: list[Result] = []
    passed: list[bool | None] = []
    with MemoryDatabase(Shape(case.schema, {}).statements()) as db:
        db.fill(case.tables)
        for sql in queries:
            said = in_sqlite(sql, case.schema)
            result = Result(error="it cannot be said in SQLite's words") if said is None else db.execute(said, LIMITS)
            results.append(result)
            if case.expected is None:
                passed.append(None)
                continue
            ordered = said is not None and _SORTS.search(tried.code) is not None and _settled(said, db, tried)
            passed.append(alike(case.expected, result, ordered))
    return replace(tried, queries=tuple(queries), results=tuple(results), passed=tuple(passed))


def _settled(sql: str, db: MemoryDatabase, tried: Tried) -> bool:
    """Whether the query's own rows come in an order that leaves nothing open."""
    return orders(sql) and decided(db, ranked(sql, column_names(tried.case.schema), ordered=True), LIMITS)


def together(tried: Tried) -> tuple[Pair, ...]:
    """The pairs of queries that the case does not tell apart: both run there, with results that are alike."""
    pairs = sorted(pairs_of(len(tried.results)))
    return tuple(pair for pair in pairs if alike(tried.results[pair[0]], tried.results[pair[1]]))

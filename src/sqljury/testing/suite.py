"""Tests for several queries: small databases that tell them apart, and what the model expects there.

Li & Xie 2024, section 3: Algorithm 1 and step 3.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.errors import DatabaseError
from sqljury.llm.base import derive_seed
from sqljury.recipes.parts import TestsPart
from sqljury.sql.translate import in_sqlite
from sqljury.testing.again import judged, tried
from sqljury.testing.draw import Origin, random_case, read_origin
from sqljury.testing.expect import expect
from sqljury.testing.separate import DEFAULT, Search, separate
from sqljury.testing.trial import Pair, finds, pairs_of
from sqljury.types import Schema, Task, Tried

DRAWS: Final = 20
"""Databases drawn for a query that is alone, until it returns something on one."""


class Suite(NamedTuple):
    """Small databases with what each query does there, and the pairs of queries that nothing told apart.

    Among those pairs are all of a query that cannot be run on small databases.
    """

    tests: tuple[Tried, ...]
    together: tuple[Pair, ...]


def tested(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, ...]:
    """The queries, in the task's dialect, on a suite that tells them apart, each case with what the model expects.

    Give one query of each group with equal results. Two that nothing told apart do the same in every test
    (``Tried.differ``). None where SQLite does not take the schema; no call of the model where nothing was found. Once
    the allowance is spent the cases that are left have no expected result.
    """
    search = Search(
        cases=part.cases, size=part.rows, numbers=part.numbers, seed=str(derive_seed(context.seed, "tests"))
    )
    try:
        found = suite(queries, task.known, context.db, search, context.cancel)
    except DatabaseError:
        return ()
    tests = []
    for one in found.tests:
        if context.exhausted():
            tests.append(one)
            continue
        case = expect(one.case, task.question, part, context)
        tests.append(judged(replace(one, case=case, by="" if case.expected is None else "model")))
    return tuple(tests)


def suite(
    queries: Sequence[str],
    schema: Schema,
    db: Database,
    search: Search = DEFAULT,
    cancel: threading.Event | None = None,
) -> Suite:
    """Small databases that tell the queries apart, without expected results; for a single one, some rows it finds.

    Queries are in the schema's dialect. Rows are read through ``db``, so that its access rules hold. Raises
    ``DatabaseError`` when SQLite does not take the schema.
    """
    texts = [in_sqlite(sql, schema) for sql in queries]
    places = [place for place, text in enumerate(texts) if text is not None]
    origin = read_origin(db, schema, [queries[place] for place in places], seed=search.seed)
    if len(queries) == 1:
        return Suite((_drawn(queries[0], origin, search),) if places else (), ())
    found = separate(origin, [text for text in texts if text is not None], search, cancel)
    tests = []
    for case, classes, how in zip(found.cases, found.classes, found.how, strict=True):
        own = dict(zip(places, (places[first] for first in classes), strict=True))
        ran = tried(case, queries, how)
        tests.append(replace(ran, classes=tuple(own.get(place, place) for place in range(len(queries)))))
    return Suite(tuple(tests), together(tests, len(queries)))


def together(tests: Sequence[Tried], count: int) -> tuple[Pair, ...]:
    """The pairs, by place, of so many queries that none of the tests tells apart."""
    return tuple(pair for pair in sorted(pairs_of(count)) if not any(test.differ(*pair) for test in tests))


def _drawn(query: str, origin: Origin, search: Search) -> Tried:
    """A database on which the query returns something, as far as ``DRAWS`` find one."""
    for number in range(DRAWS):
        case = random_case(origin, f"{search.seed}|{number}", search.size, numbers=search.numbers)
        test = tried(case, [query], "drawn")
        if finds(test.results[0]):
            break
    return test

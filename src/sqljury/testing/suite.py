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
from sqljury.testing.draw import Origin, fuzzed_origin, random_case, read_origin
from sqljury.testing.expect import with_expected
from sqljury.testing.separate import DEFAULT, Search, separate
from sqljury.testing.trial import Pair, classes_of_all, finds, judged, pairs_of, run_case, translated
from sqljury.types import Schema, Task, Tried

DRAWS: Final = 20
"""Databases drawn for a single query, until it returns something on one."""


class Suite(NamedTuple):
    """Small databases with what each query does there, and the pairs of queries that differ on none.

    Among those pairs are all of a query that cannot be run on small databases.
    """

    tests: tuple[Tried, ...]
    together: tuple[Pair, ...]


def run_suite(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, ...]:
    """The queries, in the task's dialect, on a suite that tells them apart, each case with what the model expects.

    Give one query of each group with equal results. No tests where SQLite does not take the schema. Once the budget is
    exhausted the remaining cases have no expected result.
    """
    seed = str(derive_seed(context.seed, "tests"))
    search = Search(
        cases=part.cases,
        size=part.rows,
        numbers=part.numbers,
        seed=seed,
        keep=part.keep,
        fuzzing=part.draw == "fuzzing",
        reduce=part.reduce,
    )
    try:
        suite = separating_suite(queries, task.known, context.db, search, context.cancel)
    except DatabaseError:
        return ()
    tests = []
    for test in suite.tests:
        if not context.exhausted():
            case = with_expected(test.case, task.question, part, context)
            test = judged(replace(test, case=case, by="" if case.expected is None else "model"))
        tests.append(test)
    return tuple(tests)


def separating_suite(
    queries: Sequence[str],
    schema: Schema,
    db: Database,
    search: Search = DEFAULT,
    cancel: threading.Event | None = None,
) -> Suite:
    """Small databases that tell the queries apart, without expected results; for a single query, one with some rows.

    Queries are in the schema's dialect. Rows are read through ``db``, so that its access rules hold; none are read
    where ``search`` is for fuzzing. Raises ``DatabaseError`` when SQLite does not take the schema.
    """
    texts = translated(queries, schema)
    chosen = [queries[index] for index in texts]
    if search.fuzzing:
        origin = fuzzed_origin(db, schema, chosen, seed=search.seed)
    else:
        origin = read_origin(db, schema, chosen, seed=search.seed)
    if len(queries) == 1:
        return Suite((_drawn(queries[0], origin, search),) if texts else (), ())
    separation = separate(origin, list(texts.values()), search, cancel)
    tests = [
        replace(run_case(case, queries, how), classes=classes_of_all(classes, texts, len(queries)))
        for case, classes, how in zip(separation.cases, separation.classes, separation.how, strict=True)
    ]
    return Suite(tuple(tests), together(tests, len(queries)))


def together(tests: Sequence[Tried], count: int) -> tuple[Pair, ...]:
    """The pairs, by index, of so many queries that differ on none of the tests."""
    return tuple(pair for pair in sorted(pairs_of(count)) if not any(test.differ(*pair) for test in tests))


def _drawn(query: str, origin: Origin, search: Search) -> Tried:
    """A database on which the query finds something; the last of ``DRAWS`` where it finds nothing on any."""
    for number in range(DRAWS):
        case = random_case(origin, f"{search.seed}|{number}", search.size, numbers=search.numbers)
        test = run_case(case, [query], "fuzzed" if search.fuzzing else "drawn")
        if finds(test.results[0]):
            break
    return test

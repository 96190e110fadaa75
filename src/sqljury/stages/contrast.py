"""An answer beside its strongest rival: a few rows on which the two queries return different things.

Voting counts heads; on five rows people see for themselves which of two queries means what they asked. Needs no model.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from sqljury.db.base import Database
from sqljury.errors import CancelledError, DatabaseError
from sqljury.keys import known_schema
from sqljury.llm.base import derive_seed
from sqljury.sql.resolve import used
from sqljury.stages.select.base import representative, rival
from sqljury.types import Answer, TestCase, Tried, Verified


def verified(answer: Answer, db: Database, *, seed: int = 0, cancel: threading.Event | None = None) -> Answer:
    """The answer with ``verified`` set: the chosen query against that of the best other group.

    A test that the answer has already is taken if it tells the two apart, else rows are looked for, for some seconds.
    ``db`` is what the answer came from, behind its access rules. Raises ``CancelledError`` once ``cancel`` is set.
    """
    chosen = None if answer.choice is None else answer.choice.index
    if answer.choice is None or chosen is None:
        return answer
    rival_group = rival(answer.candidates, answer.choice)
    if answer.candidates[chosen].group is None or rival_group is None:
        return replace(answer, verified=Verified("agreed"))
    queries = (answer.sql, answer.candidates[representative(answer.candidates, rival_group)].sql)
    known = _known(answer.choice.tests, queries)
    if known is not None:
        return replace(answer, verified=Verified("differ", rival_group, known))
    name = str(derive_seed(seed, answer.question.id or answer.question.text, "verify"))
    return replace(answer, verified=_searched(queries, rival_group, db, name, cancel))


def _known(tests: Sequence[Tried], queries: tuple[str, str]) -> Tried | None:
    """Of the tests that tell the two apart one that the answer alone passes, if there is one; of these the smallest."""
    both = [_of(test, queries) for test in tests if set(queries) <= set(test.queries)]
    apart = [test for test in both if test.differ(0, 1)]
    return min(apart, key=lambda test: (test.passed != (True, False), test.case.size), default=None)


def _of(test: Tried, queries: tuple[str, str]) -> Tried:
    """The test with two of its queries alone."""
    positions = [test.queries.index(query) for query in queries]
    classes = [test.classes[position] for position in positions] if test.classes else []
    return replace(
        test,
        queries=queries,
        results=tuple(test.results[position] for position in positions),
        passed=tuple(test.passed[position] for position in positions),
        classes=tuple(classes.index(label) for label in classes),
    )


def _searched(
    queries: tuple[str, str], rival: int, db: Database, seed: str, cancel: threading.Event | None
) -> Verified:
    from sqljury.testing.separate import Search
    from sqljury.testing.suite import separating_suite
    from sqljury.testing.trial import run_case

    schema = known_schema(db, cancel=cancel)
    part = used(schema, queries)
    try:
        on_nothing = run_case(TestCase(part, ((),) * len(part.tables)), queries)
        for name, result in zip(("answer", "rival"), on_nothing.results, strict=True):
            if result.error:
                return Verified("untried", rival, why=f"the {name} cannot be run there: {result.error}")
        suite = separating_suite(queries, schema, db, Search(seed=seed), cancel)
    except DatabaseError as error:
        return Verified("untried", rival, why=str(error))
    if cancel is not None and cancel.is_set():
        raise CancelledError("stopped while looking for rows on which the queries differ")
    if suite.together:
        return Verified("together", rival)
    return Verified("differ", rival, suite.tests[0])

"""Test data without a model: rows made up until they have all that is in play and tell the queries apart.

The same ways as ``testcases.separate``, but for one database, with not a row of the user's in it: random ones (Zhong et
al. 2020, section 4.1), changed at the edges of the queries' conditions.
"""

from __future__ import annotations

import random
import threading
from typing import Final

from sqljury.metrics.suite.fuzz import Rows, fuzz
from sqljury.testcases.minimise import minimised
from sqljury.testcases.mutate import Mutator
from sqljury.testcases.origin import made_up
from sqljury.testcases.shape import Shape, size
from sqljury.testcases.tssql.judging import Judge, Look
from sqljury.testcases.tssql.linking import Linked

DRAWN: Final = 12
"""Databases made up before the best of them is changed."""

CHANGED: Final = 150
"""Changes tried; a database whose two queries mean the same is looked at in vain so often."""

FEWEST: Final = 3
"""Rows that a table keeps: on fewer, wrong programs say the right thing too often."""


def make(
    linked: Linked, shape: Shape, judge: Judge, *, rows: int, seed: str, cancel: threading.Event | None = None
) -> Look:
    """The best database that was found, with about ``rows`` rows a table where fewer do as well.

    Equal for equal arguments; once ``cancel`` is set, the best so far. Raises ``DatabaseError`` when SQLite does not
    take the schema.
    """
    origin = made_up(shape, [sql for sql in linked.queries if sql], linked.values, seed)
    best = judge.look(origin.pool)
    for number in range(DRAWN):
        best = _better(best, judge.look(fuzz(shape.schema, origin.sources, f"{seed}|program|{number}")))
    mutator = Mutator(origin, random.Random(f"{seed}|program"))  # noqa: S311 - no secret
    for _ in range(CHANGED):
        if not any(best.fails) or (cancel is not None and cancel.is_set()):
            break
        best = _better(best, judge.look(mutator.changed(best.rows)))
    return _fewer(best, shape, judge, rows)


def _better(one: Look, other: Look) -> Look:
    """The one of which less is wrong; of two as good ones, that with fewer rows."""
    return min(one, other, key=lambda look: (look.fails, size(look.rows)))


def _fewer(look: Look, shape: Shape, judge: Judge, most: int) -> Look:
    """As good a database with fewer rows, as long as a table has more than ``most``."""
    latest = look
    floor = {name: min(FEWEST, most, len(held)) for name, held in look.rows.items()}

    def holds(fewer: Rows) -> bool:
        nonlocal latest
        if any(len(fewer[name]) < least for name, least in floor.items()):
            return False
        found = judge.look(fewer)
        if any(now > before for now, before in zip(found.fails, look.fails, strict=True)) or found.rows != fewer:
            return False
        latest = found
        return True

    minimised(shape, look.rows, holds, lambda: all(len(held) <= most for held in latest.rows.values()))
    return latest

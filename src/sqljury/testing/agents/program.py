"""Test data without a model: rows made up until they have all that is in play and tell the queries apart.

The same ways as ``testcases.separate``, but for one database, with not a row of the user's in it: random ones (Zhong et
al. 2020, section 4.1), changed at the edges of the queries' conditions.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Final

from sqljury.testing.agents.judging import Judge, Look
from sqljury.testing.agents.linking import Linked
from sqljury.testing.draw import Origin, made_up
from sqljury.testing.fuzz import Rows, fuzz
from sqljury.testing.mutate import Mutator
from sqljury.testing.separate import minimised
from sqljury.testing.shape import size

DRAWN: Final = 12
"""Databases made up before the best of them is changed."""

CHANGED: Final = 150
"""Changes tried; a database whose two queries mean the same is looked at in vain so often."""

SECONDS: Final = 4.0
"""Of wall time; most databases take a tenth of it."""

FEWEST: Final = 3
"""Rows that a table keeps: on fewer, wrong programs say the right thing too often."""


def make(linked: Linked, judge: Judge, *, rows: int, seed: str, cancel: threading.Event | None = None) -> Look:
    """The best database that was found, with about ``rows`` rows a table where fewer do as well.

    Equal for equal arguments as long as time does not run out; once ``cancel`` is set, the best so far. Raises
    ``DatabaseError`` when SQLite does not take the schema.
    """
    deadline = time.monotonic() + SECONDS

    def over() -> bool:
        return time.monotonic() > deadline or (cancel is not None and cancel.is_set())

    shape = judge.shape
    origin = made_up(shape, [sql for sql in linked.queries if sql], linked.values, seed)
    best = judge.look(origin.pool)
    for number in range(DRAWN):
        best = _better(best, judge.look(fuzz(shape.schema, origin.sources, f"{seed}|program|{number}")))
    rng = random.Random(f"{seed}|program")  # noqa: S311 - no secret
    mutator = Mutator(origin, rng)
    for number in range(CHANGED):
        if not any(best.fails) or over():
            break
        changed = _meeting(best.rows, origin, rng) if number % 4 == 0 else mutator.changed(best.rows)
        best = _better(best, judge.look(changed))
    return _fewer(best, judge, rows, over)


def _meeting(rows: Rows, origin: Origin, rng: random.Random) -> Rows:
    """The rows with one of each table that has what queries compare its columns with, all conditions at once."""
    changed = {name: list(held) for name, held in rows.items()}
    for name, held in changed.items():
        if held:
            at = rng.randrange(len(held))
            columns = origin.shape.tables[name].columns
            wanted = [origin.constants.get((name, column.name), ()) for column in columns]
            held[at] = tuple(rng.choice(some) if some else cell for some, cell in zip(wanted, held[at], strict=True))
    return origin.shape.closed(changed)


def _better(one: Look, other: Look) -> Look:
    """The one of which less is wrong; of two as good ones, that with fewer rows."""
    return min(one, other, key=lambda look: (look.fails, size(look.rows)))


def _fewer(look: Look, judge: Judge, most: int, over: Callable[[], bool]) -> Look:
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

    minimised(judge.shape, look.rows, holds, lambda: over() or all(len(held) <= most for held in latest.rows.values()))
    return latest

"""Fewer rows that show the same: delta debugging over the rows of a database, whose foreign keys stay true.

Zeller & Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input", section 3, without its tests of single
parts: a row taken away takes those that refer to it along, so that what is left is always a database.
"""

from __future__ import annotations

from collections.abc import Callable

from sqljury.metrics.suite.fuzz import Rows
from sqljury.testcases.shape import Shape, size


def minimised(
    shape: Shape, rows: Rows, holds: Callable[[Rows], bool], over: Callable[[], bool] = lambda: False
) -> Rows:
    """Rows of which none can be taken away, with those that refer to it, so that ``holds`` is still true.

    ``holds`` is true of ``rows``. Once ``over`` is true the smallest that were found are returned. Takes about
    ``r * log(n)`` calls of ``holds`` to leave ``r`` of ``n`` rows.
    """
    chunk = max(1, size(rows) // 2)
    while not over():
        fewer = _thinned(shape, rows, chunk, holds, over)
        if size(fewer) == size(rows):
            if chunk == 1:
                break
            chunk //= 2
        rows, chunk = fewer, max(1, min(chunk, size(fewer) // 2))
    return rows


def _thinned(shape: Shape, rows: Rows, chunk: int, holds: Callable[[Rows], bool], over: Callable[[], bool]) -> Rows:
    """The rows without those of their chunks that are not needed, looked at one after another."""
    at = 0
    while at < size(rows) and not over():
        fewer = shape.closed(_without(shape, rows, at, chunk))
        if holds(fewer):
            rows = fewer
        else:
            at += chunk
    return rows


def _without(shape: Shape, rows: Rows, start: int, count: int) -> Rows:
    """All but ``count`` rows from the one at ``start``, counted over all tables, referencing ones first."""
    kept, passed = {}, 0
    for name in shape.children_first():
        held = rows[name]
        first, last = (min(max(0, place - passed), len(held)) for place in (start, start + count))
        kept[name] = held[:first] + held[last:]
        passed += len(held)
    return kept

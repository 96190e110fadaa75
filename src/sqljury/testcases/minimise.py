"""Fewer rows that show the same: delta debugging over the rows of a database, whose foreign keys stay true.

Zeller & Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input", section 3, without its tests of single
parts: a row taken away takes those that refer to it along, so that what is left is always a database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sqljury.metrics.suite.fuzz import Rows
from sqljury.testcases.shape import Shape, size

MOST_DETACHED: Final = 24
"""Rows up to which references are changed to get rid of more; nobody reads a larger database anyway."""


def minimised(
    shape: Shape, rows: Rows, holds: Callable[[Rows], bool], over: Callable[[], bool] = lambda: False
) -> Rows:
    """Rows of which none can be taken away, with those that refer to it, so that ``holds`` is still true.

    Rows stay as they are, but for references that are changed where fewer rows are needed then.
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
    return _detached(shape, rows, holds, over) if size(rows) <= MOST_DETACHED else rows


def _detached(shape: Shape, rows: Rows, holds: Callable[[Rows], bool], over: Callable[[], bool]) -> Rows:
    """Fewer rows by references that no longer stand for anything: to NULL or to another row, if some can then go."""
    changed = True
    while changed:
        changed = False
        for other in _references(shape, rows):
            if over():
                return rows
            if holds(other):
                fewer = _thinned(shape, other, 1, holds, over)
                if size(fewer) < size(rows):
                    rows, changed = fewer, True
                    break
    return rows


def _references(shape: Shape, rows: Rows) -> Iterator[Rows]:
    """The rows with one reference changed, for each reference and each change."""
    for link in shape.links:
        optional = shape.optional(link.child).intersection(link.columns)
        for at, row in enumerate(rows[link.child]):
            if link.wanted(row) is None:
                continue
            cut = tuple(None if place in optional else cell for place, cell in enumerate(row))
            changed = [cut] if optional else [link.pointed(row, parent) for parent in rows[link.parent]]
            for one in changed:
                if one != row:
                    held = rows[link.child]
                    yield shape.closed({**rows, link.child: [*held[:at], one, *held[at + 1 :]]})


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

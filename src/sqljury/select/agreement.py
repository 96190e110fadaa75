"""How far a group is backed by candidates beyond its own: results that overlap, queries that share a part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from sqljury.select.anatomy import Anatomy
from sqljury.select.consistency import rounded
from sqljury.types import Candidate, Result

ROWS: Final = 1000
"""Rows of a result that are looked at."""

Cells = Counter[Hashable]


def overlaps(candidates: Sequence[Candidate], speakers: Mapping[int, int]) -> dict[int, float]:
    """By group the mean overlap of its speaker's result with those of all candidates: 1 with its own, 0 with failed.

    ``speakers`` are places of candidates by group. Another group's candidates all count as their speaker.
    """
    sizes = Counter(one.group for one in candidates)
    cells = {group: _cells(candidates[place].result) for group, place in speakers.items()}
    return {
        group: sum(sizes[other] * (1.0 if other == group else overlap(own, cells[other])) for other in cells)
        / len(candidates)
        for group, own in cells.items()
    }


def overlap(one: Cells, other: Cells) -> float:
    """F1 of the cells of two results, from 0 to 1, whatever the order of rows and columns; 0 where one has none."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total and one and other else 0.0


def _cells(result: Result) -> Cells:
    shown = rounded(Result(rows=result.rows[:ROWS]))
    return Counter(_hashable(cell) for row in shown.rows for cell in row)


def _hashable(cell: Any) -> Hashable:
    """Cells of some engines are lists."""
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell  # type: ignore[no-any-return]


def sharing(own: Anatomy, queries: Sequence[Anatomy]) -> dict[str, float]:
    """The shares of all candidates whose query agrees with the group's in a part; ``queries`` are of all of them."""
    return {
        "same_tables": _share(set(one.tables) == set(own.tables) for one in queries if one.parsed),
        "same_items": _share(one.items == own.items for one in queries if one.parsed),
        "same_restrictions": _share(one.restrictions == own.restrictions for one in queries if one.parsed),
        "same_elements": _share(one.elements == own.elements for one in queries if one.parsed),
    }


def _share(agreeing: Iterable[bool]) -> float:
    listed = list(agreeing)
    return sum(listed) / len(listed) if listed else 0.0

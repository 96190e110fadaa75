"""Self-consistency: candidates with the same result vote together, and the largest group wins.

Wang et al. 2022, as CHASE-SQL (section 3.5) uses it for queries: executed, grouped by execution result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from sqljury.types import Candidate, Result

DIGITS = 9
"""Significant digits in which numbers must agree: sums differ in the last ones with the order of addition."""


def group(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with ``group`` set: 0 for the most votes, ties by the likelier query, None for failed ones."""
    members: dict[Hashable, list[int]] = {}
    for index, candidate in enumerate(candidates):
        if candidate.sql and candidate.result.ok:
            members.setdefault(signature(candidate.result), []).append(index)
    ranked = sorted(members.values(), key=lambda group: _strength(candidates, group), reverse=True)
    numbers = {index: number for number, group in enumerate(ranked) for index in group}
    return tuple(replace(candidate, group=numbers.get(index)) for index, candidate in enumerate(candidates))


def choose(candidates: Sequence[Candidate]) -> int | None:
    """The index of the likeliest candidate of the largest group; None when every candidate failed.

    ``candidates`` are grouped. A candidate without log-probability ranks by its place, the earlier first.
    """
    best = [index for index, candidate in enumerate(candidates) if candidate.group == 0]
    return max(best, key=lambda index: _rank(candidates, index)) if best else None


def decided(candidates: Sequence[Candidate], open_votes: int) -> bool:
    """Whether the largest group keeps its lead even if ``open_votes`` candidates all joined the second."""
    votes = Counter(candidate.group for candidate in candidates if candidate.group is not None)
    return bool(votes) and votes[0] > votes[1] + open_votes


def signature(result: Result) -> Hashable:
    """Equal for results with the same rows, whatever the order of rows and of columns.

    An empty result equals every other empty one: nothing tells them apart to whoever reads the answer.
    """
    if not result.rows:
        return ()
    columns = sorted(zip(*[[_cell(cell) for cell in row] for row in result.rows], strict=True), key=_column_key)
    return (result.truncated, len(columns), frozenset(Counter(zip(*columns, strict=True)).items()))


def _column_key(column: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(sorted(map(repr, column)))


def _cell(cell: Any) -> Hashable:
    if isinstance(cell, float):
        rounded = float(f"{cell:.{DIGITS}g}")
        return int(rounded) if rounded.is_integer() else rounded
    return bytes(cell) if isinstance(cell, (bytearray, memoryview)) else cell


def _strength(candidates: Sequence[Candidate], members: list[int]) -> tuple[Any, ...]:
    return (len(members), max(_rank(candidates, index) for index in members))


def _rank(candidates: Sequence[Candidate], index: int) -> tuple[float, int]:
    logprob = candidates[index].logprob
    return (float("-inf") if logprob is None else logprob, -index)

"""Self-consistency: candidates with the same result vote together, and the largest group wins.

Wang et al. 2022, as CHASE-SQL (section 3.5) uses it for queries: executed, grouped by execution result.

Selectors that others are measured against.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from sqljury.context import Context
from sqljury.errors import QueryLimitError
from sqljury.llm.base import derive_seed
from sqljury.sql.compare import same_result
from sqljury.types import Candidate, Choice, Result, Task

DIGITS = 9
"""Significant digits in which numbers must agree: sums differ in the last ones with the order of addition."""


WHOLE = 2.0**53
"""Up to here a float holds whole numbers exactly, and a sum of them is the same with integers."""


def group(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with ``group`` set: 0 for the most votes, ties by the likelier query, None for failed ones."""
    members: list[list[int]] = []
    for index, candidate in enumerate(candidates):
        if not candidate.sql or not candidate.result.ok:
            continue
        for indices in members:
            if agree(candidates[indices[0]].result, candidate.result):
                indices.append(index)
                break
        else:
            members.append([index])
    ranked = sorted(members, key=lambda indices: _strength(candidates, indices), reverse=True)
    numbers = {index: number for number, indices in enumerate(ranked) for index in indices}
    return tuple(replace(candidate, group=numbers.get(index)) for index, candidate in enumerate(candidates))


def joined(candidates: Sequence[Candidate], more: Candidate) -> tuple[Candidate, ...]:
    """Grouped candidates and one more, in the group with its result or in a new one after all; none changes its own."""
    groups = [one.group for one in candidates if one.group is not None]
    agreeing = (one.group for one in candidates if one.group is not None and agree(one.result, more.result))
    number = next(agreeing, max(groups, default=-1) + 1) if more.sql and more.result.ok else None
    return (*candidates, replace(more, group=number))


def choose(candidates: Sequence[Candidate]) -> int | None:
    """The index of the chosen candidate of the largest group; None when every candidate failed."""
    return choose_in(candidates, 0)


def choose_in(candidates: Sequence[Candidate], group: int) -> int | None:
    """The index of the candidate that speaks for a group; None for a group without any.

    ``candidates`` are grouped. Within the group they may differ in the order of rows or columns: that of most of them
    is taken, so that one query without ORDER BY does not undo it for the others, and of those the likeliest query. A
    candidate without log-probability ranks by its place, the earlier first.
    """
    best = [index for index, candidate in enumerate(candidates) if candidate.group == group]
    if not best:
        return None
    exact = {index: rounded(candidates[index].result).rows for index in best}
    votes = Counter(exact.values())
    return max(best, key=lambda index: (votes[exact[index]], _rank(candidates, index)))


def votes(candidates: Sequence[Candidate], _task: Task, _work: Context) -> Choice:
    """The selector: votes alone; a group's score is its votes."""
    sizes = Counter(candidate.group for candidate in candidates if candidate.group is not None)
    return Choice(choose(candidates), "consistency", tuple(float(sizes[number]) for number in sorted(sizes)))


def decided(candidates: Sequence[Candidate], still_open: Collection[int]) -> bool:
    """Whether the outcome holds whatever becomes of the candidates ``still_open``, by index.

    Settled votes alone count for the leader, and every open one against it.
    """
    settled = Counter(
        candidate.group
        for index, candidate in enumerate(candidates)
        if candidate.group is not None and index not in still_open
    )
    first, second = [*(votes for _, votes in settled.most_common(2)), 0, 0][:2]
    return first > second + len(still_open)


def agreed(candidates: Sequence[Candidate], share: float, least: int) -> bool:
    """Whether enough candidates have one result: ``share`` of all, of which there are at least ``least``.

    Never for a share of 0. A result without rows is no agreement: most mistakes in a query make it find nothing.
    """
    if not share or len(candidates) < least:
        return False
    leading = [one for one in group(candidates) if one.group == 0]
    return bool(leading) and bool(leading[0].result.rows) and len(leading) >= share * len(candidates)


def agree(one: Result, other: Result) -> bool:
    """Whether two results say the same: the same rows, whatever the order of rows and of columns.

    Empty results all agree, since nothing tells them apart to whoever reads the answer. Cut results agree when what
    is left of both does.
    """
    if (one.truncated, len(one.rows)) != (other.truncated, len(other.rows)):
        return False
    try:
        return same_result(rounded(one), rounded(other), ordered=False)
    except QueryLimitError:  # too many columns with too much in common; then they count as different
        return False


def rounded(result: Result) -> Result:
    """The rows alone, numbers in the digits that count."""
    return Result(rows=tuple(tuple(map(_cell, row)) for row in result.rows))


def _cell(cell: Any) -> Any:
    if not isinstance(cell, float) or not isfinite(cell):
        return cell
    if cell.is_integer() and abs(cell) < WHOLE:
        return int(cell)
    return float(f"{cell:.{DIGITS}g}")


def _strength(candidates: Sequence[Candidate], members: list[int]) -> tuple[Any, ...]:
    return (len(members), max(_rank(candidates, index) for index in members))


def likelihood(candidate: Candidate) -> float:
    """The log-probability of a candidate, one without any the least likely."""
    return float("-inf") if candidate.logprob is None else candidate.logprob


def _rank(candidates: Sequence[Candidate], index: int) -> tuple[float, int]:
    return (likelihood(candidates[index]), -index)


def first(candidates: Sequence[Candidate], _task: Task, _work: Context) -> Choice:
    """The first candidate that runs: what a single query would have been."""
    return Choice(next(iter(_running(candidates)), None), "first")


def chance(candidates: Sequence[Candidate], _task: Task, context: Context) -> Choice:
    """Any candidate that runs, drawn by the question's seed."""
    running = _running(candidates)
    drawn = random.Random(derive_seed(context.seed, "random"))  # noqa: S311
    return Choice(drawn.choice(running) if running else None, "random")


def _running(candidates: Sequence[Candidate]) -> list[int]:
    return [index for index, candidate in enumerate(candidates) if candidate.group is not None]

"""Self-consistency: candidates with the same result form a group, and the largest group wins.

Wang et al. 2022, as CHASE-SQL (section 3.5) uses it for queries. A candidate's ``weight`` says for how many votes it
counts. The baselines ``first`` and ``chance`` are here too.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqljury.context import Context
from sqljury.llm.base import derive_seed
from sqljury.sql.compare import VOTES, canonical, same
from sqljury.types import Candidate, Choice, Task
from sqljury.types.candidate import total_weight

Key = TypeVar("Key", bound=Hashable)


def group(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with ``group`` set: 0 for the most votes, ties by the likelier query, None for failed ones.

    Groups of opinions alone come after all others.
    """
    members: list[list[int]] = []
    for index, candidate in enumerate(candidates):
        if not candidate.sql or not candidate.result.ok:
            continue
        for indices in members:
            if same(candidates[indices[0]].result, candidate.result, VOTES):
                indices.append(index)
                break
        else:
            members.append([index])
    ranked = sorted(members, key=lambda indices: _strength(candidates, indices), reverse=True)
    numbers = {index: number for number, indices in enumerate(ranked) for index in indices}
    return tuple(replace(candidate, group=numbers.get(index)) for index, candidate in enumerate(candidates))


def joined(candidates: Sequence[Candidate], more: Candidate) -> tuple[Candidate, ...]:
    """Grouped candidates and one more, in the group with its result or in a new, last one."""
    groups = [candidate.group for candidate in candidates if candidate.group is not None]
    agreeing = (
        candidate.group
        for candidate in candidates
        if candidate.group is not None and same(candidate.result, more.result, VOTES)
    )
    number = next(agreeing, max(groups, default=-1) + 1) if more.sql and more.result.ok else None
    return (*candidates, replace(more, group=number))


def choose(candidates: Sequence[Candidate]) -> int | None:
    """The index of the chosen candidate of the largest group; None when every candidate failed."""
    return choose_in(candidates, 0)


def choose_in(candidates: Sequence[Candidate], group: int) -> int | None:
    """The index of the candidate that represents a group; None for a group without candidates.

    ``candidates`` are grouped. The results of a group may differ in the order of rows or columns: the most frequent
    order is taken, so that one query without ORDER BY does not undo it for the others, and of the queries with that
    order the likeliest. A candidate without log-probability ranks by its index, the earlier first. An opinion is taken
    only where the group has nothing else.
    """
    members = [index for index, candidate in enumerate(candidates) if candidate.group == group]
    if len(members) < 2:
        return members[0] if members else None
    exact = {index: canonical(candidates[index].result.rows, VOTES) for index in members}
    votes = _weights((exact[index], candidates[index]) for index in members)
    eligible = [index for index in members if not candidates[index].opinion] or members
    return max(eligible, key=lambda index: (votes[exact[index]], _rank(candidates, index)))


def votes(candidates: Sequence[Candidate], _task: Task, _context: Context) -> Choice:
    """The selector: votes alone; a group's score is its votes."""
    sizes = _weights((candidate.group, candidate) for candidate in candidates if candidate.group is not None)
    return Choice(choose(candidates), "consistency", tuple(size for _, size in sorted(sizes.items())))


def decided(candidates: Sequence[Candidate], still_open: Collection[int]) -> bool:
    """Whether votes choose the same whatever becomes of the candidates ``still_open``, given by index.

    Only settled votes count for the leader, and every open one counts against it.
    """
    settled = _weights(
        (candidate.group, candidate)
        for index, candidate in enumerate(candidates)
        if candidate.group is not None and index not in still_open
    )
    first, second = [*sorted(settled.values(), reverse=True), 0.0, 0.0][:2]
    return first > second + total_weight(candidates[index] for index in still_open)


def agreed(candidates: Sequence[Candidate], share: float, least: int) -> bool:
    """Whether a ``share`` of at least ``least`` candidates has one result; never for a share of 0.

    An empty result does not count: most mistakes in a query make it find nothing.
    """
    if not share or len(candidates) < least:
        return False
    leading = [candidate for candidate in group(candidates) if candidate.group == 0]
    enough = total_weight(leading) >= share * total_weight(candidates)
    return bool(leading) and bool(leading[0].result.rows) and enough


def _strength(candidates: Sequence[Candidate], members: list[int]) -> tuple[Any, ...]:
    votes = total_weight(candidates[index] for index in members)
    eligible = any(not candidates[index].opinion for index in members)
    return (eligible, votes, max(_rank(candidates, index) for index in members))


def _weights(keyed: Iterable[tuple[Key, Candidate]]) -> dict[Key, float]:
    """The votes of the candidates of each key together."""
    by_key: defaultdict[Key, list[Candidate]] = defaultdict(list)
    for key, candidate in keyed:
        by_key[key].append(candidate)
    return {key: total_weight(candidates) for key, candidates in by_key.items()}


def likelihood(candidate: Candidate) -> float:
    """The log-probability of a candidate, one without any the least likely."""
    return float("-inf") if candidate.logprob is None else candidate.logprob


def _rank(candidates: Sequence[Candidate], index: int) -> tuple[float, int]:
    return (likelihood(candidates[index]), -index)


def first(candidates: Sequence[Candidate], _task: Task, _context: Context) -> Choice:
    """The selector: the first candidate that runs, as a single query would have been."""
    return Choice(next(iter(_running(candidates)), None), "first")


def chance(candidates: Sequence[Candidate], _task: Task, context: Context) -> Choice:
    """The selector: any candidate that runs, drawn by the question's seed."""
    running = _running(candidates)
    drawn = random.Random(derive_seed(context.seed, "random"))  # noqa: S311
    return Choice(drawn.choice(running) if running else None, "random")


def _running(candidates: Sequence[Candidate]) -> list[int]:
    running = [index for index, candidate in enumerate(candidates) if candidate.group is not None]
    return [index for index in running if not candidates[index].opinion] or running

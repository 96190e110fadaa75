"""The tournament: every pair of different answers put to a judge, in both orders (CHASE-SQL, section 3.5, Algorithm 3).

Candidates with equal results cost no call: of each pair of them one gets a point, whatever the order. Groups of equal
results are therefore judged by one query each, and a group's wins count once for every candidate that it beats.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import LETTERS, Message, derive_seed
from sqljury.prompts import unmarked
from sqljury.stages.select.base import Selector, ask, groups, in_play, members, shown, spokesman
from sqljury.types import Candidate, Choice, Comparison, Task


def tournament(most: int = 0) -> Selector:
    """The selector; only the ``most`` largest groups take part, all for 0.

    A group's score is the mean, over its candidates, of the points of Algorithm 3, with the judge's probability of its
    victory for the point where the model gives one. Ties go to the larger group, then to the likelier query.
    """

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        taking_part = groups(candidates)[: most or None]
        if not taking_part:
            return Choice(None, "tournament")
        best = {group: spokesman(candidates, group) for group in taking_part}
        comparisons = [
            _compare((first, second), [candidates[best[g]] for g in (first, second)], task, context)
            for first, second in combinations(taking_part, 2)
        ]
        sizes = {group: len(members(candidates, group)) for group in taking_part}
        scores = {group: sizes[group] - 1.0 for group in taking_part}
        for one in comparisons:
            scores[one.first] += sizes[one.second] * (one.first_shown_first + one.first_shown_second)
            scores[one.second] += sizes[one.first] * (2 - one.first_shown_first - one.first_shown_second)
        winner = max(taking_part, key=lambda group: (scores[group], sizes[group], -group))
        ranked = tuple(scores[group] for group in taking_part)
        return Choice(best[winner], "tournament", ranked, tuple(comparisons))

    return select


def _compare(numbers: tuple[int, int], pair: Sequence[Candidate], task: Task, context: Context) -> Comparison:
    """Both orders of showing, since judges prefer a place (position bias)."""
    forwards = _first_wins(pair[0], pair[1], task, context)
    backwards = _first_wins(pair[1], pair[0], task, context)
    return Comparison(*numbers, forwards, 1 - backwards)


def _first_wins(first: Candidate, second: Candidate, task: Task, context: Context) -> float:
    """The judge's probability that the query shown first is the right one; 0.5 for a reply that is no choice."""
    messages = conversation(first, second, task)
    wins, _ = ask(messages, LETTERS[:2], context, derive_seed(context.seed, "judge", messages[-1].content))
    return wins


def conversation(first: Candidate, second: Candidate, task: Task) -> list[Message]:
    """What a judge is asked of two candidates, A and B; at training as at inference."""
    question = task.question
    text = prompts.render(
        "select/pair",
        schema=in_play(task.known, [first, second]),
        question=question.whole,
        first=unmarked(first.sql),
        first_result=shown(first.result),
        second=unmarked(second.sql),
        second_result=shown(second.result),
    )
    return [Message("system", prompts.render("select/system", dialect=task.dialect_name)), Message("user", text)]

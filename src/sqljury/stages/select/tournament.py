"""Judges of pairs: every pair of different answers, in both orders (CHASE-SQL, section 3.5, Algorithm 3), or a bracket.

Two candidates with equal results cost no call: one of them gets a point, whatever the order. So each group of equal
results is judged by one query, and a group's wins count once for every candidate that it beats, by its ``weight``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqljury import prompts
from sqljury.context import Context
from sqljury.llm.base import LETTERS, Message, derive_seed
from sqljury.recipes.parts import Judged
from sqljury.stages.generate.direct import written
from sqljury.stages.select.base import Selector, UnjudgedError, ask, in_play, members, representatives, seen, shown
from sqljury.types import Candidate, Choice, Comparison, Task
from sqljury.types.candidate import total_weight


def tournament(most: int = 0) -> Selector:
    """The selector; only the ``most`` largest groups take part, all for 0.

    A group's score is the mean, over its candidates, of the points of Algorithm 3, with the judge's
    probability of its victory as the point where the model gives one. Ties go to the larger group, then to the
    likelier query. Where the budget ends before all are compared, those decide that all were compared with each
    other, from the largest on; raises ``UnjudgedError`` where these are fewer than two.
    """

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        best = representatives(candidates, most)
        if not best:
            return Choice(None, "tournament")
        comparisons, note = _compared(best, candidates, task, context)
        if note:
            best = {
                group: best[group]
                for group in {group for comparison in comparisons for group in (comparison.first, comparison.second)}
            }
        sizes = {group: total_weight(candidates[index] for index in members(candidates, group)) for group in best}
        scores = {group: sizes[group] - 1.0 for group in best}
        for comparison in comparisons:
            scores[comparison.first] += sizes[comparison.second] * (
                comparison.first_shown_first + comparison.first_shown_second
            )
            scores[comparison.second] += sizes[comparison.first] * (
                2 - comparison.first_shown_first - comparison.first_shown_second
            )
        winner = max(best, key=lambda group: (scores[group], sizes[group], -group))
        return Choice(best[winner], "tournament", tuple(scores.values()), tuple(comparisons), note=note)

    return select


def _compared(
    best: Mapping[int, int], candidates: Sequence[Candidate], task: Task, context: Context
) -> tuple[list[Comparison], str]:
    """Every two groups compared, each group with all larger ones before the next; and what could not be."""
    comparisons: list[Comparison] = []
    for second in best:
        row: list[Comparison] = []
        for first in (group for group in best if group < second):
            try:
                row.append(_compare((first, second), [candidates[best[g]] for g in (first, second)], task, context))
            except UnjudgedError as error:
                if not comparisons:
                    raise
                return _in_order(comparisons), f"{error}, so only the {second} largest results were compared"
        comparisons += row
    return _in_order(comparisons), ""


def _in_order(comparisons: Sequence[Comparison]) -> list[Comparison]:
    return sorted(comparisons, key=lambda comparison: (comparison.first, comparison.second))


def bracket(most: int = 0) -> Selector:
    """The selector of a knockout: one comparison less than groups (MSc-SQL, section 4.2).

    In each round the largest group meets the smallest, the second largest the second smallest, and so on; a group in
    the middle goes on as it is. The likelier of a pair goes on, the larger group where both are equally likely. A
    group's score is the number of rounds that it was in before the one in which it lost. ``most`` is as in
    ``tournament``.
    """

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        best = representatives(candidates, most)
        standing, compared = list(best), list[Comparison]()
        scores = dict.fromkeys(best, 0.0)
        while len(standing) > 1:
            half = len(standing) // 2
            going_on = standing[half : len(standing) - half]
            for pair in zip(standing[:half], standing[::-1], strict=False):
                comparison = _compare(pair, [candidates[best[group]] for group in pair], task, context)
                compared.append(comparison)
                going_on.append(pair[comparison.first_shown_first + comparison.first_shown_second < 1])
            standing = sorted(going_on)
            scores |= {group: scores[group] + 1 for group in standing}
        index = best[standing[0]] if standing else None
        return Choice(index, "bracket", tuple(scores.values()), tuple(compared))

    return select


def _compare(numbers: tuple[int, int], pair: Sequence[Candidate], task: Task, context: Context) -> Comparison:
    """The pair in both orders, since judges prefer a position (position bias)."""
    forwards = _first_wins(pair[0], pair[1], task, context)
    backwards = _first_wins(pair[1], pair[0], task, context)
    return Comparison(*numbers, forwards, 1 - backwards)


def _first_wins(first: Candidate, second: Candidate, task: Task, context: Context) -> float:
    """The judge's probability that the query shown first is the right one; 0.5 for a reply that is not a choice."""
    messages = conversation(first, second, task, context.recipe.select.schema)
    wins, _ = ask(messages, LETTERS[:2], context, derive_seed(context.seed, "judge", messages[-1].content))
    return wins


def conversation(first: Candidate, second: Candidate, task: Task, schema: Judged = "used") -> list[Message]:
    """What a judge is asked about two candidates, A and B, in training as at inference."""
    question = task.question
    text = prompts.render(
        "select/pair",
        "schema",
        schema=in_play(task, [first, second], schema),
        question=question.whole,
        first=written(first, task),
        first_result=shown(first.result, task.shows),
        second=written(second, task),
        second_result=shown(second.result, task.shows),
    )
    system = prompts.render("select/system", "schema", dialect=task.dialect_name, seen=seen(schema))
    return [Message("system", system), Message("user", text)]

"""Scorers: selectors with a judge whose scores of groups are a feature of the light judge.

A light judge is fitted with scores that were stored, and asks for the same kind of scores when it chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqljury.context import Context
from sqljury.recipes.parts import Judged
from sqljury.stages.select.base import Selector, UnjudgedError, representatives
from sqljury.stages.select.critic import critic, independent
from sqljury.stages.select.tournament import tournament
from sqljury.types import Candidate, Comparison, Task

TOURNAMENT: Final = "tournament"
SCORERS: Final[Mapping[str, Callable[[int], Selector]]] = {
    "critic": critic,
    "critic-independent": independent,
    TOURNAMENT: tournament,
}
"""Factories by name, as those of ``select.SELECTORS``."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """The kind of scores: the selector, how many of the largest groups it judges (0 for all), what its judge is shown.

    The model is not part of it: scores to learn from may be by several models, each of which judges databases that it
    was not trained on.
    """

    selector: str
    groups: int = 0
    schema: Judged = "used"

    def scores(self, candidates: Sequence[Candidate], task: Task, context: Context) -> tuple[dict[str, float], str]:
        """By representative's query its group's score, and why there is none: the judge could not be asked of all.

        What the judge is shown is up to the recipe of ``context``. A single group costs no call.
        """
        missing = f"scores of the {self.selector} are missing"
        try:
            choice = SCORERS[self.selector](self.groups)(candidates, task, context)
        except UnjudgedError as error:
            return {}, f"{error}, so {missing}"
        if choice.note:
            return {}, f"{choice.note}, and {missing}"
        return by_query(candidates, group_scores(self.selector, choice.scores, choice.comparisons)), ""


def group_scores(selector: str, scores: Sequence[float], comparisons: Sequence[Comparison]) -> dict[int, float]:
    """By group its score, from a choice of one of ``SCORERS``; empty where the choice has no ``scores``.

    Of the tournament it is the share of its comparisons that the group wins, in [0, 1], the mean of both orders: unlike
    the points of ``tournament``, which grow with the number of candidates. Of others it is the choice's own score.
    """
    if selector != TOURNAMENT or not scores:
        return dict(enumerate(scores))
    points: dict[int, list[float]] = {}
    for comparison in comparisons:
        first = (comparison.first_shown_first + comparison.first_shown_second) / 2
        points.setdefault(comparison.first, []).append(first)
        points.setdefault(comparison.second, []).append(1 - first)
    return {group: sum(won) / len(won) for group, won in points.items()}


def by_query(candidates: Sequence[Candidate], scores: Mapping[int, float]) -> dict[str, float]:
    """Scores by group as scores by the query that represents the group."""
    chosen = representatives(candidates)
    return {candidates[index].sql: scores[group] for group, index in chosen.items() if group in scores}

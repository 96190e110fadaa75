"""How often a judge of pairs prefers the right query, and how often the order of showing decides for it.

CHASE-SQL, Table 5 (binary selection accuracy): pairs with one right and one wrong query; others do not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqljury.bench.stored import Asked
from sqljury.evaluation.report import Share
from sqljury.stages.select.consistency import choose_in
from sqljury.types import Comparison

JudgedPairs = tuple[Asked, Sequence[int | None], Sequence[Comparison]]
"""A question, the group of each of its candidates, and the comparisons of these groups."""


def accuracy(judged: Iterable[JudgedPairs]) -> dict[str, Any] | None:
    """The figures of one judge, ready for JSON; None where it compared nothing.

    ``decided`` counts pairs of which exactly one is right; ``ex`` is the share of them where the mean of both orders
    prefers the right one, ``shown_first`` and ``shown_second`` the share where the order that shows the right one
    first (second) does. An even judgement counts half. ``flips`` is the share of all pairs whose preference turns with
    the order, ``first_place`` the mean probability of what is shown first: 0.5 for a judge without bias.
    """
    pairs = [
        (comparison, _rights(question, groups, comparison))
        for question, groups, comparisons in judged
        for comparison in comparisons
    ]
    if not pairs:
        return None
    decided = [_of_right(comparison, rights[0]) for comparison, rights in pairs if rights[0] != rights[1]]
    flips = sum(
        (comparison.first_shown_first - 0.5) * (comparison.first_shown_second - 0.5) < 0 for comparison, _ in pairs
    )
    first_probabilities = [
        (comparison.first_shown_first + 1 - comparison.first_shown_second) / 2 for comparison, _ in pairs
    ]
    return {
        "pairs": len(pairs),
        "decided": len(decided),
        "ex": _preferred((first + second) / 2 for first, second in decided),
        "shown_first": _preferred(first for first, _ in decided),
        "shown_second": _preferred(second for _, second in decided),
        "flips": Share(flips, len(pairs)).figures(),
        "first_place": round(sum(first_probabilities) / len(first_probabilities), 4),
    }


def _rights(question: Asked, groups: Sequence[int | None], pair: Comparison) -> tuple[bool, bool]:
    """Whether the query that speaks for each of the two groups, which is what the judge saw, is right."""
    candidates = [
        replace(question.candidate(candidate), group=group)
        for candidate, group in zip(question.candidates, groups, strict=True)
    ]
    shown = [choose_in(candidates, group) for group in (pair.first, pair.second)]
    first, second = (index is not None and question.right(candidates[index].sql) for index in shown)
    return first, second


def _of_right(pair: Comparison, first_is_right: bool) -> tuple[float, float]:
    """The judge's probability of the right query, when that one is shown first, and when second."""
    if first_is_right:
        return pair.first_shown_first, pair.first_shown_second
    return 1 - pair.first_shown_second, 1 - pair.first_shown_first


def _preferred(probabilities: Iterable[float]) -> dict[str, Any]:
    listed = [1.0 if probability > 0.5 else 0.5 if probability == 0.5 else 0.0 for probability in probabilities]
    return Share(sum(listed), len(listed)).figures()

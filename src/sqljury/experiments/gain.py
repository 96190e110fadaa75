"""What a training gained: two runs on the same questions, before and after, question by question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqljury.bench.stored import FIXED, WRITTEN, Asked, StoredRun
from sqljury.errors import InputError
from sqljury.metrics.agreement import Comparison, compare

Key = tuple[str, str]
"""A question: the name of its database, and its text."""


def _greedy(question: Asked) -> float | None:
    first = next((candidate for candidate in question.candidates if candidate.part == 0), None)
    return float(first is not None and question.right(first.queries[FIXED]))


def _bound(question: Asked) -> float:
    return float(any(question.right(candidate.queries[FIXED]) for candidate in question.candidates))


def _mean(question: Asked) -> float:
    candidates = question.candidates
    return (
        sum(question.right(candidate.queries[FIXED]) for candidate in candidates) / len(candidates)
        if candidates
        else 0.0
    )


def _runs(question: Asked) -> float | None:
    candidates = question.candidates
    return (
        sum(question.runs(candidate.queries[WRITTEN]) for candidate in candidates) / len(candidates)
        if candidates
        else None
    )


MEASURES: Final[dict[str, Callable[[Asked], float | None]]] = {
    "first candidate": _greedy,
    "mean of all candidates": _mean,
    "votes": lambda question: float(question.right(question.voted(question.candidates))),
    "chosen": lambda question: float(question.right(question.sql)),
    "at least one": _bound,
    "runs as written": _runs,
}
"""By name the score of a question: execution accuracy, and at the end the share of candidates that run unrepaired.

The first candidate is that of the recipe's first part (greedy, where its temperature is 0); ``chosen`` is what the run
answered.
"""


def gains(before: StoredRun, after: StoredRun, seed: int = 0) -> dict[str, Comparison]:
    """The second run against the first by each of ``MEASURES``, on the questions that both can judge.

    Intervals are of the paired difference, by bootstrap over databases (``metrics.agreement``); ``seed`` draws them.
    Raises ``InputError`` for runs that share no question, and where they disagree about a question's gold query.
    """
    shared = _shared(before, after)
    if not shared:
        raise InputError(f"{before.folder} and {after.folder} share no question; run both on the same ones")
    for first, second in shared:
        if first.gold != second.gold:
            raise InputError(
                f"{before.folder} and {after.folder} have different gold queries for {first.id!r}; run both on "
                "the same dataset"
            )
    databases = [first.db_id for first, _ in shared]
    return {
        name: compare([score(first) for first, _ in shared], [score(second) for _, second in shared], databases, seed)
        for name, score in MEASURES.items()
    }


def _shared(before: StoredRun, after: StoredRun) -> list[tuple[Asked, Asked]]:
    """The questions of both, side by side.

    Some stand in a dataset twice: of those with one text, the ones with one id belong together, then others in order.
    """
    first, second = _by_key(before), _by_key(after)
    pairs = []
    for key, questions in first.items():
        others = {question.id: question for question in second.get(key, ())}
        named = [(question, others.pop(question.id)) for question in questions if question.id in others]
        known = {question.id for question, _ in named}
        pairs += named
        pairs += zip((question for question in questions if question.id not in known), others.values(), strict=False)
    return pairs


def _by_key(run: StoredRun) -> dict[Key, list[Asked]]:
    by_key: dict[Key, list[Asked]] = {}
    for question in sorted(run.questions, key=lambda question: question.id):  # answers come in any order
        by_key.setdefault((question.db_id, question.text), []).append(question)
    return by_key

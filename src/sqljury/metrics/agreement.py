"""Statistics over scores per query: how two metrics agree, how sure a figure is, whether one file beats another.

Scores are lists with a place for each query, None where there is no score; a query without a score in one of the lists
is left out. Intervals resample databases, not queries, because queries on one database are right or wrong together.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Sequence
from math import comb
from typing import Final, NamedTuple

Scores = Sequence[float | None]

RESAMPLES: Final = 2000
LEVEL: Final = 0.95


class Interval(NamedTuple):
    """From ``low`` to ``high``, on the scale of what it is about."""

    low: float
    high: float


class Confusion(NamedTuple):
    """Places of the queries that two metrics accept, in the order of the lists; accepted is a score of 1 or more."""

    both: tuple[int, ...]
    first_only: tuple[int, ...]
    second_only: tuple[int, ...]
    neither: tuple[int, ...]

    @property
    def agreement(self) -> float:
        """The share of queries on which they say the same; 1 for no queries."""
        total = sum(map(len, self))
        return (len(self.both) + len(self.neither)) / total if total else 1.0

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: agreement beyond chance, 1 at most; None where chance alone would agree on everything."""
        total = sum(map(len, self))
        if not total:
            return None
        first, second = len(self.both) + len(self.first_only), len(self.both) + len(self.second_only)
        chance = (first * second + (total - first) * (total - second)) / total**2
        return (self.agreement - chance) / (1 - chance) if chance < 1 else None


class Errors(NamedTuple):
    """Errors of a metric against labels, as shares of all queries (ESM+ paper, Table 4)."""

    false_positives: float
    false_negatives: float


class Comparison(NamedTuple):
    """Two files by one metric: places where the second is better, worse, and the same.

    ``first`` and ``second`` are their means over the queries for which both have a score, ``difference`` the second
    less the first, with its ``interval``; ``p`` is the exact probability of so uneven wins and losses, or more so, were
    both files as good (McNemar; the sign test for graded scores).
    """

    wins: tuple[int, ...]
    losses: tuple[int, ...]
    ties: int
    first: float
    second: float
    difference: float
    interval: Interval
    p: float


class Slice(NamedTuple):
    """Of the queries with one feature: how many have a score, and the mean."""

    queries: int
    mean: float


def confusion(first: Scores, second: Scores) -> Confusion:
    """Which queries each of two metrics accepts; the lists must be equally long."""
    indices: dict[tuple[bool, bool], list[int]] = {}
    for index, first_score, second_score in _paired(first, second):
        indices.setdefault((first_score >= 1, second_score >= 1), []).append(index)
    cells = ((True, True), (True, False), (False, True), (False, False))
    return Confusion(*(tuple(indices.get(cell, ())) for cell in cells))


def errors(metric: Scores, labels: Scores) -> Errors:
    """How often a metric accepts what the labels call wrong, and refuses what they call right."""
    accepted = confusion(metric, labels)
    total = max(1, sum(map(len, accepted)))
    return Errors(len(accepted.first_only) / total, len(accepted.second_only) / total)


def compare(first: Scores, second: Scores, groups: Sequence[Hashable], seed: int = 0) -> Comparison:
    """The second file against the first by one metric; ``groups`` names each query's database."""
    pairs = _paired(first, second)
    wins = tuple(index for index, first_score, second_score in pairs if second_score > first_score)
    losses = tuple(index for index, first_score, second_score in pairs if second_score < first_score)
    differences: list[float | None] = [None] * len(groups)
    for index, first_score, second_score in pairs:
        differences[index] = second_score - first_score
    ties = len(pairs) - len(wins) - len(losses)
    interval = bootstrap(differences, groups, seed=seed)
    means = mean([first_score for _, first_score, _ in pairs]), mean([second_score for _, _, second_score in pairs])
    return Comparison(wins, losses, ties, *means, mean(differences), interval, mcnemar(len(wins), len(losses)))


def mcnemar(wins: int, losses: int) -> float:
    """The exact two-sided p-value of McNemar's test: that a fair coin falls so unevenly; 1 where nothing differs."""
    tosses = wins + losses
    tail = sum(comb(tosses, heads) for heads in range(min(wins, losses) + 1))
    return min(1.0, 2 * tail / (1 << tosses))


def mean(scores: Scores) -> float:
    """The mean of those that are there; 0 for none."""
    present = [score for score in scores if score is not None]
    return sum(present) / len(present) if present else 0.0


def bootstrap(
    scores: Scores, groups: Sequence[Hashable], *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """The percentile interval of the mean when whole groups are drawn anew, as many as there are, with replacement.

    With fewer than two groups that have scores each query is one of its own. The same seed gives the same interval.
    """
    if len({group for score, group in zip(scores, groups, strict=True) if score is not None}) < 2:
        groups = range(len(scores))
    totals: dict[Hashable, tuple[float, int]] = {}
    for score, group in zip(scores, groups, strict=True):
        if score is not None:
            total, size = totals.get(group, (0.0, 0))
            totals[group] = total + score, size + 1
    if not totals:
        return Interval(0.0, 0.0)
    chance = random.Random(f"bootstrap {seed}")  # noqa: S311
    listed = list(totals.values())
    means = []
    for _ in range(resamples):
        drawn = chance.choices(listed, k=len(listed))
        means.append(sum(total for total, _ in drawn) / sum(size for _, size in drawn))
    means.sort()
    cut = round((1 - level) / 2 * (resamples - 1))
    return Interval(means[cut], means[-1 - cut])


def slices(scores: Scores, features: Sequence[Iterable[str]]) -> dict[str, Slice]:
    """The mean by feature, in the features' order; a query counts for each feature that it has."""
    by_feature: dict[str, list[float]] = {}
    for score, query_features in zip(scores, features, strict=True):
        for feature in query_features:
            if score is not None:
                by_feature.setdefault(feature, []).append(score)
    return {feature: Slice(len(by_feature[feature]), mean(by_feature[feature])) for feature in sorted(by_feature)}


def _paired(first: Scores, second: Scores) -> list[tuple[int, float, float]]:
    both = enumerate(zip(first, second, strict=True))
    return [
        (index, first_score, second_score)
        for index, (first_score, second_score) in both
        if first_score is not None and second_score is not None
    ]

"""Conditional logit (McFadden 1974): which of a question's groups is correct, by a linear score of each.

The probability of a group is the exponential of its score over the sum of those of its question; where several groups
are correct, their probabilities add up. What all groups of a question share cancels, and each question counts once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_MAX_STEPS: Final = 100
_MAX_HALVINGS: Final = 30
_CONVERGED: Final = 1e-9


@dataclass(frozen=True)
class Groups:
    """The groups of all questions, one row of features each; ``starts`` are the first rows of the questions.

    Every question has correct and wrong groups.
    """

    rows: Floats
    starts: NDArray[np.intp]
    correct: NDArray[np.bool_]

    def row_indices(self, questions: Sequence[int]) -> NDArray[np.intp]:
        """The rows of the questions with these indices, in that order."""
        import numpy as np

        ends = [*self.starts[1:].tolist(), len(self.rows)]
        return np.concatenate([np.arange(self.starts[index], ends[index]) for index in questions])

    def subset(self, questions: Sequence[int]) -> Groups:
        """The questions with these indices; there must be at least one."""
        import numpy as np

        sizes = np.diff(np.append(self.starts, len(self.rows)))[list(questions)]
        rows = self.row_indices(questions)
        return Groups(self.rows[rows], np.cumsum(np.append(0, sizes))[:-1], self.correct[rows])


def stack(questions: Sequence[Sequence[Sequence[float]]], correct: Sequence[Sequence[bool]]) -> Groups:
    """``Groups`` from the features of each group of each question, and whether it is correct; needs a question."""
    import numpy as np

    starts = np.cumsum([0, *map(len, questions)])[:-1]
    rows = np.array([row for groups in questions for row in groups], dtype=np.float64)
    return Groups(rows, starts, np.array([flag for flags in correct for flag in flags], dtype=np.bool_))


def loss(groups: Groups, scores: Floats) -> float:
    """Negative log-likelihood: minus the log-probability of a correct group, summed over questions."""
    import numpy as np

    among_correct = np.where(groups.correct, scores, -np.inf)
    whole, correct = (np.logaddexp.reduceat(values, groups.starts) for values in (scores, among_correct))
    return float(np.sum(whole - correct))


def fit(groups: Groups, penalties: Floats, start: Floats | None = None) -> Floats:
    """The weights that minimise ``loss`` plus half of ``penalties`` times their squares, by Newton's method.

    With several correct groups the loss is not convex; its curvature without them is convex and an upper bound, so
    each step still goes down.
    """
    import numpy as np

    weights = np.zeros(groups.rows.shape[1]) if start is None else start
    height = _objective(groups, penalties, weights)
    for _ in range(_MAX_STEPS):
        step = _newton_step(groups, penalties, weights)
        for _ in range(_MAX_HALVINGS):
            lower = _objective(groups, penalties, weights - step)
            if lower <= height:
                break
            step = step / 2
        else:
            return weights
        weights, height = weights - step, lower
        if float(np.abs(step).max(initial=0.0)) < _CONVERGED:
            break
    return weights


def _objective(groups: Groups, penalties: Floats, weights: Floats) -> float:
    return loss(groups, groups.rows @ weights) + float(penalties @ weights**2) / 2


def _newton_step(groups: Groups, penalties: Floats, weights: Floats) -> Floats:
    import numpy as np

    scores = groups.rows @ weights
    probabilities = _softmax(groups, scores)
    among_correct = _softmax(groups, np.where(groups.correct, scores, -np.inf))
    gradient = groups.rows.T @ (probabilities - among_correct) + penalties * weights
    weighted = groups.rows * probabilities[:, None]
    means = np.add.reduceat(weighted, groups.starts, axis=0)
    curvature = groups.rows.T @ weighted - means.T @ means + np.diag(penalties)
    return np.linalg.solve(curvature, gradient)


def _softmax(groups: Groups, scores: Floats) -> Floats:
    """Softmax within each question."""
    import numpy as np

    sizes = np.diff(np.append(groups.starts, len(scores)))
    shares: Floats = np.exp(scores - np.repeat(np.logaddexp.reduceat(scores, groups.starts), sizes))
    return shares


def folds(databases: Sequence[str], count: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """(training, held-out) indices of each fold; a database is never on both sides.

    Databases are dealt by ``seed``, the largest first, each to the fold with the fewest questions. There are ``count``
    folds, or as many as databases.
    """
    sizes = Counter(databases)
    names = sorted(sizes)
    random.Random(seed).shuffle(names)  # noqa: S311
    dealt: list[list[str]] = [[] for _ in range(min(count, len(names)))]
    for name in sorted(names, key=lambda name: -sizes[name]):
        min(dealt, key=lambda fold: sum(sizes[member] for member in fold)).append(name)
    held_out = [{index for index, name in enumerate(databases) if name in set(fold)} for fold in dealt]
    return [([index for index in range(len(databases)) if index not in out], sorted(out)) for out in held_out]

"""Conditional logit (McFadden 1974): which of a question's groups is right, by a linear score of each.

The probability of a group is the exponential of its score over the sum of those of its question; where several groups
are right, theirs add up. What all groups of a question share cancels, and each question counts once.
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

_STEPS: Final = 100
_HALVINGS: Final = 30
_STILL: Final = 1e-9


@dataclass(frozen=True)
class Table:
    """Questions one below the other: a row of figures for each group; ``starts`` are the first rows of questions.

    Every question has groups that are right and such that are not.
    """

    rows: Floats
    starts: NDArray[np.intp]
    right: NDArray[np.bool_]

    def places(self, questions: Sequence[int]) -> NDArray[np.intp]:
        """The rows of some questions, by their places, in that order."""
        import numpy as np

        ends = [*self.starts[1:].tolist(), len(self.rows)]
        return np.concatenate([np.arange(self.starts[one], ends[one]) for one in questions])

    def of(self, questions: Sequence[int]) -> Table:
        """Some of the questions, by their places; there must be one."""
        import numpy as np

        sizes = np.diff(np.append(self.starts, len(self.rows)))[list(questions)]
        own = self.places(questions)
        return Table(self.rows[own], np.cumsum(np.append(0, sizes))[:-1], self.right[own])


def table(questions: Sequence[Sequence[Sequence[float]]], right: Sequence[Sequence[bool]]) -> Table:
    """Of each question the figures of each of its groups, and whether it is right; there must be a question."""
    import numpy as np

    starts = np.cumsum([0, *map(len, questions)])[:-1]
    rows = np.array([row for one in questions for row in one], dtype=np.float64)
    return Table(rows, starts, np.array([flag for one in right for flag in one], dtype=np.bool_))


def loss(known: Table, scores: Floats) -> float:
    """The sum over questions of minus the log-probability that a right group has by these scores of all groups."""
    import numpy as np

    among_right = np.where(known.right, scores, -np.inf)
    whole, right = (np.logaddexp.reduceat(values, known.starts) for values in (scores, among_right))
    return float(np.sum(whole - right))


def fitted(known: Table, penalties: Floats, start: Floats | None = None) -> Floats:
    """The weights with the least loss plus half of ``penalties`` times their squares, by Newton's method.

    With several right groups the loss is not convex; the curvature without them is, and bounds it from above, so each
    step still goes down.
    """
    import numpy as np

    weights = np.zeros(known.rows.shape[1]) if start is None else start
    height = _height(known, penalties, weights)
    for _ in range(_STEPS):
        step = _step(known, penalties, weights)
        for _ in range(_HALVINGS):
            lower = _height(known, penalties, weights - step)
            if lower <= height:
                break
            step = step / 2
        else:
            return weights
        weights, height = weights - step, lower
        if float(np.abs(step).max(initial=0.0)) < _STILL:
            break
    return weights


def _height(known: Table, penalties: Floats, weights: Floats) -> float:
    return loss(known, known.rows @ weights) + float(penalties @ weights**2) / 2


def _step(known: Table, penalties: Floats, weights: Floats) -> Floats:
    import numpy as np

    scores = known.rows @ weights
    chance = _shares(known, scores)
    of_right = _shares(known, np.where(known.right, scores, -np.inf))
    slope = known.rows.T @ (chance - of_right) + penalties * weights
    weighted = known.rows * chance[:, None]
    means = np.add.reduceat(weighted, known.starts, axis=0)
    curvature = known.rows.T @ weighted - means.T @ means + np.diag(penalties)
    return np.linalg.solve(curvature, slope)


def _shares(known: Table, scores: Floats) -> Floats:
    """Softmax within each question."""
    import numpy as np

    sizes = np.diff(np.append(known.starts, len(scores)))
    found: Floats = np.exp(scores - np.repeat(np.logaddexp.reduceat(scores, known.starts), sizes))
    return found


def folds(databases: Sequence[str], most: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """Places to learn from and places left out, by turns: a database is never on both sides.

    Databases are dealt by ``seed``, those with the most places first, each to the fold with the fewest. There are
    ``most`` folds, or as many as databases.
    """
    sizes = Counter(databases)
    names = sorted(sizes)
    random.Random(seed).shuffle(names)  # noqa: S311
    dealt: list[list[str]] = [[] for _ in range(min(most, len(names)))]
    for name in sorted(names, key=lambda name: -sizes[name]):
        min(dealt, key=lambda fold: sum(sizes[one] for one in fold)).append(name)
    out = [{place for place, name in enumerate(databases) if name in set(fold)} for fold in dealt]
    return [([place for place in range(len(databases)) if place not in one], sorted(one)) for one in out]

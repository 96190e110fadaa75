"""Fitting of the confidence: a logistic regression from figures of answers to whether they were right.

It learns from runs with gold: from the answer that a run gave, and from those that others would have given. For these
each question is answered again by its first candidate alone, by votes among the first four and by votes among all, with
and without log-probabilities, so that one set of weights serves recipes and models of all kinds; the answers of a
question share its weight. The penalty is the one that predicts
databases held out best, and all figures of the card are of held-out databases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.datasets.spider import Example
from sqljury.errors import InputError
from sqljury.stages import confidence, doubt
from sqljury.stages.confidence import NAMES, Calibration
from sqljury.stages.select.consistency import choose, group
from sqljury.train import logit
from sqljury.train.leaks import evaluation_size
from sqljury.train.replay import Replayed, replay_all
from sqljury.types import Candidate, Choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FOLDS: Final = 10
PENALTIES: Final = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
SAMPLES: Final = (1, 4, 0)
"""Numbers of candidates, the first ones, that questions are answered by; 0 for all."""
BINS: Final = 10
LEAST_QUESTIONS: Final = 50
MIN_SCALE: Final = 0.2
"""A figure's scale is at least this, so that rare figures are not penalised as little as common ones."""
_STEPS: Final = 50
_CONVERGED: Final = 1e-8


@dataclass(frozen=True)
class Given:
    """An answer with its figures, whether it was right, and its weight among those of its question."""

    db_id: str
    figures: Mapping[str, float]
    right: bool
    weight: float = 1.0
    kind: str = ""


ANSWERED, ONE, ALL = "as answered", "one candidate", "votes of all candidates"
"""The kinds of answers that every question has, where any of its queries runs: the first is the run's own, by whatever
chose there."""


def fit_runs(
    runs: Sequence[Path],
    data: Path | None,
    evaluation: Sequence[Example],
    seed: int = 0,
    processes: int = 1,
    today: date | None = None,
) -> Calibration:
    """The calibration learned from runs, which must be on other databases than ``evaluation``.

    Raises what ``replay_all`` raises, and ``InputError`` for too few questions.
    """
    questions = list(replay_all(runs, data, evaluation, processes))
    answers = [answer for question in questions for answer in answers_of(question)]
    about = {
        "fitted": None if today is None else today.isoformat(),
        "runs": [str(run) for run in runs],
        "checked": evaluation_size(evaluation),
        "questions": len(questions),
    }
    return fit(answers, seed, about)


def measure(
    runs: Sequence[Path], data: Path | None, calibration: Calibration, processes: int = 1
) -> dict[str, list[tuple[float, bool]]]:
    """By kind of answer the probability that a calibration gives to each answer of runs, and whether it is right.

    Raises what ``replay_all`` raises. Figures mean something on databases that it was not fitted on.
    """
    by_kind: dict[str, list[tuple[float, bool]]] = {}
    for question in replay_all(runs, data, (), processes):
        for answer in answers_of(question):
            by_kind.setdefault(answer.kind, []).append((calibration.probability(answer.figures), answer.right))
    return by_kind


def answers_of(question: Replayed) -> Iterator[Given]:
    """The run's answer, and those that its candidates would have given by votes; without those that do not run.

    Candidates that are the same for several kinds, as where there is only one, give an answer of each kind.
    """
    pools: dict[tuple[Candidate, ...], list[str]] = {}
    for count in SAMPLES:
        pool = question.candidates[: count or None]
        blind = tuple(replace(candidate, logprob=None) for candidate in pool)
        kind = {1: ONE, 0: ALL}.get(count, f"first {count}")
        pools.setdefault(pool, []).append(kind)
        pools.setdefault(blind, []).append(f"{kind}, without log-probabilities")
    choices = [([ANSWERED], question.candidates, question.choice)]
    for pool, kinds in pools.items():
        grouped = group(pool)
        choices.append((kinds, grouped, Choice(choose(grouped), "consistency")))
    made = []
    for kinds, grouped, choice in choices:
        if choice is None or choice.index is None or grouped[choice.index].group is None:
            continue
        lacking = doubt.missing(question.task, grouped[choice.index])
        known = confidence.figures(grouped, choice, question.task, lacking)
        right = grouped[choice.index].sql in question.right
        made += [Given(question.db_id, known, right, kind=kind) for kind in kinds]
    for given in made:
        yield replace(given, weight=1 / len(made))


def fit(answers: Sequence[Given], seed: int = 0, about: Mapping[str, Any] | None = None) -> Calibration:
    """The calibration learned from answers, with a card of figures on held-out databases; raises ``InputError``."""
    import numpy as np

    if len({answer.db_id for answer in answers}) < 2 or sum(answer.weight for answer in answers) < LEAST_QUESTIONS:
        raise InputError(
            f"a confidence is fitted on {LEAST_QUESTIONS} questions of two databases at least; make a run on more"
        )
    table = np.array([[answer.figures[name] for name in NAMES] for answer in answers])
    right = np.array([answer.right for answer in answers], dtype=float)
    weights = np.array([answer.weight for answer in answers])
    databases = [answer.db_id for answer in answers]
    tried = [(penalty, _held_out(table, right, weights, databases, penalty, seed)) for penalty in PENALTIES]
    penalty, predicted = min(tried, key=lambda pair: _loss(pair[1], right, weights))
    center, scale, learned = _fit(table, right, weights, penalty)
    per_unit = learned[1:] / scale
    card = {
        **(about or {}),
        "answers": len(answers),
        "databases": len(set(databases)),
        "penalty": penalty,
        "seed": seed,
        "held_out": {kind: quality(*of) for kind, of in _by_kind(answers, predicted)},
        "importance": _importance(learned[1:]),
        "sqljury": version("sqljury"),
        "numpy": version("numpy"),
    }
    known = {name: round(float(value), 6) for name, value in zip(NAMES, per_unit, strict=True) if abs(value) > 1e-9}
    return Calibration(round(float(learned[0] - center @ per_unit), 6), known, card)


def quality(predicted: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """How well probabilities predict: expected calibration error in ten bins, AUROC, Brier score, and accuracies.

    ``sure_80`` is the accuracy on the most confident 80 per cent. AUROC is None where all or none are right.
    """
    import numpy as np

    chances, truth = np.asarray(predicted, dtype=float), np.asarray(right, dtype=float)
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    error = sum(
        abs(float(chances[bins == bin_].sum() - truth[bins == bin_].sum()))
        for bin_ in range(BINS)
        if (bins == bin_).any()
    )
    order = np.argsort(-chances, kind="stable")
    most = order[: max(1, round(0.8 * len(order)))]
    return {
        "count": len(truth),
        "accuracy": round(float(truth.mean()), 4),
        "mean_confidence": round(float(chances.mean()), 4),
        "ece": round(error / len(truth), 4),
        "auroc": auroc(chances.tolist(), truth.astype(bool).tolist()),
        "brier": round(float(((chances - truth) ** 2).mean()), 4),
        "sure_80": round(float(truth[most].mean()), 4),
    }


def auroc(predicted: Sequence[float], right: Sequence[bool]) -> float | None:
    """The probability that a right answer has the higher confidence than a wrong one, ties counting half."""
    import numpy as np

    chances, truth = np.asarray(predicted, dtype=float), np.asarray(right, dtype=bool)
    good, bad = np.sort(chances[truth]), chances[~truth]
    if not len(good) or not len(bad):
        return None
    above = len(good) - np.searchsorted(good, bad, side="right")
    ties = np.searchsorted(good, bad, side="right") - np.searchsorted(good, bad, side="left")
    return round(float((above + ties / 2).sum() / (len(good) * len(bad))), 4)


def _by_kind(answers: Sequence[Given], predicted: Floats) -> Iterator[tuple[str, tuple[list[float], list[bool]]]]:
    for kind in dict.fromkeys(answer.kind for answer in answers):
        judged = [
            (float(chance), answer.right)
            for answer, chance in zip(answers, predicted, strict=True)
            if answer.kind == kind
        ]
        yield kind, ([chance for chance, _ in judged], [right for _, right in judged])


def _held_out(
    table: Floats, right: Floats, weights: Floats, databases: Sequence[str], penalty: float, seed: int
) -> Floats:
    """The probability of each answer, by weights that never saw its database."""
    import numpy as np

    predicted = np.zeros(len(right))
    for training, held_out in logit.folds(databases, FOLDS, seed):
        center, scale, learned = _fit(table[training], right[training], weights[training], penalty)
        predicted[held_out] = _probabilities((table[held_out] - center) / scale, learned)
    return predicted


def _fit(table: Floats, right: Floats, weights: Floats, penalty: float) -> tuple[Floats, Floats, Floats]:
    """(centers, scales, intercept and weights), by Newton's method; figures that never differ get no weight."""
    import numpy as np

    center = np.average(table, axis=0, weights=weights)
    scale = np.maximum(np.sqrt(np.average((table - center) ** 2, axis=0, weights=weights)), MIN_SCALE)
    rows = np.hstack([np.ones((len(table), 1)), (table - center) / scale])
    ridge = np.diag([1e-6, *([penalty] * table.shape[1])])
    learned = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(rows @ learned, -30, 30)))
        gradient = rows.T @ (weights * (chances - right)) + ridge @ learned
        curvature = (rows * (weights * chances * (1 - chances))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curvature, gradient)
        learned = learned - step
        if float(np.abs(step).max()) < _CONVERGED:
            break
    return center, scale, learned


def _probabilities(rows: Floats, learned: Floats) -> Floats:
    import numpy as np

    chances: Floats = 1 / (1 + np.exp(-np.clip(rows @ learned[1:] + learned[0], -30, 30)))
    return chances


def _loss(predicted: Floats, right: Floats, weights: Floats) -> float:
    import numpy as np

    bounded = np.clip(predicted, 1e-6, 1 - 1e-6)
    return float(-(weights * (right * np.log(bounded) + (1 - right) * np.log(1 - bounded))).sum())


def _importance(learned: Floats) -> dict[str, float]:
    """Weights in log-odds for one standard deviation, the largest first."""
    ordered = sorted(zip(NAMES, learned.tolist(), strict=True), key=lambda pair: -abs(pair[1]))
    return {name: round(value, 4) for name, value in ordered if abs(value) >= 0.005}

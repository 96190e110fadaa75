"""Training of the light judge: a conditional logit over groups of candidates, measured on databases it has not seen.

It learns from decided questions alone: those that have right and wrong groups. The strength of the penalty, the slope
that calibrates and the margin from which votes are overruled are chosen inside each fold, on databases left out there,
so the figures on held-out databases owe nothing to them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import InputError
from sqljury.evaluation.report import Share
from sqljury.resources import write_whole
from sqljury.stages.select.features import names
from sqljury.stages.select.light import Weights, better, replaceable
from sqljury.stages.select.sketch import Sketch
from sqljury.train import logit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FOLDS: Final = 10
INNER_FOLDS: Final = 5
PENALTIES: Final = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
"""Strengths that are tried, against the sum over questions: the larger, the closer weights stay to 0."""
GIVEN: Final = "votes_log"
"""The feature whose weight is all but free: with little to learn from, or nothing to be learned, votes decide."""
EASE: Final = 900.0
"""By how much weaker the given feature's penalty is."""
MARGINS: Final = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
"""In log-odds: by how much a group must surpass the one that votes choose."""
LEAST_SPREAD: Final = 0.3
"""A feature's scale is no less, or what is rare would count as much for its penalty as what is common."""
LEAST_QUESTIONS: Final = 10
"""A feature must differ within so many decided questions to be learned from."""
TINY: Final = 1e-9
LEAST_DATABASES: Final = 4
BINS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Rated:
    """One question: the features of each of its groups, in their order, and which groups are right."""

    id: str
    named: str
    text: str
    groups: tuple[Mapping[str, float], ...]
    right: frozenset[int]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Each right group with each wrong one."""
        wrong = [number for number in range(len(self.groups)) if number not in self.right]
        return [(one, other) for one in sorted(self.right) for other in wrong]


def check_out(out: Path) -> None:
    """Raise ``InputError`` where ``save`` could not write: before a long training rather than after it.

    What is there is replaced only if it is empty or such a file itself, of any version.
    """
    if not out.parent.is_dir():
        raise InputError(f"{out}: cannot be written (there is no folder {out.parent}); make it, or name another --out")
    if out.exists() or out.is_symlink():
        replaceable(str(out))


def save(weights: Weights, out: Path) -> None:
    """Write the weights as ``select.light.read`` takes them, over nothing but such a file.

    Raises what ``check_out`` raises, and ``InputError`` for a file that cannot be written.
    """
    check_out(out)
    try:
        write_whole(out, json.dumps(weights.to_json(), indent=1) + "\n")
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}); name another file with --out") from None


@dataclass(frozen=True)
class _Fit:
    """What was learned from some questions; ``weights`` are for one of ``scales``, already times ``slope``."""

    scales: Mapping[str, float]
    penalty: float
    slope: float
    margin: float
    weights: Floats

    def scores(self, one: Rated) -> list[float]:
        rows = _rows(one, self.scales)
        return [float(sum(weight * cell for weight, cell in zip(self.weights, row, strict=True))) for row in rows]


def train(
    questions: Sequence[Rated], seed: int = 0, about: Mapping[str, Any] | None = None, sketch: Sketch | None = None
) -> Weights:
    """The weights learned from all questions, their card with the figures on held-out databases.

    ``about`` goes into the card as it is; ``sketch`` is the one that is used later, those in the figures of questions
    knew nothing of their databases. Where decided questions are of fewer than ``LEAST_DATABASES`` databases, questions
    are left out instead of databases. Raises ``InputError`` where no feature tells enough of their groups apart.
    """
    import numpy as np

    databases = len({one.named for one in questions})
    by = "database" if len({one.named for one in questions if one.pairs}) >= LEAST_DATABASES else "question"
    if by == "question":
        questions = [replace(one, named=f"{one.named}/{one.id}") for one in questions]
    decided = [one for one in questions if one.pairs]
    fit = _fit(decided, seed)
    if not fit.scales:
        raise InputError(
            f"no feature differs in {LEAST_QUESTIONS} of the {len(decided)} questions that have right and wrong "
            "results; run the benchmark on more questions"
        )
    card = {
        **(about or {}),
        "data": _hash(questions),
        "questions": len(questions),
        "databases": databases,
        "decided": len(decided),
        "pairs": sum(len(one.pairs) for one in decided),
        "method": "conditional logit over the groups of a question, L2 penalty",
        "penalty": fit.penalty,
        "slope": round(fit.slope, 4),
        "seed": seed,
        "held_out_by": by,
        "held_out": _held_out(questions, seed),
        "importance": _importance(fit),
        "too_rare": [name for name in names() if name not in fit.scales],
        "sqljury": version("sqljury"),
        "numpy": np.__version__,
    }
    learned = zip(fit.scales.items(), fit.weights.tolist(), strict=True)
    return Weights({name: round(weight / scale, 6) for (name, scale), weight in learned}, card, fit.margin, sketch)


def _scales(decided: Sequence[Rated]) -> dict[str, float]:
    """How much each feature varies within a question, at least ``LEAST_SPREAD``.

    Features that differ in fewer than ``LEAST_QUESTIONS`` of the questions are left out, but for the given one.
    """
    import numpy as np

    tables = [np.array([[figures[name] for name in names()] for figures in one.groups]) for one in decided]
    if not tables:
        return {}
    spread = np.concatenate([table - table.mean(axis=0) for table in tables]).std(axis=0)
    often = np.sum([np.ptp(table, axis=0) > TINY for table in tables], axis=0)
    return {
        name: max(float(value), LEAST_SPREAD)
        for name, value, count in zip(names(), spread, often.tolist(), strict=True)
        if count >= (1 if name == GIVEN else LEAST_QUESTIONS)
    }


def _rows(one: Rated, scales: Mapping[str, float]) -> list[list[float]]:
    return [[figures[name] / scale for name, scale in scales.items()] for figures in one.groups]


def _table(decided: Sequence[Rated], scales: Mapping[str, float]) -> logit.Table:
    right = [[number in one.right for number in range(len(one.groups))] for one in decided]
    return logit.table([_rows(one, scales) for one in decided], right)


def _fit(decided: Sequence[Rated], seed: int) -> _Fit:
    """Weights from these questions, with what is best on databases left out: penalty, slope, then margin."""
    import numpy as np

    scales = _scales(decided)
    if len({one.named for one in decided}) < 2:
        raise InputError("too few questions have right and wrong results to leave any out; run the benchmark on more")
    whole = _table(decided, scales)
    tried = list(zip(PENALTIES, _left_out(whole, scales, [one.named for one in decided], seed), strict=True))
    penalty, scores = min(tried, key=lambda one: logit.loss(whole, one[1]))
    slope = float(min(np.geomspace(0.2, 5, 161), key=lambda one: logit.loss(whole, one * scores)))
    margin = _margin(decided, [part.tolist() for part in np.split(slope * scores, whole.starts[1:])])
    return _Fit(scales, penalty, slope, margin, slope * logit.fitted(whole, _penalties(scales, penalty)))


def _penalties(scales: Mapping[str, float], penalty: float) -> Floats:
    import numpy as np

    return np.array([penalty / EASE if name == GIVEN else penalty for name in scales])


def _left_out(whole: logit.Table, scales: Mapping[str, float], databases: Sequence[str], seed: int) -> list[Floats]:
    """For each penalty the scores of all groups, each by weights that never saw its database."""
    import numpy as np

    scores = [np.zeros(len(whole.rows)) for _ in PENALTIES]
    for learn, out in logit.folds(databases, INNER_FOLDS, seed):
        known, there = whole.of(learn), whole.places(out)
        weights = None
        for own, penalty in zip(scores, PENALTIES, strict=True):
            weights = logit.fitted(known, _penalties(scales, penalty), weights)
            own[there] = whole.rows[there] @ weights
    return scores


def _margin(decided: Sequence[Rated], scores: Sequence[Sequence[float]]) -> float:
    """The margin that answers the most questions rightly; of equal ones the largest, so that doubt is for votes."""

    def right(margin: float) -> int:
        return sum(better(own, margin) in one.right for one, own in zip(decided, scores, strict=True))

    return max(MARGINS, key=lambda margin: (right(margin), margin))


def _held_out(questions: Sequence[Rated], seed: int) -> dict[str, Any]:
    """Figures on databases of which weights, penalty, slope, margin, scales and choice of features know nothing."""
    scores: dict[int, list[float]] = {}
    margins: dict[int, float] = {}
    for learn, out in logit.folds([one.named for one in questions], FOLDS, seed):
        fit = _fit([questions[place] for place in learn if questions[place].pairs], seed)
        scores |= {place: fit.scores(questions[place]) for place in out}
        margins |= dict.fromkeys(out, fit.margin)
    places = range(len(questions))
    return figures_of(questions, [scores[place] for place in places], [margins[place] for place in places])


def figures_of(
    questions: Sequence[Rated], scores: Sequence[Sequence[float]], margins: Sequence[float]
) -> dict[str, Any]:
    """What scores of the groups of each question, and its margin, are worth, against votes: ready for JSON.

    ``ex`` is the share of questions answered rightly; ``won`` and ``lost`` count those that the judge alone or votes
    alone answer so, ``changed`` those in which votes are overruled. ``pairs`` is the share of decided pairs whose right
    group scores higher, an even score counting half. ``reliability`` compares the probability of the preferred group
    with how often it was right, ``ece`` is the mean distance of the two.
    """
    import numpy as np

    chosen = [better(own, margin) if own else -1 for own, margin in zip(scores, margins, strict=True)]
    light = [choice in one.right for one, choice in zip(questions, chosen, strict=True)]
    votes = [0 in one.right for one in questions]
    both = [(one, own, pair) for one, own in zip(questions, scores, strict=True) for pair in one.pairs]
    apart = np.array([own[right] - own[wrong] for _, own, (right, wrong) in both])
    count = len(questions)
    return {
        "ex": Share(sum(light), count).figures(),
        "ex_votes": Share(sum(votes), count).figures(),
        "ex_bound": Share(sum(bool(one.right) for one in questions), count).figures(),
        "changed": sum(choice > 0 for choice in chosen),
        "won": sum(new and not old for new, old in zip(light, votes, strict=True)),
        "lost": sum(old and not new for new, old in zip(light, votes, strict=True)),
        "pairs": Share(float(np.sum(apart > 0) + 0.5 * np.sum(apart == 0)), len(both)).figures(),
        "pairs_votes": Share(sum(right < wrong for _, _, (right, wrong) in both), len(both)).figures(),
        "log_loss": round(float(np.logaddexp(0, -apart).mean()), 4) if both else None,
        **_reliability(apart),
    }


def _reliability(apart: Floats) -> dict[str, Any]:
    import numpy as np

    sure = 1 / (1 + np.exp(-np.abs(apart)))
    bins, error = [], 0.0
    for low, high in pairwise(BINS):
        inside = (sure >= low) & ((sure < high) | (high == BINS[-1]))
        if count := int(inside.sum()):
            said, was = float(sure[inside].mean()), float((apart[inside] > 0).mean())
            bins.append({"from": low, "to": high, "pairs": count, "said": round(said, 3), "was": round(was, 3)})
            error += count * abs(said - was) / len(apart)
    return {"reliability": bins, "ece": round(error, 4)}


def _importance(fit: _Fit) -> dict[str, float]:
    """Weights in log-odds for one of the feature's scales, the heaviest first."""
    heaviest = sorted(zip(fit.scales, fit.weights.tolist(), strict=True), key=lambda one: -abs(one[1]))
    return {name: round(weight, 4) for name, weight in heaviest}


def _hash(questions: Sequence[Rated]) -> str:
    """SHA-256 of all that is learned from."""
    lines = [[one.id, one.named, one.groups, sorted(one.right)] for one in questions]
    return hashlib.sha256(json.dumps(sorted(lines, key=json.dumps)).encode()).hexdigest()

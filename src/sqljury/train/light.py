"""Training of the light judge: a logistic regression on pairs of groups, measured on databases it has not seen.

A pair is one right and one wrong group of a question; the figure learned from is the difference of their features, in
both directions, so that no place is preferred. A question's pairs count together as one. The strength of the penalty
and the slope that calibrates are chosen inside each fold, so the figures on held-out databases owe nothing to them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.bench import folder
from sqljury.bench.report import Share
from sqljury.datasets.spider import Example
from sqljury.errors import InputError, MissingExtraError
from sqljury.select.base import groups
from sqljury.select.features import features, names
from sqljury.select.light import Weights, read
from sqljury.train.leaks import near
from sqljury.train.replay import Replayed, replay_all

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FOLDS: Final = 5
PENALTIES: Final = (0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Strengths that are tried, as scikit-learn's C: the smaller, the closer weights stay to 0."""
GIVEN: Final = "votes_log"
"""The feature whose weight is all but free: with little to learn from, or nothing to be learned, votes decide."""
EASE: Final = 30.0
"""How many times larger the given feature is made before the penalty looks at its weight."""
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


def from_runs(
    runs: Sequence[Path],
    data: Path | None,
    measured: Sequence[Example],
    seed: int = 0,
    processes: int = 1,
    today: date | None = None,
) -> Weights:
    """The weights learned from the candidates of runs; questions ``measured`` on must be of other databases.

    Raises ``InputError`` where they are not, and what ``replay_all`` and ``train`` raise.
    """
    _require()
    questions = [_rated(one) for one in replay_all(runs, data, measured, processes)]
    described = [folder.described(run) for run in runs]
    about = {
        "trained": None if today is None else today.isoformat(),
        "runs": [
            {
                "dataset": {key: one["dataset"].get(key) for key in ("name", "split", "limit")},
                "seed": one["seed"],
                "recipe": one["recipe"]["name"],
                "model": one["model"],
                "answers": len(folder.records(run)),
            }
            for run, one in zip(runs, described, strict=True)
        ],
        "near": len(near([(one.id, one.text) for one in questions], measured)),
    }
    return train(questions, seed, about)


def save(weights: Weights, out: Path) -> None:
    """Write the weights as ``select.light.read`` takes them, over nothing but such a file.

    Raises ``InputError`` for another file that is there and one that cannot be written.
    """
    if out.exists() and out.stat().st_size:
        read(str(out))
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(weights.to_json(), indent=1) + "\n", encoding="utf-8")
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{out}: cannot be written ({error.strerror}); name another file with --out") from None


def _rated(one: Replayed) -> Rated:
    figures = tuple(features(one.candidates, number, one.task, one.opinions) for number in groups(one.candidates))
    return Rated(one.id, one.named, one.task.question.text, figures, one.right)


@dataclass(frozen=True)
class _Pairs:
    """Differences of features, right less wrong, a row a pair, in units of ``scales``; ``share`` is a row's weight."""

    rows: Floats
    share: Floats
    database: NDArray[np.str_]
    ease: Floats

    def of(self, places: NDArray[np.intp]) -> _Pairs:
        return _Pairs(self.rows[places], self.share[places], self.database[places], self.ease)


@dataclass(frozen=True)
class _Fit:
    penalty: float
    slope: float
    weights: Floats


def train(questions: Sequence[Rated], seed: int = 0, about: Mapping[str, Any] | None = None) -> Weights:
    """The weights learned from all questions, their card with the figures on held-out databases.

    ``about`` goes into the card as it is. Raises ``InputError`` where pairs are of fewer than ``LEAST_DATABASES``
    databases, or of fewer than two once a fold is left out, and ``MissingExtraError`` without scikit-learn.
    """
    import numpy as np

    _require()
    scales = _scales(questions)
    pairs = _paired(questions, scales)
    databases = sorted(set(pairs.database.tolist()))
    if len(databases) < LEAST_DATABASES:
        raise InputError(
            f"there are {len(pairs.rows)} pairs of a right and a wrong result, on {len(databases)} databases; at least "
            f"{LEAST_DATABASES} databases are needed, so run the benchmark on more questions"
        )
    with _one_thread():
        held_out = _held_out(questions, pairs, scales, seed)
        fit = _fit(pairs, seed)
    learned = {name: float(weight / scales[name]) for name, weight in zip(scales, fit.weights, strict=True)}
    card = {
        **(about or {}),
        "data": _hash(questions),
        "questions": len(questions),
        "databases": len({one.named for one in questions}),
        "decided": sum(bool(one.pairs) for one in questions),
        "pairs": len(pairs.rows),
        "method": "logistic regression on differences of features, L2 penalty, no intercept",
        "penalty": fit.penalty,
        "slope": round(fit.slope, 4),
        "seed": seed,
        "held_out": held_out,
        "importance": _importance(scales, fit.weights),
        "scikit-learn": version("scikit-learn"),
        "sqljury": version("sqljury"),
        "numpy": np.__version__,
    }
    return Weights({name: round(weight, 6) for name, weight in learned.items()}, card)


def _require() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtraError("scikit-learn", "train-light") from None


def _one_thread() -> AbstractContextManager[Any]:
    """Tables this small are faster with one thread, many times so on a machine that has other work."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)  # type: ignore[no-any-return]


def _scales(questions: Sequence[Rated]) -> dict[str, float]:
    """How much each feature varies within a question; features that never do are left out."""
    import numpy as np

    centred = []
    for one in questions:
        if len(one.groups) > 1:
            table = np.array([[figures[name] for name in names()] for figures in one.groups])
            centred.append(table - table.mean(axis=0))
    if not centred:
        return {}
    spread = np.concatenate(centred).std(axis=0)
    return {name: float(value) for name, value in zip(names(), spread, strict=True) if value > 1e-9}


def _paired(questions: Sequence[Rated], scales: Mapping[str, float]) -> _Pairs:
    import numpy as np

    rows, share, databases = [], [], []
    for one in questions:
        for right, wrong in one.pairs:
            rows.append([(one.groups[right][name] - one.groups[wrong][name]) / scales[name] for name in scales])
            share.append(1 / len(one.pairs))
            databases.append(one.named)
    ease = np.array([EASE if name == GIVEN else 1.0 for name in scales])
    table = np.array(rows).reshape(len(rows), len(scales))
    return _Pairs(table, np.array(share), np.array(databases, dtype=np.str_), ease)


def _fit(pairs: _Pairs, seed: int) -> _Fit:
    """The penalty that is best on databases left out, the slope that calibrates there, then weights from all pairs."""
    import numpy as np

    tried = [(penalty, _left_out(pairs, penalty, seed)) for penalty in PENALTIES]
    penalty, margins = min(tried, key=lambda one: _loss(one[1], pairs.share))
    slopes = np.geomspace(0.2, 5, 161)
    slope = float(min(slopes, key=lambda one: _loss(one * margins, pairs.share)))
    return _Fit(penalty, slope, slope * _weights(pairs, penalty))


def _left_out(pairs: _Pairs, penalty: float, seed: int) -> Floats:
    """For each pair, the log-odds of the right group by weights that never saw its database."""
    import numpy as np

    margins = np.zeros(len(pairs.rows))
    for train_on, test_on in _folds(pairs.database, seed):
        margins[test_on] = pairs.rows[test_on] @ _weights(pairs.of(train_on), penalty)
    return margins


def _folds(databases: NDArray[np.str_], seed: int) -> Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    from sklearn.model_selection import GroupKFold

    count = min(FOLDS, len(set(databases.tolist())))
    if count < 2:
        raise InputError(
            "the pairs of a right and a wrong result are of too few databases to leave any out; run the benchmark on "
            "more questions"
        )
    return list(GroupKFold(count, shuffle=True, random_state=seed).split(databases, groups=databases))


def _weights(pairs: _Pairs, penalty: float) -> Floats:
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    eased = pairs.rows * pairs.ease
    both = np.concatenate([eased, -eased])
    first_is_right = np.repeat([1, 0], len(pairs.rows))
    model = LogisticRegression(C=penalty, fit_intercept=False, max_iter=2000)
    model.fit(both, first_is_right, sample_weight=np.tile(pairs.share, 2))
    found: Floats = model.coef_[0] * pairs.ease
    return found


def _loss(margins: Floats, share: Floats) -> float:
    """The mean log loss of pairs, from log-odds of the right group."""
    import numpy as np

    return float(np.average(np.logaddexp(0, -margins), weights=share))


def _held_out(questions: Sequence[Rated], pairs: _Pairs, scales: Mapping[str, float], seed: int) -> dict[str, Any]:
    """Figures on databases that neither a fold's weights nor its penalty and slope have seen.

    The scales are those of all questions: they know no verdicts.
    """
    import numpy as np

    every = np.array([one.named for one in questions], dtype=np.str_)
    scored: dict[int, Floats] = {}
    for train_on, test_on in _folds(every, seed):
        known = set(every[train_on].tolist())
        own = pairs.of(np.flatnonzero([name in known for name in pairs.database.tolist()]))
        weights = _fit(own, seed).weights
        for place in test_on.tolist():
            table = [[figures[name] / scales[name] for name in scales] for figures in questions[place].groups]
            scored[place] = np.array(table).reshape(len(table), len(scales)) @ weights
    return figures_of(questions, [scored[place].tolist() for place in range(len(questions))])


def figures_of(questions: Sequence[Rated], scores: Sequence[Sequence[float]]) -> dict[str, Any]:
    """What scores of the groups of each question are worth, against votes: ready for JSON.

    ``ex`` is the share of questions answered rightly, ``pairs`` the share of decided pairs whose right group scores
    higher, an even score counting half. ``reliability`` compares the probability of the preferred group with how
    often it was right, ``ece`` is the mean distance of the two.
    """
    import numpy as np

    chosen = [max(range(len(own)), key=own.__getitem__) if own else -1 for own in scores]
    light = [choice in one.right for one, choice in zip(questions, chosen, strict=True)]
    votes = [0 in one.right for one in questions]
    both = [(one, own, pair) for one, own in zip(questions, scores, strict=True) for pair in one.pairs]
    margins = np.array([own[right] - own[wrong] for _, own, (right, wrong) in both])
    count = len(questions)
    return {
        "ex": Share(sum(light), count).figures(),
        "ex_votes": Share(sum(votes), count).figures(),
        "ex_bound": Share(sum(bool(one.right) for one in questions), count).figures(),
        "won": sum(new and not old for new, old in zip(light, votes, strict=True)),
        "lost": sum(old and not new for new, old in zip(light, votes, strict=True)),
        "pairs": Share(float(np.sum(margins > 0) + 0.5 * np.sum(margins == 0)), len(both)).figures(),
        "pairs_votes": Share(sum(right < wrong for _, _, (right, wrong) in both), len(both)).figures(),
        "log_loss": round(_loss(margins, np.ones(len(both))), 4) if both else None,
        **_reliability(margins),
    }


def _reliability(margins: Floats) -> dict[str, Any]:
    import numpy as np

    sure = 1 / (1 + np.exp(-np.abs(margins)))
    bins, error = [], 0.0
    for low, high in pairwise(BINS):
        inside = (sure >= low) & ((sure < high) | (high == BINS[-1]))
        if count := int(inside.sum()):
            said, was = float(sure[inside].mean()), float((margins[inside] > 0).mean())
            bins.append({"from": low, "to": high, "pairs": count, "said": round(said, 3), "was": round(was, 3)})
            error += count * abs(said - was) / len(margins)
    return {"reliability": bins, "ece": round(error, 4)}


def _importance(scales: Mapping[str, float], weights: Floats) -> dict[str, float]:
    """Weights in log-odds for one standard deviation of the feature, the heaviest first."""
    heaviest = sorted(zip(scales, weights.tolist(), strict=True), key=lambda one: -abs(one[1]))
    return {name: round(weight, 4) for name, weight in heaviest}


def _hash(questions: Sequence[Rated]) -> str:
    """SHA-256 of all that is learned from."""
    lines = [[one.id, one.named, one.groups, sorted(one.right)] for one in questions]
    return hashlib.sha256(json.dumps(sorted(lines, key=lambda line: str(line[0]))).encode()).hexdigest()

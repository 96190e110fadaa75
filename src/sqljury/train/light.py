"""Training of the light judge: a conditional logit over groups of candidates, measured on held-out databases.

It learns from decided questions, those with correct and wrong groups. The strength of the penalty, the slope that
calibrates and the margin from which votes are overruled are chosen inside each fold, on databases held out there, so
the figures on held-out databases owe nothing to them.

With weights to start from, only two numbers are learned: how far to trust these weights, and the scores of a judge. A
hundred decided questions are enough for that; all weights need many more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqljury.datasets.spider import Example
from sqljury.datasets.subset import Within, every_database
from sqljury.errors import InputError
from sqljury.evaluation import run_folder
from sqljury.evaluation.report import Share
from sqljury.stages.select.features import JUDGED, features
from sqljury.stages.select.light import Fitted, Weights, better
from sqljury.stages.select.sketch import Sketch
from sqljury.train import logit
from sqljury.train import sketch as sketch_training
from sqljury.train.leaks import SetQuestion, evaluation_size, near_duplicates
from sqljury.train.replay import Replayed, replay_all
from sqljury.train.scores import stored_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FOLDS: Final = 10
INNER_FOLDS: Final = 5
PENALTIES: Final = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
"""Strengths that are tried, against the sum over questions."""
VOTES: Final = "votes_log"
START: Final = "start"
"""The feature in the place of all but a judge's scores: the score by the weights to start from."""
EASED: Final = (VOTES, START)
"""Features whose weight is almost free of the penalty: where there is little to learn, they decide."""
EASE: Final = 900.0
"""The penalty of ``EASED`` is this many times weaker."""
MARGINS: Final = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
"""In log-odds: by how much a group must surpass the one that votes choose."""
CAUTION: Final = 2
"""How many corrected answers outweigh one that votes had right and that is lost, where there are no log-probabilities:
such candidates are of systems unlike those that the weights were learned from."""
MIN_SCALE: Final = 0.3
"""A feature's scale is at least this, so that rare features are not penalised as little as common ones."""
MIN_QUESTIONS: Final = 10
"""A feature is learned if it differs within this many decided questions."""
TINY: Final = 1e-9
MIN_DATABASES: Final = 4
BINS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class RatedQuestion:
    """One question: the features of each of its groups, in their order, and which groups are correct."""

    id: str
    db_id: str
    text: str
    groups: tuple[Mapping[str, float], ...]
    correct: frozenset[int]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Each correct group with each wrong one."""
        wrong = [number for number in range(len(self.groups)) if number not in self.correct]
        return [(number, wrong_number) for number in sorted(self.correct) for wrong_number in wrong]


def train_from_runs(
    runs: Sequence[Path],
    data: Path | None,
    evaluation: Sequence[Example],
    seed: int = 0,
    processes: int = 1,
    today: date | None = None,
    scores: Sequence[str] = (),
    start: Weights | None = None,
    within: Within = every_database,
) -> Weights:
    """The weights learned from the candidates of runs, which must be on other databases than ``evaluation``.

    ``scores`` names choices that are stored with the runs; the judge then uses the scores of their selector too. With
    ``start`` only their weight is learned, beside these weights. ``within`` tells by name which databases to learn
    from. Raises ``InputError`` for a run on a database of the evaluation and for ``start`` without scores or with
    scores of its own, and what ``stored_scores``, ``replay_all`` and ``train`` raise.
    """
    if start is not None and (not scores or start.asked is not None):
        raise InputError(
            "weights to start from gain the scores of a judge: name the scores, and weights that have none yet"
        )
    judged = stored_scores(runs, scores)
    replayed = replay_all(runs, data, evaluation, processes, judged, within=within)
    gold = sketch_training.gold_questions(runs, data, evaluation, within)
    sketches = sketch_training.cross_fit(gold, seed)
    questions, blind = [], []
    for question in replayed:
        sketch = sketches.get(question.db_id.casefold())
        blind.append(_rated(without_logprobs(question), sketch))
        if any(candidate.logprob is not None for candidate in question.candidates):
            questions.append(_rated(question, sketch))
    asked = [SetQuestion(question.id, question.db_id, question.text) for question in blind]
    about = {
        "trained": None if today is None else today.isoformat(),
        "runs": [_about_run(run) for run in runs],
        "scores": None if judged is None else judged.about(),
        "sketch": {"questions": len(gold), "databases": len({question.database for question in gold})}
        if sketches
        else None,
        "checked": evaluation_size(evaluation),
        "near": len(near_duplicates(asked, evaluation)),
    }
    kept = start.sketch if start is not None else sketch_training.fit(gold) if sketches else None
    weights = train(questions, seed, about, kept, start, blind) if questions else train(blind, seed, about, kept, start)
    return replace(weights, scorer=judged.scorer) if judged is not None and weights.weights.get(JUDGED) else weights


def without_logprobs(question: Replayed) -> Replayed:
    """The question as if its candidates were of a system that reports no log-probabilities."""
    return question.regrouped([replace(candidate, logprob=None) for candidate in question.candidates], question.right)


def _rated(question: Replayed, sketch: Sketch | None) -> RatedQuestion:
    figures = features(question.candidates, question.task, question.opinions, sketch)
    text = question.task.question.text
    return RatedQuestion(question.id, question.db_id, text, tuple(figures.values()), question.correct)


def _about_run(run: Path) -> dict[str, Any]:
    described = run_folder.described(run)
    return {
        "dataset": {key: described["dataset"].get(key) for key in ("name", "split", "limit")},
        "seed": described["seed"],
        "recipe": described["recipe"]["name"],
        "model": described["model"],
        "answers": len(run_folder.records(run)),
    }


@dataclass(frozen=True)
class _Fit:
    """What was learned from some questions; ``per_scale`` has weights for one of ``scales``, times ``slope``."""

    scales: Mapping[str, float]
    penalty: float
    slope: float
    margin: float
    per_scale: Floats

    def scores(self, question: RatedQuestion) -> list[float]:
        rows = _rows(question, self.scales)
        return [float(sum(weight * cell for weight, cell in zip(self.per_scale, row, strict=True))) for row in rows]

    def weights(self) -> dict[str, float]:
        """Weights for one unit of each feature."""
        fitted = zip(self.scales.items(), self.per_scale.tolist(), strict=True)
        return {name: weight / scale for (name, scale), weight in fitted}


def train(
    questions: Sequence[RatedQuestion],
    seed: int = 0,
    about: Mapping[str, Any] | None = None,
    sketch: Sketch | None = None,
    start: Weights | None = None,
    blind: Sequence[RatedQuestion] = (),
) -> Weights:
    """The weights learned from all questions, with a card of figures on held-out databases.

    ``about`` is copied into the card. ``sketch`` is the sketch model to use later; the features of ``questions`` must
    come from sketches that did not see their databases. With ``start`` its weights stay in proportion, and the weight
    of a judge's scores is learned beside them; the card has figures of ``start`` alone on the same questions. From
    ``blind``, questions whose candidates have no log-probabilities, weights for such candidates are learned. With
    fewer than ``MIN_DATABASES`` decided databases, questions are held out instead. Raises ``InputError`` where no
    feature differs in enough questions.
    """
    fitted, figures = _learned(questions, seed, None if start is None else start.fitted())
    without, blind_figures = None, None
    if blind:
        begun = None if start is None else start.fitted(logprobs=False)
        without, blind_figures = _learned(blind, seed, begun, CAUTION)
    card = {
        **(about or {}),
        **figures,
        **({} if start is None else {"start": {"digest": start.digest, **figures["start"]}}),
        "blind": blind_figures,
        "sqljury": version("sqljury"),
        "numpy": version("numpy"),
    }
    return Weights(fitted.weights, card, fitted.margin, sketch, blind=without)


def _learned(
    questions: Sequence[RatedQuestion], seed: int, start: Fitted | None, caution: int = 1
) -> tuple[Fitted, dict[str, Any]]:
    """What is learned from all questions, and the card's figures of it; for ``caution`` see ``_margin``."""
    databases = len({question.db_id for question in questions})
    decided_databases = len({question.db_id for question in questions if question.pairs})
    by = "database" if decided_databases >= MIN_DATABASES else "question"
    if by == "question":
        questions = [replace(question, db_id=f"{question.db_id}/{question.id}") for question in questions]
    before = None
    if start is not None:
        scores = [[start.score(figures) for figures in question.groups] for question in questions]
        before = figures_of(questions, scores, [start.margin] * len(questions))
        questions = [_with_start(question, start) for question in questions]
    decided = [question for question in questions if question.pairs]
    fit = _fit(decided, seed, caution)
    if not fit.scales:
        few = f"{MIN_QUESTIONS} of the {len(decided)} questions that have correct and wrong results"
        raise InputError(f"no feature differs in {few}; run the benchmark on more questions")
    card = {
        "data": _hash(questions),
        "questions": len(questions),
        "databases": databases,
        "decided": len(decided),
        "pairs": sum(len(question.pairs) for question in decided),
        **_about_fit(fit, seed),
        **({} if before is None else {"start": before}),
        "held_out_by": by,
        "held_out": _held_out(questions, seed, caution),
        "importance": _importance(fit),
        "too_rare": [name for name in _names(questions) if name not in fit.scales],
    }
    learned = fit.weights()
    if start is not None:
        kept = learned.pop(START)
        learned = {**{name: kept * weight for name, weight in start.weights.items()}, **learned}
    return Fitted({name: round(weight, 6) for name, weight in learned.items()}, fit.margin), card


def _with_start(question: RatedQuestion, start: Fitted) -> RatedQuestion:
    """The question with the score by ``start`` in the place of all features but a judge's scores."""
    groups = tuple({START: start.score(figures), JUDGED: figures[JUDGED]} for figures in question.groups)
    return replace(question, groups=groups)


def _names(questions: Sequence[RatedQuestion]) -> tuple[str, ...]:
    """The features of the questions."""
    return next((tuple(figures) for question in questions for figures in question.groups), ())


def _about_fit(fit: _Fit, seed: int) -> dict[str, Any]:
    return {
        "method": "conditional logit over the groups of a question, L2 penalty",
        "penalty": fit.penalty,
        "slope": round(fit.slope, 4),
        "seed": seed,
    }


def _scales(decided: Sequence[RatedQuestion]) -> dict[str, float]:
    """The standard deviation of each feature within a question, at least ``MIN_SCALE``.

    Features that differ in fewer than ``MIN_QUESTIONS`` questions are left out, except those of ``EASED``.
    """
    import numpy as np

    known = _names(decided)
    tables = [np.array([[figures[name] for name in known] for figures in question.groups]) for question in decided]
    if not tables:
        return {}
    spread = np.concatenate([table - table.mean(axis=0) for table in tables]).std(axis=0)
    often = np.sum([np.ptp(table, axis=0) > TINY for table in tables], axis=0)
    return {
        name: max(float(value), MIN_SCALE)
        for name, value, count in zip(known, spread, often.tolist(), strict=True)
        if count >= (1 if name in EASED else MIN_QUESTIONS)
    }


def _rows(question: RatedQuestion, scales: Mapping[str, float]) -> list[list[float]]:
    return [[figures[name] / scale for name, scale in scales.items()] for figures in question.groups]


def _fit(decided: Sequence[RatedQuestion], seed: int, caution: int = 1) -> _Fit:
    """Weights from these questions; penalty, slope and margin are those that do best on held-out databases."""
    import numpy as np

    scales = _scales(decided)
    databases = [question.db_id for question in decided]
    if len(set(databases)) < 2:
        raise InputError("too few questions have correct and wrong results to hold any out; run the benchmark on more")
    correct = [[number in question.correct for number in range(len(question.groups))] for question in decided]
    groups = logit.stack([_rows(question, scales) for question in decided], correct)
    tried = list(zip(PENALTIES, _held_out_scores(groups, scales, databases, seed), strict=True))
    penalty, scores = min(tried, key=lambda pair: logit.loss(groups, pair[1]))
    slope = float(min(np.geomspace(0.2, 5, 161), key=lambda slope: logit.loss(groups, slope * scores)))
    margin = _margin(decided, [part.tolist() for part in np.split(slope * scores, groups.starts[1:])], caution)
    return _Fit(scales, penalty, slope, margin, slope * logit.fit(groups, _penalties(scales, penalty)))


def _penalties(scales: Mapping[str, float], penalty: float) -> Floats:
    import numpy as np

    return np.array([penalty / EASE if name in EASED else penalty for name in scales])


def _held_out_scores(
    groups: logit.Groups, scales: Mapping[str, float], databases: Sequence[str], seed: int
) -> list[Floats]:
    """For each penalty the scores of all groups, each by weights that never saw its database."""
    import numpy as np

    scores = [np.zeros(len(groups.rows)) for _ in PENALTIES]
    for training, held_out in logit.folds(databases, INNER_FOLDS, seed):
        known, rows = groups.subset(training), groups.row_indices(held_out)
        weights = None
        for penalized, penalty in zip(scores, PENALTIES, strict=True):
            weights = logit.fit(known, _penalties(scales, penalty), weights)
            penalized[rows] = groups.rows[rows] @ weights
    return scores


def _margin(decided: Sequence[RatedQuestion], scores: Sequence[Sequence[float]], caution: int) -> float:
    """The margin with the most answers corrected, less ``caution`` times those lost.

    Of equal ones it is the largest, so that doubt favours votes.
    """

    def gain(margin: float) -> int:
        gained = 0
        for question, question_scores in zip(decided, scores, strict=True):
            right, votes = better(question_scores, margin) in question.correct, 0 in question.correct
            gained += (right and not votes) - caution * (votes and not right)
        return gained

    return max(MARGINS, key=lambda margin: (gain(margin), margin))


def _held_out(questions: Sequence[RatedQuestion], seed: int, caution: int) -> dict[str, Any]:
    """Figures on databases that weights, penalty, slope, margin, scales and choice of features have not seen."""
    scores: dict[int, list[float]] = {}
    margins: dict[int, float] = {}
    for training, held_out in logit.folds([question.db_id for question in questions], FOLDS, seed):
        fit = _fit([questions[index] for index in training if questions[index].pairs], seed, caution)
        scores |= {index: fit.scores(questions[index]) for index in held_out}
        margins |= dict.fromkeys(held_out, fit.margin)
    indices = range(len(questions))
    return figures_of(questions, [scores[index] for index in indices], [margins[index] for index in indices])


def figures_of(
    questions: Sequence[RatedQuestion], scores: Sequence[Sequence[float]], margins: Sequence[float]
) -> dict[str, Any]:
    """The accuracy of the scores of each question's groups, with its margin, against votes; ready for JSON.

    ``ex`` is the share of questions answered correctly; ``won`` and ``lost`` count those that only the judge, or only
    votes, answer correctly, ``changed`` those in which votes are overruled. ``pairs`` is the share of decided pairs
    whose correct group scores higher, equal scores counting half. ``reliability`` compares the probability of the
    preferred group with how often it was correct; ``ece`` is the expected calibration error.
    """
    import numpy as np

    chosen = [
        better(question_scores, margin) if question_scores else -1
        for question_scores, margin in zip(scores, margins, strict=True)
    ]
    light = [choice in question.correct for question, choice in zip(questions, chosen, strict=True)]
    votes = [0 in question.correct for question in questions]
    both = [
        (question_scores, pair)
        for question, question_scores in zip(questions, scores, strict=True)
        for pair in question.pairs
    ]
    differences = np.array(
        [question_scores[correct] - question_scores[wrong] for question_scores, (correct, wrong) in both]
    )
    count = len(questions)
    return {
        "ex": Share(sum(light), count).figures(),
        "ex_votes": Share(sum(votes), count).figures(),
        "ex_bound": Share(sum(bool(question.correct) for question in questions), count).figures(),
        "changed": sum(choice > 0 for choice in chosen),
        "won": sum(new and not old for new, old in zip(light, votes, strict=True)),
        "lost": sum(old and not new for new, old in zip(light, votes, strict=True)),
        "pairs": Share(float(np.sum(differences > 0) + 0.5 * np.sum(differences == 0)), len(both)).figures(),
        "pairs_votes": Share(sum(correct < wrong for _, (correct, wrong) in both), len(both)).figures(),
        "log_loss": round(float(np.logaddexp(0, -differences).mean()), 4) if both else None,
        **_reliability(differences),
    }


def _reliability(differences: Floats) -> dict[str, Any]:
    import numpy as np

    confidence = 1 / (1 + np.exp(-np.abs(differences)))
    bins, error = [], 0.0
    for low, high in pairwise(BINS):
        inside = (confidence >= low) & ((confidence < high) | (high == BINS[-1]))
        if count := int(inside.sum()):
            predicted, observed = float(confidence[inside].mean()), float((differences[inside] > 0).mean())
            bins.append(
                {"from": low, "to": high, "pairs": count, "said": round(predicted, 3), "was": round(observed, 3)}
            )
            error += count * abs(predicted - observed) / len(differences)
    return {"reliability": bins, "ece": round(error, 4)}


def _importance(fit: _Fit) -> dict[str, float]:
    """Weights in log-odds per scale of the feature, the largest first."""
    largest = sorted(zip(fit.scales, fit.per_scale.tolist(), strict=True), key=lambda pair: -abs(pair[1]))
    return {name: round(weight, 4) for name, weight in largest}


def _hash(questions: Sequence[RatedQuestion]) -> str:
    """SHA-256 of all that is learned from."""
    lines = [[question.id, question.db_id, question.groups, sorted(question.correct)] for question in questions]
    return hashlib.sha256(json.dumps(sorted(lines, key=json.dumps)).encode()).hexdigest()

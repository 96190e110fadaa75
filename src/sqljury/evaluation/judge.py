"""The one judge: (gold, prediction) pairs by metrics on their databases, in processes that can be killed.

Prediction files, run folders and stored candidates are all judged here. A prediction that hangs, crashes its process or
makes a metric fail is one wrong answer. A gold query that does not run is nobody's mistake: metrics that need its
result have no score for the pair. Without a gold query, with one that is too long to run, or without a usable
database, no metric has a score.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqljury.datasets.pairs import Gold, Pair, Prediction, perfect
from sqljury.errors import DatabaseError, DatasetError, InputError
from sqljury.evaluation.targets import Targets
from sqljury.metrics.case import PATIENCE, Case, Options, Remembered, Score, Target
from sqljury.metrics.hardness import hardness
from sqljury.metrics.partial import Part, partial_match
from sqljury.metrics.registry import Metric, titled
from sqljury.metrics.spider import Query
from sqljury.parallel.crew import Crew
from sqljury.parallel.processes import Tell, map_processes
from sqljury.sql.parse import hush_parser
from sqljury.sql.scan import length_fault, text_fault

GRACE_SECONDS: Final = 10.0
"""How much longer than a query's own limit a process may be silent before it is killed."""

RETURNS_NOTHING: Final = "the gold query returns nothing"

Observer = Callable[[Case, dict[str, Score | None]], Any]
"""Looks at a judged case while its database is open; what it returns must be picklable."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One pair with its scores by metric, None where there is none.

    ``fault`` is what is wrong with gold: it fails, or it returns nothing, which most wrong queries return too.
    ``usable`` is False where its database cannot be used, which another day it may. ``parts`` holds the clauses for
    partial match where ESM was asked for, ``observed`` what the observer made of the pair, None where it was killed.
    """

    pair: Pair
    hardness: str
    scores: dict[str, Score | None]
    fault: str = ""
    parts: dict[str, Part] | None = None
    usable: bool = True
    observed: Any = None

    @property
    def left_out(self) -> bool:
        """Whether no metric has a score, since gold or its database is bad."""
        return all(score is None for score in self.scores.values())


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All pairs of a file, judged, in the file's order; ``seconds`` is wall time."""

    metrics: tuple[Metric, ...]
    judged: tuple[Judged, ...]
    options: Options
    seconds: float

    def column(self, metric: str) -> list[float | None]:
        """The scores of one metric, pair by pair."""
        return [None if score is None else score.value for score in (judged.scores[metric] for judged in self.judged)]

    @property
    def titles(self) -> dict[str, str]:
        """The metrics' titles by name."""
        return {metric.name: metric.title for metric in self.metrics}

    @property
    def imperfect(self) -> list[Judged]:
        """The pairs that do not score 1 by every metric."""
        return [
            judged
            for judged in self.judged
            if any(score is None or score.value < 1 for score in judged.scores.values())
        ]

    @property
    def faults(self) -> list[Judged]:
        """The pairs with something wrong about gold."""
        return [judged for judged in self.judged if judged.fault]

    def refuse_if_nothing_judged(self) -> None:
        """Raise ``DatasetError`` with the first reason where no pair has a score by any metric."""
        if self.judged and all(judged.left_out for judged in self.judged):
            first = self.judged[0]
            raise DatasetError(
                f"{first.pair.gold.place}: {first.fault}; none of the {len(self.judged)} queries can be judged"
            )


def evaluate(
    pairs: Sequence[Pair],
    targets: Targets,
    metrics: Sequence[Metric],
    *,
    options: Options | None = None,
    processes: int | Crew = 1,
) -> Evaluation:
    """Judge every pair by these metrics, in as many processes, or by a crew; timed metrics have one process, here.

    Raises ``InputError`` for ``suite`` where ``targets`` have none, ``DatasetError`` for files that cannot be used.
    """
    start = time.monotonic()
    settings = options or Options()
    if targets.suite is None and any(metric.name.startswith("suite") for metric in metrics):
        raise InputError("the metric suite needs databases; make them with `sqljury suite build`, give them by --suite")
    batches = [Batch(pair.gold, (pair.prediction,)) for pair in pairs]
    judge = BatchJudge(targets, tuple(metrics), settings)
    judged = tuple(pair for batch in judge_batches(batches, judge, processes) for pair in batch)
    titles = tuple(titled(metric, settings) for metric in metrics)
    return Evaluation(titles, judged, settings, time.monotonic() - start)


def check(
    golds: Sequence[Gold],
    targets: Targets,
    metrics: Sequence[Metric],
    *,
    options: Options | None = None,
    processes: int | Crew = 1,
) -> Evaluation:
    """Judge gold against itself by all but the timed metrics: a score below 1 shows bad data or a bad metric.

    Gold has no placeholders: the letters ``value`` in it are its own.

    Raises ``InputError`` as ``evaluate`` does, and where all metrics are timed.
    """
    steady = [metric for metric in metrics if not metric.timed]
    if not steady:
        raise InputError(
            "timed metrics show nothing about gold itself; check it by a metric that is not timed, such as exe"
        )
    pairs = [Pair(gold, prediction) for gold, prediction in zip(golds, perfect(golds), strict=True)]
    unchanged = replace(options or Options(), placeholders=False)
    return evaluate(pairs, targets, steady, options=unchanged, processes=processes)


@dataclass(frozen=True, slots=True)
class Batch:
    """A gold query with the predictions to judge by it; ``killed`` holds those that ended their process, judged."""

    gold: Gold
    predictions: tuple[Prediction, ...]
    killed: dict[int, Judged] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Killed:
    """What is known of a batch whose process was killed; ``number`` is the prediction's, None if gold was at fault."""

    number: int | None
    judged: Judged


def judge_batches(
    batches: Sequence[Batch],
    judge: BatchJudge,
    processes: int | Crew = 1,
    on_judged: Callable[[Sequence[Judged]], None] = lambda _: None,
) -> list[list[Judged]]:
    """Each batch's predictions, judged in order; after a prediction that ends its process the others are judged anew.

    ``on_judged`` gets each batch as soon as it is done.
    """

    def done(outcome: list[Judged] | _Killed) -> None:
        if isinstance(outcome, list):
            on_judged(outcome)

    results: dict[int, list[Judged]] = {}
    waiting = dict(enumerate(batches))
    while waiting:
        outcomes: list[list[Judged] | _Killed] = map_processes(
            judge.begin,
            list(waiting.values()),
            judge.lost,
            silence=judge.options.limits.seconds + GRACE_SECONDS,
            processes=1 if any(metric.timed for metric in judge.metrics) else processes,
            kind=lambda batch: batch.gold.db_id,
            on_result=done,
            files=judge.targets.files,
        )
        again = {}
        for (index, batch), outcome in zip(waiting.items(), outcomes, strict=True):
            if isinstance(outcome, list):
                results[index] = outcome
                continue
            after_kill = _after_kill(batch, outcome)
            if isinstance(after_kill, Batch):
                again[index] = after_kill
                continue
            results[index] = after_kill
            on_judged(after_kill)
        waiting = again
    return [results[index] for index in range(len(batches))]


def _after_kill(batch: Batch, outcome: _Killed) -> list[Judged] | Batch:
    """The verdicts where no prediction is left to judge, otherwise the batch with what is known of it."""
    killed = outcome.judged
    if outcome.number is None:
        return [replace(killed, pair=Pair(batch.gold, prediction)) for prediction in batch.predictions]
    known = {**batch.killed, outcome.number: killed}
    if len(known) < len(batch.predictions):
        return replace(batch, killed=known)
    return [known[number] for number in range(len(batch.predictions))]


@dataclass
class _Progress:
    """How far a batch has come, sent ahead of whatever might hang."""

    at: str = "database"
    number: int | None = None
    hardness: str = ""
    fault: str = ""
    scores: dict[str, Score | None] = field(default_factory=dict)
    parts: dict[str, Part] | None = None


@dataclass(frozen=True)
class BatchJudge:
    """The work of one process, which opens the databases itself; ``observe`` makes an observer for each batch."""

    targets: Targets
    metrics: tuple[Metric, ...]
    options: Options = field(default_factory=Options)
    observe: Callable[[], Observer] | None = None

    def begin(self) -> Callable[[Batch, Tell], list[Judged] | _Killed]:
        """Called once in each process."""
        hush_parser()
        return self._judge

    def lost(self, batch: Batch, why: str, told: _Progress | None) -> list[Judged] | _Killed:
        """The verdict on what was judged when the process was killed: what was done counts, the rest is wrong."""
        progress = told or _Progress("prediction", number=0)
        gold_at_fault = progress.at in ("gold", "database")
        if gold_at_fault:
            subject = "the gold query" if progress.at == "gold" else "its database cannot be used:"
            progress.fault = f"{subject} {why}"
        wrong = None if gold_at_fault else Score(0.0, f"limit: {why}")
        number = progress.number or 0
        pair = Pair(batch.gold, batch.predictions[number])
        scores = {metric.name: progress.scores.get(metric.name, wrong) for metric in self.metrics}
        judged = Judged(
            pair, progress.hardness, scores, progress.fault, progress.parts, usable=progress.at != "database"
        )
        return _Killed(None if gold_at_fault and progress.number in (None, 0) else number, judged)

    def _judge(self, batch: Batch, tell: Tell) -> list[Judged]:
        gold = batch.gold
        progress = _Progress(hardness=gold.difficulty, fault=text_fault(gold.sql))
        if progress.fault:
            return self._left_out(batch, progress)
        tell(progress)
        try:
            target = self.targets.target(gold.db_id, lambda: tell(progress))
        except DatabaseError as error:
            progress.fault = f"its database cannot be used: {error}"
            return self._left_out(batch, progress, usable=False)
        observer = None if self.observe is None else self.observe()
        judged = []
        for number, prediction in enumerate(batch.predictions):
            progress = _Progress("gold", number, progress.hardness, "")
            case = Case(gold.sql, prediction.sql, target, self.options)
            judged.append(batch.killed.get(number) or self._judge_case(case, batch, progress, tell, observer))
        return judged

    def _left_out(self, batch: Batch, progress: _Progress, usable: bool = True) -> list[Judged]:
        scores: dict[str, Score | None] = dict.fromkeys(metric.name for metric in self.metrics)
        return [
            Judged(Pair(batch.gold, prediction), progress.hardness, scores, progress.fault, usable=usable)
            for prediction in batch.predictions
        ]

    def _judge_case(
        self, case: Case, batch: Batch, progress: _Progress, tell: Tell, observer: Observer | None
    ) -> Judged:
        self.targets.before = lambda: tell(progress)
        tell(progress)
        progress.hardness = progress.hardness or (hardness(case.gold) if case.gold != Query() else "")
        progress.at = "text"
        tell(progress)
        self._judge_text(case, progress)
        progress.at = "gold"
        by_result = [metric for metric in self.metrics if metric.rules is not None]
        failed = self._run_gold(case, by_result, progress)
        progress.at = "prediction"
        tell(progress)
        _allow(case.target, self.options.limits.seconds * PATIENCE)
        for metric in by_result:
            progress.scores[metric.name] = None if metric.name in failed else scored(metric, case)
        scores = {metric.name: progress.scores[metric.name] for metric in self.metrics}
        observed = None if observer is None else observer(case, scores)
        _allow(case.target, float("inf"))
        pair = Pair(batch.gold, batch.predictions[progress.number or 0])
        return Judged(pair, progress.hardness, scores, progress.fault, progress.parts, observed=observed)

    def _judge_text(self, case: Case, progress: _Progress) -> None:
        """The metrics of the text alone; they come first, since no query can then take their scores away."""
        for metric in self.metrics:
            if metric.rules is None:
                progress.scores[metric.name] = scored(metric, case)
        if any(metric.name == "esm" for metric in self.metrics) and case.gold != Query():
            progress.parts = partial_match(case.gold, case.predicted, case.target.keys)

    def _run_gold(self, case: Case, metrics: Iterable[Metric], progress: _Progress) -> set[str]:
        """The metrics for which gold fails; its results are kept for the others."""
        failed = set()
        for metric in metrics:
            assert metric.rules is not None
            numbers = range(len(case.target.databases) if metric.suite else 1)
            try:
                results = [case.gold_result(metric.rules, number) for number in numbers]
            except DatasetError as error:
                failed.add(metric.name)
                progress.fault = str(error)
            else:
                if not any(result.rows for result in results):
                    progress.fault = progress.fault or RETURNS_NOTHING
        return failed


def _allow(target: Target, patience: float) -> None:
    trials = (trial.database for trial in target.trials)
    for database in (*target.databases, *(trial for trial in trials if isinstance(trial, Remembered))):
        database.spent, database.patience = 0.0, patience


def scored(metric: Metric, case: Case) -> Score:
    """The metric's score; a prediction that makes the metric fail is a wrong answer, with that as its reason."""
    if why := length_fault(case.predicted_sql):
        return Score(0.0, why)
    try:
        return metric.score(case)
    except Exception as error:
        return Score(0.0, f"{metric.title} failed on this pair: {type(error).__name__}: {error}")

"""Judges a file of predictions: every chosen metric on every pair, in processes that can be killed.

A prediction that hangs, crashes its process or makes a metric fail is one wrong answer. A gold query that does not run
is no one's: metrics that need its result have no score for that pair, and reports name it before anything else. Where
there is no gold query, it is longer than any that is run, or its database cannot be used, no metric has a score.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqljury.datasets.pairs import Gold, Pair, perfect
from sqljury.errors import DatabaseError, DatasetError, InputError
from sqljury.evaluation.targets import Targets
from sqljury.metrics.case import PATIENCE, Case, Options, Remembered, Score, Target
from sqljury.metrics.hardness import hardness
from sqljury.metrics.partial import Part, partial_match
from sqljury.metrics.registry import Metric, named, titled
from sqljury.metrics.spider import Query
from sqljury.parallel.processes import Tell, map_processes
from sqljury.sql.parse import hush_parser
from sqljury.sql.scan import length_fault, text_fault

GRACE_SECONDS: Final = 10.0
"""How much longer than a query's own limit a process may be silent before it is killed."""

RETURNS_NOTHING: Final = "the gold query returns nothing"

DEFAULT_METRICS: Final = ("ex", "exe", "esm")


@dataclass(frozen=True, slots=True)
class Judged:
    """One pair with its scores by metric, None where gold cannot be judged by.

    ``fault`` says in words what is wrong with gold itself: it fails, or it returns nothing, which most wrong queries
    return too. ``parts`` holds the clauses for partial match where ESM was asked for.
    """

    pair: Pair
    hardness: str
    scores: dict[str, Score | None]
    fault: str = ""
    parts: dict[str, Part] | None = None

    @property
    def left_out(self) -> bool:
        """No metric has a score, for gold or its database is bad."""
        return all(score is None for score in self.scores.values())


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All pairs of a file, judged, in the file's order; ``seconds`` is wall time."""

    metrics: tuple[Metric, ...]
    judged: tuple[Judged, ...]
    options: Options
    seconds: float

    def column(self, metric: str) -> list[float | None]:
        """One metric's scores, pair by pair."""
        return [None if score is None else score.value for score in (one.scores[metric] for one in self.judged)]

    @property
    def faults(self) -> list[Judged]:
        """The pairs with something wrong about gold."""
        return [one for one in self.judged if one.fault]

    def refuse_if_nothing_judged(self) -> None:
        """Raise ``DatasetError`` with the first reason where no pair has a score by any metric."""
        if self.judged and all(one.left_out for one in self.judged):
            first = self.judged[0]
            raise DatasetError(
                f"{first.pair.gold.place}: {first.fault}; nor can any other of {len(self.judged)} queries be judged"
            )


def evaluate(
    pairs: Sequence[Pair],
    targets: Targets,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    options: Options | None = None,
    processes: int = 1,
) -> Evaluation:
    """Judge every pair by the metrics of these names on their databases.

    Where a metric is timed there is only one process. Gold that cannot be judged by, its database among the reasons, is
    a ``fault`` of its pair. Raises ``InputError`` for an unknown metric or for ``suite`` without one, ``DatasetError``
    for files that cannot be used.
    """
    start = time.monotonic()
    chosen = named(metrics)
    settings = options or Options()
    if targets.suite is None and any(metric.name.startswith("suite") for metric in chosen):
        raise InputError("the metric suite needs databases; make them with `sqljury suite build`, give them by --suite")
    judge = _Judge(targets, tuple(metric.name for metric in chosen), settings)
    judged = map_processes(
        judge.begin,
        pairs,
        judge.lost,
        silence=settings.limits.seconds + GRACE_SECONDS,
        processes=1 if any(metric.timed for metric in chosen) else processes,
        kind=lambda pair: pair.gold.db_id,
    )
    titles = tuple(titled(metric, settings) for metric in chosen)
    return Evaluation(titles, tuple(judged), settings, time.monotonic() - start)


def check(
    golds: Sequence[Gold],
    targets: Targets,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    options: Options | None = None,
    processes: int = 1,
) -> Evaluation:
    """Judge gold by itself, by all but the timed metrics: whatever is not 1 is wrong with the data or a metric.

    Raises ``InputError`` as ``evaluate`` does, and where all metrics are timed.
    """
    steady = [metric.name for metric in named(metrics) if not metric.timed]
    if not steady:
        raise InputError(
            "gold's time beside its own shows nothing; check it by a metric that is not timed, such as exe"
        )
    pairs = [Pair(gold, prediction) for gold, prediction in zip(golds, perfect(golds), strict=True)]
    return evaluate(pairs, targets, steady, options=options, processes=processes)


def imperfect(evaluation: Evaluation) -> list[Judged]:
    """The pairs that do not score 1 by every metric."""
    return [one for one in evaluation.judged if any(score is None or score.value < 1 for score in one.scores.values())]


@dataclass
class _Progress:
    """How far a pair has come, sent ahead of whatever might hang."""

    at: str = ""
    hardness: str = ""
    fault: str = ""
    scores: dict[str, Score | None] = field(default_factory=dict)
    parts: dict[str, Part] | None = None


@dataclass(frozen=True)
class _Judge:
    """The work of one process; the databases are opened there."""

    targets: Targets
    names: tuple[str, ...]
    options: Options

    def begin(self) -> Any:
        """Called once in each process."""
        hush_parser()
        return self._judge

    def lost(self, pair: Pair, why: str, told: _Progress | None) -> Judged:
        """The verdict on a pair whose process had to be replaced: what was done counts, the rest is wrong."""
        done = told or _Progress()
        if done.at in ("gold", "database"):
            done.fault = f"the gold query {why}" if done.at == "gold" else f"its database cannot be used: {why}"
        wrong = None if done.at in ("gold", "database") else Score(0.0, f"limit: {why}")
        scores = {name: done.scores.get(name, wrong) for name in self.names}
        return Judged(pair, done.hardness, scores, done.fault, done.parts)

    def _judge(self, pair: Pair, tell: Tell) -> Judged:
        gold = pair.gold
        progress = _Progress(at="database", hardness=gold.difficulty, fault=text_fault(gold.sql))
        if progress.fault:
            return self._left_out(pair, progress)
        tell(progress)
        try:
            target = self.targets.target(gold.db_id, lambda: tell(progress))
        except DatabaseError as error:
            progress.fault = f"its database cannot be used: {error}"
            return self._left_out(pair, progress)
        case = Case(gold.sql, pair.prediction.sql, target, self.options)
        progress.at = "gold"
        tell(progress)
        progress.hardness = progress.hardness or (hardness(case.gold) if case.gold != Query() else "")
        progress.at = "text"
        tell(progress)
        self._text(case, progress)
        progress.at = "gold"
        metrics = [metric for metric in named(self.names) if metric.rules is not None]
        failed = self._run_gold(case, metrics, progress)
        progress.at = "prediction"
        self._spend(target, self.options.limits.seconds * PATIENCE)
        for metric in metrics:
            progress.scores[metric.name] = None if metric.name in failed else _score(metric, case)
        self._spend(target, float("inf"))
        scores = {name: progress.scores[name] for name in self.names}
        return Judged(pair, progress.hardness, scores, progress.fault, progress.parts)

    def _left_out(self, pair: Pair, progress: _Progress) -> Judged:
        return Judged(pair, progress.hardness, dict.fromkeys(self.names), progress.fault)

    def _text(self, case: Case, progress: _Progress) -> None:
        """The metrics of the text alone; they come first, for no query can take their scores away."""
        for metric in named(self.names):
            if metric.rules is None:
                progress.scores[metric.name] = _score(metric, case)
        if "esm" in self.names and case.gold != Query():
            progress.parts = partial_match(case.gold, case.predicted, case.target.keys)

    def _run_gold(self, case: Case, metrics: Sequence[Metric], progress: _Progress) -> set[str]:
        """The metrics for which gold fails; its results are kept for those for which it does not."""
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

    def _spend(self, target: Target, patience: float) -> None:
        trials = (trial.database for trial in target.trials)
        for database in (*target.databases, *(one for one in trials if isinstance(one, Remembered))):
            database.spent, database.patience = 0.0, patience


def _score(metric: Metric, case: Case) -> Score:
    """The metric's score; where a prediction makes it fail, that is a wrong answer which says so."""
    if why := length_fault(case.predicted_sql):
        return Score(0.0, why)
    try:
        return metric.score(case)
    except Exception as error:
        return Score(0.0, f"{metric.title} failed on this pair: {type(error).__name__}: {error}")

"""Every metric by its name, the column it has in tables: the one list that evaluation works through."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from sqljury.errors import InputError
from sqljury.metrics.case import Case, Options, Score
from sqljury.metrics.esm import PUBLISHED, differing_clauses
from sqljury.metrics.esm import Rules as EsmRules
from sqljury.metrics.esm_plus import esm_plus
from sqljury.metrics.execution import EX, EXE, Outcome, Rules, judge_as_set, suite_match
from sqljury.metrics.execution import EXE_KEEP_DISTINCT as KEPT
from sqljury.metrics.soft_f1 import soft_f1
from sqljury.metrics.spider import Query
from sqljury.metrics.suite import try_on
from sqljury.metrics.ves import r_ves, time_pair, ves

_SEPARATORS: Final = re.compile(r"[-_\s]+")


@dataclass(frozen=True, slots=True)
class Metric:
    """A score of a pair and what it needs.

    ``rules`` prepare the gold query that must run first, None for metrics of the text alone. ``suite`` says that it
    needs every database of a test suite, ``graded`` that scores are more than 0 and 1, ``timed`` that nothing else
    should run beside it.
    """

    name: str
    title: str
    score: Callable[[Case], Score]
    rules: Rules | None = None
    suite: bool = False
    graded: bool = False
    timed: bool = False


def named(names: Iterable[str]) -> list[Metric]:
    """The metrics of these names, each once, in the names' order; ``esm+``, ``esm+strict``, ``r-ves`` are understood.

    Raises ``InputError`` for an unknown one.
    """
    found: dict[str, Metric] = {}
    for name in names:
        key = _SEPARATORS.sub("_", name.strip().lower().replace("+", "_plus_")).strip("_")
        if key not in METRICS:
            raise InputError(f"there is no metric {name!r}; give some of {', '.join(METRICS)}")
        found[key] = METRICS[key]
    return list(found.values())


def titled(metric: Metric, options: Options) -> Metric:
    """The metric with a title that says so where the options make it another than the published one."""
    more = ""
    if metric.name in ("exe", "exe_keep_distinct") and options.plug_values:
        more = "gold's values plugged in"
    if metric.name in ("esm_plus", "esm_plus_strict") and options.esm_plus.disabled:
        numbers = ", ".join(map(str, sorted(options.esm_plus.disabled)))
        more = f"without rule{'s' if len(options.esm_plus.disabled) > 1 else ''} {numbers}"
    return replace(metric, title=f"{metric.title}, {more}") if more else metric


def _score(outcome: Outcome) -> Score:
    return Score(float(outcome.correct), outcome.reason)


def _ex(case: Case) -> Score:
    databases = case.target.databases[:1]
    return _score(suite_match(databases, case.gold_sql, case.predicted_sql, EX, case.options.limits))


def _ex_bird(case: Case) -> Score:
    predicted = case.target.databases[0].execute(case.predicted_sql, case.options.limits)
    return _score(judge_as_set(case.gold_result(AS_WRITTEN), predicted))


def _exe(rules: Rules) -> Callable[[Case], Score]:
    def score(case: Case) -> Score:
        own = replace(rules, plug_values=case.options.plug_values)
        databases, limits = case.target.databases, case.options.limits
        return _score(suite_match(databases, case.gold_sql, case.published_sql, own, limits))

    return score


def _suite(rules: Rules) -> Callable[[Case], Score]:
    """Right on the given data, the prediction as written, and on every database of a built suite."""

    def score(case: Case) -> Score:
        databases, limits = case.target.databases, case.options.limits
        given = suite_match(databases, case.gold_sql, case.published_sql, rules, limits)
        if not given.correct:
            return _score(given)
        found = try_on(case.target.trials, case.gold_sql, rules.prepare(case.published_sql), rules, limits)
        if found.counterexample is None:
            return Score(1.0, tried=found)
        return Score(0.0, f"right by luck: {found.reason} in {found.counterexample}", ("luck",), found)

    return score


def _esm(rules: EsmRules) -> Callable[[Case], Score]:
    def score(case: Case) -> Score:
        if case.gold == Query():
            return Score(0.0, "the gold query is not in Spider's grammar, so nothing can match it")
        return _by_clause(differing_clauses(case.gold, case.predicted, case.target.keys, rules))

    return score


def _esm_plus(strict: bool) -> Callable[[Case], Score]:
    def score(case: Case) -> Score:
        options = replace(case.options.esm_plus, strict=strict)
        match = esm_plus(case.gold_sql, case.predicted_sql, case.target.facts, options)
        unread = match.gold.error or match.predicted.error
        return Score(0.0, unread) if unread else _by_clause(match.differs)

    return score


def _by_clause(differing: tuple[str, ...]) -> Score:
    return Score(float(not differing), f"differs in {', '.join(differing)}" if differing else "", differing)


def _soft_f1(case: Case) -> Score:
    predicted = case.target.databases[0].execute(case.predicted_sql, case.options.limits)
    return Score(soft_f1(case.gold_result(AS_WRITTEN), predicted), str(predicted.error or ""))


def _timed(worth: Callable[[float], float]) -> Callable[[Case], Score]:
    def score(case: Case) -> Score:
        right = _ex_bird(case)
        if not right.value:
            return right
        again, options = case.target.databases[0].again, case.options
        timing = time_pair(again, case.gold_sql, case.predicted_sql, options.effort, options.limits)
        times = f"gold {1000 * timing.gold:.3f} ms, prediction {1000 * timing.predicted:.3f} ms"
        if not timing.repeats:
            times = "gold's own query, not timed"
        return Score(worth(timing.ratio), timing.error or times)

    return score


class _AsWritten(Rules):
    """BIRD runs queries as they are."""

    def prepare(self, sql: str) -> str:
        """The query itself."""
        return sql


AS_WRITTEN: Final = _AsWritten()

METRICS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric("esm", "ESM", _esm(PUBLISHED)),
        Metric("esm_values", "ESM (values, DISTINCT)", _esm(EsmRules(values=True, distinct=True))),
        Metric("esm_plus", "ESM+", _esm_plus(strict=False)),
        Metric("esm_plus_strict", "ESM+ strict", _esm_plus(strict=True)),
        Metric("ex", "EX", _ex, EX),
        Metric("exe", "EXE", _exe(EXE), EXE, suite=True),
        Metric("exe_keep_distinct", "EXE (DISTINCT kept)", _exe(KEPT), KEPT, suite=True),
        Metric("suite", "EXE+suite", _suite(EXE), EXE, suite=True),
        Metric("suite_keep_distinct", "EXE+suite (DISTINCT kept)", _suite(KEPT), KEPT, suite=True),
        Metric("ex_bird", "EX (BIRD)", _ex_bird, AS_WRITTEN),
        Metric("soft_f1", "Soft-F1", _soft_f1, AS_WRITTEN, graded=True),
        Metric("ves", "VES", _timed(ves), AS_WRITTEN, graded=True, timed=True),
        Metric("r_ves", "R-VES", _timed(r_ves), AS_WRITTEN, graded=True, timed=True),
    )
}

"""All metrics as objects, by the names of their columns in tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from sqljury.errors import InputError
from sqljury.metrics.case import Case, Options, Score
from sqljury.metrics.esm import PUBLISHED, ComparedParts, differing_clauses
from sqljury.metrics.esm_plus import esm_plus
from sqljury.metrics.execution import AS_WRITTEN, EX, EXE, EXE_KEEP_DISTINCT, Outcome, Rules, judge_as_set, suite_match
from sqljury.metrics.soft_f1 import soft_f1
from sqljury.metrics.spider import Query
from sqljury.metrics.suite import try_on
from sqljury.metrics.ves import r_ves, time_pair, ves

_SEPARATORS: Final = re.compile(r"[-_\s]+")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: how it scores a pair, and what it needs for that. Picklable, for other processes.

    ``rules`` prepare the gold query that must run first, None for metrics of the text alone. ``suite``: it needs all
    databases of a test suite. ``graded``: scores are not only 0 and 1. ``timed``: nothing else should run beside it.
    """

    name: str
    title: str
    score: Callable[[Case], Score]
    rules: Rules | None = None
    suite: bool = False
    graded: bool = False
    timed: bool = False


def named(names: Iterable[str]) -> tuple[Metric, ...]:
    """The metrics with these names, without repetitions, in the names' order; ``esm+`` or ``r-ves`` are understood.

    Raises ``InputError`` for an unknown name.
    """
    chosen: dict[str, Metric] = {}
    for name in names:
        key = _SEPARATORS.sub("_", name.strip().lower().replace("+", "_plus_")).strip("_")
        if key not in METRICS:
            raise InputError(f"there is no metric {name!r}; give some of {', '.join(METRICS)}")
        chosen[key] = METRICS[key]
    return tuple(chosen.values())


def titled(metric: Metric, options: Options) -> Metric:
    """The metric with a title that names the options which make it differ from the published one."""
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


def _exe(rules: Rules, case: Case) -> Score:
    rules = replace(rules, plug_values=case.options.plug_values)
    return _score(suite_match(case.target.databases, case.gold_sql, case.executed_sql, rules, case.options.limits))


def _suite(rules: Rules, case: Case) -> Score:
    """1 for a prediction that is right, as written, on the given data and on every database of a built suite."""
    limits = case.options.limits
    given = suite_match(case.target.databases, case.gold_sql, case.executed_sql, rules, limits)
    if not given.correct:
        return _score(given)
    tried = try_on(case.target.trials, case.gold_sql, rules.prepare(case.executed_sql), rules, limits)
    if tried.counterexample is None:
        return Score(1.0, tried=tried)
    return Score(0.0, f"right by luck: {tried.reason} in {tried.counterexample}", ("luck",), tried)


def _esm(compared: ComparedParts, case: Case) -> Score:
    if case.gold == Query():
        return Score(0.0, "the gold query is not in Spider's grammar, so nothing can match it")
    return _by_clause(differing_clauses(case.gold, case.predicted, case.target.keys, compared))


def _esm_plus(strict: bool, case: Case) -> Score:
    options = replace(case.options.esm_plus, strict=strict)
    match = esm_plus(case.gold_sql, case.predicted_sql, case.target.facts, options)
    unread = match.gold.error or match.predicted.error
    return Score(0.0, unread) if unread else _by_clause(match.differs)


def _by_clause(differing: tuple[str, ...]) -> Score:
    return Score(float(not differing), f"differs in {', '.join(differing)}" if differing else "", differing)


def _soft_f1(case: Case) -> Score:
    predicted = case.target.databases[0].execute(case.predicted_sql, case.options.limits)
    return Score(soft_f1(case.gold_result(AS_WRITTEN), predicted), str(predicted.error or ""))


def _timed(score: Callable[[float], float], case: Case) -> Score:
    right = _ex_bird(case)
    if not right.value:
        return right
    again, options = case.target.databases[0].again, case.options
    timing = time_pair(again, case.gold_sql, case.predicted_sql, options.effort, options.limits)
    times = f"gold {1000 * timing.gold:.3f} ms, prediction {1000 * timing.predicted:.3f} ms"
    if not timing.repeats:
        times = "gold's own query, not timed"
    return Score(score(timing.ratio), timing.error or times)


METRICS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric("esm", "ESM", partial(_esm, PUBLISHED)),
        Metric("esm_values", "ESM (values, DISTINCT)", partial(_esm, ComparedParts(values=True, distinct=True))),
        Metric("esm_plus", "ESM+", partial(_esm_plus, False)),
        Metric("esm_plus_strict", "ESM+ strict", partial(_esm_plus, True)),
        Metric("ex", "EX", _ex, EX),
        Metric("exe", "EXE", partial(_exe, EXE), EXE, suite=True),
        Metric(
            "exe_keep_distinct", "EXE (DISTINCT kept)", partial(_exe, EXE_KEEP_DISTINCT), EXE_KEEP_DISTINCT, suite=True
        ),
        Metric("suite", "EXE+suite", partial(_suite, EXE), EXE, suite=True),
        Metric(
            "suite_keep_distinct",
            "EXE+suite (DISTINCT kept)",
            partial(_suite, EXE_KEEP_DISTINCT),
            EXE_KEEP_DISTINCT,
            suite=True,
        ),
        Metric("ex_bird", "EX (BIRD)", _ex_bird, AS_WRITTEN),
        Metric("soft_f1", "Soft-F1", _soft_f1, AS_WRITTEN, graded=True),
        Metric("ves", "VES", partial(_timed, ves), AS_WRITTEN, graded=True, timed=True),
        Metric("r_ves", "R-VES", partial(_timed, r_ves), AS_WRITTEN, graded=True, timed=True),
    )
}

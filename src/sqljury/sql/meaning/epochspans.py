"""Seconds since 1970 that a query has as numbers for a month or a year of the question, which models cannot compute."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from sqljury.language.times import Period, named_period
from sqljury.patterns import regex
from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, Change, held
from sqljury.sql.meaning.epochs import IN_A_SECOND
from sqljury.sql.meaning.years import TURNED
from sqljury.sql.parse import exp

_WITHIN: Final = regex(r"\b(?:in|of|during|for|from|within|throughout)\b", re.IGNORECASE)
_OTHER: Final = regex(
    r"\b(?:first|last|past|previous|prior|middle|mid|early|late|days?|weeks?|months?|decades?|ago"
    r"|year[- ](?:on|over)[- ]year)\b",
    re.IGNORECASE,
)
"""What makes the time another one than the whole month or year."""
_DAY: Final = 86_400


class _Bound(NamedTuple):
    """A condition on a column: ``at_least`` or ``below`` a number, both for BETWEEN."""

    condition: exp.Expr
    column: exp.Column
    at_least: bool
    below: bool


def epoch_spans(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare a column of seconds since 1970 with the beginning and the end of the month or year of the question.

    The question says "in" and the like, and names one and no other time. The query bounds one column from below and
    from above, once, by numbers of which one is no midnight, and has the year nowhere. Milliseconds and microseconds
    too; times are UTC.
    """
    question = asked.question.text
    period = named_period(question)
    if period is None or not _WITHIN.search(question) or _OTHER.search(question):
        return None
    wheres = [select.args.get("where") for select in tree.find_all(exp.Select)]
    bounds = [bound for where in wheres for bound in map(_bound, conjuncts(where)) if bound is not None]
    by_column: dict[str, list[_Bound]] = {}
    for bound in bounds:
        by_column.setdefault(bound.column.sql().lower(), []).append(bound)
    of_times = [(each, factor) for each in by_column.values() if (factor := _factor(each[0], asked))]
    if len(of_times) != 1 or _has_year(tree, period) or not _bounded(*of_times[0], period):
        return None
    return Change("the question names a time, and the numbers of seconds since 1970 are another one", may_empty=True)


def _has_year(tree: exp.Query, period: Period) -> bool:
    """Whether a constant has the year of the period; digits within seconds since 1970, ten or more, are none."""
    return any(str(period.year) in literal.name for literal in tree.find_all(exp.Literal) if len(literal.name) < 10)


def _factor(bound: _Bound, asked: Asked) -> int:
    """How many units of a column are a second; 0 of any other column than one of times since 1970."""
    known = held(bound.column, asked.schema)
    return IN_A_SECOND.get(asked.data.times(known.table, known.column.name), 0) if known is not None else 0


def _bound(condition: exp.Expr) -> _Bound | None:
    """A comparison of a column with whole numbers; None for any other condition."""
    if isinstance(condition, exp.Between):
        column, numbers = condition.this, [condition.args["low"], condition.args["high"]]
        at_least = below = True
    elif isinstance(condition, exp.GT | exp.GTE | exp.LT | exp.LTE):
        turned = isinstance(condition.expression, exp.Column)
        column, number = (condition.expression, condition.this) if turned else (condition.this, condition.expression)
        numbers = [number]
        at_least = (TURNED[condition.key] if turned else condition.key) in ("gt", "gte")
        below = not at_least
    else:
        return None
    if not isinstance(column, exp.Column) or not all(isinstance(one, exp.Literal) and one.is_int for one in numbers):
        return None
    return _Bound(condition, column, at_least, below)


def _bounded(bounds: list[_Bound], factor: int, period: Period) -> bool:
    """Replace the two bounds of a column by those of the period; ``factor`` of its units are a second."""
    if sum(one.at_least for one in bounds) != 1 or sum(one.below for one in bounds) != 1:
        return False
    numbers = [int(literal.name) for one in bounds for literal in one.condition.find_all(exp.Literal)]
    if all(number % (_DAY * factor) in (0, _DAY * factor - 1) for number in numbers):
        return False
    first, after = (
        int(datetime.combine(day, datetime.min.time(), UTC).timestamp()) * factor
        for day in (period.first, period.last + timedelta(days=1))
    )
    for bound in bounds:
        lower = exp.GTE(this=bound.column.copy(), expression=exp.Literal.number(first))
        upper = exp.LT(this=bound.column.copy(), expression=exp.Literal.number(after))
        both = bound.at_least and bound.below
        bound.condition.replace(exp.Paren(this=exp.and_(lower, upper)) if both else lower if bound.at_least else upper)
    return True

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


class _Bound(NamedTuple):
    """A condition on a column: ``at_least`` or ``below`` a number, both for BETWEEN."""

    condition: exp.Expr
    column: exp.Column
    at_least: bool
    below: bool


def epoch_spans(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare a column of seconds since 1970 with the beginning and the end of the month or year of the question.

    The question says "in" and the like, and names one; the query has a lower and an upper bound. Milliseconds and
    microseconds too; times are UTC.
    """
    period = named_period(asked.question.text)
    if period is None or not _WITHIN.search(asked.question.text):
        return None
    changed = False
    for select in list(tree.find_all(exp.Select)):
        by_column: dict[str, list[_Bound]] = {}
        for bound in map(_bound, conjuncts(select.args.get("where"))):
            if bound is not None:
                by_column.setdefault(bound.column.sql().lower(), []).append(bound)
        for bounds in by_column.values():
            changed |= _bounded(bounds, period, asked)
    return (
        Change("the column holds times since 1970, and the numbers are other times", may_empty=True)
        if changed
        else None
    )


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


def _bounded(bounds: list[_Bound], period: Period, asked: Asked) -> bool:
    """Replace the two bounds of a column by those of the period."""
    if sum(one.at_least for one in bounds) != 1 or sum(one.below for one in bounds) != 1:
        return False
    known = held(bounds[0].column, asked.schema)
    unit = asked.data.times(known.table, known.column.name) if known is not None else ""
    if unit not in IN_A_SECOND:
        return False
    first, after = (
        int(datetime.combine(day, datetime.min.time(), UTC).timestamp()) * IN_A_SECOND[unit]
        for day in (period.first, period.last + timedelta(days=1))
    )
    for bound in bounds:
        lower = exp.GTE(this=bound.column.copy(), expression=exp.Literal.number(first))
        upper = exp.LT(this=bound.column.copy(), expression=exp.Literal.number(after))
        both = bound.at_least and bound.below
        bound.condition.replace(exp.Paren(this=exp.and_(lower, upper)) if both else lower if bound.at_least else upper)
    return True

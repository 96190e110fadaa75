"""Comparisons of a column with days, months and years that a query writes as constants, for columns of other forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from sqljury.language.times import Period
from sqljury.sql.meaning.base import YEARS, day_of, text_of
from sqljury.sql.meaning.years import TURNED
from sqljury.sql.parse import exp

_SPAN: Final = re.compile(r"(\d{4})(?:-?(0[1-9]|1[0-2]))?")
_BEGINNING: Final = re.compile(r"(\d{4})(?:-?(0[1-9]|1[0-2])(?:-?(0[1-9]|[12]\d|3[01]))?)?-?%")
"""A pattern of LIKE for all days of a year or a month, or for a day."""


class Days(NamedTuple):
    """The first and the last of some days, as YYYY-MM-DD."""

    first: str
    last: str


class Form(NamedTuple):
    """How a column of days is compared: what stands for it, what a day is written as, and what days a constant covers.

    ``since``: "after 2012" begins with that year, since the question says so.
    """

    subject: exp.Expr
    written: Callable[[str], exp.Expr]
    covered: Callable[[exp.Expr], Days | None]
    since: bool


def is_comparison(node: exp.Expr | None) -> bool:
    """Whether a node compares what ``with_days`` can compare with days."""
    kinds = exp.Between | exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.In | exp.Like
    return isinstance(node, kinds)


def within_cast(column: exp.Column) -> exp.Expr:
    """The column, or what casts it to a text or a date for a comparison."""
    node: exp.Expr = column
    while isinstance(node.parent, exp.Paren | exp.Cast) or (
        isinstance(node.parent, exp.Date | exp.TsOrDsToDate) and node.parent.this is node
    ):
        node = node.parent
    return node


def with_days(node: exp.Expr, above: exp.Expr, form: Form) -> exp.Expr | None:
    """The comparison ``above``, one side of which is ``node``, with days as the form has them; None for any other."""
    if isinstance(above, exp.Like):
        text = text_of(above.expression) if above.this is node else None
        match = _BEGINNING.fullmatch(text or "")
        days = _days(*match.groups()) if match is not None else None
        return _beside("eq", days, form) if days is not None else None
    if isinstance(above, exp.In):
        listed = [form.covered(item) for item in above.expressions] if above.this is node else []
        single = [days.first for days in listed if days is not None and days.first == days.last]
        if not listed or len(single) != len(listed):
            return None
        return exp.In(this=form.subject.copy(), expressions=[form.written(day) for day in single])
    if isinstance(above, exp.Between):
        low, high = form.covered(above.args["low"]), form.covered(above.args["high"])
        if above.this is not node or above.args.get("symmetric") or low is None or high is None:
            return None
        return between(Days(low.first, high.last), form)
    if not isinstance(above, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return None
    turned = above.this is not node
    days = form.covered(above.this if turned else above.expression)
    return _beside(TURNED.get(above.key, above.key) if turned else above.key, days, form) if days else None


def covered(node: exp.Expr) -> Days | None:
    """The days that a literal of a date, a month or a year covers; None for anything else."""
    day = day_of(node)
    if day is not None:
        return Days(day, day)
    literal = node.this if isinstance(node, exp.Paren) else node
    match = _SPAN.fullmatch(literal.name) if isinstance(literal, exp.Literal) else None
    return _days(match[1], match[2]) if match is not None else None


def _beside(operator: str, days: Days, form: Form) -> exp.Expr:
    """The comparison of a column with all of these days."""
    if operator in ("eq", "neq"):
        if days.first == days.last:
            kind = exp.EQ if operator == "eq" else exp.NEQ
            return kind(this=form.subject.copy(), expression=form.written(days.first))
        return between(days, form) if operator == "eq" else exp.Not(this=between(days, form))
    if operator == "gt" and form.since and days.first != days.last:
        operator = "gte"
    kinds = {"gt": (exp.GT, days.last), "gte": (exp.GTE, days.first), "lt": (exp.LT, days.first)}
    kind_, bound = kinds.get(operator, (exp.LTE, days.last))
    return kind_(this=form.subject.copy(), expression=form.written(bound))


def between(days: Days, form: Form) -> exp.Expr:
    """The condition that a column is one of these days."""
    return exp.Between(this=form.subject.copy(), low=form.written(days.first), high=form.written(days.last))


def _days(year: str, month: str | None, day: str | None = None) -> Days | None:
    """All days of a year, or of one of its months, or one day."""
    if not YEARS[0] <= int(year) <= YEARS[1]:
        return None
    if day is not None:
        return Days(f"{year}-{month}-{day}", f"{year}-{month}-{day}")
    period = Period(int(year), int(month or 0))
    return Days(period.first.isoformat(), period.last.isoformat())

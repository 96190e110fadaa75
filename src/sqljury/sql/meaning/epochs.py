"""Numbers that hold seconds, milliseconds or microseconds since 1970, where a query takes them for dates.

Models cannot compute such numbers for a month or a year of the question.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

from sqljury.language.times import Period, named_period
from sqljury.patterns import regex
from sqljury.sql import clock
from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, Change, day_of, held, text_of
from sqljury.sql.meaning.years import TURNED
from sqljury.sql.parse import exp

_FUNCTIONS: Final = frozenset(
    {"DATE", "DATETIME", "JULIANDAY", "STRFTIME", "TIME", "DATE_FORMAT", "TO_CHAR", "DATE_PART"}
)
_CONVERTED: Final = re.compile(r"epoch|unix|%s\b|to_timestamp", re.IGNORECASE)
IN_A_SECOND: Final = {"seconds": 1, "milliseconds": 1000, "microseconds": 1_000_000}
"""How many of a unit are a second."""
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")

Use = Literal["", "day", "moment"]
"""``day`` where a column is compared with days, ``moment`` where a time is taken of it, empty elsewhere."""
_WITHIN: Final = regex(r"\b(?:in|of|during|for|from|within|throughout)\b", re.IGNORECASE)
_OTHER: Final = regex(
    r"\b(?:first|last|past|previous|prior|middle|mid|early|late|days?|weeks?|months?|decades?|ago"
    r"|year[- ](?:on|over)[- ]year)\b",
    re.IGNORECASE,
)
"""What makes the time another one than the whole month or year."""
_DAY: Final = 86_400


def epochs(tree: exp.Query, asked: Asked) -> Change | None:
    """Convert such a column where a function of dates takes it, or a date is compared with it.

    In the time zone of the session, as the database's own clock; SQLite has UTC.
    """
    changed = False
    for column in list(tree.find_all(exp.Column)):
        use = taken_as(column)
        known = held(column, asked.schema) if use else None
        unit = asked.data.times(known.table, known.column.name) if known is not None else ""
        if unit in IN_A_SECOND:
            changed = True
            column.replace(_converted(column, use, IN_A_SECOND[unit], asked.dialect))
    return Change("the column holds times since 1970 as numbers, not dates", may_empty=True) if changed else None


def taken_as(column: exp.Column) -> Use:
    """What a query takes a column for by what is above and beside it."""
    node: exp.Expr = column
    while isinstance(node.parent, exp.Paren | exp.TsOrDsToTimestamp):
        node = node.parent
    above = node.parent
    if above is None or (not isinstance(above, exp.Query | exp.And | exp.Or) and _CONVERTED.search(above.sql())):
        return ""
    if isinstance(above, exp.Between) and above.this is node:
        return _beside(above.args["low"], above.args["high"])
    if isinstance(above, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return _beside(above.expression if above.this is node else above.this)
    parts = exp.Date | exp.TsOrDsToDate | exp.Year | exp.Month | exp.Day | exp.DateTrunc | exp.TimestampTrunc
    takes = isinstance(above, parts | exp.TimeToStr) and above.this is node
    takes = takes or (isinstance(above, exp.TimeToStr) and node.parent is above and above.args["format"] is not node)
    takes = takes or (isinstance(above, exp.Extract) and above.expression is node)
    takes = takes or (isinstance(above, exp.Cast) and bool(re.search("DATE|TIMESTAMP", above.to.sql().upper())))
    takes = takes or (isinstance(above, exp.Anonymous) and str(above.this).upper() in _FUNCTIONS)
    return "moment" if takes else ""


def _beside(*others: exp.Expr) -> Use:
    """What the other sides of a comparison are: all of them days, or times too; empty where one is neither."""
    texts = [text_of(side) for side in others]
    if all(day_of(side) is not None or _is_today(side) for side in others):
        return "day"
    dates = [text is not None and _DATE.match(text) is not None for text in texts]
    clocks = [clock.is_clock(side) and not _CONVERTED.search(side.sql()) for side in others]
    return "moment" if all(date or now for date, now in zip(dates, clocks, strict=True)) else ""


def _is_today(node: exp.Expr) -> bool:
    """Whether an expression is a day by the clock, without a time."""
    timed = exp.CurrentTimestamp, exp.CurrentDatetime
    names = {str(call.this).upper() for call in node.find_all(exp.Anonymous)}
    return clock.is_clock(node) and node.find(*timed) is None and not names & {"NOW", "DATETIME", "GETDATE", "SYSDATE"}


def _converted(column: exp.Column, use: Use, divisor: int, dialect: str) -> exp.Expr:
    seconds: exp.Expr = column.copy()
    if divisor != 1:
        by = exp.Literal.number(f"{divisor}.0" if dialect == "postgres" else str(divisor))
        seconds = exp.Div(this=seconds, expression=by, typed=dialect in ("sqlite", "postgres"))
    if dialect == "sqlite":
        name = "DATE" if use == "day" else "DATETIME"
        return exp.Anonymous(this=name, expressions=[seconds, exp.Literal.string("unixepoch")])
    name = "FROM_UNIXTIME" if dialect == "mysql" else "TO_TIMESTAMP"
    moment = exp.Anonymous(this=name, expressions=[seconds])
    if use != "day":
        return moment
    return exp.cast(moment, "DATE")


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
    of_times = [
        (column_bounds, factor) for column_bounds in by_column.values() if (factor := _factor(column_bounds[0], asked))
    ]
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
    if not isinstance(column, exp.Column) or not all(
        isinstance(literal, exp.Literal) and literal.is_int for literal in numbers
    ):
        return None
    return _Bound(condition, column, at_least, below)


def _bounded(bounds: list[_Bound], factor: int, period: Period) -> bool:
    """Replace the two bounds of a column by those of the period; ``factor`` of its units are a second."""
    if sum(bound.at_least for bound in bounds) != 1 or sum(bound.below for bound in bounds) != 1:
        return False
    numbers = [int(literal.name) for bound in bounds for literal in bound.condition.find_all(exp.Literal)]
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

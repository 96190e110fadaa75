"""Numbers that hold seconds, milliseconds or microseconds since 1970, where a query takes them for dates."""

from __future__ import annotations

import re
from typing import Final, Literal

from sqljury.sql import clock
from sqljury.sql.meaning.base import Asked, Change, day_of, held, text_of
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
    texts = [text_of(other) for other in others]
    if all(day_of(other) is not None or _is_today(other) for other in others):
        return "day"
    dates = [text is not None and _DATE.match(text) is not None for text in texts]
    clocks = [clock.is_clock(other) and not _CONVERTED.search(other.sql()) for other in others]
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

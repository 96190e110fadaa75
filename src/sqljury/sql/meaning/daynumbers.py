"""Numbers such as 20240131 that are days, where a query takes them for dates, months or years."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from sqljury.language.times import Period
from sqljury.sql.meaning.base import YEARS, Asked, Change, day_of, held, text_of
from sqljury.sql.meaning.epochs import taken_as
from sqljury.sql.meaning.years import SINCE, TURNED
from sqljury.sql.parse import exp

_SPAN: Final = re.compile(r"(\d{4})(?:-?(0[1-9]|1[0-2]))?")
_BEGINNING: Final = re.compile(r"(\d{4})(?:-?(0[1-9]|1[0-2]))?-?%")
"""A pattern of LIKE for all days of a year or a month."""


class _Days(NamedTuple):
    """The first and the last of some days, as numbers."""

    first: int
    last: int


def day_numbers(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare such a column with numbers of days, with all of them where the query has a month or a year.

    A function of dates, or the database's clock beside the column, is given a date made of the number, except on
    MySQL, whose functions accept such numbers.
    """
    changed, since = False, bool(SINCE.search(asked.question.whole))
    for column in list(tree.find_all(exp.Column)):
        node = _within_cast(column)
        above = node.parent
        if not isinstance(
            above, exp.Between | exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.In | exp.Like
        ):
            node, above = column, column.parent
        old, new = above, _compared(column, node, above, since=since) if above is not None else None
        if new is None and asked.dialect != "mysql" and taken_as(column):
            old, new = column, _as_date(column, asked.dialect)
        known = held(column, asked.schema) if new is not None else None
        if old is None or new is None or known is None:
            continue
        if asked.data.times(known.table, known.column.name) == "days":  # the database is asked last
            changed = True
            old.replace(new)
    return Change("the column holds days as numbers such as 20240131", may_empty=True) if changed else None


def _within_cast(column: exp.Column) -> exp.Expr:
    """The column, or what casts it to a text or a date for a comparison."""
    node: exp.Expr = column
    while isinstance(node.parent, exp.Paren | exp.Cast) or (
        isinstance(node.parent, exp.Date | exp.TsOrDsToDate) and node.parent.this is node
    ):
        node = node.parent
    return node


def _compared(column: exp.Column, node: exp.Expr, above: exp.Expr, *, since: bool) -> exp.Expr | None:
    """The comparison ``above``, one side of which is ``node``, of the column with numbers; None for any other."""
    if isinstance(above, exp.Like):
        text = text_of(above.expression) if above.this is node else None
        match = _BEGINNING.fullmatch(text or "")
        days = _days(match[1], match[2]) if match is not None else None
        return _between(column, days) if days is not None else None
    if isinstance(above, exp.In):
        listed = [_constant(other) for other in above.expressions] if above.this is node else []
        single = [days.first for days in listed if days is not None and days.first == days.last]
        if not listed or len(single) != len(listed):
            return None
        return exp.In(this=column.copy(), expressions=[_number(day) for day in single])
    if isinstance(above, exp.Between):
        low, high = _constant(above.args["low"]), _constant(above.args["high"])
        if above.this is not node or above.args.get("symmetric") or low is None or high is None:
            return None
        return _between(column, _Days(low.first, high.last))
    if not isinstance(above, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return None
    turned = above.this is not node
    days = _constant(above.this if turned else above.expression)
    return _beside(column, TURNED.get(above.key, above.key) if turned else above.key, days, since) if days else None


def _beside(column: exp.Column, operator: str, days: _Days, since: bool) -> exp.Expr:
    """The comparison of a column with all of these days."""
    if operator in ("eq", "neq"):
        if days.first == days.last:
            kind = exp.EQ if operator == "eq" else exp.NEQ
            return kind(this=column.copy(), expression=_number(days.first))
        return _between(column, days) if operator == "eq" else exp.Not(this=_between(column, days))
    if operator == "gt" and since and days.first != days.last:
        operator = "gte"
    kinds = {"gt": (exp.GT, days.last), "gte": (exp.GTE, days.first), "lt": (exp.LT, days.first)}
    kind_, bound = kinds.get(operator, (exp.LTE, days.last))
    return kind_(this=column.copy(), expression=_number(bound))


def _between(column: exp.Column, days: _Days) -> exp.Expr:
    return exp.Between(this=column.copy(), low=_number(days.first), high=_number(days.last))


def _number(day: int) -> exp.Expr:
    return exp.Literal.number(day)


def _constant(node: exp.Expr) -> _Days | None:
    """The days that a literal of a date, a month or a year covers; None for anything else, numbers of days too."""
    day = day_of(node)
    if day is not None:
        number = int(day.replace("-", ""))
        return _Days(number, number)
    literal = node.this if isinstance(node, exp.Paren) else node
    match = _SPAN.fullmatch(literal.name) if isinstance(literal, exp.Literal) else None
    return _days(match[1], match[2]) if match is not None else None


def _days(year: str, month: str | None) -> _Days | None:
    """All days of a year, or of one of its months."""
    if not YEARS[0] <= int(year) <= YEARS[1]:
        return None
    period = Period(int(year), int(month or 0))
    return _Days(*(int(day.strftime("%Y%m%d")) for day in (period.first, period.last)))


def _as_date(column: exp.Column, dialect: str) -> exp.Expr:
    """The date of such a number."""
    if dialect == "sqlite":
        places = ((1, 4), (5, 2), (7, 2))
        parts: list[exp.Expr] = [
            exp.Substring(this=column.copy(), start=_number(start), length=_number(length)) for start, length in places
        ]
        dash = exp.Literal.string("-")
        joined = parts[0]
        for part in parts[1:]:
            joined = exp.DPipe(
                this=exp.DPipe(this=joined, expression=dash.copy(), safe=True), expression=part, safe=True
            )
        return exp.Paren(this=joined)
    text = exp.cast(column.copy(), "TEXT")
    if dialect == "postgres":
        return exp.Anonymous(this="TO_DATE", expressions=[text, exp.Literal.string("YYYYMMDD")])
    return exp.cast(exp.Anonymous(this="STRPTIME", expressions=[text, exp.Literal.string("%Y%m%d")]), "DATE")

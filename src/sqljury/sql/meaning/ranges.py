"""Days compared with times: a day without a time is its midnight, so the rest of the day is missing from a range."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta
from typing import Final

from sqljury.language.times import MONTHS
from sqljury.sql.meaning.base import Asked, Change, as_day, compared, day_of, held
from sqljury.sql.parse import exp

_TIMED: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[ T](?P<time>\d\d:\d\d.*))?")
_MIDNIGHT: Final = re.compile(r"[0:.]*(?:Z|[+-]\d\d(?::?\d\d)?)?")
_BEFORE: Final = re.compile(r"\b(?:before|prior to|earlier than|up to but)\b", re.IGNORECASE)
_CLOCK: Final = re.compile(r"\b(?:midnight|noon|o'clock|hours?|minutes?|exact(?:ly)?)\b|\d:\d\d", re.IGNORECASE)


def last_day(tree: exp.Query, asked: Asked) -> Change | None:
    """Let ``BETWEEN a AND '2023-01-31'`` and ``<= '2023-01-31'`` on times end with the day: ``< '2023-02-01'``.

    The day must be the last of a month or named by the question. ``= '2023-01-31'`` becomes the range of that day.
    """
    if _BEFORE.search(asked.question.whole):
        return None
    changed = False
    for node in list(tree.find_all(exp.Between)):
        high, low = node.args["high"], node.args["low"]
        if not node.args.get("symmetric") and _ends(node.this, high, asked):
            changed = True
            upper = exp.LT(this=node.this.copy(), expression=_next_day(high))
            both = exp.and_(exp.GTE(this=node.this.copy(), expression=low.copy()), upper)
            node.replace(exp.Paren(this=both))
    for node, column, other in compared(tree, exp.LTE, exp.GTE, exp.EQ):
        upper_bound = isinstance(node, exp.LTE) == (node.this is column)
        if not (isinstance(node, exp.EQ) or upper_bound) or not _ends(column, other, asked, any_day=node.key == "eq"):
            continue
        changed = True
        less = exp.LT(this=column.copy(), expression=_next_day(other))
        if isinstance(node, exp.EQ):
            node.replace(exp.Paren(this=exp.and_(exp.GTE(this=column.copy(), expression=other.copy()), less)))
        else:
            node.replace(less)
    return Change("a day without a time is its midnight, and the rest of the day is left out") if changed else None


def whole_days(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare a column of times with a column of days by day: ``delivered_at > due_on`` has all of the due day.

    Only where that matters: ``times < days`` and ``times >= days`` mean the same by day. Left alone where the question
    asks for a time of day.
    """
    if _CLOCK.search(asked.question.whole):
        return None
    changed = False
    for node in list(tree.find_all(exp.GT, exp.LTE, exp.LT, exp.GTE, exp.EQ, exp.NEQ)):
        left, right = node.this, node.expression
        for times, days, kinds in (
            (left, right, (exp.GT, exp.LTE, exp.EQ, exp.NEQ)),
            (right, left, (exp.LT, exp.GTE, exp.EQ, exp.NEQ)),
        ):
            if isinstance(node, kinds) and _has_times(times, asked) is True and _has_times(days, asked) is False:
                changed = True
                times.replace(exp.Date(this=times.copy()))
                break
    return Change("a day without a time is its midnight: times later that day count as after it") if changed else None


def _has_times(column: exp.Expr, asked: Asked) -> bool | None:
    """Whether a column has days with times other than midnight; None where its values are not days."""
    known = held(column, asked.schema)
    values = asked.data.values(known.table, known.column.name) if known is not None else ()
    matches = [_TIMED.fullmatch(str(value)) for value in values]
    times = [match["time"] or "" for match in matches if match is not None]
    if not times or len(times) < len(matches):
        return None
    return not all(map(_MIDNIGHT.fullmatch, times))


def _ends(column: exp.Expr, other: exp.Expr, asked: Asked, *, any_day: bool = False) -> bool:
    day = day_of(other)
    known = held(column, asked.schema)
    if day is None or known is None:
        return False
    try:
        end = date.fromisoformat(day)
    except ValueError:
        return False
    if end == date.max:  # it stands for no end, and has no day after it
        return False
    last = calendar.monthrange(end.year, end.month)[1] == end.day
    if not (last or any_day or _names(asked.question.whole, end)):
        return False
    return _has_times(column, asked) is True


def _names(question: str, day: date) -> bool:
    """Whether a question names the day: in digits, or by its number and the name of its month."""
    text = question.lower()
    if day.isoformat() in text:
        return True
    numbers = {int(number) for number in re.findall(r"\d+", text)}
    month = MONTHS[day.month]
    named = re.search(rf"\b(?:{month}|{month[:3]})\b", text) is not None or day.month in numbers
    return named and day.day in numbers and (day.year in numbers or not any(number > 1000 for number in numbers))


def _next_day(constant: exp.Expr) -> exp.Expr:
    return as_day(constant, date.fromisoformat(day_of(constant) or "") + timedelta(days=1))

"""Days counted from today: by the clock of the database, and in the words of its dialect."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.times import Span, bound, relative
from sqljury.sql import clock
from sqljury.sql.meaning.base import YEARS, Asked, Change, compared, text_of
from sqljury.sql.parse import exp

_DATE: Final = re.compile(r"(?:19|20)\d\d(?:-\d\d(?:-\d\d(?:[ T].*)?)?)?")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def now_texts(tree: exp.Query, asked: Asked) -> Change | None:
    """Write SQLite's ``DATE('now')`` in the database's dialect: it is NULL in MySQL and an error in DuckDB."""
    if asked.dialect not in ("mysql", "duckdb"):
        return None
    changed = False
    for node in list(tree.find_all(exp.Date, exp.TsOrDsToDate)):
        written = clock.from_now_text(node, asked.dialect)
        if written is not None:
            changed = True
            node.replace(written)
    return Change("'now' is no date here", may_empty=True) if changed else None


def days_as_numbers(tree: exp.Query, asked: Asked) -> Change | None:
    """Subtract days from today as days: ``CURRENT_DATE - 30`` is a number in SQLite and MySQL."""
    if asked.dialect not in ("sqlite", "mysql"):
        return None
    changed = False
    for node in list(tree.find_all(exp.Add, exp.Sub)):
        days = node.expression
        is_today = isinstance(node.this, exp.CurrentDate) or clock.from_now_text(node.this, asked.dialect) is not None
        if is_today and isinstance(days, exp.Literal) and not days.is_string and days.name.isdigit():
            changed = True
            count = int(days.name) * (-1 if isinstance(node, exp.Sub) else 1)
            node.replace(clock.shifted(count, "day", asked.dialect))
    return Change("a number of days is subtracted from a date as from a number", may_empty=True) if changed else None


def fixed_dates(tree: exp.Query, asked: Asked) -> Change | None:
    """Replace the dates of a query by those that the question counts from today, if it names no year itself.

    Not sure where the dates are not a range or a year of one column, nor where the question has a time before or after
    the span; the tree is then left as it is. From "since last year" on there is no end.
    """
    span = relative(asked.question.text)
    constants = _constants(tree)
    if span is None or not constants or clock.is_clock(tree) or _YEAR.search(asked.question.whole):
        return None
    words = f'"{span.words.lower()}" is counted from the day that the clock of the database shows'
    open_to = bound(asked.question.text, span)
    if open_to != "other" and _counted(tree, span, len(constants), asked.dialect, since=open_to == "since"):
        return Change(words, may_empty=True)
    return Change(f"{words}, but the query has fixed dates, such as {constants[0].name}", sure=False)


def _constants(tree: exp.Query) -> list[exp.Literal]:
    """Constants of dates, and of years that a part of a date is compared with."""
    texts = [literal for literal in tree.find_all(exp.Literal) if literal.is_string and _DATE.fullmatch(literal.name)]
    numbers = [
        node.expression
        for node in tree.find_all(exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
        if isinstance(node.expression, exp.Literal)
        and node.expression.name.isdigit()
        and not node.expression.is_string
        and YEARS[0] < int(node.expression.name) < YEARS[1]
        and node.this.find(exp.Year, exp.Extract, exp.TimeToStr) is not None
    ]
    return [*texts, *numbers]


def _counted(tree: exp.Query, span: Span, constants: int, dialect: str, *, since: bool) -> bool:
    """Write the range or the year that the constants stand for as counted from today; whether that could be done.

    With ``since`` only a lower bound is one that the question has.
    """
    first, after = _bounds(span, dialect)
    if first is None or after is None or (since and constants > 1):
        return False
    between = [node for node in tree.find_all(exp.Between) if _is_date(node.args["low"])]
    if constants == 2 and len(between) == 1 and _is_date(between[0].args["high"]):
        between[0].replace(_range(between[0].this, first, after))
        return True
    lower = [pair for pair in compared(tree, exp.GTE, exp.GT) if pair[0].this is pair[1] and _is_date(pair[2])]
    upper = [pair for pair in compared(tree, exp.LTE, exp.LT) if pair[0].this is pair[1] and _is_date(pair[2])]
    if len(lower) == 1 and constants == 1 + len(upper) and all(bound[1] == lower[0][1] for bound in upper):
        column = lower[0][1]
        for node, _, _ in upper:
            node.replace(exp.LT(this=column.copy(), expression=after.copy()))
        bounded = upper or since or span.kind == "rolling" or not span.amount
        lower[0][0].replace(exp.GTE(this=column.copy(), expression=first) if bounded else _range(column, first, after))
        return True
    if since:
        return False
    equal = [node for node in tree.find_all(exp.EQ) if _is_date(node.expression) or _is_year(node.expression)]
    if span.kind == "calendar" and constants == 1 and len(equal) == 1:
        return _equal(equal[0], span, first, after)
    return False


def _equal(node: exp.EQ, span: Span, first: exp.Expr, after: exp.Expr) -> bool:
    """``strftime('%Y', d) = '2023'`` with the same function of today, and ``d = '2023-05-01'`` as a range."""
    if isinstance(node.this, exp.Column):
        if span.unit != "day":
            return False
        node.replace(_range(node.this, first, after))
        return True
    columns = list(node.this.find_all(exp.Column))
    if len(columns) != 1 or not _of_unit(node.this, span):
        return False
    same = node.this.copy()
    for column in list(same.find_all(exp.Column)):
        column.replace(first.copy())
    node.set("expression", same)
    return True


def _of_unit(node: exp.Expr, span: Span) -> bool:
    """Whether the part of a date that ``node`` takes tells one such span from another."""
    if isinstance(node, exp.Date | exp.TsOrDsToDate) or (
        isinstance(node, exp.Cast) and "DATE" in node.to.sql().upper()
    ):
        return span.unit == "day"
    forms = [call.args["format"].name for call in node.find_all(exp.TimeToStr)]
    if forms:
        return forms == [{"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}.get(span.unit, "")]
    extracted = node.find(exp.Extract)
    is_year = node.find(exp.Year) is not None or (extracted is not None and extracted.name.upper() == "YEAR")
    return is_year and span.unit == "year"


def _bounds(span: Span, dialect: str) -> tuple[exp.Expr | None, exp.Expr | None]:
    """The first day of a span and the day after its last one; None where the dialect cannot write them."""
    if span.kind == "rolling":
        return clock.shifted(-span.amount, span.unit, dialect), clock.shifted(1, "day", dialect)
    return clock.start(-span.amount, span.unit, dialect), clock.start(1 - span.amount, span.unit, dialect)


def _range(column: exp.Expr, first: exp.Expr, after: exp.Expr) -> exp.Expr:
    low = exp.GTE(this=column.copy(), expression=first.copy())
    return exp.Paren(this=exp.and_(low, exp.LT(this=column.copy(), expression=after.copy())))


def _is_date(node: exp.Expr) -> bool:
    text = text_of(node)
    return text is not None and _DATE.fullmatch(text) is not None


def _is_year(node: exp.Expr) -> bool:
    number = node.name if isinstance(node, exp.Literal) and not node.is_string else ""
    return number.isdigit() and YEARS[0] < int(number) < YEARS[1]

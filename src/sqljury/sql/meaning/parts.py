"""Parts of a year: the one that a question names, the whole year where it asks for each, and quarters on SQLite."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final, NamedTuple

from sqljury.language.times import named_period, part_of_year, year_in_parts
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, day_of
from sqljury.sql.meaning.best import part_of_day
from sqljury.sql.meaning.dates_made import source
from sqljury.sql.parse import exp
from sqljury.sql.terms import group_keys, meant

_PARTS: Final = frozenset(("month", "quarter"))
_IN_YEAR: Final = regex(
    r"\b(?:in|during|of|for|throughout|within|from) (?:the (?:calendar )?year |all of |the whole of )?(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_WITHIN_YEAR: Final = regex(
    r"\b(?:early|late|end|beginning|begin|start|started|mid|middle|around|about|recent|first(?! (?:and last )?names?\b)"
    r"|last(?! names?\b)|semester|term|trimester|holidays?|seasons?|months?|days?|weeks?|period|so far|already|yet)\b",
    re.IGNORECASE,
)
"""What may make the time a part of the year."""
_WANTED: Final = regex(r"\b(?:(?:each|every|per|by|which|what|in the) quarter|quarterly)\b", re.IGNORECASE)
_OTHER: Final = regex(r"\b(?:month|week|day|quarter of (?:an hour|a century))\w*\b", re.IGNORECASE)
_MONTHS: Final = frozenset(("%Y-%m", "%m", "%Y%m", "%Y/%m"))


class _Bound(NamedTuple):
    """A day with which a column is compared: the first one that counts, or the first one that does not."""

    node: exp.Expr
    column: exp.Expr
    day: date


def part_of_named_year(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the first and last day of the part of a year that the question names.

    Only where the query bounds one column of days once from below and once from above, by days of that year.
    """
    part = part_of_year(asked.question.whole)
    if part is None:
        return None
    first, after = part[0], part[1] + timedelta(days=1)
    bounds = _only_bounds(tree)
    if bounds is None or not _is_within(bounds, first.year) or (bounds[0].day, bounds[1].day) == (first, after):
        return None
    _replace(bounds, first, after)
    return Change(f"the question names the days from {first} to {part[1]}", may_empty=True)


def whole_year_in_parts(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the whole year where the question asks for each quarter or month of it, and the query has a part of it.

    Only where the query groups by months or quarters, and bounds one column of days as in ``part_of_named_year``.
    """
    year = year_in_parts(asked.question.whole)
    bounds = None if year is None else _only_bounds(tree)
    if year is None or bounds is None or not _is_within(bounds, year):
        return None
    first, after = date(year, 1, 1), date(year + 1, 1, 1)
    select = bounds[0].node.parent_select
    selects = {id(bound.node.parent_select) for bound in bounds}
    if (bounds[0].day, bounds[1].day) == (first, after) or len(selects) > 1 or not isinstance(select, exp.Select):
        return None
    if any(bound.node.find_ancestor(exp.Or, exp.Case, exp.AggFunc, exp.Select) is not select for bound in bounds):
        return None
    keys = (meant(key, select) for key in group_keys(select)[0])
    if not any(_is_part(node) for key in keys for node in key.walk()):
        return None
    _replace(bounds, first, after)
    return Change(f"the question asks for each part of {year}, and the query has a part of it")


def whole_named_year(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the whole year of "in 2024" where the query has a month or a day of it, which models take from sample rows.

    The question names the year, with "in", "during" and the like right before it, and no time within it. Bounds as in
    ``part_of_named_year``.
    """
    question = asked.question.whole
    period = named_period(question)
    bounds = None if period is None or period.month else _only_bounds(tree)
    if period is None or bounds is None or not _IN_YEAR.search(question) or _WITHIN_YEAR.search(question):
        return None
    first, after = period.first, period.last + timedelta(days=1)
    if not _is_within(bounds, period.year) or (bounds[0].day, bounds[1].day) == (first, after):
        return None
    _replace(bounds, first, after)
    return Change(f"the question names {period.year}, and the query has a part of it")


def _is_part(node: exp.Expr) -> bool:
    """Whether an expression is the month or the quarter of a day."""
    month = isinstance(node, exp.Substring) and (node.text("start"), node.text("length")) == ("6", "2")
    return month or part_of_day(node) in _PARTS


def _only_bounds(tree: exp.Query) -> tuple[_Bound, _Bound] | None:
    """Where a query bounds one column by days once from below and once from above, and no other one."""
    between = [node for node in tree.find_all(exp.Between) if _is_column(node.this)]
    lower = [*_bounds(tree, exp.GTE, exp.GT), *_ends(between, "low", 0)]
    upper = [*_bounds(tree, exp.LT, exp.LTE), *_ends(between, "high", 1)]
    if len(lower) != 1 or len(upper) != 1 or lower[0].column != upper[0].column or lower[0].node.find_ancestor(exp.Not):
        return None
    return lower[0], upper[0]


def _is_within(bounds: tuple[_Bound, _Bound], year: int) -> bool:
    """Whether both days are of one year, the end of which may be the first day of the next."""
    return date(year, 1, 1) <= bounds[0].day < bounds[1].day <= date(year + 1, 1, 1)


def _replace(bounds: tuple[_Bound, _Bound], first: date, after: date) -> None:
    """Compare with other days."""
    lower, upper = bounds
    begin = exp.GTE(this=lower.column.copy(), expression=exp.Literal.string(first.isoformat()))
    end = exp.LT(this=lower.column.copy(), expression=exp.Literal.string(after.isoformat()))
    if lower.node is upper.node:
        lower.node.replace(exp.Paren(this=exp.and_(begin, end)))
    else:
        lower.node.replace(begin)
        upper.node.replace(end)


def _bounds(tree: exp.Query, including: type[exp.Expr], excluding: type[exp.Expr]) -> list[_Bound]:
    """Comparisons with a day on the right; of the kind that begins with the next day, that day."""
    bounds = []
    for node in tree.find_all(including, excluding):
        day = day_of(node.expression)
        if day is not None and _is_column(node.this):
            later = type(node) in (exp.GT, exp.LTE)
            bounds.append(_Bound(node, node.this, date.fromisoformat(day) + timedelta(days=later)))
    return bounds


def _is_column(node: exp.Expr) -> bool:
    """Whether an expression is a column, or the date made of one."""
    return isinstance(node, exp.Column) or source(node) is not None


def _ends(between: list[exp.Between], end: str, later: int) -> list[_Bound]:
    days = [(node, day_of(node.args[end])) for node in between]
    return [_Bound(node, node.this, date.fromisoformat(day) + timedelta(days=later)) for node, day in days if day]


def quarters(tree: exp.Query, asked: Asked) -> Change | None:
    """Compute quarters where a form of SQLite asks for them, or gives months to a question for quarters."""
    if asked.dialect != "sqlite":
        return None
    text = asked.question.text
    wanted = bool(_WANTED.search(text)) and not _OTHER.search(text)
    nodes = [node for node in tree.find_all(exp.TimeToStr) if _gives_none(node) or (wanted and _gives_months(node))]
    for node in nodes:
        node.replace(_quarter(node))
    return Change("SQLite has no form of a date for quarters") if nodes else None


def _gives_none(node: exp.TimeToStr) -> bool:
    return "%q" in node.args["format"].name.lower()


def _gives_months(node: exp.TimeToStr) -> bool:
    """Whether a month is shown, or a key of groups or of the order; quarters may be computed from it elsewhere."""
    whole = isinstance(node.parent, exp.Select | exp.Alias | exp.Group | exp.Ordered)
    return whole and node.args["format"].name in _MONTHS


def _quarter(node: exp.TimeToStr) -> exp.Expr:
    """``2024-Q3``, or ``3`` for a form without a year."""

    def part(form: str) -> exp.Expr:
        return exp.TimeToStr(this=node.this.copy(), format=exp.Literal.string(form))

    month = exp.Paren(this=exp.Add(this=exp.cast(part("%m"), "int"), expression=exp.Literal.number(2)))
    number = exp.Paren(this=exp.Div(this=month, expression=exp.Literal.number(3), typed=True, safe=True))
    if "%y" not in node.args["format"].name.lower():
        return number
    year = exp.DPipe(this=part("%Y"), expression=exp.Literal.string("-Q"), safe=True)
    return exp.DPipe(this=year, expression=number, safe=True)

"""The quarter or the half of a year that a question names, where the query has other days of that year."""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple

from sqljury.language.times import part_of_year
from sqljury.sql.meaning.base import Asked, Change, compared, day_of
from sqljury.sql.parse import exp


class _Bound(NamedTuple):
    """A day with which a column is compared: the first one that counts, or the first one that does not."""

    node: exp.Expr
    column: exp.Column
    day: date


def part_of_named_year(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the first and last day of the part of a year that the question names.

    Only where the query bounds one column of days once from below and once from above, by days of that year.
    """
    part = part_of_year(asked.question.text)
    if part is None:
        return None
    first, after = part[0], part[1] + timedelta(days=1)
    between = [node for node in tree.find_all(exp.Between) if isinstance(node.this, exp.Column)]
    lower = [*_bounds(tree, exp.GTE, exp.GT), *_ends(between, "low", 0)]
    upper = [*_bounds(tree, exp.LT, exp.LTE), *_ends(between, "high", 1)]
    if len(lower) != 1 or len(upper) != 1 or lower[0].column != upper[0].column or lower[0].node.find_ancestor(exp.Not):
        return None
    if not date(first.year, 1, 1) <= lower[0].day < upper[0].day <= date(first.year + 1, 1, 1):
        return None
    if (lower[0].day, upper[0].day) == (first, after):
        return None
    column = lower[0].column
    begin = exp.GTE(this=column.copy(), expression=exp.Literal.string(first.isoformat()))
    end = exp.LT(this=column.copy(), expression=exp.Literal.string(after.isoformat()))
    if lower[0].node is upper[0].node:
        lower[0].node.replace(exp.Paren(this=exp.and_(begin, end)))
    else:
        lower[0].node.replace(begin)
        upper[0].node.replace(end)
    return Change(f"the question names the days from {first} to {part[1]}", may_empty=True)


def _bounds(tree: exp.Query, including: type[exp.Expr], excluding: type[exp.Expr]) -> list[_Bound]:
    """Comparisons with a day on the right; of the kind that begins with the next day, that day."""
    found = []
    for node, column, other in compared(tree, including, excluding):
        day = day_of(other)
        if day is not None and node.this is column:
            later = type(node) in (exp.GT, exp.LTE)
            found.append(_Bound(node, column, date.fromisoformat(day) + timedelta(days=later)))
    return found


def _ends(between: list[exp.Between], end: str, later: int) -> list[_Bound]:
    days = [(node, day_of(node.args[end])) for node in between]
    return [_Bound(node, node.this, date.fromisoformat(day) + timedelta(days=later)) for node, day in days if day]

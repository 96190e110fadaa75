"""Differences of days that engines compute from digits: SQLite subtracts years, MySQL numbers such as 20240131."""

from __future__ import annotations

import re
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, day_of, held, holds_dates, is_date
from sqljury.sql.parse import exp

_YEARS: Final = re.compile(r"\b(?:years?|ages?|aged|old|older|oldest|young\w*|decades?)\b", re.IGNORECASE)
_DAYS: Final = re.compile(r"\b(?:days?|daily|weeks?)\b", re.IGNORECASE)
_UNITS: Final = (("HOUR", re.compile(r"\bhours?\b", re.I), 24), ("MINUTE", re.compile(r"\bminutes?\b", re.I), 1440))


def durations(tree: exp.Query, asked: Asked) -> Change | None:
    """Subtract days as days: ``JULIANDAY(discharged) - JULIANDAY(admitted)`` for ``discharged - admitted``.

    In days, or in the hours or minutes that the question asks for; left alone where it asks for years.
    """
    if asked.dialect not in ("sqlite", "mysql") or _YEARS.search(asked.question.whole):
        return None
    changed = False
    for node in list(tree.find_all(exp.Sub)):
        left, right = node.this, node.expression
        if not (isinstance(left, exp.Column) or isinstance(right, exp.Column)):
            continue
        if _is_day(left, asked) and _is_day(right, asked):
            difference = _difference(left.copy(), right.copy(), asked)
            node.replace(exp.Paren(this=difference) if isinstance(node.parent, exp.Binary) else difference)
            changed = True
    if changed:
        return Change("the difference of two dates was computed from their digits")
    return _in_unit(tree, asked)


def _in_unit(tree: exp.Query, asked: Asked) -> Change | None:
    """Show days as the hours or minutes that the question asks for: ``(JULIANDAY(b) - JULIANDAY(a)) * 24``."""
    text = asked.question.text
    factor = next((each for _, word, each in _UNITS if word.search(text)), None)
    if factor is None or _DAYS.search(text) or not isinstance(tree, exp.Select):
        return None
    shown = [
        node
        for term in tree.expressions
        for node in term.find_all(exp.Sub)
        if _is_julian(node.this) and _is_julian(node.expression)
    ]
    if not shown or any(node.find_ancestor(exp.Mul, exp.Div, exp.Subquery) is not None for node in shown):
        return None
    for node in shown:
        node.replace(exp.Mul(this=exp.Paren(this=node.copy()), expression=exp.Literal.number(factor)))
    return Change("the difference of two times is in days, and the question is not")


def _is_julian(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == "julianday"


def _is_day(node: exp.Expr, asked: Asked) -> bool:
    if isinstance(node, exp.CurrentDate | exp.CurrentTimestamp | exp.Date) or day_of(node) is not None:
        return True
    known = held(node, asked.schema)
    if asked.dialect == "sqlite":
        return holds_dates(known, asked.data)
    return known is not None and is_date(known.column.type) and "year" not in known.column.type.lower()


def _difference(left: exp.Expr, right: exp.Expr, asked: Asked) -> exp.Expr:
    unit, factor = next(((unit, each) for unit, word, each in _UNITS if word.search(asked.question.text)), ("", 1))
    if asked.dialect == "mysql":
        if not unit:
            return exp.Anonymous(this="DATEDIFF", expressions=[left, right])
        return exp.Anonymous(this="TIMESTAMPDIFF", expressions=[exp.var(unit), right, left])
    days = [exp.Anonymous(this="JULIANDAY", expressions=[side]) for side in (left, right)]
    difference = exp.Sub(this=days[0], expression=days[1])
    return exp.Mul(this=exp.Paren(this=difference), expression=exp.Literal.number(factor)) if unit else difference

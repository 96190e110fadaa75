"""Differences of days that engines compute from digits: SQLite subtracts years, MySQL numbers such as 20240131."""

from __future__ import annotations

import re
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, day_of, held, holds_dates, is_julian
from sqljury.sql.parse import exp
from sqljury.sql.resolve import is_date

_YEARS: Final = re.compile(r"\b(?:years?|ages?|aged|old|older|oldest|young\w*|decades?)\b", re.IGNORECASE)
_WANTED: Final = re.compile(
    r"\b(?:in|how many|average|mean|total|number of) (?:whole |full )?(?:hours|minutes)\b"
    r"|\b(?:hours|minutes)\b(?=[^.;]*\b(?:decimals?|rounded)\b)",
    re.IGNORECASE,
)
_NOT_WANTED: Final = re.compile(
    r"\bdays?\b|\bweeks?\b|\d[ -](?:hours?|minutes?)\b|\b(?:opening|business|office|working|after|within) hours\b",
    re.IGNORECASE,
)
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
    """Show days as the hours or minutes that the question asks for: ``(JULIANDAY(b) - JULIANDAY(a)) * 24``.

    Only where the difference, or an aggregate of it, is what is shown; conditions stay.
    """
    text = asked.question.text
    match = _WANTED.search(text)
    if match is None or _NOT_WANTED.search(text) or not isinstance(tree, exp.Select) or tree.args.get("having"):
        return None
    factor = 24 if "hour" in match[0].lower() else 1440
    shown = [node for term in tree.expressions if (node := _duration(term.unalias())) is not None]
    for node in shown:
        node.replace(exp.Mul(this=exp.Paren(this=node.copy()), expression=exp.Literal.number(factor)))
    return Change("the difference of two times is in days, and the question is not") if shown else None


def _duration(node: exp.Expr) -> exp.Sub | None:
    """The difference of two days of SQLite that an expression is, or is an aggregate of."""
    while isinstance(node, exp.Paren | exp.Avg | exp.Sum | exp.Min | exp.Max | exp.Round | exp.Abs):
        node = node.this
    return node if isinstance(node, exp.Sub) and is_julian(node.this) and is_julian(node.expression) else None


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

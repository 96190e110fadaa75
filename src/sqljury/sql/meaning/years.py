"""Dates compared with ``'2012'``, and texts compared with numbers.

This is for SQLite alone: no engine with types would run it. A column declared as DATE has NUMERIC affinity: ``'2012'``
becomes a number beside it, which is below every text, and so below every date. What STRFTIME and SUBSTR return is a
text without affinity, which is above every number.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.times import MONTHS
from sqljury.sql.meaning.base import Asked, Change, compared, held, holds_dates
from sqljury.sql.parse import exp
from sqljury.sql.terms import meant

_SPAN: Final = re.compile(r"([12]\d{3})(?:-(0[1-9]|1[0-2]))?")
_MONTH: Final = "|".join(f"{month}|{month[:3]}" for month in MONTHS[1:])
_BEFORE_YEAR: Final = rf"in|from|with|on|the|start|beginning|of|year|month|q[1-4]|{_MONTH}|\d\d?(?:st|nd|rd|th)?"
"""Words that may stand before the year of "from May 2012"; "from Berlin after 2012" tells of a place."""
SINCE: Final = re.compile(
    r"\b(?:since|as of|onwards?|thereafter"
    rf"|(?:from|starting|beginning)\W+(?:(?:{_BEFORE_YEAR})\b\W+)*(?=[12]\d{{3}}(?:\d{{4}})?(?!\d))"
    r"|(?:or|and) (?:later|after(?:wards?)?|up|beyond|newer|more recent(?:ly)?)"
    r"|not? (?:earlier|older) than|not before)\b",
    re.IGNORECASE,
)
_EARLIER: Final = re.compile(
    r"\b(?:before|prior to|earlier than|older than) (?:the year )?([12]\d{3})\b", re.IGNORECASE
)
_NAMED: Final = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
TURNED: Final = {"gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte"}
_WHOLE: Final = re.compile(r"(?:%[YmdHMSjwuWs])+")
_FRACTION: Final = re.compile(r"%[fJ]")
"""Formats of STRFTIME whose text is a whole number, or one with a fraction."""


def years(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare dates with the first day of a year or a month, or with the one after its last, and not with ``'2012'``.

    After a year is after its last day, unless the question says ``since``. As texts, all days of 2012 are above
    ``'2012'``, and all of 2011 below: that may be meant by "after 2011" and by "until 2011".
    """
    if asked.dialect != "sqlite":
        return None
    changed = False
    for node in list(tree.find_all(exp.Between)):
        low, high = _limits(node.args["low"]), _limits(node.args["high"])
        if high and _is_after_named(node.args["high"], asked):
            high = (high[1], high[0])
        if not node.args.get("symmetric") and (low or high) and holds_dates(held(node.this, asked.schema), asked.data):
            lower = exp.GTE(this=node.this.copy(), expression=low[0] if low else node.args["low"].copy())
            upper = (
                exp.LT(this=node.this.copy(), expression=high[1])
                if high
                else exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
            )
            changed = True
            node.replace(exp.Paren(this=exp.and_(lower, upper)))
    for node, column, other in compared(tree, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE):
        span = _limits(other)
        if span is not None and holds_dates(held(column, asked.schema), asked.data):
            operator = node.key if node.this is column else TURNED.get(node.key, node.key)
            after_named = _is_after_named(other, asked)
            if operator == "lte" and (after_named or _is_before(other, asked)):
                operator = "lt"
            since = after_named or bool(SINCE.search(asked.question.whole))
            changed = True
            node.replace(span_condition(column, operator, span, since=since))
    return Change("a year or a month is compared with whole dates", may_empty=True) if changed else None


def _limits(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The first day of the year or month that a constant is, and the day after its last; None for anything else."""
    match = _SPAN.fullmatch(node.name) if isinstance(node, exp.Literal) else None
    if match is None:
        return None
    year, month = int(match[1]), int(match[2] or 0)
    after = f"{year + 1}-01-01" if month in (0, 12) else f"{year}-{month + 1:02}-01"
    return exp.Literal.string(f"{year}-{month or 1:02}-01"), exp.Literal.string(after)


def _is_before(node: exp.Expr, asked: Asked) -> bool:
    """Whether the question says "before" of the year that a constant is."""
    return node.name in _EARLIER.findall(asked.question.whole)


def _is_after_named(node: exp.Expr, asked: Asked) -> bool:
    """Whether a constant is the year after one that the question names, and which it does not name itself."""
    year = int(node.name[:4]) if _SPAN.fullmatch(node.name) else 0
    named = set(map(int, _NAMED.findall(asked.question.whole)))
    return len(node.name) == len("2012") and year not in named and year - 1 in named


def span_condition(column: exp.Expr, operator: str, span: tuple[exp.Expr, exp.Expr], *, since: bool) -> exp.Expr:
    """The comparison of a column with all days from the first up to, and without, the second."""
    first, after = span
    if operator == "eq":
        return exp.Paren(this=exp.and_(_not_before(column, first), _before(column, after)))
    if operator == "neq":
        return exp.Paren(this=exp.or_(_before(column, first), _not_before(column, after)))
    if operator in ("gt", "gte"):
        return _not_before(column, first if operator == "gte" or since else after)
    return _before(column, first if operator == "lt" else after)


def _before(column: exp.Expr, day: exp.Expr) -> exp.LT:
    return exp.LT(this=column.copy(), expression=day.copy())


def _not_before(column: exp.Expr, day: exp.Expr) -> exp.GTE:
    return exp.GTE(this=column.copy(), expression=day.copy())


def numbers_of_texts(tree: exp.Query, asked: Asked) -> Change | None:
    """Read a part of a date or of a text as a number where it is compared with numbers alone."""
    if asked.dialect != "sqlite":
        return None
    changed = False
    for node in list(tree.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)):
        sides = [side for key in ("this", "expression", "low", "high") if (side := node.args.get(key)) is not None]
        sides += node.args.get("expressions") or ()
        texts = [side for side in sides if _number_type(side, asked)]
        if len(texts) == 1 and len(sides) > 1 and all(side is texts[0] or _is_number(side) for side in sides):
            changed = True
            texts[0].replace(exp.cast(texts[0].copy(), _number_type(texts[0], asked)))
    return Change("a text is compared with a number, and no text equals one", may_empty=True) if changed else None


def _number_type(node: exp.Expr, asked: Asked) -> str:
    """The type that the text of a call, or of the output that a name stands for, is to be read as; empty for others."""
    select = node.parent_select
    if isinstance(node, exp.Column) and isinstance(select, exp.Select) and held(node, asked.schema) is None:
        node = meant(node, select)
    if isinstance(node, exp.Substring | exp.Replace | exp.Trim):
        return "REAL"
    form = node.args.get("format") if isinstance(node, exp.TimeToStr) else None
    if isinstance(node, exp.Anonymous) and node.name.upper() == "STRFTIME" and node.expressions:
        form = node.expressions[0]
    if form is None:
        return ""
    return "INT" if _WHOLE.fullmatch(form.name) else "REAL" if _FRACTION.fullmatch(form.name) else ""


def _is_number(node: exp.Expr) -> bool:
    node = node.this if isinstance(node, exp.Neg) else node
    return isinstance(node, exp.Literal) and not node.is_string

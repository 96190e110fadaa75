"""Quarters of a year on SQLite, whose dates have no form for them: ``STRFTIME('%Q', day)`` is NULL."""

from __future__ import annotations

import re
from typing import Final

from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp

_WANTED: Final = regex(r"\b(?:(?:each|every|per|by|which|what|in the) quarter|quarterly)\b", re.IGNORECASE)
_OTHER: Final = regex(r"\b(?:month|week|day|quarter of (?:an hour|a century))\w*\b", re.IGNORECASE)
_MONTHS: Final = frozenset(("%Y-%m", "%m", "%Y%m", "%Y/%m"))


def quarters(tree: exp.Query, asked: Asked) -> Change | None:
    """Compute quarters where a form of SQLite asks for them, or gives months to a question for quarters."""
    if asked.dialect != "sqlite":
        return None
    text = asked.question.text
    wanted = bool(_WANTED.search(text)) and not _OTHER.search(text)
    found = [node for node in tree.find_all(exp.TimeToStr) if _gives_none(node) or (wanted and _gives_months(node))]
    for node in found:
        node.replace(_quarter(node))
    return Change("SQLite has no form of a date for quarters") if found else None


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

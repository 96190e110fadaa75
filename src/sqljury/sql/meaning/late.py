"""What was late: the day on which it happened is after the day on which it should have."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.alike import pieces
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, Held, held, holds_days
from sqljury.sql.parse import exp

_LATE: Final = regex(
    r"\b(?:too late|(?<!how )late(?! (?:fees?|charges?|\d|in\b|january|february|march|april|may\b|june|july|august"
    r"|september|october|november|december|cancel\w*|night|shift))|overdue|behind schedule)\b",
    re.IGNORECASE,
)
_OTHERWISE: Final = regex(
    r"\b(?:early|earlier|on time|in time|punctual\w*|not|never|no|without|before)\b|\w+n['’]t\b", re.IGNORECASE
)
_PLANNED: Final = frozenset(
    (
        *("due", "planned", "plan", "promised", "expected", "scheduled", "estimated", "eta", "deadline", "required"),
        *("target", "agreed", "requested", "projected"),
    )
)
"""Words of columns for the day on which something should happen."""


def late(tree: exp.Query, asked: Asked) -> Change | None:
    """Turn the only comparison of a day with the day that was planned, where the question asks for what was late."""
    text = asked.question.text
    if not _LATE.search(text) or _OTHERWISE.search(text):
        return None
    compared = [
        (node, planned_first)
        for node in tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE)
        if (planned_first := _planned_first(node, asked)) is not None
    ]
    if len(compared) != 1 or compared[0][0].find_ancestor(exp.Not) is not None:
        return None
    [(node, planned_first)] = compared
    if planned_first != isinstance(node, exp.GT | exp.GTE):
        return None
    turned = exp.LT if planned_first else exp.GT
    node.replace(turned(this=node.this, expression=node.expression))
    return Change("what was late happened after the day that was planned")


def _planned_first(node: exp.Binary, asked: Asked) -> bool | None:
    """Whether the planned one of two days of a table stands first; None for any other comparison."""
    first, second = _day(node.this, asked), _day(node.expression, asked)
    if first is None or second is None or first.table is not second.table:
        return None
    planned = [bool(_PLANNED.intersection(pieces(day.column.name))) for day in (first, second)]
    return planned[0] if planned[0] != planned[1] else None


def _day(node: exp.Expr, asked: Asked) -> Held | None:
    inner = node.this if isinstance(node, exp.Date | exp.TsOrDsToDate | exp.Cast) else node
    known = held(inner, asked.schema)
    return known if known is not None and holds_days(known, asked.data) else None

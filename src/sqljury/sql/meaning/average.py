"""The greatest or the smallest where the question asks for the average, and for no end of anything."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.cues import extreme, ranked
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, held, holds_days
from sqljury.sql.parse import exp

_AVERAGE: Final = regex(r"\b(?:averages?|mean(?!s|t|ing)|avg)\b", re.IGNORECASE)
_END: Final = regex(r"\b(?:max(?:imum)?|min(?:imum)?|top|bottom|peak|record|at (?:most|least))\b", re.IGNORECASE)


def average(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the average for the one MAX or MIN of a query: nothing is above ``SELECT MAX(price)`` of its own column."""
    question = asked.question.text
    taken = list(tree.find_all(exp.Max, exp.Min))
    if len(taken) != 1 or tree.find(exp.Avg) is not None or not _AVERAGE.search(question):
        return None
    if extreme(question) or ranked(question) or _END.search(question):
        return None
    [node] = taken
    known = held(node.this, asked.schema)
    if known is None or known.is_text or holds_days(known, asked.data):
        return None
    node.replace(exp.Avg(this=node.this.copy()))
    return Change(f"the question asks for the average, not for the {'highest' if node.key == 'max' else 'lowest'}")

"""The greatest or the smallest where the question asks for the average, and for no end of anything."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.cues import extreme, ranked
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, held, holds_days, keys_of
from sqljury.sql.parse import exp

_AVERAGE: Final = regex(r"\b(?:averages?|mean(?!s|t|ing)|avg)\b", re.IGNORECASE)
_END: Final = regex(r"\b(?:max(?:imum)?|min(?:imum)?|top|bottom|peak|record|at (?:most|least))\b", re.IGNORECASE)


def average(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the average for the one MAX or MIN of a query, within a subquery, where nothing is found as it is.

    Nothing is above ``SELECT MAX(price)`` of its own column.
    """
    question = asked.question.text
    taken = list(tree.find_all(exp.Max, exp.Min))
    if len(taken) != 1 or tree.find(exp.Avg) is not None or not _AVERAGE.search(question):
        return None
    if extreme(question) or ranked(question) or _END.search(question):
        return None
    [node] = taken
    known, inside = held(node.this, asked.schema), node.find_ancestor(exp.Select)
    if known is None or known.is_text or known.column.name in keys_of(known.table) or holds_days(known, asked.data):
        return None
    if (
        inside is tree
        or inside is None
        or inside.args.get("group")
        or asked.data.rows(tree.sql(dialect=asked.dialect)) != ()
    ):
        return None
    node.replace(exp.Avg(this=node.this.copy()))
    return Change(f"the question asks for the average, not for the {'highest' if node.key == 'max' else 'lowest'}")

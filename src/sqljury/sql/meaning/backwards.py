"""Durations that are computed from the end to the beginning, so that all of them are below zero."""

from __future__ import annotations

import re
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, is_julian
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner

_ROWS: Final = 5000
_ASKED: Final = re.compile(
    r"\b(?:days?|nights?|weeks?|months?|years?|hours?|minutes?|long|longest|longer|shortest|shorter|slowest|fastest|quickest"
    r"|durations?|takes?|took|taken|wait\w*|last(?:ed|s)?|stay\w*)\b",
    re.IGNORECASE,
)
_LONGEST: Final = re.compile(r"\b(?:longest|slowest|most)\b", re.IGNORECASE)
_SHORTEST: Final = re.compile(r"\b(?:shortest|fastest|quickest|least|fewest)\b", re.IGNORECASE)
_SIGNED: Final = re.compile(
    r"\b(?:late\w*|early|earlier|ahead of|delay\w*|overdue|overrun\w*|behind|due|negative|punctual\w*)\b", re.IGNORECASE
)
"""Words of times that may lie on either side of another."""


def forward_durations(tree: exp.Query, asked: Asked) -> Change | None:
    """Subtract the beginning from the end: ``JULIANDAY(left_on) - JULIANDAY(came_on)``, not the other way round.

    Only where no row of the table has a difference above zero as it is written, and some have one below. Where such
    differences are sorted as the question wants it, the lowest being the longest, they stay.
    """
    text = asked.question.whole
    if asked.dialect != "sqlite" or not _ASKED.search(text) or _SIGNED.search(text):
        return None
    differences = [node for node in tree.find_all(exp.Sub) if _is_of_times(node)]
    if any(_is_sorted_so(node, text) for node in differences):
        return None
    # Averages are shown and sorted by: the same difference is looked up once.
    backwards = {node for node in set(differences) if _is_below_zero(node, asked)}
    turned = [node for node in differences if node in backwards]
    for node in turned:
        start, end = node.this, node.expression
        node.set("this", end)
        node.set("expression", start)
    return Change("a duration was computed from its end to its beginning") if turned else None


def _is_sorted_so(node: exp.Sub, question: str) -> bool:
    """Whether ORDER BY has the longest first as the question wants it, or the shortest, if a difference is negative."""
    key = node.find_ancestor(exp.Ordered, exp.Select)
    if not isinstance(key, exp.Ordered) or bool(_LONGEST.search(question)) == bool(_SHORTEST.search(question)):
        return False
    return bool(key.args.get("desc")) == bool(_SHORTEST.search(question))


def _is_of_times(node: exp.Sub) -> bool:
    """Whether an expression subtracts a time from another, and is not compared with a number below zero."""
    sides = (node.this, node.expression)
    if not all(is_julian(side) and isinstance(side.expressions[0], exp.Column) for side in sides):
        return False
    comparison = node.find_ancestor(exp.Predicate, exp.Select)
    return not (isinstance(comparison, exp.Predicate) and comparison.find(exp.Neg))


def _is_below_zero(node: exp.Sub, asked: Asked) -> bool:
    """Whether the difference of two columns of one table is below zero in its rows, and nowhere above."""
    columns = [side.expressions[0] for side in (node.this, node.expression)]
    first, second = (owner(column, asked.schema) for column in columns)
    if first is None or first != second:
        return False
    bare = [exp.Anonymous(this="JULIANDAY", expressions=[exp.column(column.this.copy())]) for column in columns]
    difference = exp.Sub(this=bare[0], expression=bare[1]).as_("difference")
    rows = exp.select(difference).from_(table_node(first[1], asked.dialect)).limit(_ROWS)
    probe = exp.select("MIN(difference)", "MAX(difference)").from_(rows.subquery("differences"))
    ends = asked.data.rows(probe.sql(dialect=asked.dialect))
    if not ends or len(ends[0]) != 2 or not all(isinstance(value, int | float) for value in ends[0]):
        return False
    least, most = ends[0]
    return bool(least < 0 and most <= 0)

"""Differences of days that engines compute from digits, or that a query takes from the end to the beginning.

SQLite subtracts years, MySQL numbers such as 20240131.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, day_of, held, holds_dates, is_julian
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import is_date, owner

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
    unit, factor = next(((unit, factor) for unit, word, factor in _UNITS if word.search(asked.question.text)), ("", 1))
    if asked.dialect == "mysql":
        if not unit:
            return exp.Anonymous(this="DATEDIFF", expressions=[left, right])
        return exp.Anonymous(this="TIMESTAMPDIFF", expressions=[exp.var(unit), right, left])
    days = [exp.Anonymous(this="JULIANDAY", expressions=[side]) for side in (left, right)]
    difference = exp.Sub(this=days[0], expression=days[1])
    return exp.Mul(this=exp.Paren(this=difference), expression=exp.Literal.number(factor)) if unit else difference


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

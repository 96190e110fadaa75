"""What was late, is over, or happened at all: a column of days, and NULL where it did not happen.

Small models write ``cancelled = 'no'`` where ``cancelled`` is the day of the cancellation, or NULL. They leave out that
a meter in place has no day of removal, or ask for meters that were installed, which all of them were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sqljury.language.alike import pieces
from sqljury.language.cues import goes_on, goes_on_beside
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, Held, compared, held, holds_days
from sqljury.sql.meaning.booleans import is_condition, truth_of
from sqljury.sql.meaning.histories import STATES, History, is_restricted, keep_current, says_current, tables_once
from sqljury.sql.parse import exp
from sqljury.sql.resolve import is_date
from sqljury.types import Column, Table

_NOT: Final = re.compile(r"(?:not|non|never|no|without)[ _-]+|un(?=\w+ed$|paid$|sent$|sold$|seen$)", re.IGNORECASE)
"""How a text begins that says that something did not happen."""
_NOTHING: Final = frozenset(("", "none", "null", "never", "n/a", "na", "-", "open", "pending"))
_ENDINGS: Final = re.compile(r"(?:ed|e|ing|d|ment|al|ion|ation|ellation|lation)$")
_STEM: Final = 3
_ENDS: Final = frozenset(
    (
        *("end", "ended", "ending", "until", "thru", "finish", "finished", "completed", "close", "closed", "closing"),
        *("left", "leave", "leaving", "exit", "resigned", "retired", "dismissed", "departed", "removed", "removal"),
        *("rem", "terminated", "termination", "returned", "resolved", "withdrawn", "discharged", "discharge", "sold"),
        *("cancelled", "canceled", "dissolved", "scrapped", "decommissioned", "discontinued", "delisted", "churned"),
    )
)
"""Words of columns for the day on which something was over."""
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


def happened(tree: exp.Query, asked: Asked) -> Change | None:
    """Replace a comparison of a day with yes or no by the question whether there is a day."""
    changed = ""
    for node, column, other in compared(tree, exp.EQ, exp.NEQ, exp.Is):
        known = held(column, asked.schema)
        truth = None if known is None else _truth(other, known)
        if known is None or truth is None or not _has_days(known, asked):
            continue
        changed = known.column.name
        _put(node, column, has_day=truth != isinstance(node, exp.NEQ))
    for node in list(tree.find_all(exp.In)):
        known = held(node.this, asked.schema)
        truths = {_truth(item, known) for item in node.expressions} if known is not None else set()
        truth = truths.pop() if len(truths) == 1 else None
        if known is not None and truth is not None and _has_days(known, asked):
            changed = known.column.name
            _put(node, node.this, has_day=truth)
    for column in list(tree.find_all(exp.Column)):
        known = held(column, asked.schema) if is_condition(column) else None
        if known is not None and _has_days(known, asked):
            changed = known.column.name
            _put(column, column, has_day=True)
    for call in list(tree.find_all(exp.Sum)):
        known = held(call.this, asked.schema)
        if known is not None and holds_days(known, asked.data):
            changed = known.column.name
            call.replace(exp.Count(this=call.this.copy(), big_int=True))
    return Change(f"{changed} is a day, or NULL where it did not happen") if changed else None


def _has_days(known: Held, asked: Asked) -> bool:
    """Whether a column holds days or times, also as numbers; asks the database."""
    return holds_days(known, asked.data) or bool(asked.data.times(known.table, known.column.name))


def _truth(constant: exp.Expr, known: Held) -> bool | None:
    """Whether a constant says that something happened, or that it did not; None for any other one."""
    if isinstance(constant, exp.Literal) and not constant.is_string and not is_date(known.column.type):
        return {"1": True, "0": False}.get(constant.name)
    if (truth := truth_of(constant)) is not None:
        return truth
    if not isinstance(constant, exp.Literal) or not constant.is_string:
        return None
    text = constant.name.strip().lower()
    if text in _NOTHING:
        return False
    affirmed, denied = _NOT.subn("", text, count=1)
    named = {_stem(word) for word in words(known.column.name)}
    stems = [_stem(word) for word in words(affirmed)]
    return not denied if stems and all(len(word) >= _STEM and word in named for word in stems) else None


def _stem(word: str) -> str:
    return _ENDINGS.sub("", word)


def _put(node: exp.Expr, column: exp.Column, *, has_day: bool) -> None:
    """Put ``column IS NOT NULL``, or IS NULL, in the place of a comparison."""
    is_null: exp.Expr = exp.Is(this=column.copy(), expression=exp.Null())
    node.replace(exp.Not(this=is_null) if has_day else is_null)


def not_over(tree: exp.Query, asked: Asked) -> Change | None:
    """Add the condition that a thing is not over, where the question says so and the query has none on that.

    The table has one day of an end, NULL in some rows, and none to come.
    """
    if not goes_on(asked.question.text) or says_current(tree) or _tells_state(tree):
        return None
    histories = list(_with_ends(tree, asked))
    if len(histories) != 1 or is_restricted(histories[0], asked):
        return None
    if not (histories[0].is_alone or goes_on_beside(asked.question.text, words(histories[0].table.name))):
        return None
    if not keep_current(histories[0], asked):
        return None
    return Change(f"the question asks for what is not over, and {histories[0].end.name} says what is")


def _tells_state(tree: exp.Query) -> bool:
    """Whether a condition says of any row that something has not happened, or in which state it is."""
    if any(
        isinstance(node.expression, exp.Null) and not isinstance(node.parent, exp.Not) for node in tree.find_all(exp.Is)
    ):
        return True
    return any(STATES & {*words(column.name)} for column in tree.find_all(exp.Column))


def _with_ends(tree: exp.Query, asked: Asked) -> Iterator[History]:
    """The tables with one day of an end, without one that stands twice."""
    for sources, alias, table in tables_once(tree, asked):
        ends = _ends(table, asked)
        if len(ends) == 1:
            yield History(sources, alias, table, ends[0])


def _ends(table: Table, asked: Asked) -> list[Column]:
    named = (column for column in table.columns if _ENDS.intersection(words(column.name)))
    return [column for column in named if holds_days(Held(table, column), asked.data)]


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

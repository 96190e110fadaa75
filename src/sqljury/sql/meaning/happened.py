"""Columns of days that a query takes for yes and no: what was cancelled has the day on which it was.

Small models write ``cancelled = 'no'`` where ``cancelled`` is the day of the cancellation, or NULL.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, Held, compared, held, holds_days
from sqljury.sql.meaning.booleans import is_condition, truth_of
from sqljury.sql.parse import exp
from sqljury.sql.resolve import is_date

_NOT: Final = re.compile(r"(?:not|non|never|no|without)[ _-]+|un(?=\w+ed$|paid$|sent$|sold$|seen$)", re.IGNORECASE)
"""How a text begins that says that something did not happen."""
_NOTHING: Final = frozenset(("", "none", "null", "never", "n/a", "na", "-", "open", "pending"))
_ENDINGS: Final = re.compile(r"(?:ed|e|ing|d|ment|al|ion|ation|ellation|lation)$")
_STEM: Final = 3


def happened(tree: exp.Query, asked: Asked) -> Change | None:
    """Replace a comparison of a day with yes or no by the question whether there is a day."""
    changed = ""
    for node, column, other in compared(tree, exp.EQ, exp.NEQ, exp.Is):
        known = held(column, asked.schema)
        truth = None if known is None else _truth(other, known)
        if known is None or truth is None or not _has_days(known, asked):
            continue
        changed = known.column.name
        _put(node, column, there=truth != isinstance(node, exp.NEQ))
    for node in list(tree.find_all(exp.In)):
        known = held(node.this, asked.schema)
        truths = {_truth(item, known) for item in node.expressions} if known is not None else set()
        truth = truths.pop() if len(truths) == 1 else None
        if known is not None and truth is not None and _has_days(known, asked):
            changed = known.column.name
            _put(node, node.this, there=truth)
    for column in list(tree.find_all(exp.Column)):
        known = held(column, asked.schema) if is_condition(column) else None
        if known is not None and _has_days(known, asked):
            changed = known.column.name
            _put(column, column, there=True)
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
    said, denied = _NOT.subn("", text, count=1)
    named = {_stem(word) for word in words(known.column.name)}
    told = [_stem(word) for word in words(said)]
    return not denied if told and all(len(word) >= _STEM and word in named for word in told) else None


def _stem(word: str) -> str:
    return _ENDINGS.sub("", word)


def _put(node: exp.Expr, column: exp.Column, *, there: bool) -> None:
    """Put ``column IS NOT NULL``, or IS NULL, in the place of a comparison."""
    is_null: exp.Expr = exp.Is(this=column.copy(), expression=exp.Null())
    node.replace(exp.Not(this=is_null) if there else is_null)

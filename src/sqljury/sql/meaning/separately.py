"""Figures that a question asks for separately, where the query takes them over all of the values together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.conditions import operands, outer_conjuncts
from sqljury.sql.meaning.base import Asked, Change, held, single_select
from sqljury.sql.meaning.best import is_aggregate
from sqljury.sql.parse import exp

_SEPARATELY: Final = regex(
    r"\b(?:separately|respectively|apart from (?:each other|one another)|split (?:up )?by|(?:each|both) (?:on|by)"
    r" (?:its|their|his|her) own|side by side)\b",
    re.IGNORECASE,
)
_TOGETHER: Final = regex(
    r"\b(?:together|altogether|combined|in total|overall|not (?:\w+ )?(?:separately|split))\b", re.IGNORECASE
)


def separately(tree: exp.Query, asked: Asked) -> Change | None:
    """Group by a column with several values where the question wants figures for each of these separately.

    ``SELECT AVG(days) ... WHERE status IN ('approved', 'rejected')`` has one figure for both.
    """
    text = asked.question.text
    select = single_select(tree) if _SEPARATELY.search(text) and not _TOGETHER.search(text) else None
    if select is None or not _has_figures_alone(select):
        return None
    said = words(text)
    choices = [_choice(condition, said) for condition in outer_conjuncts(select.args.get("where"))]
    columns = [column for column in choices if column is not None and held(column, asked.schema) is not None]
    if len(columns) != 1:
        return None
    [column] = columns
    where = select.args["where"]
    others = [node for node in select.find_all(exp.Column) if node.find_ancestor(exp.Where) is not where]
    if any(node.name.lower() == column.name.lower() for node in others):
        return None
    select.set("expressions", [column.copy(), *select.expressions])
    select.set("group", exp.Group(expressions=[column.copy()]))
    return Change(f"the question asks for each {column.name} separately")


def _has_figures_alone(select: exp.Select) -> bool:
    """Whether a query shows aggregates of all its rows, and nothing else."""
    parts = ("group", "having", "distinct", "limit", "offset", "order", "with_", "qualify")
    if any(map(select.args.get, parts)) or select.find(exp.Window) is not None:
        return False
    columns = (column for item in select.selects for column in item.find_all(exp.Column))
    aggregated = all(isinstance(column.find_ancestor(exp.AggFunc, exp.Select), exp.AggFunc) for column in columns)
    return aggregated and all(map(is_aggregate, select.selects))


def _choice(condition: exp.Expr, said: Sequence[str]) -> exp.Column | None:
    """The column that a condition compares with several constants, all of which the question says."""
    alternatives = operands(condition, exp.Or)
    if len(alternatives) > 1:
        equal = all(isinstance(part, exp.EQ) for part in alternatives)
        columns = [part.this for part in alternatives]
        constants = [part.expression for part in alternatives] if equal else []
    else:
        node = alternatives[0]
        columns = [node.this] if isinstance(node, exp.In) else []
        constants = list(node.expressions) if isinstance(node, exp.In) else []
    texts = {constant.name.lower() for constant in constants if isinstance(constant, exp.Literal)}
    same = bool(columns) and isinstance(columns[0], exp.Column) and all(column == columns[0] for column in columns)
    known = all(isinstance(constant, exp.Literal) and _is_said(constant.name, said) for constant in constants)
    return columns[0] if same and known and len(texts) > 1 else None


def _is_said(text: str, said: Sequence[str]) -> bool:
    """Whether the question has the words of a text in a row."""
    own = words(text)
    places = range(len(said) - len(own) + 1)
    return bool(own) and any(tuple(said[at : at + len(own)]) == own for at in places)

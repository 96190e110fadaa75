"""Yes and no as the column has them: 1 and 0, 't' and 'f', 'Y' and 'N', TRUE and FALSE."""

from __future__ import annotations

import re
from typing import Any, Final

from sqljury.sql.meaning.base import Asked, Change, compared, held
from sqljury.sql.parse import exp

_PAIRS: Final = (("1", "0"), ("t", "f"), ("true", "false"), ("y", "n"), ("yes", "no"), ("on", "off"))
_MEANING: Final = {word: truth for pair in _PAIRS for word, truth in zip(pair, (True, False), strict=True)}
_BOOLEAN: Final = re.compile(r"bool", re.IGNORECASE)
_OWN_BOOLEAN: Final = frozenset({"postgres", "duckdb"})
"""Dialects with a type of their own for TRUE and FALSE."""


def booleans(tree: exp.Query, asked: Asked) -> Change | None:
    """Replace a constant for yes or no that the column does not have by the one that it has, and add up yes as 1."""
    changed = False
    for node, column, other in compared(tree, exp.EQ, exp.NEQ, exp.Is):
        truth = truth_of(other)
        if truth is None:
            continue
        pair = _pair(column, other, asked)
        if pair is not None:
            changed = True
            kind = exp.NEQ if isinstance(node, exp.NEQ) else exp.EQ
            value, other_value = pair[not truth].copy(), pair[truth].copy()
            side: exp.Expr = column.copy()
            if isinstance(node, exp.Is) and isinstance(node.parent, exp.Not):  # NULL is not TRUE, and is kept
                side = exp.Coalesce(this=side, expressions=[other_value])
            node.replace(kind(this=side, expression=value))
    for column in list(tree.find_all(exp.Column)):
        if is_condition(column) and (pair := _pair(column, exp.true(), asked)) is not None:
            changed = True
            column.replace(exp.EQ(this=column.copy(), expression=pair[0].copy()))
    for call in tree.find_all(exp.Sum, exp.Avg):
        column = call.this
        if isinstance(column, exp.Column) and (pair := _pair(column, exp.true(), asked)) is not None:
            changed = True
            is_yes = exp.If(this=exp.EQ(this=column.copy(), expression=pair[0].copy()), true=exp.Literal.number(1))
            call.set("this", exp.Case(ifs=[is_yes], default=exp.Literal.number(0)))
    return Change("the column has other values for yes and no") if changed else None


def truth_of(node: exp.Expr) -> bool | None:
    """Whether a constant says yes or no, in any of the usual ways; None for any other expression."""
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    return _MEANING.get(node.name.lower()) if isinstance(node, exp.Literal) else None


def _pair(column: exp.Column, constant: exp.Expr, asked: Asked) -> tuple[exp.Expr, exp.Expr] | None:
    """The column's constants for yes and no, where it has both and surely lacks the one that is compared with it."""
    known = held(column, asked.schema)
    if known is None:
        return None
    if _BOOLEAN.search(known.column.type) and asked.dialect in _OWN_BOOLEAN:
        return (exp.true(), exp.false()) if asked.failed and not isinstance(constant, exp.Boolean) else None
    values = asked.data.values(known.table, known.column.name)
    words = {_word(value).lower(): value for value in values}
    pair = next((pair for pair in _PAIRS if words.keys() == set(pair)), None)
    if pair is None or len(words) != len(values) or _matches(constant, values, asked):
        return None
    yes, no = (_constant(words[word]) for word in pair)
    return yes, no


def _matches(constant: exp.Expr, values: tuple[Any, ...], asked: Asked) -> bool:
    """Whether the engine compares the constant with these values as it is meant."""
    if asked.failed:
        return False
    numbers = all(isinstance(value, int | float) for value in values)
    if isinstance(constant, exp.Boolean) or not constant.is_string:
        # A text such as 'Y' is 0 for MySQL and above all numbers for SQLite; '1' is a number for both.
        return numbers or {_word(value) for value in values} <= {"1", "0"}
    if numbers:
        return constant.name in ("1", "0")
    same = str.lower if asked.dialect == "mysql" else str
    return same(constant.name) in {same(_word(value)) for value in values}


def is_condition(column: exp.Column) -> bool:
    """Whether a column stands alone where a condition is expected."""
    above = column.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    if isinstance(above, exp.Where | exp.Having | exp.And | exp.Or | exp.Not):
        return True
    return isinstance(above, exp.If) and above.this is column


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(int(value)) if isinstance(value, float) and value in (0.0, 1.0) else str(value)


def _constant(value: Any) -> exp.Expr:
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(_word(value))

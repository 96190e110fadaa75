"""Weights, lengths and durations in a small unit where the question asks for a larger one: kilograms for tonnes."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.measures import given, has_unit, unit_of, wanted_unit
from sqljury.sql.meaning.amounts import Amounts, constant, divided
from sqljury.sql.meaning.base import Asked, Change, compared, held
from sqljury.sql.parse import exp

_NUMERIC: Final = re.compile(r"int|num|dec|real|floa|doub", re.IGNORECASE)


def larger_units(tree: exp.Query, asked: Asked) -> Change | None:
    """Show kilograms as tonnes where the question asks for tonnes: ``SUM(net_kg) / 1000.0``.

    ``height_cm > 2`` becomes ``> 200`` for "more than 2 metres". Left alone where the query calculates with a number.
    """
    question = asked.question.text
    units = {unit_of(column.name) for column in tree.find_all(exp.Column)} - {""}
    if asked.question.evidence or _calculates(tree):
        return None
    changed = False
    for unit in sorted(units):
        amounts = _In(unit, asked)
        numbers = given(question, unit)
        for _, column, other in list(compared(tree, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ)):
            number = constant(other)
            if number in numbers and amounts.is_column(column):
                other.replace(exp.Literal.number(f"{numbers[number]:f}"))
                changed = True
        wanted = wanted_unit(question, unit)
        if wanted is not None and isinstance(tree, exp.Select) and not _has(tree, wanted[0]):
            shown = [_show(item, tree, amounts, wanted[1]) for item in list(tree.selects)]
            changed = changed or any(shown)
    return Change("the question asks for another unit than the column has") if changed else None


class _In(Amounts):
    """Whether an expression is an amount in a unit."""

    def __init__(self, unit: str, asked: Asked) -> None:
        self._unit, self._asked = unit, asked

    def is_column(self, node: exp.Expr) -> bool:
        """Whether a column of numbers has the unit in its name."""
        known = held(node, self._asked.schema)
        return (
            known is not None and unit_of(known.column.name) == self._unit and bool(_NUMERIC.search(known.column.type))
        )


def _calculates(tree: exp.Query) -> bool:
    """Whether anything is multiplied or divided by a number, other than by 1."""
    sides = [side.unnest() for node in tree.find_all(exp.Mul, exp.Div) for side in (node.this, node.expression)]
    numbers = [constant(side.this if isinstance(side, exp.Cast) else side) for side in sides]
    return any(number is not None and number != 1 for number in numbers)


def _show(item: exp.Expr, tree: exp.Select, amounts: _In, times: int) -> bool:
    """Divide an output if it is in the small unit."""
    value = item.unalias()
    while isinstance(value, exp.Round | exp.Paren) and not amounts(value):
        value = value.this
    if not amounts(value) or (isinstance(item, exp.Alias) and not _may_change(item.alias, tree)):
        return False
    value.replace(divided(value, f"{times}.0"))
    return True


def _has(tree: exp.Select, unit: str) -> bool:
    """Whether an output has a column that is in the unit already."""
    return any(has_unit(column.name, unit) for item in tree.selects for column in item.find_all(exp.Column))


def _may_change(name: str, tree: exp.Select) -> bool:
    """Whether an output may hold another unit under this name: the name has none, and at most ORDER BY refers to it."""
    named = [node for node in tree.find_all(exp.Column) if not node.table and node.name.lower() == name.lower()]
    return not unit_of(name) and all(isinstance(node.parent, exp.Ordered) for node in named)

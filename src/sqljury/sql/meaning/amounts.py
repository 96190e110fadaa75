"""Expressions whose values are in the unit of the columns that they are made of."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from sqljury.language.words import words
from sqljury.sql.parse import exp

_FACTORS: Final = frozenset({"qty", "quantity", "unit", "hour", "piece", "pcs", "item"})


class Amounts:
    """Whether the value of an expression is in one unit, that of the columns which ``is_column`` accepts."""

    def is_column(self, node: exp.Expr) -> bool:
        """Whether an expression is a column in the unit."""
        raise NotImplementedError

    def __call__(self, node: exp.Expr | None) -> bool:
        """Whether the value of an expression is in this unit: a column, its sum, mean or extreme, or a sum of such."""
        if isinstance(node, exp.Column):
            return self.is_column(node)
        if isinstance(node, exp.AggFunc):
            return isinstance(node, exp.Sum | exp.Avg | exp.Min | exp.Max) and self(node.this)
        if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Filter | exp.Window):
            return self(node.this)
        if isinstance(node, exp.Distinct):
            return len(node.expressions) == 1 and self(node.expressions[0])
        if isinstance(node, exp.Add | exp.Sub):
            return self(node.this) and self(node.expression)
        if isinstance(node, exp.Coalesce):
            return self(node.this) and all(self(default) or is_nothing(default) for default in node.expressions)
        if isinstance(node, exp.Div):
            return self(node.this) and isinstance(node.expression.unnest(), exp.Count)
        if isinstance(node, exp.Mul):
            pairs = (node.this, node.expression), (node.expression, node.this)
            return any(self(amount) and self._is_factor(factor) for amount, factor in pairs)
        if isinstance(node, exp.Case):
            results = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
            kept = [result for result in results if result is not None and not is_nothing(result)]
            return bool(kept) and all(map(self, kept))
        return False

    def _is_factor(self, node: exp.Expr) -> bool:
        """Whether a factor leaves the unit as it is: a quantity, or 1.0."""
        if isinstance(node, exp.Literal):
            return node.name == "1.0"
        return isinstance(node, exp.Column) and bool(_FACTORS & set(words(node.name))) and not self.is_column(node)


def is_nothing(node: exp.Expr) -> bool:
    """Whether an expression is NULL or 0."""
    return isinstance(node, exp.Null) or (isinstance(node, exp.Literal) and node.name in ("0", "0.0"))


def constant(node: exp.Expr) -> Decimal | None:
    """The number that an expression is; None for anything else."""
    plain = isinstance(node, exp.Literal) and not node.is_string and re.fullmatch(r"\d+(?:\.\d+)?", node.name)
    return Decimal(node.name) if plain else None


def divided(value: exp.Expr, by: str) -> exp.Div:
    """A value divided by a number with a point, so that fractions stay."""
    top = exp.Paren(this=value.copy()) if isinstance(value, exp.Add | exp.Sub) else value.copy()
    return exp.Div(this=top, expression=exp.Literal.number(by), typed=True)  # without casts of the dividend

"""Ratios in queries, and what they are of: a part of the rows or of a sum, or like amounts."""

from __future__ import annotations

from decimal import Decimal
from math import prod
from typing import Final, Literal, NamedTuple

from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, held, stripped
from sqljury.sql.meaning.units import is_small_unit
from sqljury.sql.parse import exp

Kind = Literal["count", "sum"]

PERCENT_WORDS: Final = frozenset({"pct", "percent", "percentage", "perc"})
"""Words of names of columns that hold percentages."""


class Ratio(NamedTuple):
    """A division, and the constants that it is multiplied by; ``output`` is the expression that it was found in."""

    output: exp.Expr
    division: exp.Div
    top: exp.Expr
    bottom: exp.Expr
    factors: tuple[exp.Expr, ...]

    @property
    def factor(self) -> Decimal:
        """The product of the constants."""
        return prod((Decimal(factor.name) for factor in self.factors), start=Decimal(1))


def ratio_of(output: exp.Expr) -> Ratio | None:
    """The ratio that an expression is but for its digits, its type and its factors; None for anything else."""
    division, factors = unfactored(stripped(output, defaults_to_zero))
    if not isinstance(division, exp.Div) or isinstance(division.expression.unnest(), exp.Literal):
        return None
    top, more = unfactored(division.this)
    bottom, divisors = unfactored(division.expression)
    constant = isinstance(plain(top), exp.Literal) or any(Decimal(divisor.name) != 1 for divisor in divisors)
    return None if constant else Ratio(output, division, top, bottom, (*factors, *more))


def unfactored(node: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """An expression without the constants that it is multiplied by, and these."""
    factors = []
    while isinstance(node, exp.Paren | exp.Mul):
        if isinstance(node, exp.Paren):
            node = node.this
            continue
        factor = next((side for side in (node.this, node.expression) if is_number(side)), None)
        if factor is None:
            break
        factors.append(factor)
        node = node.expression if factor is node.this else node.this
    return node, factors


def is_number(node: exp.Expr) -> bool:
    """Whether an expression is a constant number."""
    return isinstance(node, exp.Literal) and not node.is_string


def defaults_to_zero(node: exp.Expr) -> bool:
    """Whether an expression is another one with zero for NULL."""
    if not isinstance(node, exp.Coalesce):
        return False
    return all(is_number(default) and not Decimal(default.name) for default in node.expressions)


def plain(node: exp.Expr) -> exp.Expr:
    """An expression without what does not change its meaning: casts, factors of 1, and zero for NULL or the reverse."""
    while True:
        inner, factors = unfactored(node)
        if all(Decimal(factor.name) == 1 for factor in factors):
            node = inner
        if not (isinstance(node, exp.Cast | exp.Nullif | exp.Abs) or defaults_to_zero(node)):
            return node
        node = node.this


def kind_of_ratio(ratio: Ratio, asked: Asked) -> Kind | None:
    """What the ratio is of: counts of rows or like amounts; None for anything else, such as an average."""
    if is_growth(ratio) or _is_part(ratio):
        return "sum"
    top, bottom = _kind(ratio.top, asked), _kind(ratio.bottom, asked)
    if top == "count" and bottom is not None:
        return None if _is_distinct(ratio.bottom) and not _is_distinct(ratio.top) else "count"
    like = top == bottom == "sum" and not _is_weighted_mean(ratio)
    return "sum" if like and units(ratio.top) == units(ratio.bottom) else None


def is_growth(ratio: Ratio) -> bool:
    """Whether the ratio is of a difference to one of its terms."""
    difference = plain(ratio.top)
    if not isinstance(difference, exp.Sub):
        return False
    terms = [plain(term) for term in (difference.this, difference.expression)]
    whole = plain(ratio.bottom)
    return whole in terms and not any(isinstance(term, exp.Literal) for term in terms)


def _is_part(ratio: Ratio) -> bool:
    """Whether the ratio is of a value to the sum of such values: ``amount / SUM(amount) OVER ()``."""
    total = plain(ratio.bottom)
    total = total.this if isinstance(total, exp.Window) else total
    return isinstance(total, exp.Sum) and total.this == plain(ratio.top)


def _kind(node: exp.Expr, asked: Asked) -> Kind | None:
    """Whether an expression counts rows, or sums up amounts."""
    node = plain(node)
    if isinstance(node, exp.Window | exp.Filter):
        return _kind(node.this, asked)
    if isinstance(node, exp.Subquery):
        outputs = node.this.selects if isinstance(node.this, exp.Select) else []
        return _kind(outputs[0].unalias(), asked) if len(outputs) == 1 else None
    if isinstance(node, exp.Add | exp.Sub):
        left, right = _kind(node.this, asked), _kind(node.expression, asked)
        return left if left == right else None
    if isinstance(node, exp.Count | exp.CountIf):
        return "count"
    if isinstance(node, exp.Sum):
        return "count" if marks_rows(node.this, asked) else "sum"
    return None


def marks_rows(node: exp.Expr, asked: Asked) -> bool:
    """Whether a value is 1 for the rows that are counted and 0 for others, or a count of rows."""
    node = plain(node)
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Count):
        return True
    if isinstance(node, exp.Case | exp.If):
        branches = node.args["ifs"] if isinstance(node, exp.Case) else [node]
        results = [*(branch.args.get("true") for branch in branches), _otherwise(node)]
        return all(result is None or isinstance(result, exp.Null) or _is_mark(result) for result in results)
    known = held(node, asked.schema)
    values = asked.data.values(known.table, known.column.name) if known is not None else ()
    return bool(values) and {*values} <= {0, 1}


def _otherwise(node: exp.Expr) -> exp.Expr | None:
    otherwise: exp.Expr | None = node.args.get("default" if isinstance(node, exp.Case) else "false")
    return otherwise


def _is_mark(node: exp.Expr) -> bool:
    return is_number(node) and Decimal(node.name) in (0, 1)


def _is_distinct(node: exp.Expr) -> bool:
    """Whether an expression counts different values."""
    node = plain(node)
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct)


def _is_weighted_mean(ratio: Ratio) -> bool:
    """Whether the sum above is of products with what is summed up below: ``SUM(price * qty) / SUM(qty)``."""
    weights = [total.this for total in ratio.bottom.find_all(exp.Sum)]
    return any(side in weights for product in ratio.top.find_all(exp.Mul) for side in product.flatten())


def units(node: exp.Expr) -> set[bool]:
    """Whether columns are in a small unit by their names: cents to euros may be in percent without a factor."""
    names = [column.name for column in node.find_all(exp.Column) if not is_compared(column)]
    return {is_small_unit(name) or bool({"ct", "cts"} & {*words(name)}) for name in names}


def is_compared(node: exp.Expr) -> bool:
    """Whether an expression is part of a condition."""
    return isinstance(node.find_ancestor(exp.Predicate, exp.Select), exp.Predicate)

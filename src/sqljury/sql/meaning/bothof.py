"""A column that a query wants to equal two constants at once, which no row does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.patterns import regex
from sqljury.sql.conditions import outer_conjuncts, take_out
from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, identifier, owner
from sqljury.sql.terms import group_keys, meant, outside_queries

_BOTH: Final = regex(
    r"\b(?:both|as well as|and also|(?:as|and) (?:well|too)|all (?:of )?(?:two|three|four|these|those))\b",
    re.IGNORECASE,
)


def both_of(tree: exp.Query, asked: Asked) -> Change | None:
    """Find what has a row for each constant where ``name = 'Desk' AND name = 'Lamp'`` wants one row to have both.

    "Rooms with a desk and a lamp" are rooms of which several rows of another table tell. Where the query shows that
    table alone, or an aggregate, and the question does not say "both", rows with either constant are meant.
    """
    changed = False
    for select in list(tree.find_all(exp.Select)):
        contradiction = _contradiction(select, asked)
        if contradiction is None:
            continue
        column, conditions, alias = contradiction
        owners = [owner(node, asked.schema) for item in select.selects for node in item.find_all(exp.Column)]
        aggregated = any(isinstance(node, exp.AggFunc) for item in select.selects for node in outside_queries(item))
        elsewhere = bool(owners) and all(owned is not None and owned[0] != alias for owned in owners)
        is_both = bool(_BOTH.search(asked.question.text))
        if (elsewhere or is_both) and not aggregated:
            changed |= _grouped(select, column, conditions, asked)
        elif not is_both:
            _in_either(select, column, conditions)
            changed = True
    return Change("no row has both of these values in one column", without=("conditions",)) if changed else None


def _contradiction(select: exp.Select, asked: Asked) -> tuple[exp.Column, Sequence[exp.Expr], str] | None:
    """The one column that WHERE equates with several constants, these conditions, and the alias of its table."""
    by_column: dict[str, list[exp.Expr]] = {}
    for condition in outer_conjuncts(select.args.get("where")):
        if (
            isinstance(condition, exp.EQ)
            and isinstance(condition.this, exp.Column)
            and _is_constant(condition.expression)
        ):
            by_column.setdefault(condition.this.sql().lower(), []).append(condition)
    several = [
        equations
        for equations in by_column.values()
        if len({condition.expression.sql() for condition in equations}) > 1
    ]
    if len(several) != 1 or len({type(condition.expression) for condition in several[0]}) > 1:
        return None
    [conditions] = several
    column = conditions[0].this
    owned = owner(column, asked.schema)
    return (column, conditions, owned[0]) if owned is not None else None


def _is_constant(node: exp.Expr) -> bool:
    """Whether an expression is a constant, or a subquery that looks up the key of one named row."""
    select = node.this if isinstance(node, exp.Subquery) else None
    if not isinstance(select, exp.Select):
        return isinstance(node, exp.Literal)
    conditions, items = outer_conjuncts(select.args.get("where")), from_items(select)
    [by] = conditions if len(conditions) == 1 else [None]
    named = isinstance(by, exp.EQ) and isinstance(by.this, exp.Column) and isinstance(by.expression, exp.Literal)
    plain = len(items) == 1 and all(isinstance(item.unalias(), exp.Column) for item in select.selects)
    return named and plain


def _in_either(select: exp.Select, column: exp.Column, conditions: Sequence[exp.Expr]) -> None:
    values = [condition.expression.copy() for condition in conditions]
    take_out(select, "where", conditions)
    select.where(exp.In(this=column.copy(), expressions=values), copy=False)


def _grouped(select: exp.Select, column: exp.Column, conditions: Sequence[exp.Expr], asked: Asked) -> bool:
    """Keep the groups of rows that have all values; a group is what is shown, with the key of its table."""
    keys, kinds = group_keys(select)
    if kinds or select.args.get("having") or select.is_star or select.find(exp.Window) is not None:
        return False
    outputs = [item.unalias() for item in select.selects]
    order = select.args.get("order")
    sorted_by = [meant(key.this, select) for key in order.expressions] if order is not None else []
    if not all(isinstance(node, exp.Column) for node in (*outputs, *sorted_by)) or column in outputs:
        return False
    if not keys:
        # Where the values are of the table that is shown, its rows are not told apart: a customer's purchases.
        of_shown = {owner(node, asked.schema) for node in (outputs[0], column) if isinstance(node, exp.Column)}
        keys = [*(_row_key(outputs[0], asked) if len(of_shown) > 1 else ()), *outputs, *sorted_by]
        select.set("group", exp.Group(expressions=[key.copy() for key in dict.fromkeys(keys)]))
    different = exp.Count(this=exp.Distinct(expressions=[column.copy()]))
    number = exp.Literal.number(len({condition.expression.sql() for condition in conditions}))
    select.set("having", exp.Having(this=exp.EQ(this=different, expression=number)))
    _in_either(select, column, conditions)
    return True


def _row_key(shown: exp.Expr, asked: Asked) -> list[exp.Expr]:
    owned = owner(shown, asked.schema) if isinstance(shown, exp.Column) else None
    if owned is None:
        return []
    alias = shown.args.get("table") or identifier(owned[0], asked.dialect)
    return [exp.column(identifier(name, asked.dialect), table=alias.copy()) for name in owned[1].row_key]

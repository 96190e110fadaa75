"""Conditions of WHERE, HAVING and ON, taken apart at AND and OR."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Literal

from sqljury.sql.parse import exp

if TYPE_CHECKING:
    from sqlglot.optimizer.scope import Scope


def conjuncts(clause: exp.Expr | None) -> list[exp.Expr]:
    """The conditions of WHERE, HAVING or ON that all must hold, those within parentheses too."""
    return [] if clause is None else operands(_condition(clause), exp.And)


def outer_conjuncts(clause: exp.Expr | None) -> list[exp.Expr]:
    """Like ``conjuncts``, but what stands in parentheses stays one condition, as it is written."""
    if clause is None:
        return []
    condition = _condition(clause)
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def operands(condition: exp.Expr, connective: type[exp.Connector]) -> list[exp.Expr]:
    """What AND or OR joins, through parentheses too; the condition alone where it is joined by something else."""
    node = condition.unnest() if isinstance(condition, exp.Paren) else condition
    if type(node) is not connective:
        return [node]
    return [part for side in node.flatten() for part in operands(side, connective)]


def compared_texts(within: exp.Expr | Scope) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """The texts that ``=``, ``<>`` and IN compare with a column, each with the column."""
    for node in list(within.find_all(exp.EQ, exp.NEQ, exp.In)):
        sides = [node.this, *([node.expression] if isinstance(node, exp.Binary) else node.expressions)]
        columns = [side for side in sides if isinstance(side, exp.Column)]
        if len(columns) == 1:
            yield from ((columns[0], side) for side in sides if isinstance(side, exp.Literal) and side.is_string)


def take_out(select: exp.Select, clause: Literal["where", "having"], unwanted: Collection[exp.Expr]) -> bool:
    """Take these conditions out of WHERE or HAVING, in place; whether any of them stood there.

    Only those that all rows must meet: parentheses, with what is in them, are one condition.
    """
    parts = outer_conjuncts(select.args.get(clause))
    kept = [part for part in parts if not any(part is node for node in unwanted)]
    if len(kept) < len(parts):
        made = exp.Where if clause == "where" else exp.Having
        select.set(clause, made(this=exp.and_(*(part.copy() for part in kept), copy=False)) if kept else None)
    return len(kept) < len(parts)


def _condition(clause: exp.Expr) -> exp.Expr:
    node: exp.Expr = clause.this if isinstance(clause, exp.Where | exp.Having) else clause
    return node

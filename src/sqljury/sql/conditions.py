"""Conditions of WHERE, HAVING and ON, taken apart at AND and OR."""

from __future__ import annotations

from sqljury.sql.parse import exp


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


def _condition(clause: exp.Expr) -> exp.Expr:
    node: exp.Expr = clause.this if isinstance(clause, exp.Where | exp.Having) else clause
    return node

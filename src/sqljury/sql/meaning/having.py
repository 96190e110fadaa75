"""Conditions on rows that stand in HAVING, where engines refuse them, or take any row of the group."""

from __future__ import annotations

from sqljury.sql.conditions import outer_conjuncts, take_out
from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner
from sqljury.sql.terms import outside_queries


def conditions_of_rows(tree: exp.Query, asked: Asked) -> Change | None:
    """Choose rows before they are grouped: ``WHERE`` for ``HAVING STRFTIME('%Y', trip_day) = '2025'``.

    Such a condition has no aggregate, and columns of tables alone that the query does not group by.
    """
    moved = False
    for select in list(tree.find_all(exp.Select)):
        having, group = select.args.get("having"), select.args.get("group")
        if having is None or group is None:
            continue
        names = {item.alias.lower() for item in select.selects if item.alias}
        rows = [part for part in outer_conjuncts(having) if _is_of_rows(part, names, group.expressions, asked)]
        if not rows:
            continue
        take_out(select, "having", rows)
        select.where(*(row.copy() for row in rows), copy=False)
        moved = True
    return Change("a condition on rows stood in HAVING") if moved else None


def _is_of_rows(condition: exp.Expr, names: set[str], grouped: list[exp.Expr], asked: Asked) -> bool:
    """Whether a condition compares values of single rows, by none of which the query groups."""
    nodes = list(outside_queries(condition))
    if any(isinstance(node, exp.AggFunc | exp.Window | exp.Query | exp.Subquery) for node in nodes):
        return False
    columns = [node for node in nodes if isinstance(node, exp.Column)]
    if any(group in nodes for group in grouped) or not columns:
        return False
    return all(column.name.lower() not in names and owner(column, asked.schema) is not None for column in columns)

"""Queries that are ordered by an aggregate and have no groups: what they group, and what they count."""

from __future__ import annotations

from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources
from sqljury.sql.routes import own_key


def group_outputs(sources: Sources) -> bool:
    """Group a query that is ordered by an aggregate, and has no groups, by its outputs; whether that was so.

    It fails on every engine. Columns that stricter engines want in GROUP BY are added by ``sql.grouping``.
    """
    select = sources.scope.expression
    outputs = bare_outputs(select)
    alone = len(sources.scope.selected_sources) == 1 and one_row_each(outputs, sources)
    if not outputs or alone or not ordered_by_count(select) or not isinstance(select, exp.Select):
        return False
    select.group_by(*[item.copy() for item in outputs], copy=False)
    return True


def bare_outputs(select: exp.Expr) -> list[exp.Expr]:
    """The outputs of a SELECT that have columns and no aggregate; none where it has ``*``."""
    if not isinstance(select, exp.Select) or any(item.is_star for item in select.selects):
        return []
    outputs = [item.unalias() for item in select.selects if item.find(exp.AggFunc, exp.Window, exp.Subquery) is None]
    return [item for item in outputs if item.find(exp.Column) is not None]


def ordered_by_count(select: exp.Expr) -> bool:
    """Whether a SELECT without groups, aggregates or DISTINCT is ordered by an aggregate."""
    order = select.args.get("order")
    if not isinstance(select, exp.Select) or order is None or select.args.get("group") or select.args.get("distinct"):
        return False
    aggregated = any(item.find(exp.AggFunc) is not None for item in select.selects)
    return not aggregated and any(
        key.find(exp.AggFunc) is not None and key.find(exp.Window, exp.Subquery) is None for key in order.expressions
    )


def one_row_each(outputs: list[exp.Expr], sources: Sources) -> bool:
    """Whether the outputs hold the key of the first table of FROM, so that each row is a group of its own."""
    if not sources.tables:
        return False
    key = own_key(next(iter(sources.tables.values())))
    return key is not None and key.lower() in {item.name.lower() for item in outputs if isinstance(item, exp.Column)}

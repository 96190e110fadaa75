"""GROUP BY that a query needs and lacks, completed by its outputs."""

from __future__ import annotations

from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources
from sqljury.sql.routes import own_key


def complete_groups(sources: Sources) -> bool:
    """Put the bare outputs of a query into its groups, where its engine takes it no other way; whether that was so.

    A query that orders by an aggregate without groups fails on every engine; PostgreSQL and DuckDB want every output
    beside an aggregate in GROUP BY.
    """
    select = sources.scope.expression
    outputs = bare_outputs(select)
    if not outputs:
        return False
    group = select.args.get("group")
    if group is None:
        alone = len(sources.scope.selected_sources) == 1 and one_row_each(outputs, sources)
        missing = outputs if ordered_by_count(select) and not alone else []
    else:
        missing = _ungrouped(outputs, group) if sources.schema.dialect in ("postgres", "duckdb") else []
    if missing:
        select.group_by(*[item.copy() for item in missing], copy=False)
    return bool(missing)


def bare_outputs(select: exp.Expr) -> list[exp.Expr]:
    """The outputs of a SELECT that have columns and no aggregate; none where it has ``*``."""
    if not isinstance(select, exp.Select) or any(item.is_star for item in select.selects):
        return []
    outputs = [item.unalias() for item in select.selects if item.find(exp.AggFunc, exp.Window, exp.Subquery) is None]
    return [item for item in outputs if item.find(exp.Column) is not None]


def ordered_by_count(select: exp.Expr) -> bool:
    """Whether a SELECT without groups, aggregates or DISTINCT is ordered by an aggregate."""
    order = select.args.get("order")
    if order is None or select.args.get("group") or select.args.get("distinct"):
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


def _ungrouped(outputs: list[exp.Expr], group: exp.Expr) -> list[exp.Expr]:
    """The outputs that GROUP BY lacks, where its keys are all columns."""
    special = any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets", "all"))
    if special or not all(isinstance(key, exp.Column) for key in group.expressions):
        return []
    present = {key.sql().lower() for key in group.expressions} | {key.name.lower() for key in group.expressions}
    missing = [item for item in outputs if item.sql().lower() not in present]
    return [item for item in missing if not (isinstance(item, exp.Column) and item.name.lower() in present)]

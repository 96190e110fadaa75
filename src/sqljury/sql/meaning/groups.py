"""Groups that a query lacks, and conditions on rows that can only be meant for the totals of groups."""

from __future__ import annotations

from sqljury.sql.conditions import conjuncts
from sqljury.sql.grouping import bare_outputs, group_what_lacks
from sqljury.sql.meaning.base import Asked, Change, held, is_met
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, read_sources


def grouped(tree: exp.Query, asked: Asked) -> Change | None:
    """Group by the columns beside a sum, a count or a mean where the query has no groups.

    SQLite would take these columns from any row; other engines refuse such a query.
    """
    if asked.dialect != "sqlite":
        return None
    changed = False
    for sources in read_sources(tree, asked.schema):
        select = sources.scope.expression
        if isinstance(select, exp.Select) and not select.args.get("group") and bare_outputs(select):
            list(group_what_lacks(sources))
            changed |= bool(select.args.get("group"))
    return Change("columns beside an aggregate are of any row, as the query has no groups") if changed else None


def totals(tree: exp.Query, asked: Asked) -> Change | None:
    """Let ``WHERE amount > 10000`` be about the sum of each group, if the query adds it up and no row has so much.

    Customers who spent more than 10,000 are seldom those of a single order.
    """
    changed = False
    for select in list(tree.find_all(exp.Select)):
        if not select.args.get("group"):
            continue
        sums = {node.this.sql().lower(): node for node in select.find_all(exp.Sum) if node.parent_select is select}
        conditions = conjuncts(select.args.get("where"))
        moved = [
            (condition, sums[condition.this.sql().lower()])
            for condition in conditions
            if isinstance(condition, exp.GT | exp.GTE)
            and condition.this.sql().lower() in sums
            and _is_of_no_row(condition, asked)
        ]
        if moved:
            changed = True
            rest = [one.copy() for one in conditions if not any(one is condition for condition, _ in moved)]
            select.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
            for condition, total in moved:
                of_group = type(condition)(this=total.copy(), expression=condition.expression.copy())
                select.having(of_group, copy=False)
    return Change("no row has so much, so the condition is about the sum of each group") if changed else None


def _is_of_no_row(condition: exp.Expr, asked: Asked) -> bool:
    """Whether a column is compared with a number that none of its rows reaches."""
    known, number = held(condition.this, asked.schema), condition.expression
    if known is None or not isinstance(number, exp.Literal) or number.is_string:
        return False
    column = exp.column(identifier(known.column.name, asked.dialect))
    return is_met(type(condition)(this=column, expression=number.copy()), known.table, asked) is False

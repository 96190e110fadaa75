"""Groups that a query lacks: for totals, for conditions that can only be about totals, and for the best of each."""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.alike import pieces
from sqljury.sql.conditions import conjuncts
from sqljury.sql.grouping import bare_outputs, group_what_lacks
from sqljury.sql.meaning.base import Asked, Change, held, is_met
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, read_sources
from sqljury.sql.terms import resolved

_EACH: Final = re.compile(r"\b(?:for|in|of|from|within|at|on|by) (?:each|every) ([\w-]+)", re.IGNORECASE)
_TITLES: Final = (("name",), ("title",), ("label",))


def grouped(tree: exp.Query, asked: Asked) -> Change | None:
    """Group by the columns beside a sum, a count, a mean or several aggregates where the query has no groups.

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
    """Let ``WHERE amount > 10000`` be about the sum of each group, if no row has so much.

    Customers who spent more than 10,000 are seldom those of a single order. The query adds the column up for its
    groups, or shows it beside the columns that are to be its groups.
    """
    changed = False
    for select in list(tree.find_all(exp.Select)):
        conditions = conjuncts(select.args.get("where"))
        met = [one for one in conditions if isinstance(one, exp.GT | exp.GTE) and isinstance(one.this, exp.Column)]
        for condition in met:
            if _sum_of(condition.this, select.copy()) is None or not _is_of_no_row(condition, asked):
                continue
            changed = True
            of_group = type(condition)(this=_sum_of(condition.this, select), expression=condition.expression.copy())
            select.having(of_group, copy=False)
            rest = [one.copy() for one in conjuncts(select.args.get("where")) if one != condition]
            select.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    return Change("no row has so much, so the condition is about the sum of each group") if changed else None


def _sum_of(column: exp.Column, select: exp.Select) -> exp.Expr | None:
    """The sum of a column in each group; a query that shows the column without any groups is given them."""
    total = exp.Sum(this=column.copy())
    if select.args.get("group"):
        sums = (node for node in select.find_all(exp.Sum) if node.parent_select is select)
        return total if total in sums else None
    outputs = [item.unalias() for item in select.selects]
    keys = [output for output in outputs if output != column]
    shown = [item for item in select.selects if item.unalias() == column]
    if len(shown) != 1 or not keys or not all(isinstance(key, exp.Column) and not key.is_star for key in keys):
        return None
    if any(select.args.get(part) for part in ("distinct", "limit", "order")):
        return None
    shown[0].replace(exp.alias_(total.copy(), shown[0].alias) if shown[0].alias else total.copy())
    select.group_by(*(key.copy() for key in keys), copy=False)
    return total


def _is_of_no_row(condition: exp.Expr, asked: Asked) -> bool:
    """Whether a column is compared with a number that none of its rows reaches."""
    known, number = held(condition.this, asked.schema), condition.expression
    if known is None or not isinstance(number, exp.Literal) or number.is_string:
        return False
    column = exp.column(identifier(known.column.name, asked.dialect))
    return is_met(type(condition)(this=column, expression=number.copy()), known.table, asked) is False


def best_of_each(tree: exp.Query, asked: Asked) -> Change | None:
    """Take the first of each group where the question asks for it, as by "in each region", and the query has LIMIT 1.

    The rows are ranked within the group that the question names, an output of the query; those with the rank 1 are
    the result, several of a group if they are equal.
    """
    limit = tree.args.get("limit")
    if not isinstance(tree, exp.Select) or not isinstance(limit, exp.Limit) or limit.expression.sql() != "1":
        return None
    order, group = tree.args.get("order"), tree.args.get("group")
    keys = [item.unalias() for item in tree.selects]
    each = next((key for key in keys if isinstance(key, exp.Column) and _is_each(key, asked)), None)
    if each is None or len(keys) < 2 or order is None or len(order.expressions) != 1:
        return None
    if any(tree.args.get(part) for part in ("distinct", "offset", "with_")) or tree.find(exp.Window) is not None:
        return None
    ordered = order.expressions[0].copy()
    ordered.set("this", resolved(ordered.this, tree, ()))
    if (group is not None and each not in group.expressions) or each in ordered.find_all(exp.Column):
        return None
    place = exp.Window(
        this=exp.Anonymous(this="RANK"), partition_by=[each.copy()], order=exp.Order(expressions=[ordered])
    )
    names = [f"c{at}" for at in range(1, len(keys) + 1)]
    listed = [exp.alias_(key.copy(), name) for key, name in zip(keys, names, strict=True)]
    inner = tree.copy()
    inner.set("expressions", [*listed, exp.alias_(place, "place")])
    inner.set("order", None)
    inner.set("limit", None)
    shown = [
        exp.alias_(name, item.alias) if item.alias else name for name, item in zip(names, tree.selects, strict=True)
    ]
    query = exp.select(*shown).from_(inner.subquery("ranked")).where(exp.column("place").eq(1))
    return Change(
        "the question asks for the first of each, and the query had that of all", query=query, replaced="limit"
    )


def _is_each(column: exp.Column, asked: Asked) -> bool:
    """Whether the question asks for something in each of what the column holds or is the name of."""
    match, known = _EACH.search(asked.question.text), held(column, asked.schema)
    if match is None or known is None:
        return False
    wanted, own, table = pieces(match[1]), pieces(known.column.name), pieces(known.table.name)
    of_table = table[-len(wanted) :] == wanted and own[-1:] in _TITLES
    return bool(wanted) and (own == wanted or (own[-1:] in _TITLES and own[:-1] == wanted) or of_table)


def counted_sets(tree: exp.Query, _asked: Asked) -> Change | None:
    """Count what EXCEPT or INTERSECT leaves, where the query has it between two counts.

    ``SELECT COUNT(DISTINCT a) ... EXCEPT SELECT COUNT(DISTINCT a) ...`` compares two numbers.
    """
    if not isinstance(tree, exp.Except | exp.Intersect):
        return None
    whole = tree.copy()
    columns = [_counted(side) for side in (whole.this, whole.expression)]
    if None in columns or len({column.name.lower() for column in columns if column is not None}) > 1:
        return None
    for side, column in zip((whole.this, whole.expression), columns, strict=True):
        side.set("expressions", [column])
    query = exp.select(exp.Count(this=exp.Star())).from_(whole.subquery("counted"))
    reason = "the query compared two counts, not what they count"
    return Change(reason, may_empty=True, query=query, replaced="distinct")


def _counted(side: exp.Expr) -> exp.Column | None:
    """The column whose values a SELECT counts, and nothing else."""
    if not isinstance(side, exp.Select) or len(side.selects) != 1 or side.args.get("group"):
        return None
    count = side.selects[0].unalias()
    column = count.this if isinstance(count, exp.Count) else None
    if isinstance(column, exp.Distinct) and len(column.expressions) == 1:
        column = column.expressions[0]
    return column.copy() if isinstance(column, exp.Column) else None

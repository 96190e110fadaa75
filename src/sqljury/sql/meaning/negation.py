"""``NOT IN`` over a NULL, and a comparison with NULL, which are never true: no row is left."""

from __future__ import annotations

from sqljury.sql.meaning.base import Asked, Change, compared, held
from sqljury.sql.parse import exp


def not_in_null(tree: exp.Query, asked: Asked) -> Change | None:
    """Leave out the NULLs of NOT IN: by a condition in a subquery, by removing them from a list."""
    changed = False
    for node in list(tree.find_all(exp.Not)):
        within = node.this.unnest()
        if not isinstance(within, exp.In):
            continue
        query = within.args.get("query")
        select = query.this if isinstance(query, exp.Subquery) else query
        if isinstance(select, exp.Select):
            changed |= _without_nulls(select, asked)
        else:
            values = [value for value in within.expressions if not isinstance(value, exp.Null)]
            if values and len(values) < len(within.expressions):
                within.set("expressions", values)
                changed = True
    return Change("NOT IN over a list with NULL in it is never true") if changed else None


def compared_with_null(tree: exp.Query, _asked: Asked) -> Change | None:
    """Ask whether a column is NULL as SQL does: ``IS NULL`` for ``= NULL``, ``IS NOT NULL`` for ``<> NULL``."""
    changed = False
    for node, column, other in compared(tree, exp.EQ, exp.NEQ):
        if isinstance(other, exp.Null):
            changed = True
            is_null = exp.Is(this=column.copy(), expression=exp.Null())
            node.replace(exp.Not(this=is_null) if isinstance(node, exp.NEQ) else is_null)
    return Change("a comparison with NULL is never true") if changed else None


def _without_nulls(select: exp.Select, asked: Asked) -> bool:
    item = select.selects[0].unalias() if len(select.selects) == 1 else None
    if item is None or isinstance(item, exp.Star) or select.args.get("limit") is not None:
        return False
    if item.find(exp.AggFunc, exp.Window, exp.Literal) is not None or not item.find(exp.Column):
        return False
    group = select.args.get("group")
    if group is not None and item not in group.expressions:
        return False
    known = held(item, asked.schema)
    outer = any(join.side for join in select.args.get("joins") or ())
    if known is not None and not outer and (known.column.not_null or known.column.name in known.table.primary_key):
        return False
    kept = exp.Not(this=exp.Is(this=item.copy(), expression=exp.Null()))
    where = select.args.get("where")
    if where is not None and kept in where.find_all(exp.Not):
        return False
    select.where(kept, copy=False)
    return True

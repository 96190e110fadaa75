"""Joins of a parsed query that tie nothing together, and joined tables that nothing else is asked of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqljury.types import Schema

if TYPE_CHECKING:
    from sqlglot import exp


def unlinked(query: exp.Select) -> int:
    """How many joins of this SELECT have no condition: neither ON, USING and NATURAL, nor one in WHERE."""
    from sqlglot import exp

    where = query.args.get("where")
    linked = {
        side.table.lower()
        for one in (where.find_all(exp.EQ) if where is not None else ())
        if isinstance(one.left, exp.Column) and isinstance(one.right, exp.Column)
        for side in (one.left, one.right)
    }
    # a name without its table may belong to any, so such a condition is taken for a link of all
    return sum(not linked & {"", join.alias_or_name.lower()} for join in _joins(query) if _bare(join))


def _joins(query: exp.Select) -> list[exp.Join]:
    return list(query.args.get("joins") or ())


def _bare(join: exp.Join) -> bool:
    from sqlglot import exp

    on = join.args.get("on")  # the parser puts ON TRUE where JOIN has none
    conditioned = on is not None and any(True for _ in on.find_all(exp.Column))
    return not conditioned and not join.args.get("using") and join.args.get("method") != "NATURAL"


def idle(tree: exp.Query, schema: Schema) -> Iterator[str]:
    """Tables that are joined by one condition and otherwise unused, in lower case: they add nothing but rows to drop.

    A table between two others is used in two conditions, so it is none of them.
    """
    from sqlglot import exp

    for query in tree.find_all(exp.Select):
        joins = _joins(query)
        tables = [one for one in (_source(query), *(join.this for join in joins)) if isinstance(one, exp.Table)]
        if len(tables) < 2 or (any(query.find_all(exp.Star)) and not any(query.find_all(exp.Count))):
            continue
        conditions = [join.args["on"] for join in joins if join.args.get("on") is not None]
        keys = [list(one.find_all(exp.Column)) for one in conditions]
        within = {id(column) for own in keys for column in own}
        others = [column for column in query.find_all(exp.Column) if id(column) not in within]
        for table in tables:
            used = any(_may_be_of(column, table, schema) for column in others)
            if not used and sum(any(_may_be_of(one, table, schema) for one in own) for own in keys) == 1:
                yield table.name.lower()


def _source(query: exp.Select) -> exp.Expr | None:
    source = query.args.get("from_") or query.args.get("from")
    return None if source is None else source.this


def _may_be_of(column: exp.Column, table: exp.Table, schema: Schema) -> bool:
    """By the name before the column, or by the schema where there is none."""
    if column.table:
        return column.table.lower() == table.alias_or_name.lower()
    own = (one for one in schema.tables if one.name.lower() == table.name.lower())
    return any(column.name.lower() == known.name.lower() for one in own for known in one.columns)

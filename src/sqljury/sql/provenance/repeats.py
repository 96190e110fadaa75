"""Values that a sum or an average takes several times, since a join makes several rows of one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from sqljury.sql import text
from sqljury.sql.parse import exp
from sqljury.sql.provenance.matches import Loss
from sqljury.sql.provenance.phrases import Phrases, counted
from sqljury.sql.provenance.sources import aliases
from sqljury.sql.resolve import from_items, tables_of
from sqljury.sql.terms import group_keys, meant, outside_queries
from sqljury.types import Schema

_CHARS: Final = 200
_CLAUSES: Final = ("limit", "offset", "order", "distinct", "having", "windows", "qualify", "with_")


def repeated(select: exp.Select, schema: Schema) -> Iterator[Loss]:
    """For each table whose values are added up, the count of its rows that one group has several times."""
    seen: set[str] = set()
    for node in _sums(select) if len(from_items(select)) > 1 and not group_keys(select)[1] else ():
        named = aliases(node, select, schema)
        alias = next(iter(named)) if named is not None and len(named) == 1 else ""
        table = tables_of(select, schema).get(alias)
        if table is None or not table.row_key or alias in seen:
            continue
        seen.add(alias)
        written = next(item.alias_or_name for item in from_items(select) if item.alias_or_name.lower() == alias)
        columns = [exp.column(name, table=written, quoted=True) for name in table.row_key]
        what = text.remark(Phrases(schema).value(node), _CHARS)
        yield Loss(_several(select, columns), partial(_said, text.printable(table.name), what), True)


def _sums(select: exp.Select) -> list[exp.Expr]:
    order, having = select.args.get("order"), select.args.get("having")
    parts = [*select.selects, *([having.this] if having is not None else [])]
    parts += [] if order is None else [meant(key.this, select) for key in order.expressions]
    return [
        node
        for part in parts
        for node in outside_queries(part)
        if isinstance(node, exp.Sum | exp.Avg)
        and not isinstance(node.this, exp.Distinct)
        and not isinstance(node.parent, exp.Window | exp.Filter)
    ]


def _several(select: exp.Select, columns: list[exp.Column]) -> exp.Select:
    """The count of rows, by their key, that a group has more than once."""
    query = select.copy()
    for clause in _CLAUSES:
        query.set(clause, None)
    keys = [meant(key, select).copy() for key in group_keys(select)[0]]
    query.set("expressions", [exp.alias_(exp.Literal.number(1), "found")])
    query.set("group", exp.Group(expressions=[*keys, *columns]))
    query = query.where(exp.Not(this=exp.Is(this=columns[0].copy(), expression=exp.Null())), copy=False)
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    query = query.having(several, copy=False)
    return exp.select(exp.Count(this=exp.Star())).from_(query.subquery("repeated"))


def _said(table: str, what: str, number: int) -> str:
    is_, it = ("is", "it") if number == 1 else ("are", "them")
    return f"{counted(number, 'row')} of {table} {is_} part of {what} more than once: the join repeats {it}"

"""Values that a sum or an average takes several times, since a join makes several rows of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, Literal

from sqljury.sql import text
from sqljury.sql.parse import exp
from sqljury.sql.provenance.matches import Loss
from sqljury.sql.provenance.phrases import Phrases, counted
from sqljury.sql.provenance.sources import aliases, written_alias
from sqljury.sql.resolve import column_names, from_items, tables_of
from sqljury.sql.terms import group_keys, meant, outside_queries, resolved
from sqljury.types import Schema, Table

_CHARS: Final = 200
_CLAUSES: Final = ("limit", "offset", "order", "distinct", "having", "windows", "qualify", "with_")
_CUTS: Final = ("having", "limit", "offset")
"""Clauses after which not all groups are shown."""


def repeated(select: exp.Select, schema: Schema) -> Iterator[Loss]:
    """For each table whose values are added up, the count of its rows that one of the groups shown has several times.

    None where DISTINCT or QUALIFY decides which groups are shown, and for a table without a key: see ``keyless``.
    """
    if select.args.get("qualify") or (select.args.get("distinct") and _is_cut(select)):
        return
    for alias, (table, node) in _added_up(select, schema).items():
        if table.row_key:
            written = next(item for item in from_items(select) if item.alias_or_name.lower() == alias)
            columns = [exp.column(name, table=written_alias(written), quoted=True) for name in table.row_key]
            what = text.remark(Phrases(schema).value(node), _CHARS)
            query = _several(select, columns, schema)
            yield Loss(query, partial(_said, text.printable(table.name), what), True)


def keyless(select: exp.Select, schema: Schema) -> list[str]:
    """The names of tables without a key whose values are added up: nothing identifies a row that a join repeats."""
    return [table.name for table, _ in _added_up(select, schema).values() if not table.row_key]


def _added_up(select: exp.Select, schema: Schema) -> dict[str, tuple[Table, exp.Expr]]:
    """By alias, the tables of a join whose values are added up, each with the first sum or average of them."""
    added: dict[str, tuple[Table, exp.Expr]] = {}
    keys, kinds = group_keys(select)
    subtotals = bool(kinds) or any(isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets) for key in keys)
    for node in _sums(select) if len(from_items(select)) > 1 and not subtotals else ():
        named = aliases(node, select, schema)
        alias = next(iter(named)) if named is not None and len(named) == 1 else ""
        table = tables_of(select, schema).get(alias)
        if table is not None:
            added.setdefault(alias, (table, node))
    return added


def _sums(select: exp.Select) -> list[exp.Expr]:
    return _sums_of([*select.selects, *_parts(select, "having"), *_parts(select, "order")])


def _parts(select: exp.Select, clause: Literal["having", "order"]) -> list[exp.Expr]:
    """The condition of HAVING, or the keys of ORDER BY."""
    node = select.args.get(clause)
    if node is None:
        return []
    return [node.this] if clause == "having" else [meant(key.this, select) for key in node.expressions]


def _sums_of(parts: Iterable[exp.Expr]) -> list[exp.Expr]:
    return [
        node
        for part in parts
        for node in outside_queries(part)
        if isinstance(node, exp.Sum | exp.Avg)
        and not isinstance(node.this, exp.Distinct)
        and not isinstance(node.parent, exp.Window | exp.Filter)
    ]


def _is_cut(select: exp.Select) -> bool:
    return any(select.args.get(clause) for clause in _CUTS)


def _is_cut_by_sums(select: exp.Select) -> bool:
    """Whether a sum decides which groups are shown, so that one which a join repeats may hide another group."""
    by_rank = bool(select.args.get("limit") or select.args.get("offset"))
    having = [resolved(part, select, ()) for part in _parts(select, "having")]
    return bool(_sums_of([*having, *(_parts(select, "order") if by_rank else [])]))


def _several(select: exp.Select, columns: list[exp.Column], schema: Schema) -> exp.Select:
    """The count of rows, by their key, that a group has more than once: one that is shown, if no sum decides which."""
    query = select.copy()
    for clause in _CLAUSES:
        query.set(clause, None)
    keys = [meant(key, select).copy() for key in group_keys(select)[0]]
    if keys and _is_cut(select) and not _is_cut_by_sums(select):
        query = query.join(_shown(select, keys, schema).subquery("groups_shown"), join_type="CROSS", copy=False)
        for number, key in enumerate(keys, 1):
            same = exp.EQ(this=key.copy(), expression=exp.column(f"group_key_{number}", table="groups_shown"))
            query = query.where(same, copy=False)
    query.set("expressions", [exp.alias_(exp.Literal.number(1), "found")])
    query.set("group", exp.Group(expressions=[*keys, *columns]))
    query = query.where(exp.Not(this=exp.Is(this=columns[0].copy(), expression=exp.Null())), copy=False)
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    query = query.having(several, copy=False)
    return exp.select(exp.Count(this=exp.Star())).from_(query.subquery("repeated"))


def _shown(select: exp.Select, keys: list[exp.Expr], schema: Schema) -> exp.Select:
    """The keys of the groups that HAVING and LIMIT keep."""
    query = select.copy()
    query.set("with_", None)
    query.set("expressions", [exp.alias_(key.copy(), f"group_key_{number}") for number, key in enumerate(keys, 1)])
    query.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    if (having := select.args.get("having")) is not None:
        query.set("having", exp.Having(this=resolved(having.this, select, column_names(schema))))
    if (order := query.args.get("order")) is not None:
        for key in order.expressions:
            key.set("this", meant(key.this, select).copy())
    return query


def _said(table: str, what: str, number: int) -> str:
    is_, it = ("is", "it") if number == 1 else ("are", "them")
    return f"{counted(number, 'row')} of {table} {is_} part of {what} more than once: the join repeats {it}"

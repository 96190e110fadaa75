"""Rows that inner joins drop since they match none: counting queries, one for each table and each table it is tied to.

Rows that a condition on the other table would drop anyway are not counted: there the join loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from sqljury.sql import text
from sqljury.sql.parse import exp
from sqljury.sql.provenance.phrases import counted, listed, meant
from sqljury.sql.provenance.sources import Joined, aliases, conjuncts, joined
from sqljury.sql.terms import group_keys, outside_queries
from sqljury.types import Schema, Table

_COUNTED_UP: Final = ("lt", "lte", "eq", "between", "in")
"""Conditions of HAVING that a group of no rows may pass."""


class Loss(NamedTuple):
    """A count of the rows of one table that match none of another, the text for a number, and whether it warns."""

    query: exp.Select
    said: Callable[[int], str]
    warns: bool


def unmatched(select: exp.Select, schema: Schema, *, each: bool) -> Iterator[Loss]:
    """The counts for each two tables of a SELECT that an equation ties."""
    sources = joined(select, schema)
    for pair in sources.edges if sources is not None else ():
        for kept, dropped in (sorted(pair), sorted(pair, reverse=True)):
            if sources is not None and kept in sources.tables and dropped in sources.tables:
                yield from _loss(sources, kept, dropped, schema, each=each)


def _loss(sources: Joined, kept: str, dropped: str, schema: Schema, *, each: bool) -> Iterator[Loss]:
    retained = sources.beyond(kept, without=dropped)
    ties = [terms for pair, terms in sources.edges.items() if dropped in pair and pair & retained]
    inside = [term for term, named in sources.conditions if named <= retained]
    outside = [term for term, named in sources.conditions if named & (sources.nodes.keys() - retained)]
    if len(ties) != 1 or outside:  # tied to several tables, or chosen by the other table's values
        return
    query = _counting(sources, kept, dropped, retained, inside)
    if query is None:
        return
    names = [_name(sources, alias) for alias in (kept, dropped)]
    refers = _refers(sources.tables[kept], sources.tables[dropped], ties[0], dropped)
    warns = _shows_kept(sources, retained, schema) if refers else _wants_all(sources, retained, schema, each=each)

    def said(number: int) -> str:
        has, is_ = ("has", "is") if number == 1 else ("have", "are")
        by = listed([text.printable(_side(term, kept).name) for term in ties[0]])
        match = f"match in {names[1]} by {by}" if refers else f"row in {names[1]}"
        return f"{counted(number, 'row')} of {names[0]} {has} no {match} and {is_} left out by the join"

    yield Loss(query, said, warns)


def _name(sources: Joined, alias: str) -> str:
    table = sources.tables[alias]
    twice = sum(other is table for other in sources.tables.values()) > 1
    return text.printable(f"{table.name} (as {alias})" if twice else table.name)


def _side(term: exp.Expr, alias: str) -> exp.Column:
    """The column of an equation that is of this alias; its left side where names have no table before them."""
    sides = [side for side in (term.this, term.expression) if isinstance(side, exp.Column)]
    return next((side for side in sides if side.table.lower() == alias), sides[0])


def _counting(
    sources: Joined, kept: str, dropped: str, retained: set[str], inside: list[exp.Expr]
) -> exp.Select | None:
    """The count of rows of ``kept`` that match no row of ``dropped``, among the rows that the rest of the query keeps."""
    ties = sources.edges[frozenset((kept, dropped))]
    if any(not side.table for term in ties for side in (term.this, term.expression)):
        return None
    query = exp.Select().from_(sources.nodes[kept].copy())
    placed, waiting = {kept}, sorted(retained - {kept})
    while waiting:
        here = next(alias for alias in waiting if any(alias in pair and pair & placed for pair in sources.edges))
        terms = [term for pair, found in sources.edges.items() if here in pair and pair - {here} <= placed for term in found]
        query = query.join(sources.nodes[here].copy(), on=exp.and_(*(term.copy() for term in terms)), copy=False)
        placed.add(here)
        waiting.remove(here)
    match = exp.and_(*(term.copy() for term in ties))
    query = query.join(sources.nodes[dropped].copy(), on=match, join_type="LEFT", copy=False)
    empty = exp.Is(this=_side(ties[0], dropped).copy(), expression=exp.Null())
    query.set("where", exp.Where(this=exp.and_(*(term.copy() for term in inside), empty)))
    key = sources.tables[kept].row_key
    if retained == {kept}:
        return query.select(exp.Count(this=exp.Star()), copy=False)
    if not key:
        return None
    columns = [exp.column(name, table=_alias(sources, kept), quoted=True) for name in key]
    if len(key) == 1:
        return query.select(exp.Count(this=exp.Distinct(expressions=columns)), copy=False)
    query = query.select(*columns, copy=False).distinct(copy=False)
    return exp.select(exp.Count(this=exp.Star())).from_(query.subquery("unmatched"))


def _alias(sources: Joined, alias: str) -> exp.Identifier:
    """The alias as FROM writes it."""
    node = sources.nodes[alias]
    written = node.args.get("alias")
    identifier = written.this if written is not None else node.this
    return identifier.copy()  # type: ignore[no-any-return]


def _refers(kept: Table, dropped: Table, ties: list[exp.Expr], alias: str) -> bool:
    """Whether a row of the one table names one row of the other: by a key of the schema, or by the other's own key."""
    columns = {_side(term, alias).name.lower() for term in ties}
    for key in dropped.foreign_keys:
        if key.ref_table == kept.name and {name.lower() for name in key.columns} == columns:
            return False
    keys = [dropped.row_key, *dropped.unique_keys, *((one.name,) for one in dropped.columns if one.unique)]
    return any(key and {name.lower() for name in key} <= columns for key in keys)


def _shows_kept(sources: Joined, retained: set[str], schema: Schema) -> bool:
    """Whether a row without a match would show in the result: as a row, in a group of its own, or in a total."""
    select = sources.select
    keys = [meant(key, select) for key in group_keys(select)[0]]
    parts = keys or select.selects
    totals = not keys and any(isinstance(node, exp.AggFunc) for item in parts for node in outside_queries(item))
    if totals and any(isinstance(node, exp.Star) for item in parts for node in outside_queries(item)):
        return True
    return any(bool((aliases(part, select, schema) or frozenset()) & retained) for part in parts)


def _wants_all(sources: Joined, retained: set[str], schema: Schema, *, each: bool) -> bool:
    """Whether groups without rows are missed: each row of the table is a group, and the question or the order wants all."""
    select = sources.select
    keys = [meant(key, select) for key in group_keys(select)[0]]
    named = [aliases(key, select, schema) for key in keys]
    if not keys or any(found is None or not found <= retained for found in named):
        return False
    having, order = select.args.get("having"), select.args.get("order")
    if having is not None and not all(term.key in _COUNTED_UP for term in conjuncts(having)):
        return False
    if select.args.get("limit") is None or order is None:
        return each
    first = order.expressions[0]
    return not first.args.get("desc") and meant(first.this, select).find(exp.Count) is not None

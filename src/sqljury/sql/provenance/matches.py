"""Rows that inner joins drop since they match none: counting queries, one for each table and each table it is tied to.

Rows that a condition on the other table would drop anyway are not counted: there the join loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from sqljury.language.wants import Wants
from sqljury.language.words import words
from sqljury.sql import text
from sqljury.sql.conditions import conjuncts
from sqljury.sql.parse import exp
from sqljury.sql.provenance.phrases import Phrases, counted, listed
from sqljury.sql.provenance.sources import Joined, aliases, joined, written_alias
from sqljury.sql.terms import group_keys, meant, outside_queries
from sqljury.types import Schema, Table


class Loss(NamedTuple):
    """A count of the rows of one table that match none of another, the text for a number, and whether it warns."""

    query: exp.Select
    said: Callable[[int], str]
    warns: bool


def unmatched(select: exp.Select, schema: Schema, wanted: Wants) -> Iterator[Loss]:
    """The counts for each two tables of a SELECT that an equation ties."""
    sources = joined(select, schema)
    for pair in sources.edges if sources is not None else ():
        for kept, dropped in (sorted(pair), sorted(pair, reverse=True)):
            if sources is not None and kept in sources.tables and dropped in sources.tables:
                yield from _loss(sources, kept, dropped, schema, wanted)


def _loss(sources: Joined, kept: str, dropped: str, schema: Schema, wanted: Wants) -> Iterator[Loss]:
    retained = sources.beyond(kept, without=dropped)
    ties = [terms for pair, terms in sources.edges.items() if dropped in pair and pair & retained]
    inside = [term for term, named in sources.conditions if named <= retained]
    outside = [term for term, named in sources.conditions if named & (sources.nodes.keys() - retained)]
    bare = any(not side.table for terms in ties for term in terms for side in (term.this, term.expression))
    if len(ties) != 1 or outside or bare:  # tied to several tables, or chosen by the other table's values
        return
    base = _beside(sources, kept, dropped, retained, inside)
    names, absent = [_name(sources, alias) for alias in (kept, dropped)], _side(ties[0][0], dropped)
    asked = not wanted.must_have & _words(sources, dropped)
    if _refers(sources.tables[kept], sources.tables[dropped], ties[0], dropped):
        by = listed([text.printable(_side(term, kept).name) for term in ties[0]])
        query, warns = _rows(sources, kept, retained, base, absent), _shows_kept(sources, retained, schema)
        warns = warns and not _lists(sources, wanted, of=dropped, beside=kept)
        what = ("row", f"of {names[0]}", f"match in {names[1]} by {by}")
    elif _wants_all(sources, retained, schema, each=wanted.each) and not _are_rows(sources, kept, schema):
        keys = [meant(key, sources.select) for key in group_keys(sources.select)[0]]
        query, warns = _groups(base, keys, absent), True
        what = (
            "value" if len(keys) == 1 else "combination",
            f"of {listed([Phrases(schema).value(key) for key in keys])}",
            f"row in {names[1]}",
        )
    else:
        missed = _wants_all(sources, retained, schema, each=wanted.each)
        query, warns = _rows(sources, kept, retained, base, absent), missed or _lists(sources, wanted, kept, dropped)
        what = ("row", f"of {names[0]}", f"row in {names[1]}")
    if query is not None:
        yield Loss(query, partial(_said, what), warns and asked)


def _said(what: tuple[str, str, str], number: int) -> str:
    has, is_ = ("has", "is") if number == 1 else ("have", "are")
    return f"{counted(number, what[0])} {what[1]} {has} no {what[2]} and {is_} left out by the join"


def _name(sources: Joined, alias: str) -> str:
    table = sources.tables[alias]
    twice = sum(other is table for other in sources.tables.values()) > 1
    return text.printable(f"{table.name} (as {alias})" if twice else table.name)


def _side(term: exp.Expr, alias: str) -> exp.Column:
    """The column of an equation that is of this alias; its left side where names have no table before them."""
    sides = [side for side in (term.this, term.expression) if isinstance(side, exp.Column)]
    return next((side for side in sides if side.table.lower() == alias), sides[0])


def _beside(sources: Joined, kept: str, dropped: str, retained: set[str], inside: list[exp.Expr]) -> exp.Select:
    """The rows that the rest of the query keeps, beside those of ``dropped`` that they match, or NULLs."""
    query = exp.Select().from_(sources.nodes[kept].copy())
    placed, waiting = {kept}, sorted(retained - {kept})
    while waiting:
        here = next(alias for alias in waiting if any(alias in pair and pair & placed for pair in sources.edges))
        tied = [terms for pair, terms in sources.edges.items() if here in pair and pair - {here} <= placed]
        on = exp.and_(*(term.copy() for terms in tied for term in terms))
        query = query.join(sources.nodes[here].copy(), on=on, copy=False)
        placed.add(here)
        waiting.remove(here)
    match = exp.and_(*(term.copy() for term in sources.edges[frozenset((kept, dropped))]))
    query = query.join(sources.nodes[dropped].copy(), on=match, join_type="LEFT", copy=False)
    if inside:
        query.set("where", exp.Where(this=exp.and_(*(term.copy() for term in inside))))
    return query


def _rows(sources: Joined, kept: str, retained: set[str], base: exp.Select, absent: exp.Column) -> exp.Select | None:
    """The count of rows of ``kept`` without a match; None for a table without a key beside others."""
    query = base.where(exp.Is(this=absent.copy(), expression=exp.Null()), copy=False)
    key = sources.tables[kept].row_key
    if retained == {kept}:
        return query.select(exp.Count(this=exp.Star()), copy=False)
    if not key:
        return None
    columns = [exp.column(name, table=written_alias(sources.nodes[kept]), quoted=True) for name in key]
    if len(key) == 1:
        return query.select(exp.Count(this=exp.Distinct(expressions=columns)), copy=False)
    query = query.select(*columns, copy=False).distinct(copy=False)
    return exp.select(exp.Count(this=exp.Star())).from_(query.subquery("unmatched"))


def _groups(base: exp.Select, keys: list[exp.Expr], absent: exp.Column) -> exp.Select:
    """The count of groups of which no row has a match."""
    none = exp.EQ(this=exp.Count(this=absent.copy()), expression=exp.Literal.number(0))
    query = base.select("1 AS found", copy=False).group_by(*(key.copy() for key in keys), copy=False)
    query = query.having(none, copy=False)
    return exp.select(exp.Count(this=exp.Star())).from_(query.subquery("unmatched"))


def _refers(kept: Table, dropped: Table, ties: list[exp.Expr], alias: str) -> bool:
    """Whether a row of the one table names one row of the other: by a key of the schema, or by the other's own key."""
    columns = {_side(term, alias).name.lower() for term in ties}
    for key in dropped.foreign_keys:
        if key.leads_to(kept) and {name.lower() for name in key.columns} == columns:
            return False
    unique = ((column.name,) for column in dropped.columns if column.unique)
    keys = [dropped.row_key, *dropped.unique_keys, *dropped.candidate_keys, *unique]
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


def _words(sources: Joined, alias: str) -> set[str]:
    return set(words(sources.tables[alias].name))


def _lists(sources: Joined, wanted: Wants, of: str, beside: str) -> bool:
    """Whether each or all of the rows of one table are to be listed, and not those of the other."""
    if group_keys(sources.select)[0] or any(item.find(exp.AggFunc) is not None for item in sources.select.selects):
        return False
    named, other = _words(sources, of), _words(sources, beside)
    return bool(wanted.each_of & (named - other)) and not wanted.each_of & (other - named)


def _are_rows(sources: Joined, kept: str, schema: Schema) -> bool:
    """Whether there is a group for each row of ``kept``, whose key is among those of the groups."""
    select, table = sources.select, sources.tables[kept]
    keys = [meant(key, select) for key in group_keys(select)[0]]
    named = {key.name.lower() for key in keys if aliases(key, select, schema) == frozenset((kept,))}
    return bool(table.row_key) and len(named) == len(keys) and {name.lower() for name in table.row_key} <= named


def _wants_all(sources: Joined, retained: set[str], schema: Schema, *, each: bool) -> bool:
    """Whether groups without rows are missed: the question asks for all of them, or the order for the smallest."""
    select = sources.select
    keys = [meant(key, select) for key in group_keys(select)[0]]
    named = [aliases(key, select, schema) for key in keys]
    if not keys or any(names is None or not names <= retained for names in named):
        return False
    having, order = select.args.get("having"), select.args.get("order")
    if having is not None and not all(map(_passes_empty, conjuncts(having))):
        return False
    if select.args.get("limit") is None or order is None:
        return each
    first = order.expressions[0]
    return not first.args.get("desc") and meant(first.this, select).find(exp.Count) is not None


def _passes_empty(term: exp.Expr) -> bool:
    """Whether a condition of HAVING may hold for a group of no rows."""
    return isinstance(term, exp.LT | exp.LTE) or (isinstance(term, exp.EQ) and term.expression.name == "0")

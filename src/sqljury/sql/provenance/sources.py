"""What a SELECT reads, with the conditions that tie its tables and those that choose rows, for counting queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqljury.sql.conditions import conjuncts
from sqljury.sql.parse import exp
from sqljury.sql.resolve import from_items, has_column, owner, tables_of
from sqljury.types import Schema, Table

_HALF: Final = ("SEMI", "ANTI")
"""Kinds of joins that choose rows, and add no columns to them."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A SELECT over several tables that are joined by equations.

    ``tables`` are those of the schema, ``nodes`` everything in FROM, by alias in lower case. ``edges`` are the
    equations between two aliases; ``conditions`` all others that must hold, each with the aliases that it names.
    """

    select: exp.Select
    tables: dict[str, Table]
    nodes: dict[str, exp.Expr]
    edges: dict[frozenset[str], list[exp.Expr]]
    conditions: list[tuple[exp.Expr, frozenset[str]]]

    def beyond(self, alias: str, without: str) -> set[str]:
        """The aliases that equations tie to ``alias`` if ``without`` is left out."""
        reached, waiting = {alias}, [alias]
        while waiting:
            here = waiting.pop()
            for pair in self.edges:
                if here in pair and without not in pair:
                    fresh = set(pair) - reached
                    reached |= fresh
                    waiting += fresh
        return reached


def joined(select: exp.Select, schema: Schema) -> Joined | None:
    """The tables and conditions of a SELECT with inner joins alone; None where a name is not certain.

    An equation of WHERE ties two tables that no condition of a join ties; between others it chooses rows.
    """
    joins = select.args.get("joins") or []
    plain = all(not (join.side or join.method or half(join)) for join in joins)
    nodes = {node.alias_or_name.lower(): node for node in from_items(select)}
    if not plain or len(nodes) != len(from_items(select)) or "" in nodes or select.args.get("laterals"):
        return None
    tables = tables_of(select, schema)
    edges: dict[frozenset[str], list[exp.Expr]] = defaultdict(list)
    conditions: list[tuple[exp.Expr, frozenset[str]]] = []
    for terms in ([term for join in joins for term in on_terms(join, tables)], conjuncts(select.args.get("where"))):
        tied = _tied(edges)
        for term in terms:
            named = aliases(term, select, schema)
            if named is None:
                return None
            if len(named) == 2 and _equates(term) and not any(named <= group for group in tied):
                edges[named].append(term)
            else:
                conditions.append((term, named))
    return Joined(select, tables, nodes, dict(edges), conditions)


def _tied(edges: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The aliases that equations tie to one another, over others too."""
    groups: list[frozenset[str]] = []
    for pair in edges:
        touched = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair] + [pair.union(*touched)]
    return groups


def spell_out_groups(tree: exp.Query) -> None:
    """Replace GROUP BY ALL, in place, by the outputs that it stands for: those without an aggregate."""
    for group in [node for node in tree.find_all(exp.Group) if node.args.get("all")]:
        outputs = [item.unalias() for item in group.parent_select.selects]  # type: ignore[union-attr]
        keys = [output for output in outputs if not isinstance(output, exp.Literal) and not output.find(exp.AggFunc)]
        if not any(output.is_star for output in outputs):
            group.replace(exp.Group(expressions=[key.copy() for key in keys])) if keys else group.pop()


def half(join: exp.Join) -> str:
    """``SEMI`` or ``ANTI`` for a join that only chooses rows, else empty."""
    kind = str(join.kind).upper()
    return kind if kind in _HALF else ""


def written_alias(node: exp.Expr) -> exp.Identifier:
    """The alias as FROM writes it: PostgreSQL takes T1 for t1, but not "T1"."""
    table_alias = node.args.get("alias")
    identifier = node.this if table_alias is None else table_alias.this
    return identifier.copy()  # type: ignore[no-any-return]


def on_terms(join: exp.Join, tables: dict[str, Table]) -> list[exp.Expr]:
    """The conditions of a join; USING as equations with the one other table that has the column."""
    on = join.args.get("on")
    terms = [] if on is None or isinstance(on, exp.Boolean) else conjuncts(on)
    alias = join.alias_or_name.lower()
    for name in join.args.get("using") or ():
        others = [other for other, table in tables.items() if other != alias and has_column(table, name.name)]
        if len(others) == 1:
            sides = [exp.column(name.name, table=side, quoted=name.args.get("quoted")) for side in (others[0], alias)]
            equation = exp.EQ(this=sides[0], expression=sides[1])
            equation.parent = join
            terms.append(equation)
        else:
            terms.append(exp.column(name.name))  # of an uncertain table
    return terms


def _equates(term: exp.Expr) -> bool:
    sides = (term.this, term.args.get("expression"))
    return isinstance(term, exp.EQ) and all(isinstance(side, exp.Column) for side in sides)


def aliases(node: exp.Expr, select: exp.Select, schema: Schema) -> frozenset[str] | None:
    """The aliases of ``select`` that an expression names, in queries inside it too; None where that is not certain."""
    named = set()
    here = {item.alias_or_name.lower() for item in from_items(select)}
    for column in node.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            return None
        around = column.parent_select or select
        if around is not select:
            inner = (
                {item.alias_or_name.lower() for item in from_items(around)} if isinstance(around, exp.Select) else {""}
            )
            alias_table = owner(column, schema)
            if column.table.lower() in inner or (alias_table is not None and alias_table[0] in inner):
                continue
        if column.table:
            if column.table.lower() not in here:
                return None
            named.add(column.table.lower())
        else:
            alias_table = owner(column, schema)
            if alias_table is None or alias_table[0] not in here:
                return None
            named.add(alias_table[0])
    return frozenset(named)


def filled(join: exp.Join, select: exp.Select) -> frozenset[str]:
    """The aliases whose columns an outer join fills with NULLs in rows without a match."""
    alias, side = join.alias_or_name.lower(), str(join.side).upper()
    names = [item.alias_or_name.lower() for item in from_items(select)]
    before = names[: len(names) - len(select.args["joins"]) + select.args["joins"].index(join)]
    return frozenset([alias] * (side in ("LEFT", "FULL")) + before * (side in ("RIGHT", "FULL")))


def outer_aliases(select: exp.Select) -> set[str]:
    """The aliases whose columns may be NULL because an outer join found no match."""
    return {alias for join in select.args.get("joins") or () for alias in filled(join, select)}


def result_queries(tree: exp.Query) -> list[exp.Select | exp.SetOperation]:
    """The queries whose rows make the result: of WITH, of FROM, and set operations with their sides."""
    queries: list[exp.Select | exp.SetOperation] = []
    waiting: list[exp.Expr] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, exp.Subquery):
            waiting.append(node.this)
        elif isinstance(node, exp.SetOperation):
            queries.append(node)
            waiting += [node.left, node.right]
        elif isinstance(node, exp.Select):
            queries.append(node)
            waiting += [item for item in from_items(node) if isinstance(item, exp.Subquery)]
        if isinstance(node, exp.Query):
            waiting += [cte.this for cte in node.ctes]
    return queries

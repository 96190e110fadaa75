"""The joined tables of a SELECT as a tree: one table with what its rows refer to, and the lists of rows below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, are_unique, ends
from sqljury.sql.parse import exp
from sqljury.sql.provenance.outer import null_without, rejects
from sqljury.sql.provenance.sources import aliases, on_terms
from sqljury.sql.resolve import from_items, tables_of
from sqljury.sql.terms import opaque
from sqljury.types import Table

_SIDES: Final = ("", "LEFT")
_KINDS: Final = ("", "INNER", "OUTER", "CROSS")


class _Edge(NamedTuple):
    """Equations between the columns of two tables; ``outer`` is the alias of the LEFT JOIN that has them."""

    terms: list[exp.EQ]
    outer: str


class _Condition(NamedTuple):
    """A condition with the aliases that it names; ``outer`` is the alias of the LEFT JOIN that has it."""

    node: exp.Expr
    named: frozenset[str]
    outer: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A SELECT whose tables, by alias in lower case, equations tie to a tree."""

    select: exp.Select
    tables: dict[str, Table]
    nodes: dict[str, exp.Expr]
    edges: dict[frozenset[str], _Edge]
    conditions: list[_Condition]

    def neighbours(self, alias: str) -> list[str]:
        """The aliases that equations tie to this one, as FROM has them."""
        return [other for other in self.tables if frozenset((alias, other)) in self.edges]

    def is_outer(self, one: str, other: str) -> bool:
        """Whether a LEFT JOIN ties two tables."""
        return bool(self.edges[frozenset((one, other))].outer)

    def joined(self, start: str, members: set[str]) -> exp.Select:
        """A query on these tables that begins with one of them, each with the conditions of its LEFT JOIN."""
        query, placed = exp.Select().from_(self.nodes[start].copy()), [start]
        for here in placed:
            for alias in self.neighbours(here):
                if alias in members and alias not in placed:
                    terms: list[exp.Expr] = [*self.edges[frozenset((here, alias))].terms]
                    terms += [condition.node for condition in self.conditions if condition.outer == alias]
                    side = "LEFT" if self.is_outer(here, alias) else ""
                    query = query.join(self.nodes[alias].copy(), on=all_of(terms), join_type=side)
                    placed.append(alias)
        return query


def graph(select: exp.Select, asked: Asked) -> Graph | None:
    """The tables of a SELECT and what ties them; None where that is not certain, or more than inner and LEFT JOINs."""
    items, tables = from_items(select), tables_of(select, asked.schema)
    joins = select.args.get("joins") or ()
    plain = all(join.side in _SIDES and join.kind in _KINDS and not join.method for join in joins)
    if not plain or len(tables) != len(items) or any(map(opaque, items)):
        return None
    edges, conditions = dict[frozenset[str], _Edge](), list[_Condition]()
    for term, outer in _terms(select, tables):
        named = aliases(term, select, asked.schema)
        if named is None:
            return None
        if isinstance(term, exp.EQ) and ends(term, asked.schema) is not None and len(named) == 2:
            edge = edges.setdefault(named, _Edge([], outer))
            edge.terms.append(term)
            if edge.outer != outer:
                return None
        else:
            conditions.append(_Condition(term, named, outer))
    nodes = {item.alias_or_name.lower(): item for item in items}
    return Graph(select, tables, nodes, edges, conditions) if len(edges) == len(tables) - 1 else None


def _terms(select: exp.Select, tables: dict[str, Table]) -> Iterator[tuple[exp.Expr, str]]:
    """The conditions of all joins and of WHERE, with the alias of the LEFT JOIN that they are of."""
    for join in select.args.get("joins") or ():
        for term in on_terms(join, tables):
            yield term, join.alias_or_name.lower() if join.side else ""
    for term in conjuncts(select.args.get("where")):
        yield term, ""


class Fork:
    """The tables of a graph, seen from one of them.

    ``core`` are the aliases that have one row for each of its rows, ``lists`` all others: those that lie beyond the
    same alias, by that alias. ``near`` is by alias the next one on the way to the root.
    """

    def __init__(self, tables: Graph, root: str, asked: Asked) -> None:
        self.graph, self.root, self._asked = tables, root, asked
        self.core, self.lists = {root}, dict[str, set[str]]()
        self.near: dict[str, str] = {root: root}
        self._list_of: dict[str, str] = {}
        placed = [root]
        for here in placed:
            for alias in tables.neighbours(here):
                if alias not in self.near:
                    self.near[alias] = here
                    placed.append(alias)
                    self._place(alias, here)

    def _place(self, alias: str, here: str) -> None:
        table = self.graph.tables[alias]
        if here in self._list_of:
            self._list_of[alias] = self._list_of[here]
            self.lists[self._list_of[here]].add(alias)
        elif identify(self._columns(alias, here), table, self._asked, look=not table.row_key):
            self.core.add(alias)
        else:
            self._list_of[alias] = alias
            self.lists[alias] = {alias}

    def _columns(self, alias: str, other: str) -> list[exp.Column]:
        """The columns of a table that equations tie to another one, and those that must be equal to a constant."""
        terms = self.graph.edges[frozenset((alias, other))].terms
        pairs = filter(None, (ends(term, self._asked.schema) for term in terms))
        tied = [end.node for pair in pairs for end in pair if end.alias == alias]
        conditions = [
            condition.node
            for condition in self.graph.conditions
            if condition.named == {alias} and condition.outer in ("", alias)
        ]
        fixed = [
            condition.this
            for condition in conditions
            if isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Literal)
        ]
        return [*tied, *(column for column in fixed if isinstance(column, exp.Column))]

    def named(self, node: exp.Expr) -> frozenset[str]:
        """The aliases that an expression names; all of them where that is not certain."""
        names = aliases(node, self.graph.select, self._asked.schema)
        return frozenset(self.graph.tables) if names is None else names

    def lists_of(self, named: frozenset[str]) -> set[str]:
        """The lists that any of these aliases belongs to."""
        return {self._list_of[alias] for alias in named if alias in self._list_of}

    def is_forked(self) -> bool:
        """Whether it has several lists, each of rows for a key of the core, and no condition is about two of them."""
        tables, away = self.graph.tables, [(alias, here) for alias, here in self.near.items() if alias != here]
        if len(self.lists) < 2 or len(self.near) < len(tables):
            return False
        return (
            all(self.graph.edges[frozenset(pair)].outer in ("", pair[0]) for pair in away)
            and all(self._is_of_one_list(condition) for condition in self.graph.conditions)
            and all(name in self.required or not self._filters(name) for name in self.lists)
            and all(identify(self._columns(here, name), tables[here], self._asked) for name, here in self.ways())
        )

    def ways(self) -> list[tuple[str, str]]:
        """Each list with the alias of the core that it belongs to."""
        return [(name, self.near[name]) for name in self.lists]

    def _is_of_one_list(self, condition: _Condition) -> bool:
        lists = self.lists_of(condition.named)
        return lists <= self.lists_of(frozenset((condition.outer,))) if condition.outer else len(lists) <= 1

    def _filters(self, name: str) -> list[exp.Expr]:
        """The conditions on rows of a list that also rows without any must meet."""
        return [
            condition.node
            for condition in self.graph.conditions
            if not condition.outer and self.lists_of(condition.named) == {name}
        ]

    @cached_property
    def required(self) -> set[str]:
        """The lists of which there must be a row: by an inner join, or by conditions that nothing else meets."""
        return {
            name
            for name, members in self.lists.items()
            if not all(self.graph.is_outer(alias, self.near[alias]) for alias in members)
            or (self._filters(name) and all(self.rejects(node, name) for node in self._filters(name)))
        }

    def rejects(self, node: exp.Expr, name: str) -> bool:
        """Whether a condition is not met where there is no row of a list."""
        return any(rejects(node, alias, self.graph.select, self._asked.schema) for alias in self.lists[name])

    def is_null(self, node: exp.Expr, name: str) -> bool:
        """Whether an expression is NULL where there is no row of a list."""
        return any(null_without(node, alias, self.graph.select, self._asked.schema) for alias in self.lists[name])

    def core_conditions(self) -> list[exp.Expr]:
        """The conditions on rows of the core."""
        return [
            condition.node
            for condition in self.graph.conditions
            if not (condition.outer or self.lists_of(condition.named))
        ]

    def rows(self, name: str) -> exp.Select:
        """A subquery without outputs for the rows of a list that belong to one row of the core."""
        query = self.graph.joined(name, self.lists[name])
        tied = self.graph.edges[frozenset((name, self.near[name]))].terms
        conditions = [condition.node for condition in self.graph.conditions if condition.outer == name]
        return query.where(all_of([*tied, *conditions, *self._filters(name)]), copy=False)

    def has_several(self, name: str) -> bool:
        """Whether several rows of a list belong to the same row of the core, as the database tells."""
        query = self.graph.joined(self.root, self.core | self.lists[name]).select(exp.Literal.number(1), copy=False)
        conditions = [*self.core_conditions(), *self._filters(name)]
        if conditions:
            query = query.where(all_of(conditions), copy=False)
        keys = [column.copy() for column in self._columns(self.near[name], name)]
        query = query.group_by(*keys, copy=False).having(exp.Count(this=exp.Star()) > 1, copy=False).limit(1)
        return bool(self._asked.data.rows(query.sql(dialect=self._asked.dialect)))


def all_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Copies of conditions, joined by AND."""
    return exp.and_(*(condition.copy() for condition in conditions), copy=False)


def identify(columns: Sequence[exp.Expr], table: Table, asked: Asked, *, look: bool = True) -> bool:
    """Whether columns identify a row of a table: by its keys, or by its values if those are to be looked at."""
    names = {column.name.lower() for column in columns}
    keys = [table.row_key, *table.unique_keys, *((column.name,) for column in table.columns if column.unique)]
    if any(key and {name.lower() for name in key} <= names for key in keys):
        return True
    return look and bool(columns) and are_unique(columns, table, asked)

"""Rows that are counted in a subquery, where the query around it shows how many there are.

Small models choose rows by a subquery and count outside: ``SELECT name, COUNT(*) FROM opponents WHERE id IN (SELECT
opponent_id FROM matter_opponents GROUP BY opponent_id HAVING COUNT(*) >= 3) GROUP BY name``. That counts each opponent
once, and not its matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqljury.language.cues import wants_count
from sqljury.language.words import words
from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import TITLES, Asked, Change, are_unique
from sqljury.sql.meaning.counted import counted_table
from sqljury.sql.parse import exp
from sqljury.sql.resolve import find_table, from_items, owner
from sqljury.sql.terms import group_keys, ordinal, outside_queries, resolved
from sqljury.types import Schema, Table

_NAMES: Final = tuple((word,) for word in (*TITLES, "nm", "description", "descr", "desc", "text", "txt"))
_OUTER: Final = frozenset(("expressions", "from_", "where", "group", "order", "limit", "offset"))
_INNER: Final = frozenset(("expressions", "from_", "where", "group", "having"))
"""Clauses that the two queries may have."""


def counted_inside(tree: exp.Query, asked: Asked) -> Change | None:
    """Join the table of a subquery with GROUP BY and HAVING, where the query around it counts rows of its own table.

    ``SELECT name, COUNT(*) FROM a WHERE id IN (SELECT a_id FROM b GROUP BY a_id HAVING COUNT(*) > 2) GROUP BY name``
    becomes ``SELECT T1.name, COUNT(*) FROM a AS T1 JOIN b AS T2 ON T2.a_id = T1.id GROUP BY T1.id, T1.name HAVING
    COUNT(*) > 2``. No name may occur twice in its table: "in each city" may count the chosen rows of a city.
    """
    if not isinstance(tree, exp.Select) or not wants_count(asked.question.text):
        return None
    query = tree.copy()
    chosen = _chosen(query, asked.schema)
    if chosen is None or not _qualify(query, chosen, asked.schema):
        return None
    counts = _counts(query, chosen)
    shown = [item.unalias() for item in query.selects if item.unalias() not in counts]
    keys = [resolved(ordinal(key, query), query, ()) for key in group_keys(query)[0]] or shown
    if not counts or not shown or not all(isinstance(column, exp.Column) for column in (*shown, *keys)):
        return None
    if counted_table(asked.question.text, asked.schema) is chosen.outer:
        return None
    if chosen.key not in keys and not (_name_rows(keys) and are_unique(keys, chosen.outer, asked)):
        return None
    _join(query, chosen, [*keys, *shown], counts)
    reason = f"COUNT counted each row of {chosen.outer.name} once, and not what it has in {chosen.inner.name}"
    return Change(reason, query=query, without=("conditions", "keys"))


class _Chosen(NamedTuple):
    """Rows of one table, chosen by a condition that its key is in a subquery on another one."""

    member: exp.In
    subquery: exp.Select
    outer: Table
    inner: Table

    @property
    def key(self) -> exp.Expr:
        """The key of the outer table."""
        key: exp.Expr = self.member.this
        return key


def _chosen(tree: exp.Select, schema: Schema) -> _Chosen | None:
    """The condition if it must hold, and if the subquery is the only one and chooses its groups by aggregates."""
    members = [node for node in conjuncts(tree.args.get("where")) if isinstance(node, exp.In)]
    members = [node for node in members if node.args.get("query") is not None]
    if len(members) != 1 or len(list(tree.find_all(exp.Select))) != 2:
        return None
    subquery = members[0].args["query"].unnest()
    outer, inner = _only_table(tree, _OUTER, schema), _only_table(subquery, _INNER, schema)
    if outer is None or inner is None or not _is_key(members[0].this, outer) or group_keys(tree)[1]:
        return None
    keys, kinds = group_keys(subquery)
    if kinds or len(keys) != 1 or not isinstance(keys[0], exp.Column) or subquery.selects != keys:
        return None
    having = subquery.args.get("having")
    return _Chosen(members[0], subquery, outer, inner) if having and having.find(exp.AggFunc) else None


def _only_table(select: exp.Expr, clauses: frozenset[str], schema: Schema) -> Table | None:
    """The table of a SELECT that reads nothing else and has no other clauses."""
    if not isinstance(select, exp.Select) or {name for name, clause in select.args.items() if clause} - clauses:
        return None
    items = from_items(select)
    return find_table(schema, items[0]) if items and isinstance(items[0], exp.Table) else None


def _is_key(node: exp.Expr | None, table: Table) -> bool:
    key = [name.lower() for name in table.row_key]
    return isinstance(node, exp.Column) and [node.name.lower()] == key


def _qualify(tree: exp.Select, chosen: _Chosen, schema: Schema) -> bool:
    """Name the tables T1 and T2, before every column too; False if a column is not of the table of its query."""
    outputs = {item.alias.lower() for item in tree.selects if item.alias}
    named = {id(select): (from_items(select)[0], alias) for select, alias in ((tree, "T1"), (chosen.subquery, "T2"))}
    for column in list(tree.find_all(exp.Column)):
        sorted_or_grouped = column.find_ancestor(exp.Order, exp.Group, exp.Select) is not column.parent_select
        if sorted_or_grouped and column.parent_select is tree and not column.table and column.name.lower() in outputs:
            continue  # an output by its alias
        node, alias = named[id(column.parent_select)]
        owned = owner(column, schema)
        if owned is None or owned[0] != node.alias_or_name.lower():
            return False
        column.replace(exp.column(column.this.copy(), table=alias))
    for node, alias in named.values():
        node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return True


def _counts(tree: exp.Select, chosen: _Chosen) -> Sequence[exp.Expr]:
    """What counts rows in outputs and ORDER BY; none if there is another aggregate, which a join would change."""
    parts = [*tree.selects, *filter(None, [tree.args.get("order")])]
    calls = [node for part in parts for node in outside_queries(part) if isinstance(node, exp.AggFunc)]
    return calls if all(_counts_rows(call, chosen.outer) for call in calls) else []


def _counts_rows(call: exp.Expr, table: Table) -> bool:
    counted = call.this if isinstance(call, exp.Count) else None
    return isinstance(counted, exp.Star | exp.Literal) or _is_key(counted, table)


def _name_rows(columns: Sequence[exp.Expr]) -> bool:
    """Whether one of the columns is a name of rows by its own name; others may have no value twice by chance."""
    return any(words(column.name)[-1:] in _NAMES for column in columns)


def _join(tree: exp.Select, chosen: _Chosen, columns: Sequence[exp.Expr], counts: Sequence[exp.Expr]) -> None:
    """Join the table of the subquery, with its conditions, and count as its HAVING does."""
    subquery = chosen.subquery
    having = subquery.args["having"]
    kinds = set(having.find_all(exp.Count))
    counted = kinds.pop() if len(kinds) == 1 else exp.Count(this=exp.Star())
    for count in counts:
        count.replace(counted.copy())
    others = [condition for condition in conjuncts(tree.args["where"]) if condition is not chosen.member]
    conditions = [condition.copy() for condition in (*others, *conjuncts(subquery.args.get("where")))]
    tree.set("where", exp.Where(this=exp.and_(*conditions)) if conditions else None)
    tree.join(
        from_items(subquery)[0].copy(),
        on=exp.EQ(this=subquery.selects[0].copy(), expression=chosen.key.copy()),
        copy=False,
    )
    tree.set("group", exp.Group(expressions=[key.copy() for key in dict.fromkeys((chosen.key, *columns))]))
    tree.set("having", having.copy())

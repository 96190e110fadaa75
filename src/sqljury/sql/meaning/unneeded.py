"""A join that nothing in the query or the question needs, and that repeats rows.

Small models join a table of events where the question is about things alone: ``field JOIN rotation`` for the leased
fields. Each field then comes once for each of its rows there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqljury.language.alike import mentions
from sqljury.language.cues import goods_change_hands
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, End, ends, single_select
from sqljury.sql.names.readings import table_node
from sqljury.sql.parse import exp
from sqljury.sql.resolve import owner, tables_of
from sqljury.types import Table

_SILENT: Final = frozenset(("name", "number", "id", "code", "type", "kind", "date", "status", "title", "description"))
"""Words of columns that say nothing of their table."""


def unneeded_join(tree: exp.Query, asked: Asked) -> Change | None:
    """Remove an inner join to a table that the query uses nowhere else and the question does not mention.

    The join must only repeat rows: one that leaves some out may be what is asked for ("customers who ordered"),
    and rows that are counted or added up may be those of the join: the price of each thing that was sold. Tables of
    events that only share a third one, such as two kinds of sales in the same shop, may leave rows out: each row of one
    comes once for each of the other. Such a join must repeat rows, or else all that it does is to choose them.
    """
    select = single_select(tree)
    if select is None:
        return None
    joins: list[exp.Join] = select.args.get("joins") or []
    tables = tables_of(select, asked.schema)
    if len(tables) != len(joins) + 1 or any(join.side or join.kind not in ("", "INNER") for join in joins):
        return None
    aggregates = [node for node in select.find_all(exp.AggFunc) if not isinstance(node, exp.Max | exp.Min)]
    counts = bool(aggregates) or select.find(exp.Star) is not None or goods_change_hands(asked.question.text)
    for join in joins:
        alias = _unneeded(select, join, tables, asked)
        if alias is None:
            continue
        if _is_fork(select, join, alias, asked):
            if not _repeats(join, alias, asked):
                continue
        elif counts or _leaves_out(select, join, alias, asked):
            continue
        _remove(select, join, alias)
        reason = f"nothing is asked of {tables[alias].name}, whose join repeats rows"
        return Change(reason, without=("join", "conditions"))
    return None


def _remove(tree: exp.Select, join: exp.Join, alias: str) -> None:
    if tree.args["from_"].this.alias_or_name.lower() == alias:
        tree.args["from_"].set("this", join.this.copy())
    tree.set("joins", [other for other in tree.args["joins"] if other is not join])


def _leaves_out(tree: exp.Select, join: exp.Join, alias: str, asked: Asked) -> bool:
    """Whether rows of the query have no match in the table, as far as the database tells."""
    number = tree.args["joins"].index(join)
    without = tree.copy()
    copied = without.args["joins"][number]
    first = without.args["from_"].this
    source = (first if first.alias_or_name.lower() == alias else copied.this).copy()
    condition = copied.args["on"].copy()
    _remove(without, copied, alias)
    for part in ("order", "group", "having", "limit", "offset", "distinct"):
        without.set(part, None)
    without.set("expressions", [exp.Literal.number(1)])
    matches = exp.select(exp.Literal.number(1)).from_(source).where(condition)
    without = without.where(exp.Not(this=exp.Exists(this=matches))).limit(1)
    rows = asked.data.rows(without.sql(dialect=asked.dialect))
    return rows is None or bool(rows)


def _repeats(join: exp.Join, alias: str, asked: Asked) -> bool:
    """Whether several rows of the table have the same key, as far as the database tells."""
    end = next(end for end in ends(join.args.get("on"), asked.schema) or () if end.alias == alias)
    key = exp.column(end.node.this.copy())
    several = exp.GT(this=exp.Count(this=key.copy()), expression=exp.Literal.number(1))
    probe = exp.select(exp.Literal.number(1)).from_(table_node(end.table, asked.dialect)).group_by(key)
    return bool(asked.data.rows(probe.having(several).limit(1).sql(dialect=asked.dialect)))


def _unneeded(tree: exp.Select, join: exp.Join, tables: Mapping[str, Table], asked: Asked) -> str | None:
    """The alias of the one of the two joined tables that can be left out with the join; None where neither can."""
    within = {id(node) for node in join.args["on"].walk()} if join.args.get("on") else set()
    used = [owner(node, asked.schema) for node in tree.find_all(exp.Column) if id(node) not in within]
    aliases = {source[0] for source in used if source is not None}
    equated = None if None in used else ends(join.args.get("on"), asked.schema)
    first, joined = (node.alias_or_name.lower() for node in (tree.args["from_"].this, join.this))
    removable = (joined, first) if join is tree.args["joins"][0] else (joined,)
    for end, kept in (equated, equated[::-1]) if equated is not None else ():
        others = [table for alias, table in tables.items() if alias != end.alias]
        if end.alias in removable and end.alias not in aliases and _refers(end, kept):
            return None if _is_meant(end.table, others, asked) else end.alias
    return None


def _is_fork(tree: exp.Select, join: exp.Join, alias: str, asked: Asked) -> bool:
    """Whether the table and another one refer to a third that is only joined: sales and tickets of the same shop."""
    equated = ends(join.args.get("on"), asked.schema)
    kept = next((end for end in equated or () if end.alias != alias), None)
    if kept is None or tree.find(exp.Distinct) is not None:  # repeated rows do no harm there: it may choose rows
        return False
    conditions = [ends(other.args.get("on"), asked.schema) for other in tree.args["joins"] if other is not join]
    within = {id(node) for joined in tree.args["joins"] if joined.args.get("on") for node in joined.args["on"].walk()}
    used = {column.table.lower() for column in tree.find_all(exp.Column) if id(column) not in within}
    pairs = [pair for pair in conditions if pair is not None]
    others = [(a, b) for pair in pairs for a, b in (pair, pair[::-1]) if b.alias == kept.alias]
    return kept.alias not in used and any(_refers(other, kept) for other, _ in others)


def _refers(end: End, kept: End) -> bool:
    """Whether a key leads from the one column to the other, and several rows may have the same key."""
    unique = end.table.row_key
    if len(unique) == 1 and unique[0].lower() == end.name:
        return False
    return end.table is not kept.table and any(
        [name.lower() for name in key.columns] == [end.name]
        and [name.lower() for name in key.ref_columns] == [kept.name]
        and key.leads_to(kept.table)
        for key in end.table.foreign_keys
    )


def _is_meant(table: Table, others: Sequence[Table], asked: Asked) -> bool:
    """Whether a word of the question is like one of the table's names that occur in no other table."""
    named = {*words(table.name)} - {word for other in others for word in words(other.name)}
    telling = named | (_words(table) - {word for other in others for word in _words(other)} - _SILENT)
    return mentions(asked.question.whole, telling)


def _words(table: Table) -> set[str]:
    return {word for name in (table.name, *(column.name for column in table.columns)) for word in words(name)}

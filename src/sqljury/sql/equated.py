"""Columns that queries equate: along a key of the schema, or beside every key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.resolve import Sources, owner, read_sources
from sqljury.types import ForeignKey, Schema, Table

Place = tuple[str, str]
"""A table and a column, in lower case."""
Pair = tuple[frozenset[Place], frozenset[Place]]
"""For either side the places that it may be; none where it is not a column of the schema."""
_COMPARED: Final = ("EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In")


def loose(tree: exp.Query, schema: Schema) -> tuple[int, int]:
    """How many pairs of columns a query equates without a key that ties them: by another name, by the same name.

    A query that compares two columns which neither a key nor their name ties, such as a person's name and a phone's
    id, runs and means nothing. None are counted in a query whose names cannot be followed.
    """
    tied = _tied(schema)
    strange = namesakes = 0
    try:
        pairs = list(_pairs(tree, schema))
    except errors.SqlglotError:
        return 0, 0
    for left, right in pairs:
        if left and right and not left & right and not any(frozenset((a, b)) in tied for a in left for b in right):
            same = {name for _, name in left} & {name for _, name in right}
            strange, namesakes = strange + (not same), namesakes + bool(same)
    return strange, namesakes


def key_columns(tree: exp.Query) -> Iterator[tuple[exp.Column, exp.Column]]:
    """Columns that lead from table to table: equal to one of another table, or to what a subquery selects."""
    for node in tree.find_all(exp.EQ, exp.In):
        left, right = _column(node.this), _column(node.args.get("query") or node.args.get("expression"))
        if left is not None and right is not None and _apart(left, right):
            yield left, right


@quiet()
def with_joins(schema: Schema, queries: Iterable[str]) -> Schema:
    """The schema with a key for each two columns that the queries join on and no key ties yet.

    Such a key is not declared, with a score of 0: it says only that these queries run with it.
    """
    tied, keys = _tied(schema), defaultdict[str, list[ForeignKey]](list)
    for query in queries:
        try:
            tree = parse_one(query, schema.dialect)
            equal = [(node.this, node.expression) for node in tree.find_all(exp.EQ)]
            keyed = key_columns(tree) if isinstance(tree, exp.Query) else ()
            pairs = [*keyed, *(pair for pair in equal if all(isinstance(side, exp.Column) for side in pair))]
            joined = [(owner(left, schema), left.name, owner(right, schema), right.name) for left, right in pairs]
        except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
            continue
        for left, column, right, ref in joined:
            if left is None or right is None or left[1].name == right[1].name:
                continue
            ends = frozenset({(left[1].name.lower(), column.lower()), (right[1].name.lower(), ref.lower())})
            if ends in tied:
                continue
            tied |= {ends}
            start, target = (left[1], column), (right[1], ref)
            if _is_key(*start) and not _is_key(*target):
                start, target = target, start
            names = [
                next(known.name for known in table.columns if known.name.lower() == name.lower())
                for table, name in (start, target)
            ]
            key = ForeignKey((names[0],), target[0].name, (names[1],), target[0].schema, declared=False, score=0.0)
            keys[start[0].name].append(key)
    tables = tuple(
        replace(table, foreign_keys=(*table.foreign_keys, *keys[table.name])) if table.name in keys else table
        for table in schema.tables
    )
    return replace(schema, tables=tables) if keys else schema


def _is_key(table: Table, name: str) -> bool:
    keys = [table.primary_key, *table.unique_keys, *table.candidate_keys]
    keys += [(column.name,) for column in table.columns if column.unique]
    return any(len(key) == 1 and key[0].lower() == name.lower() for key in keys)


def _apart(left: exp.Column, right: exp.Column) -> bool:
    """Whether they are surely of different tables, or of one that is read twice."""
    if left.parent_select is not right.parent_select:
        return True
    return bool(left.table and right.table) and left.table.lower() != right.table.lower()


def _column(side: exp.Expr | None) -> exp.Column | None:
    """The column that this is, or that it selects alone and as it is."""
    while isinstance(side, exp.Paren | exp.Subquery):
        side = side.this
    if isinstance(side, exp.Select) and len(side.selects) == 1:
        side = side.selects[0].unalias()
    return side if isinstance(side, exp.Column) and not isinstance(side.this, exp.Star) else None


def _tied(schema: Schema) -> frozenset[frozenset[Place]]:
    """Columns and what they refer to, and columns that refer to the same."""
    referring: dict[Place, set[Place]] = {}
    for table in schema.tables:
        for key in table.foreign_keys:
            for name, ref in zip(key.columns, key.ref_columns, strict=False):
                target = (key.ref_table.lower(), ref.lower())
                referring.setdefault(target, {target}).add((table.name.lower(), name.lower()))
    return frozenset(frozenset((a, b)) for family in referring.values() for a in family for b in family)


def _pairs(tree: exp.Query, schema: Schema) -> Iterator[Pair]:
    """What a query equates: in comparisons and IN, beside a subquery, in the sides of a set operation."""
    equated = [
        (left, right)
        for side, other in _equated(tree)
        if (left := _column_within(side)) is not None and (right := _column_within(other)) is not None
    ]
    if equated:
        selects = {id(sources.scope.expression): sources for sources in read_sources(tree, schema)}
        yield from ((_places(left, selects), _places(right, selects)) for left, right in equated)


def _equated(tree: exp.Query) -> Iterator[tuple[exp.Expr | None, exp.Expr | None]]:
    """The two sides of each comparison, and of each column of a set operation."""
    for node in tree.walk():
        if type(node).__name__ in _COMPARED:
            yield node.this, node.args.get("query") or node.args.get("expression")
        elif isinstance(node, exp.SetOperation):
            yield from zip(node.left.selects, node.right.selects, strict=False)


def _column_within(side: exp.Expr | None) -> exp.Column | None:
    """The column that this is, or its extreme, or that of a subquery with one such item."""
    while isinstance(side, exp.Alias | exp.Paren | exp.Subquery | exp.Max | exp.Min | exp.Distinct | exp.Select):
        if isinstance(side, exp.Select):
            side = side.selects[0] if len(side.selects) == 1 else None
        else:
            side = side.expressions[0] if isinstance(side, exp.Distinct) and side.expressions else side.this
    return side if isinstance(side, exp.Column) and not isinstance(side.this, exp.Star) else None


def _places(column: exp.Column, selects: Mapping[int, Sources]) -> frozenset[Place]:
    """The places of the schema that a column of a query may be."""
    sources = selects.get(id(column.parent_select))
    holders = [] if sources is None else sources.holders(column.name, column.table)
    return frozenset((table.name.lower(), column.name.lower()) for table, _ in holders)

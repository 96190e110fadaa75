"""The part of a schema that queries use: what a judge of two queries needs to see (CHASE-SQL, section 3.5).

What a parsed query takes for the same: columns in joins, in IN, beside a subquery, in the sides of a set operation.

Columns that a key ties together hold the same things. Two that neither a key nor their name ties, such as a person's
name and a phone's id, seldom do: a query that compares them runs, and what it returns means nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from sqljury.sql import parse as parsing
from sqljury.sql.parse import quiet
from sqljury.types import Schema, Table
from sqljury.types.schema import subset

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope
if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope


@quiet()
def used(schema: Schema, queries: Iterable[str]) -> Schema:
    """The tables and columns that any of the queries names, with primary keys and the keys between these tables.

    ``*`` names every column of its tables. A column that could be of several tables of its SELECT counts for each. What
    the schema does not have is passed over, and so is a query that cannot be parsed.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for query in queries:
        for table, columns in _named(query, schema):
            found[table.name].update(columns)
    for table in schema.tables:
        if table.name in found:
            found[table.name].update(table.primary_key or (column.name for column in table.columns[:1]))
            for key in table.foreign_keys:
                if key.ref_table in found:
                    found[table.name].update(key.columns)
                    found[key.ref_table].update(key.ref_columns)
    return subset(schema, found)


def _named(query: str, schema: Schema) -> Iterator[tuple[Table, set[str]]]:
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.scope import traverse_scope

    try:
        scopes = [scope for tree in parsing.parse(query, schema.dialect) if tree for scope in traverse_scope(tree)]
    except (SqlglotError, RecursionError):
        return
    for scope in scopes:
        for table in _tables(scope, schema).values():
            yield table, set()
        yield from _columns(scope, schema)


def _tables(scope: Scope, schema: Schema) -> dict[str, Table]:
    """By alias in small letters, the tables of the schema that one SELECT reads; not its subqueries and CTEs."""
    from sqlglot import exp

    found = {}
    for alias, (_, source) in scope.selected_sources.items():
        if isinstance(source, exp.Table) and (table := _find(schema, source)) is not None:
            found[alias.lower()] = table
    return found


def _find(schema: Schema, source: exp.Table) -> Table | None:
    """The table of that name; one without a schema of its own is in the default one, whatever that is called."""
    named = [
        table for table in schema.tables if table.name.removeprefix(f"{table.schema}.").lower() == source.name.lower()
    ]
    wanted = [source.db.lower(), ""] if source.db else [""]
    return next((table for group in wanted for table in named if table.schema.lower() == group), None)


def _columns(scope: Scope, schema: Schema) -> Iterator[tuple[Table, set[str]]]:
    from sqlglot import exp

    own = _tables(scope, schema)
    for column in scope.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            yield from ((table, _all(table)) for alias, table in own.items() if alias == column.table.lower())
        else:
            yield from holders(column.name, column.table, scope, schema)
    if any(isinstance(item, exp.Star) for item in getattr(scope.expression, "selects", ())):
        yield from ((table, _all(table)) for table in own.values())
    for join in scope.expression.args.get("joins") or ():
        shared = [name.name for name in join.args.get("using") or ()]
        if join.method == "NATURAL":
            shared = [column.name for table in own.values() for column in table.columns]
        for name in shared:
            found = list(holders(name, "", scope, schema))
            yield from found if join.method != "NATURAL" or len(found) > 1 else ()


def holders(name: str, alias: str, scope: Scope | None, schema: Schema) -> Iterator[tuple[Table, set[str]]]:
    """The tables that a column of this name may belong to: of this SELECT, else of the one around it."""
    while scope is not None:
        found = [
            (table, {column.name})
            for own, table in _tables(scope, schema).items()
            for column in table.columns
            if column.name.lower() == name.lower() and alias.lower() in ("", own)
        ]
        if found:
            yield from found
            return
        scope = scope.parent


def _all(table: Table) -> set[str]:
    return {column.name for column in table.columns}


Place = tuple[str, str]
"""A table and a column, in lower case."""
Pair = tuple[frozenset[Place], frozenset[Place]]
"""For either side the places that it may be; none where it is no column of the schema."""
_COMPARED: Final = ("EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In")


def loose(tree: exp.Query, schema: Schema) -> tuple[int, int]:
    """How many pairs of columns are taken for the same without a key that ties them: by another name, by the same.

    None in a query whose names cannot be followed.
    """
    from sqlglot.errors import SqlglotError

    tied = _tied(schema)
    strange = namesakes = 0
    try:
        pairs = list(_pairs(tree, schema))
    except SqlglotError:
        return 0, 0
    for one, other in pairs:
        if one and other and not one & other and not any(frozenset((a, b)) in tied for a in one for b in other):
            same = {name for _, name in one} & {name for _, name in other}
            strange, namesakes = strange + (not same), namesakes + bool(same)
    return strange, namesakes


def keys(tree: exp.Query) -> Iterator[tuple[exp.Column, exp.Column]]:
    """Columns that lead from table to table: equal to one of another table, or to what a subquery selects."""
    from sqlglot import exp

    for node in tree.find_all(exp.EQ, exp.In):
        one, other = _column(node.this), _column(node.args.get("query") or node.args.get("expression"))
        if one is not None and other is not None and _apart(one, other):
            yield one, other


def _apart(one: exp.Column, other: exp.Column) -> bool:
    """Whether they are surely of different tables, or of one that is read twice."""
    if one.parent_select is not other.parent_select:
        return True
    return bool(one.table and other.table) and one.table.lower() != other.table.lower()


def _column(side: exp.Expr | None) -> exp.Column | None:
    """The column that this is, or that it selects alone and as it is."""
    from sqlglot import exp

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
    from sqlglot import exp
    from sqlglot.optimizer.scope import traverse_scope

    scopes = {id(scope.expression): scope for scope in traverse_scope(tree)}
    for node in tree.walk():
        if type(node).__name__ in _COMPARED:
            yield _sides(node, scopes, schema)
        elif isinstance(node, exp.SetOperation):
            for one, other in zip(node.left.selects, node.right.selects, strict=False):
                yield _places(one.unalias(), scopes, schema), _places(other.unalias(), scopes, schema)


def _sides(node: exp.Expr, scopes: Mapping[int, Scope], schema: Schema) -> Pair:
    other = node.args.get("query") or node.args.get("expression")
    return _places(node.this, scopes, schema), _places(other, scopes, schema)


def _places(side: exp.Expr | None, scopes: Mapping[int, Scope], schema: Schema) -> frozenset[Place]:
    """Of a column, of the extreme of one, and of a subquery with one such item."""
    from sqlglot import exp

    while isinstance(side, exp.Paren | exp.Subquery | exp.Max | exp.Min | exp.Distinct):
        side = side.expressions[0] if isinstance(side, exp.Distinct) and side.expressions else side.this
    if isinstance(side, exp.Select):
        return _places(side.selects[0].unalias(), scopes, schema) if len(side.selects) == 1 else frozenset()
    if not isinstance(side, exp.Column) or isinstance(side.this, exp.Star):
        return frozenset()
    found = holders(side.name, side.table, scopes.get(id(side.parent_select)), schema)
    return frozenset((table.name.lower(), side.name.lower()) for table, _ in found)

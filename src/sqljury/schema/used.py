"""The part of a schema that queries use: what a judge of two queries needs to see (CHASE-SQL, section 3.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sqljury.db import parsing
from sqljury.db.quiet import quiet
from sqljury.schema.subset import subset
from sqljury.types import Schema, Table

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

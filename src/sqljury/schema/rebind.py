"""Names of a query against names of the schema: repairs that need no model.

Small models know which column they want and often not where it stands: they hang it on the wrong alias, or forget
the join that brings its table in. Both can be read off the schema.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from sqljury.types import Schema, Table

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

SIMILAR = 0.8
"""Names at least this alike (difflib's ratio, case aside) are taken for misspellings of one another."""

MAX_HOPS = 2
"""Tables this many foreign keys away may be joined in: 2 crosses one bridge table."""


class Step(NamedTuple):
    """A foreign key walked from a table at hand to ``table``: equal ``here`` and ``there`` columns."""

    table: Table
    here: tuple[str, ...]
    there: tuple[str, ...]


Route = list[tuple[str, Step]]
"""Steps from the query's tables outward, each with the alias of the table it starts from."""


def rebind(sql: str, schema: Schema) -> str | None:
    """The query with its unknown names bound to the schema, or None when nothing could be bound.

    Repairs, in this order for each column that its table does not have: the table of the query that has it; the
    nearest table over foreign keys that has it, joined in; the most similar column of the query's tables. Tables
    that do not exist take the most similar table's name. Columns that two tables share are qualified. The result
    is parsed, not run: whether it answers is for the caller to see.
    """
    import sqlglot
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.scope import traverse_scope

    try:
        tree = sqlglot.parse_one(sql, dialect=schema.dialect)
        changed = _rename_tables(tree, schema)
        for scope in traverse_scope(tree):
            changed |= _Binder(scope, schema).bind()
    except (SqlglotError, RecursionError):
        return None
    return tree.sql(dialect=schema.dialect) if changed and not _vacuous(tree) else None


def _vacuous(tree: exp.Expr) -> bool:
    """Whether some condition compares a column with itself: then the repair took a join's meaning away."""
    from sqlglot import exp

    return any(
        isinstance(node.this, exp.Column) and node.this.sql().lower() == node.expression.sql().lower()
        for node in tree.find_all(exp.EQ)
    )


def _nearest(name: str, names: list[str]) -> str | None:
    """The most similar of ``names``, None when none is similar enough."""
    lowered = {other.lower(): other for other in names}
    found = difflib.get_close_matches(name.lower(), list(lowered), n=1, cutoff=SIMILAR)
    return lowered[found[0]] if found else None


def _rename_tables(tree: exp.Expr, schema: Schema) -> bool:
    from sqlglot import exp

    known = {table.name.lower() for table in schema.tables}
    known |= {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    changed = False
    for node in tree.find_all(exp.Table):
        if node.name.lower() in known or not isinstance(node.this, exp.Identifier):
            continue
        if (name := _nearest(node.name, [table.name for table in schema.tables])) is None:
            continue
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
        node.set("this", exp.to_identifier(name))
        changed = True
    return changed


class _Binder:
    """Binds the columns of one SELECT; ``_tables`` maps the aliases of its FROM clause to tables of the schema."""

    def __init__(self, scope: Scope, schema: Schema) -> None:
        from sqlglot import exp

        self._scope, self._schema = scope, schema
        self._select = scope.expression
        self._tables: dict[str, Table] = {}
        self._opaque = False  # a subquery in FROM may hold any column
        for alias, (_, source) in scope.selected_sources.items():
            table = _table(schema, source.name) if isinstance(source, exp.Table) else None
            if table is None:
                self._opaque = True
            else:
                self._tables[alias] = table
        columns = scope.find_all(exp.Column)
        self._own = [column for column in columns if not isinstance(column.this, exp.Star)]
        self._aliases = {item.alias.lower() for item in getattr(self._select, "selects", ()) if item.alias}
        self._joined = False

    def bind(self) -> bool:
        from sqlglot import exp

        if not isinstance(self._select, exp.Select) or not self._tables:
            return False
        changed = [self._column(column) for column in self._own]
        if self._joined:  # the new table may share names with the old ones
            for column in self._own:
                self._qualify(column)
        return any(changed)

    def _column(self, column: exp.Column) -> bool:
        if column.table:
            return self._qualified(column)
        owners = self._owners(column.name)
        if len(owners) > 1:
            return _set_table(column, owners[0])
        if owners or self._opaque or column.name.lower() in self._aliases or column.this.quoted:
            return False  # SQLite reads an unknown "name" as text
        if self._known_outside(column.name):
            return False
        return self._join_in(column) or self._respell(column)

    def _qualified(self, column: exp.Column) -> bool:
        alias = _key(self._tables, column.table)
        if alias is None and column.table.lower() in self._outside():
            return False  # a subquery, or a table of the query around this one
        if alias is not None and _has(self._tables[alias], column.name):
            return False
        if owners := self._owners(column.name):
            other = _other_side(column)
            if other is None or (other.table.lower(), other.name.lower()) != (owners[0].lower(), column.name.lower()):
                return _set_table(column, owners[0])
            return self._reroute(column)
        return self._join_in(column) or (alias is not None and self._respell(column))

    def _reroute(self, column: exp.Column) -> bool:
        """Two tables joined on a column that only one of them has: join them along foreign keys instead."""
        from sqlglot import exp

        join = column.find_ancestor(exp.Join)
        if join is None or not isinstance(join.this, exp.Table) or join.args.get("on") is not column.parent:
            return False
        alias = join.this.alias_or_name
        target = self._tables.pop(alias, None)
        route = self._only([r for r in self._routes() if target is not None and r[-1][1].table is target])
        if target is None:
            return False
        if route is None:
            self._tables[alias] = target
            return False
        before = len(self._select.args["joins"])
        for start, step in route[:-1]:
            self._join(start, step)
        joins = self._select.args["joins"]
        joins[:] = [j for j in joins[:before] if j is not join] + joins[before:] + [join]
        self._tables[alias] = target
        join.set("on", _equal(route[-1][0], route[-1][1], alias))
        return True

    def _owners(self, name: str) -> list[str]:
        return [alias for alias, table in self._tables.items() if _has(table, name)]

    def _outside(self) -> dict[str, Table | None]:
        """The sources a column may also name: subqueries here, and everything of the queries around this one."""
        from sqlglot import exp

        found: dict[str, Table | None] = {}
        scope: Scope | None = self._scope
        while scope is not None:
            for alias, source in scope.sources.items():
                table = _table(self._schema, source.name) if isinstance(source, exp.Table) else None
                found.setdefault(alias.lower(), table)
            scope = scope.parent
        return {alias: table for alias, table in found.items() if _key(self._tables, alias) is None}

    def _known_outside(self, name: str) -> bool:
        return any(table is None or _has(table, name) for table in self._outside().values())

    def _join_in(self, column: exp.Column) -> bool:
        """Join the nearest table that has the column."""
        route = self._only([route for route in self._routes() if _has(route[-1][1].table, column.name)])
        if route is None:
            return False
        for alias, step in route:
            self._join(alias, step)
        return _set_table(column, route[-1][1].table.name)

    def _only(self, routes: list[Route]) -> Route | None:
        """The shortest route; of several the one whose first key the query speaks of; None when that is not one."""
        shortest = min(map(len, routes), default=0)
        routes = [route for route in routes if len(route) == shortest]
        if len(routes) > 1:
            spoken = {column.name.lower() for column in self._own}
            routes = [route for route in routes if {name.lower() for name in route[0][1].here} & spoken]
        return routes[0] if len(routes) == 1 else None

    def _routes(self) -> Iterator[Route]:
        """Ways of one foreign key, then of two, from the query's tables to tables it does not have."""
        taken = {table.name.lower() for table in self._tables.values()}
        front: list[Route] = [
            [(alias, step)] for alias, table in self._tables.items() for step in _steps(self._schema, table)
        ]
        for _ in range(MAX_HOPS):
            front = [route for route in front if route[-1][1].table.name.lower() not in taken]
            yield from front
            taken |= {route[-1][1].table.name.lower() for route in front}
            front = [
                [*route, (route[-1][1].table.name, step)]
                for route in front
                for step in _steps(self._schema, route[-1][1].table)
            ]

    def _join(self, alias: str, step: Step) -> None:
        from sqlglot import exp

        if step.table.name in self._tables or not isinstance(self._select, exp.Select):
            return
        condition = _equal(alias, step, step.table.name)
        self._select.join(exp.Table(this=_identifier(step.table.name)), on=condition, copy=False)
        self._tables[step.table.name] = step.table
        self._joined = True

    def _qualify(self, column: exp.Column) -> None:
        if not column.table and (owners := self._owners(column.name)):
            _set_table(column, owners[0])

    def _respell(self, column: exp.Column) -> bool:
        if any(_has(table, column.name) for table in self._schema.tables):
            return False  # a real name, so it is not misspelt: it stands somewhere out of reach
        for alias, table in self._tables.items():
            if name := _nearest(column.name, [other.name for other in table.columns]):
                column.set("this", _identifier(name))
                return _set_table(column, alias)
        return False


def _other_side(column: exp.Column) -> exp.Column | None:
    """The column that this one is compared with by ``=``."""
    from sqlglot import exp

    parent = column.parent
    if not isinstance(parent, exp.EQ):
        return None
    other = parent.expression if parent.this is column else parent.this
    return other if isinstance(other, exp.Column) else None


def _equal(alias: str, step: Step, other: str) -> exp.Expr:
    """The condition that joins ``step``'s table, called ``other``, to ``alias``."""
    from sqlglot import exp

    return exp.and_(
        *[
            exp.EQ(this=_named(alias, here), expression=_named(other, there))
            for here, there in zip(step.here, step.there, strict=True)
        ]
    )


def _set_table(column: exp.Column, alias: str) -> bool:
    column.set("table", _identifier(alias))
    return True


def _identifier(name: str) -> exp.Identifier:
    from sqlglot import exp

    return exp.to_identifier(name)


def _named(table: str, column: str) -> exp.Column:
    from sqlglot import exp

    return exp.Column(this=_identifier(column), table=_identifier(table))


def _table(schema: Schema, name: str) -> Table | None:
    return next((table for table in schema.tables if table.name.lower() == name.lower()), None)


def _key(tables: dict[str, Table], name: str) -> str | None:
    return next((alias for alias in tables if alias.lower() == name.lower()), None)


def _has(table: Table, column: str) -> bool:
    return any(other.name.lower() == column.lower() for other in table.columns)


def _steps(schema: Schema, table: Table) -> Iterator[Step]:
    """The foreign keys out of ``table``, then those into it."""
    for key in table.foreign_keys:
        if (other := _table(schema, key.ref_table)) is not None:
            yield Step(other, key.columns, key.ref_columns)
    for other in schema.tables:
        for key in other.foreign_keys:
            if key.ref_table.lower() == table.name.lower():
                yield Step(other, key.ref_columns, key.columns)

"""Names of a query against names of the schema: repairs that need no model.

Small models know which column they want and often not where it stands: they hang it on the wrong alias, or forget
the join that brings its table in. Both can be read off the schema. Where the schema leaves more than one reading, or
a join would change what the rest of the query means, nothing is done.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from sqljury.language.alike import misspelt
from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.resolve import (
    Route,
    Sources,
    Step,
    end,
    find_table,
    has_column,
    read_sources,
    routes,
    shortest,
    table_named,
)
from sqljury.sql.text import quote_name
from sqljury.types import Schema, Table

if TYPE_CHECKING:
    from sqlglot.optimizer.scope import Scope

MAX_NAMES = 1000
"""Tables and columns, as often as a query names them; a longer one is left as it is."""

MAX_UNKNOWN = 32
"""Unknown names in a query, each of which may take a search through the schema and the query; with more it is left."""


@quiet()
def rebind(sql: str, schema: Schema) -> str | None:
    """The query with its unknown names bound to the schema, or None when nothing could be bound.

    A column that its table does not have is, in this order: a misspelt one of that table; one of another table of the
    query; one of the nearest table over foreign keys, which is joined in; a misspelt one of the other tables. Two
    tables joined on a column that one of them lacks are joined along foreign keys. Tables that do not exist take the
    most similar table's name. Columns that two tables share are qualified. The result is parsed, not run: whether it
    answers is for the caller to see.
    """
    try:
        tree = parse_one(sql, schema.dialect)
        if sum(1 for _ in tree.find_all(exp.Table, exp.Column)) > MAX_NAMES:
            return None
        searches = _Searches()
        changed = _rename_tables(tree, schema, searches)
        for sources in read_sources(tree, schema):
            changed |= _Binder(sources, searches).bind()
        return tree.sql(dialect=schema.dialect) if changed and not _vacuous(tree) else None
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return None  # a parser's own bug on odd text too


class _TooManyError(ValueError):
    """The query has more unknown names than are looked for."""


class _Searches:
    """Counts the unknown names of a query."""

    def __init__(self) -> None:
        self._left = MAX_UNKNOWN

    def start(self) -> None:
        """Before each search; raises ``_TooManyError``."""
        if not self._left:
            raise _TooManyError
        self._left -= 1


def _vacuous(tree: exp.Expr) -> bool:
    """Whether some condition compares a column with itself: then the repair took a join's meaning away."""
    return any(
        isinstance(node.this, exp.Column) and node.this.sql().lower() == node.expression.sql().lower()
        for node in tree.find_all(exp.EQ)
    )


def _rename_tables(tree: exp.Expr, schema: Schema, searches: _Searches) -> bool:
    known = {table.name.lower() for table in schema.tables}
    known |= {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    changed = False
    for node in tree.find_all(exp.Table):
        if node.name.lower() in known or not isinstance(node.this, exp.Identifier):
            continue
        if (table := find_table(schema, node)) is not None:
            changed |= _qualify_table(node, table, schema.dialect)
            continue
        searches.start()
        if (name := misspelt(node.name, [table.name for table in schema.tables])) is None:
            continue
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
        node.set("this", _identifier(name, schema.dialect))
        changed = True
    return changed


def _qualify_table(node: exp.Table, table: Table, dialect: str) -> bool:
    """Name the schema of a table that is not in the default one, which an engine or access rules may ask for."""
    if node.db or not table.schema:
        return False
    if not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
    node.set("db", _identifier(table.schema, dialect))
    return True


class _Binder:
    """Binds the columns of one SELECT; tables that it joins in are added to its sources."""

    def __init__(self, sources: Sources, searches: _Searches) -> None:
        self._sources, self._schema, self._searches = sources, sources.schema, searches
        self._scope, self._tables = sources.scope, sources.tables
        self._select = self._scope.expression
        qualified = [alias for alias, table in self._tables.items() if table.schema]  # joined by another name
        for alias in qualified:
            del self._tables[alias]
        self._opaque = bool(sources.others or qualified)  # a subquery in FROM may hold any column
        columns = self._scope.find_all(exp.Column)
        self._columns = [column for column in columns if not isinstance(column.this, exp.Star)]
        self._aliases = {item.alias.lower() for item in getattr(self._select, "selects", ()) if item.alias}
        self._joined = False

    def bind(self) -> bool:
        """Repair what can be repaired; whether anything was."""
        if not isinstance(self._select, exp.Select) or not self._tables:
            return False
        changed = [self._column(column) for column in self._columns]
        if self._joined:  # the new table may share names with the old ones
            for column in self._columns:
                self._qualify(column)
        return any(changed)

    def _column(self, column: exp.Column) -> bool:
        if column.table:
            return self._qualified(column)
        if self._is_output(column):
            return False
        owners = self._sources.owners(column.name)
        if len(owners) > 1:
            return self._assign(column, owners[0])
        if owners or self._opaque or column.name.lower() in self._aliases or column.this.quoted:
            return False  # SQLite reads an unknown "name" as text
        if self._known_outside(column.name):
            return False
        self._searches.start()
        return self._join_in(column) or self._respell(column, list(self._tables))

    def _qualified(self, column: exp.Column) -> bool:
        alias = self._sources.alias(column.table)
        if alias is None:
            return column.table.lower() not in self._outside() and self._stray(column)
        if has_column(self._tables[alias], column.name):
            return False
        self._searches.start()
        if self._respell(column, [alias]):
            return True
        if owners := self._sources.owners(column.name):
            other = _other_side(column)
            if other is None or (other.table.lower(), other.name.lower()) != (owners[0].lower(), column.name.lower()):
                return self._assign(column, owners[0])
            return self._reroute(column)
        return self._join_in(column) or self._respell(column, list(self._tables))

    def _stray(self, column: exp.Column) -> bool:
        """A qualifier that the query does not have: a table of the schema is joined in, nothing else will do.

        A made-up alias says less: then the column goes to the query's only table, unless a neighbour has it too.
        """
        self._searches.start()
        if (named := table_named(self._schema, column.table)) is not None:
            return has_column(named, column.name) and self._join_in(column, named)
        candidates = [route for route in self._routes() if has_column(end(route), column.name)]
        owners = self._sources.owners(column.name)
        if owners:
            return len(self._tables) == 1 and not candidates and self._assign(column, owners[0])
        return self._join_in(column)

    def _reroute(self, column: exp.Column) -> bool:
        """Two tables joined on a column that only one of them has: join them along foreign keys instead."""
        join = column.find_ancestor(exp.Join)
        if join is None or not isinstance(join.this, exp.Table) or join.args.get("on") is not column.parent:
            return False
        alias = join.this.alias_or_name
        target = self._tables.get(alias)
        rest = {other: table for other, table in self._tables.items() if other != alias}
        candidates = [route for route in routes(self._schema, rest) if end(route) is target]
        route = shortest(candidates, self._mentioned())
        if target is None or route is None or self._outer():
            return False
        joins = self._select.args["joins"]
        at = next(index for index, other in enumerate(joins) if other is join)
        before, after = joins[:at], joins[at + 1 :]
        joins.clear()
        for leg in route[:-1]:
            self._join(leg.start, leg.step)
        joins[:] = [*before, *self._select.args["joins"], join, *after]
        self._select.set("joins", joins)
        join.set("on", self._equal(route[-1].start, route[-1].step, alias))
        return True

    def _join_in(self, column: exp.Column, named: Table | None = None) -> bool:
        """Join the nearest table that has the column (``named``, where given), if that leaves the rest as it is."""
        candidates = [r for r in self._routes() if has_column(end(r), column.name) and named in (None, end(r))]
        route = shortest(candidates, self._mentioned())
        if route is None or self._outer() or column.find_ancestor(exp.Join, exp.Select) is not self._select:
            return False
        aggregates = any(self._scope.find_all(exp.AggFunc))
        if aggregates and any(leg.step.many for leg in route):
            return False  # rows would be met several times, and counted as often
        if not self._keep_star():
            return False
        for leg in route:
            self._join(leg.start, leg.step)
        return self._assign(column, end(route).name)

    def _keep_star(self) -> bool:
        """Hold ``SELECT *`` to the table it meant, before others are joined; False where it meant several."""
        stars = [item for item in self._select.args["expressions"] if isinstance(item, exp.Star)]
        if stars and len(self._tables) > 1:
            return False
        for star in stars:
            alias = _identifier(next(iter(self._tables)), self._schema.dialect)
            star.replace(exp.Column(this=exp.Star(), table=alias))
        return True

    def _outer(self) -> bool:
        """Whether the query has an outer join, whose missing rows another join could take away."""
        return any(join.side for join in self._select.args.get("joins") or ())

    def _routes(self) -> list[Route]:
        return list(routes(self._schema, self._tables))

    def _mentioned(self) -> set[str]:
        """Columns that the query mentions, other than to filter by a constant."""
        free = [c for c in self._columns if not (isinstance(c.parent, exp.Predicate) and _other_side(c) is None)]
        return {column.name.lower() for column in free}

    def _join(self, alias: str, step: Step) -> None:
        if step.table.name in self._tables or not isinstance(self._select, exp.Select):
            return
        table = exp.Table(this=_identifier(step.table.name, self._schema.dialect))
        self._select.join(table, on=self._equal(alias, step, step.table.name), copy=False)
        self._tables[step.table.name] = step.table
        self._joined = True

    def _equal(self, alias: str, step: Step, other: str) -> exp.Expr:
        """The condition that joins ``step``'s table, called ``other``, to ``alias``."""

        def named(table: str, column: str) -> exp.Column:
            dialect = self._schema.dialect
            return exp.Column(this=_identifier(column, dialect), table=_identifier(table, dialect))

        pairs = zip(step.here, step.there, strict=True)
        return exp.and_(*[exp.EQ(this=named(alias, here), expression=named(other, there)) for here, there in pairs])

    def _qualify(self, column: exp.Column) -> None:
        if not column.table and not self._is_output(column) and (owners := self._sources.owners(column.name)):
            self._assign(column, owners[0])

    def _is_output(self, column: exp.Column) -> bool:
        """Whether it names an output column: in ORDER BY those come first."""
        ordering = column.find_ancestor(exp.Order, exp.Window, exp.Select)
        return column.name.lower() in self._aliases and isinstance(ordering, exp.Order)

    def _outside(self) -> dict[str, Table | None]:
        """The sources a column may also name: subqueries here, and everything of the queries around this one."""
        return {alias: table for alias, table in self._all_sources.items() if self._sources.alias(alias) is None}

    @functools.cached_property
    def _all_sources(self) -> dict[str, Table | None]:
        known: dict[str, Table | None] = {}
        scope: Scope | None = self._scope
        while scope is not None:
            for alias, source in scope.sources.items():
                table = find_table(self._schema, source) if isinstance(source, exp.Table) else None
                known.setdefault(alias.lower(), table)
            scope = scope.parent
        return known

    def _known_outside(self, name: str) -> bool:
        return any(table is None or has_column(table, name) for table in self._outside().values())

    def _respell(self, column: exp.Column, aliases: list[str]) -> bool:
        if any(has_column(table, column.name) for table in self._schema.tables):
            return False  # a real name, so it is not misspelt: it stands somewhere else
        for alias in aliases:
            if name := misspelt(column.name, [other.name for other in self._tables[alias].columns]):
                column.set("this", _identifier(name, self._schema.dialect))
                return self._assign(column, alias)
        return False

    def _assign(self, column: exp.Column, alias: str) -> bool:
        column.set("table", _identifier(alias, self._schema.dialect))
        return True


def _other_side(column: exp.Column) -> exp.Column | None:
    """The column that this one is compared with by ``=``."""
    parent = column.parent
    if not isinstance(parent, exp.EQ):
        return None
    other = parent.expression if parent.this is column else parent.this
    return other if isinstance(other, exp.Column) else None


def _identifier(name: str, dialect: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=quote_name(name, dialect) != name)

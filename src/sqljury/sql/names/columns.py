"""Binds the columns of one SELECT to the schema: lists what each unknown one may mean, and a ``Reading`` chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from sqljury.language.alike import mentions, pieces
from sqljury.sql.grouping import bare_outputs, one_row_each, ordered_by_count
from sqljury.sql.names.from_clause import FromClause
from sqljury.sql.names.near import after_table, is_name_of, near_by_meaning, near_columns
from sqljury.sql.names.readings import PLAUSIBLE, READINGS, Option, Reading
from sqljury.sql.names.routes import Route, end, score
from sqljury.sql.parse import exp
from sqljury.sql.resolve import (
    Sources,
    compared,
    find_table,
    has_column,
    identifier,
    is_date,
    other_side,
    table_named,
    tables_of,
)
from sqljury.types import Table

if TYPE_CHECKING:
    from sqlglot.optimizer.scope import Scope

# Factors and scores of options; benchmarks/bind.py counts the right and wrong repairs of each kind.
_QUALIFIED: Final = 1.3
_MENTIONED: Final = 1.5
_ALIAS: Final = 0.95
_OWNER: Final = 0.9
_STRAY: Final = 0.7
_ELSEWHERE: Final = 0.8
_AMBIGUOUS: Final = 0.6
_MANY: Final = 0.7
"""A column of a row is seldom that of several other rows, where a key also leads to a single one."""
_REPEATED: Final = 0.7
"""Less again where an aggregate would count a row for each of those."""
_OWN_DAY: Final = 0.6
"""Less than a certain key to the table that has the day; it counts where that finds nothing."""
_OWN_CODE: Final = 0.75
"""Less than a key to one row that has the column, more than a way to several such rows."""
_FIRST_DAY: Final = 0.5
_LATER_DAY: Final = 0.3
"""Tables list first when something began."""
_DAYS: Final = (("date",), ("dt",), ("day",), ("on",))
"""Last words of columns of days."""
_RECORDED: Final = frozenset(("created", "updated", "modified", "changed", "deleted", "inserted", "loaded"))


class Binder:
    """Binds the columns of one SELECT; tables that it joins in are added to its sources."""

    def __init__(self, sources: Sources, reading: Reading) -> None:
        self._sources, self._reading, self._schema = sources, reading, sources.schema
        self._scope, self._tables = sources.scope, sources.tables
        self._select = self._scope.expression
        self._outputs = {alias: sources.outputs(alias) for alias in sources.others}
        columns = self._scope.find_all(exp.Column)
        self._columns = [column for column in columns if not isinstance(column.this, exp.Star)]
        self._aliases = {item.alias.lower() for item in getattr(self._select, "selects", ()) if item.alias}
        self._from = FromClause(sources)

    def bind(self) -> bool:
        """Repair the columns that can be repaired; True if any was."""
        if not isinstance(self._select, exp.Select) or not self._tables:
            return False
        changed = [self._column(column) for column in self._columns]
        changed.append(self._count_others())
        if self._from.extended:  # the new table may share names with the old ones
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
            return self._reading.choose([self._as_of(column, alias, first=owners[0]) for alias in owners])
        if owners or self._in_subquery(column.name) or column.name.lower() in self._aliases:
            return False
        if column.this.quoted and self._schema.dialect in ("sqlite", "mysql"):
            return False  # these read an unknown "name" as text
        if self._known_outside(column.name):
            return False
        self._reading.search()
        return self._choose(
            self._paired(column, list(self._tables)),
            lambda: self._own_key(column, list(self._tables)),
            lambda: [
                *self._own_day(column, list(self._tables)),
                *self._own_code(column, list(self._tables)),
                *self._joins(column),
            ],
            lambda: self._near(column, list(self._tables)),
            lambda: self._some_day(column, list(self._tables)),
        )

    def _paired(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The column that a key ties to what the unknown one is compared with: ``customer_id IN (SELECT ...)``."""
        other, source = compared(column)
        real = column.name.lower() in self._reading.names
        if other is None or (real and other.name.lower() != column.name.lower()):
            return []
        if source is None:
            tables = [self._tables[alias] for alias in self._tables if alias.lower() == other.table.lower()]
        else:
            tables = [table for table in tables_of(source, self._schema).values() if has_column(table, other.name)]
        return [
            Option(step.score, "column of a key", self._assigning(column, alias, step.here[0]))
            for table in tables[:1]
            for alias in aliases
            if self._tables[alias] is not table
            for step in self._reading.routes.between(self._tables[alias], table, other.name)
        ]

    def _as_of(self, column: exp.Column, alias: str, first: str) -> Option:
        """An ambiguous name as the column of one of its tables: of the ``first``, unless the question names another."""
        likely = (1.0 if alias == first else _AMBIGUOUS) * self._reading.asks_for(self._tables[alias])
        likely = 0.0 if alias != first and self._equated(column.name, first, alias) else likely  # the same either way
        return Option(likely, "ambiguous", lambda: self._assign(column, alias))

    def _equated(self, name: str, first: str, second: str) -> bool:
        """Whether a condition makes the columns of that name of two tables equal."""
        wanted = {(alias.lower(), name.lower()) for alias in (first, second)}
        pairs = ((node.this, node.expression) for node in self._select.find_all(exp.EQ))
        columns = (pair for pair in pairs if all(isinstance(side, exp.Column) for side in pair))
        return any({(side.table.lower(), side.name.lower()) for side in pair} == wanted for pair in columns)

    def _choose(self, *tiers: Collection[Option] | Callable[[], Collection[Option]]) -> bool:
        """Choose among the options of the first tier that has a choice; later tiers are computed only if needed."""
        return any(self._reading.choose(tier() if callable(tier) else tier) for tier in tiers)

    def _qualified(self, column: exp.Column) -> bool:
        alias = self._sources.alias(column.table)
        if alias is None:
            return self._hidden(column) or (self._stray(column) if self._undefined(column) else self._lacking(column))
        if has_column(self._tables[alias], column.name):
            return False
        self._reading.search()
        spelt = [option for option in self._near(column, [alias]) if option.kind == "spelling"]
        owners = self._sources.owners(column.name)
        other = other_side(column)
        if (
            owners
            and other is not None
            and (other.table.lower(), other.name.lower())
            == (
                owners[0].lower(),
                column.name.lower(),
            )
        ):
            return self._choose(spelt, self._reroutes(column))
        moved = [
            Option(_OWNER * self._reading.asks_for(self._tables[owner]), "alias", self._assigning(column, owner))
            for owner in owners
        ]
        return self._choose(
            spelt,
            moved,
            lambda: self._paired(column, [alias]) if column.find_ancestor(exp.Join, exp.Select) is self._select else [],
            lambda: self._reroutes(column),
            lambda: self._own_key(column, [alias]),
            lambda: [*self._own_day(column, [alias]), *self._joins(column)],
            lambda: self._near(column, [alias]),
            lambda: self._some_day(column, [alias]),
        )

    def _hidden(self, column: exp.Column) -> bool:
        """A column that its subquery does not return, but a table or another subquery of this SELECT has."""
        alias = next((known for known in self._outputs if known.lower() == column.table.lower()), None)
        outputs = None if alias is None else self._outputs[alias]
        if outputs is None or column.name.lower() in {name.lower() for name in outputs}:
            return False
        self._reading.search()
        owners = self._sources.owners(column.name)
        owners += [
            other
            for other, names in self._outputs.items()
            if column.name.lower() in {name.lower() for name in names or ()}
        ]
        return self._reading.choose([Option(_OWNER, "alias", self._assigning(column, owner)) for owner in owners])

    def _undefined(self, column: exp.Column) -> bool:
        return column.table.lower() not in self._outside()

    def _lacking(self, column: exp.Column) -> bool:
        """A column of an enclosing query's table that the table lacks, if its alias has no other meaning."""
        table = self._outside()[column.table.lower()]
        if table is None or has_column(table, column.name):
            return False
        self._reading.search()
        return self._choose(self._joins(column))

    def _stray(self, column: exp.Column) -> bool:
        """A qualifier that the query does not have: a table of the schema, or an alias that was never defined.

        A table that the query has under an alias is meant by it; another one is joined in, where it has the column.
        """
        self._reading.search()
        owners = self._sources.owners(column.name)
        moved = [Option(_STRAY, "undefined alias", self._assigning(column, owner)) for owner in owners]
        named = table_named(self._schema, column.table)
        if named is None:
            return self._choose(
                [*moved, *self._joins(column, alias=column.table)], lambda: self._near(column, list(self._tables))
            )
        aliases = [alias for alias, table in self._tables.items() if table is named]
        if not has_column(named, column.name):
            near = [option for alias in aliases for option in self._near(column, [alias])]
            return self._choose(near, moved)
        inside = [Option(_ALIAS, "table for its alias", self._assigning(column, alias)) for alias in aliases]
        return self._choose(inside, lambda: self._tied(column, named), lambda: self._joins(column, named), moved)

    def _tied(self, column: exp.Column, named: Table) -> list[Option]:
        """A table that FROM lacks, where a condition already ties it to a table that FROM has."""
        others = [other_side(each) for each in self._columns if each.table.lower() == column.table.lower()]
        tied = any(other is not None and self._sources.alias(other.table) is not None for other in others)
        if not tied or self._from.outer() or not self._from.star_is_kept():
            return []

        def apply() -> None:
            self._from.keep_star()
            alias = self._from.add(named, on=None)
            for each in self._columns:
                if each.table.lower() == column.table.lower():
                    self._assign(each, alias)

        return [Option(1.0, "table missing in FROM", apply)]

    def _reroutes(self, column: exp.Column) -> list[Option]:
        """Two tables joined on a column that one of them lacks: join them along keys instead."""
        join = column.find_ancestor(exp.Join)
        if join is None or not isinstance(join.this, exp.Table) or join.args.get("on") is not column.parent:
            return []
        if not any(join is own for own in self._select.args.get("joins") or ()):
            return []  # of a subquery, or within brackets
        alias = join.this.alias_or_name
        target = self._tables.get(alias)
        rest = {other: table for other, table in self._tables.items() if other != alias}
        routes = self._reading.routes.to(rest, lambda table: table is target, guess=True) if target else []
        return [
            Option(self._likely(route, column), "join by a key", partial(self._from.reroute, join, alias, route))
            for route in routes
            if len(route) == 1 or not self._from.outer()
        ]

    def _joins(self, column: exp.Column, named: Table | None = None, alias: str = "") -> list[Option]:
        """The nearest tables that have the column, or ``named`` alone, if joining them changes nothing else.

        ``alias`` was never defined: a table whose name begins with it is likelier.
        """

        def wanted(table: Table) -> bool:
            return has_column(table, column.name) and named in (None, table)

        options = []
        for route in self._reading.routes.to(self._tables, wanted, guess=True):
            if self._may_join(column, route):
                likely = self._likely(route, column)
                if alias:
                    likely *= _QUALIFIED if end(route).name.lower().startswith(alias.lower()) else _ELSEWHERE
                options.append(Option(likely, _kind(route), partial(self._bring, column, route)))
        return options

    def _own_key(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The key of a table of the query, called after the table as other tables call it: ``id`` for ``order_id``."""
        return [
            Option(1.0, "key of the table", self._assigning(column, alias, name))
            for alias in aliases
            if (name := after_table(column.name, self._tables[alias].name, self._tables[alias])) is not None
            and self._tables[alias].primary_key == (name,)
        ]

    def _some_day(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The first of the days that a table has, for a day called after the table: ``rental_date``; or another one."""
        named = pieces(column.name)
        options = []
        for alias in aliases:
            table = self._tables[alias]
            if named[-1:] not in _DAYS or not named[:-1] or not {*named[:-1]} <= {*pieces(table.name)}:
                continue
            days = [each.name for each in table.columns if is_date(each.type)]
            days = [day for day in days if not _RECORDED.intersection(pieces(day))]
            options += [
                Option(
                    (_FIRST_DAY if at == 0 else _LATER_DAY) * self._reading.overlap([day]),
                    "day of the table",
                    self._assigning(column, alias, day),
                )
                for at, day in enumerate(days[:READINGS])
            ]
        return options

    def _own_day(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The only day that a table has, for a day of another table that the question does not mention."""
        others = [table for table in self._schema.tables if has_column(table, column.name)]
        meant = {*pieces(column.name)[:-1], *(word for table in others for word in pieces(table.name))}
        if not _is_day(column.name) or mentions(self._reading.question, meant):
            return []
        days = {alias: [each.name for each in self._tables[alias].columns if _is_day(each.name)] for alias in aliases}
        return [
            Option(_OWN_DAY, "day of the table", self._assigning(column, alias, names[0]))
            for alias, names in days.items()
            if len(names) == 1
        ]

    def _own_code(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The column that is called so with "code" or "name" behind it: ``country_code`` for ``country``."""
        found = [
            (alias, each.name)
            for alias in aliases
            for each in self._tables[alias].columns
            if is_name_of(each.name, column.name)
        ]
        return [
            Option(_OWN_CODE, "code of the table", self._assigning(column, alias, name))
            for alias, name in found
            if len(found) == 1
        ]

    def _bring(self, column: exp.Column, route: Route, name: str = "") -> None:
        """Join the tables of a route and qualify the column with the last one, where it is called ``name``.

        Rows that were counted are counted once.
        """
        if any(leg.step.many for leg in route) and (key := self._counted_by()) is not None:
            for count in self._scope.find_all(exp.Count):
                count.set("this", exp.Distinct(expressions=[key.copy()]))
        alias = self._from.join(route)
        if name:
            column.set("this", identifier(name, self._schema.dialect))
        self._assign(column, alias)

    def _may_join(self, column: exp.Column, route: Route) -> bool:
        if self._from.outer() and not self._from.only_left():
            return False
        if column.find_ancestor(exp.Join, exp.Select) is not self._select or not self._from.star_is_kept():
            return False
        repeats = any(leg.step.many for leg in route) and self._counted(end(route))
        return not repeats or self._counted_by() is not None

    def _counted_by(self) -> exp.Column | None:
        """The key that counts the rows of the query's one table; None where it has more tables, groups or sums."""
        aggregates = list(self._scope.find_all(exp.AggFunc))
        rows = all(isinstance(call, exp.Count) and isinstance(call.this, exp.Star) for call in aggregates)
        if not aggregates or not rows or len(self._scope.selected_sources) != 1 or self._select.args.get("group"):
            return None
        tables = list(self._tables.items())
        if len(tables) != 1 or len(tables[0][1].row_key) != 1:
            return None
        alias, table = tables[0]
        return self._sources.column(alias, table.row_key[0])

    def _counted(self, table: Table) -> bool:
        """Whether an aggregate would count rows that the join repeats; aggregates of ``table`` alone may."""
        group = self._select.args.get("group")
        if group is not None and any(self._only_of(table, key) for key in group.find_all(exp.Column)):
            return False  # each row there is a group
        for call in self._scope.find_all(exp.AggFunc):
            if isinstance(call, exp.Max | exp.Min) or isinstance(call.this, exp.Distinct):
                continue
            columns = list(call.find_all(exp.Column))
            if not columns or not all(self._only_of(table, each) for each in columns):
                return True
        return False

    def _only_of(self, table: Table, column: exp.Column) -> bool:
        """Whether a table to be joined has the column, and none of the query has."""
        return has_column(table, column.name) and not self._sources.owners(column.name)

    def _likely(self, route: Route, column: exp.Column) -> float:
        """A route's score, higher if the query or the question mentions its tables and columns."""
        first = route[0]
        likely = score(route) * self._reading.asks_for(end(route)) * self._reading.overlap(first.step.here)
        likely *= self._reading.asks_for(self._tables[first.start])
        if column.table and column.table.lower() == first.start.lower():
            likely *= _QUALIFIED
        if any(leg.step.many for leg in route):
            likely *= _MANY * (_REPEATED if self._aggregates else 1.0)
        return likely * (_MENTIONED if {name.lower() for name in first.step.here} & self._mentioned else 1.0)

    def _near(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The columns that an unknown name may stand for: of ``aliases``, of other tables here, of tables near by."""
        if column.name.lower() in self._reading.names:
            return []  # a real name, so it is not misspelt: it stands somewhere else
        options = []
        for alias, table in self._tables.items():
            if (name := after_table(column.name, alias, table)) is not None:
                options.append(Option(_OWNER, "table and column", self._assigning(column, alias, name)))
            for near in near_columns(column.name, table, self._reading.question):
                if alias in aliases or near.kind == "spelling":
                    likely = near.score * (1.0 if alias in aliases else _ELSEWHERE) * self._reading.asks_for(table)
                    options.append(Option(likely, near.kind, self._assigning(column, alias, near.column)))
        return options or self._near_by(column) or self._by_meaning(column, aliases)

    def _by_meaning(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        return [
            Option(near.score, near.kind, self._assigning(column, alias, near.column))
            for alias in aliases
            for near in near_by_meaning(column.name, self._tables[alias])
        ]

    def _near_by(self, column: exp.Column) -> list[Option]:
        """Columns of tables that the query lacks, where the name has the table's name too: ``airline_name``."""
        names = {table.name: after_table(column.name, table.name, table) for table in self._schema.tables}
        routes = self._reading.routes.to(self._tables, lambda table: bool(names[table.name]), guess=True)
        return [
            Option(
                self._likely(route, column) * _OWNER,
                f"{_kind(route)}, table and column",
                partial(self._bring, column, route, names[end(route).name] or ""),
            )
            for route in routes
            if self._may_join(column, route)
        ]

    @cached_property
    def _aggregates(self) -> bool:
        """Whether the query adds up or counts."""
        return any(self._scope.find_all(exp.Sum, exp.Avg, exp.Count))

    @cached_property
    def _mentioned(self) -> set[str]:
        """Columns that the query mentions, other than to filter by a constant."""
        free = [c for c in self._columns if not (isinstance(c.parent, exp.Predicate) and other_side(c) is None)]
        return {column.name.lower() for column in free}

    def _qualify(self, column: exp.Column) -> None:
        if not column.table and not self._is_output(column) and (owners := self._sources.owners(column.name)):
            self._assign(column, owners[0])

    def _count_others(self) -> bool:
        """A query of one table that is ordered by a count without groups: of the rows that refer to it.

        Where its outputs tell its rows apart, no other count makes sense; else it may be of its own rows.
        """
        outputs = bare_outputs(self._select) if len(self._scope.selected_sources) == 1 else []
        if not outputs or not ordered_by_count(self._select):
            return False
        routes = [route for route in self._reading.routes.over(self._tables, guess=True) if len(route) == 1]
        options = [
            Option(
                score(route) * self._reading.overlap([end(route).name]),
                "count of other rows",
                partial(self._from.join, route),
            )
            for route in routes
            if route[0].step.many
        ]
        if not one_row_each(outputs, self._sources):
            options.append(Option(2.0, "groups", lambda: None))
        return self._reading.choose(options)

    def _is_output(self, column: exp.Column) -> bool:
        """Whether it names an output column: in ORDER BY those come first."""
        ordering = column.find_ancestor(exp.Order, exp.Window, exp.Select)
        return column.name.lower() in self._aliases and isinstance(ordering, exp.Order)

    def _in_subquery(self, name: str) -> bool:
        """Whether a subquery in FROM has the column, or may have it."""
        return any(
            names is None or name.lower() in {each.lower() for each in names} for names in self._outputs.values()
        )

    def _outside(self) -> dict[str, Table | None]:
        """The sources a column may also name: subqueries here, and everything of the queries around this one."""
        return {alias: table for alias, table in self._all_sources.items() if self._sources.alias(alias) is None}

    @cached_property
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

    def _assigning(self, column: exp.Column, alias: str, name: str = "") -> Callable[[], None]:
        def apply() -> None:
            if name:
                column.set("this", identifier(name, self._schema.dialect))
            self._assign(column, alias)

        return apply

    def _assign(self, column: exp.Column, alias: str) -> None:
        column.set("table", self._sources.identifier(alias))


def _is_day(column: str) -> bool:
    """Whether a column holds by its name the day on which something happened."""
    named = pieces(column)
    return named[-1:] in _DAYS and not _RECORDED.intersection(named)


def _kind(route: Route) -> str:
    certain = all(leg.step.score == 1 for leg in route)
    sure = "" if certain else "likely " if min(leg.step.score for leg in route) > PLAUSIBLE else "guessed "
    return f"join over {sure}{'key' if len(route) == 1 else f'{len(route)} keys'}"

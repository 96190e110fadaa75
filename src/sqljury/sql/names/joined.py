"""What an unknown column may mean in tables that its query lacks: the joins that bring them in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property, partial
from typing import Final

from sqljury.language.alike import pieces
from sqljury.sql.grouping import bare_outputs, one_row_each, ordered_by_count
from sqljury.sql.names.from_clause import FromClause
from sqljury.sql.names.near import GLUED, KEY_WORDS, after_table, person_names
from sqljury.sql.names.present import place_of, put_names
from sqljury.sql.names.readings import PLAUSIBLE, Option, Reading
from sqljury.sql.names.routes import Route, Step, end, score
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, has_column, other_side
from sqljury.types import Table

# Factors of options; benchmarks/bind.py counts the right and wrong repairs of each kind.
_QUALIFIED: Final = 1.3
_MENTIONED: Final = 1.5
_OTHER_NAME: Final = 0.8
"""For a table whose name does not begin with the alias that was never defined."""
_WHOLE_NAMES: Final = (("name",), ("full", "name"))
_MANY: Final = 0.7
"""A column of a row is seldom that of several other rows, where a key also leads to a single one."""
_REPEATED: Final = 0.7
"""Less again where an aggregate would count a row for each of those."""


class JoinedTables:
    """Options that join tables to one SELECT, whose ``columns`` are given, along keys."""

    def __init__(self, sources: Sources, reading: Reading, columns: Sequence[exp.Column]) -> None:
        self._sources, self._reading, self._schema, self._columns = sources, reading, sources.schema, columns
        self._scope, self._tables = sources.scope, sources.tables
        self._select = self._scope.expression
        self._from = FromClause(sources)

    @property
    def added(self) -> bool:
        """Whether a table was joined."""
        return self._from.extended

    def having(self, column: exp.Column, named: Table | None = None, alias: str = "") -> list[Option]:
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
                    likely *= _QUALIFIED if end(route).name.lower().startswith(alias.lower()) else _OTHER_NAME
                options.append(Option(likely, _kind(route), partial(self._bring, column, route)))
        return options

    def called_after(self, column: exp.Column) -> list[Option]:
        """Columns of tables that the query lacks, where the name has the table's name too: ``airline_name``."""
        names = {table.name: after_table(column.name, table.name, table) for table in self._schema.tables}
        routes = self._reading.routes.to(self._tables, lambda table: bool(names[table.name]), guess=True)
        return [
            Option(
                self._likely(route, column) * GLUED,
                f"{_kind(route)}, table and column",
                partial(self._bring, column, route, names[end(route).name] or ""),
            )
            for route in routes
            if self._may_join(column, route)
        ]

    def in_role(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """A column of the row that a key leads to, where the name begins with its role: ``manager_name``.

        The key is called ``manager_id`` or ``manager_employee_id`` and may lead to the same table.
        """
        may_join = (not self._from.outer() or self._from.only_left()) and self._from.star_is_kept()
        if not may_join or column.find_ancestor(exp.Join, exp.Select) is not self._select:
            return []
        role_keys = [
            (alias, step, names)
            for alias in aliases
            for step in self._reading.routes.keys_of(self._tables[alias])
            if len(names := _in_role(column.name, step)) == 1 or (names and place_of(column) is not None)
        ]
        return [
            Option(step.score, "column of a role", partial(self._bring_role, column, alias, step, names))
            for alias, step, names in role_keys
        ]

    def tied(self, column: exp.Column, named: Table) -> list[Option]:
        """A table that FROM lacks, where a condition already ties it to a table that FROM has."""
        others = [other_side(node) for node in self._columns if node.table.lower() == column.table.lower()]
        tied = any(other is not None and self._sources.alias(other.table) is not None for other in others)
        if not tied or self._from.outer() or not self._from.star_is_kept():
            return []

        def apply() -> None:
            self._from.keep_star()
            alias = self._from.add(named, on=None)
            for node in self._columns:
                if node.table.lower() == column.table.lower():
                    self._sources.assign(node, alias)

        return [Option(1.0, "table missing in FROM", apply)]

    def reroutes(self, column: exp.Column) -> list[Option]:
        """Two tables joined on a column that one of them lacks: join them along keys instead."""
        join = column.find_ancestor(exp.Join)
        if join is None or not isinstance(join.this, exp.Table) or join.args.get("on") is not column.parent:
            return []
        if not any(join is item for item in self._select.args.get("joins") or ()):
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

    def counted_rows(self) -> list[Option]:
        """A query of one table that is ordered by a count without groups: of the rows that refer to it.

        Where its outputs tell its rows apart, no other count makes sense; else it may be of its own rows.
        """
        outputs = bare_outputs(self._select) if len(self._scope.selected_sources) == 1 else []
        if not outputs or not ordered_by_count(self._select):
            return []
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
        return options

    def _bring(self, column: exp.Column, route: Route, name: str = "") -> None:
        """Join the tables of a route and qualify the column with the last one, where it is called ``name``.

        Rows that were counted are counted once.
        """
        if any(leg.step.many for leg in route) and (key := self._counted_by()) is not None:
            for count in self._scope.find_all(exp.Count):
                count.set("this", exp.Distinct(expressions=[key.copy()]))
        alias = self._from.join(route)
        self._sources.assign(column, alias, name)

    def _bring_role(self, column: exp.Column, alias: str, step: Step, names: Sequence[str]) -> None:
        """Take the column, or both names of a person, from the row that the key leads to, joined unless it is there."""
        joined_alias = next(
            (
                other
                for other, table in self._tables.items()
                if table is step.table and self._is_joined(alias, step, other)
            ),
            None,
        )
        self._from.keep_star()
        table = self._tables[alias]
        is_null = any(known.name == step.here[0] and not known.not_null for known in table.columns)
        # Who has no manager is listed too, and found by "manager_name IS NULL".
        brought = joined_alias or self._from.add(
            step.table, on=(alias, step), outer=is_null and step.here != table.row_key
        )
        if len(names) == 1:
            self._sources.assign(column, brought, names[0])
        else:
            put_names(column, [self._sources.column(brought, name) for name in names])

    def _is_joined(self, alias: str, step: Step, other: str) -> bool:
        """Whether the query equates the columns of a key of one of its tables and another one."""
        wanted = {(alias.lower(), step.here[0].lower()), (other.lower(), step.there[0].lower())}
        equations = self._select.find_all(exp.EQ)
        return any(
            {
                (side.table.lower(), side.name.lower())
                for side in (equation.this, equation.expression)
                if isinstance(side, exp.Column)
            }
            == wanted
            for equation in equations
        )

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
            if not columns or not all(self._only_of(table, column) for column in columns):
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

    @cached_property
    def _aggregates(self) -> bool:
        """Whether the query adds up or counts."""
        return any(self._scope.find_all(exp.Sum, exp.Avg, exp.Count))

    @cached_property
    def _mentioned(self) -> set[str]:
        """Columns that the query mentions, other than to filter by a constant."""
        free = [c for c in self._columns if not (isinstance(c.parent, exp.Predicate) and other_side(c) is None)]
        return {column.name.lower() for column in free}


def _in_role(name: str, step: Step) -> tuple[str, ...]:
    """The column of the table that a key leads to, or those of a person's name, by a name that begins with the role."""
    [here] = step.here
    role, ours = pieces(here), pieces(name)
    role = role[:-1] if KEY_WORDS.intersection(role[-1:]) else role
    table = pieces(step.table.name)
    shorter = role[: -len(table)] if table and role[-len(table) :] == table else ()
    for prefix in filter(None, (role, shorter)):
        rest = ours[len(prefix) :] if ours[: len(prefix)] == prefix else ()
        same = [column.name for column in step.table.columns if rest and pieces(column.name) == rest]
        # Called after the table itself it is one of ``called_after``.
        if len(same) == 1 and same[0].lower() != step.there[0].lower() and prefix != table:
            return (same[0],)
        if rest in _WHOLE_NAMES and not same and (both := person_names(step.table)) is not None:
            return both
    return ()


def _kind(route: Route) -> str:
    certain = all(leg.step.score == 1 for leg in route)
    sure = "" if certain else "likely " if min(leg.step.score for leg in route) > PLAUSIBLE else "guessed "
    return f"join over {sure}{'key' if len(route) == 1 else f'{len(route)} keys'}"

"""The FROM clause of one SELECT, to which tables are joined along keys."""

from __future__ import annotations

from collections.abc import Iterator

from sqljury.sql.names.readings import table_node
from sqljury.sql.names.routes import Route, Step
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, bare_name, identifier
from sqljury.types import Table


class FromClause:
    """The tables of FROM and JOIN; ``tables`` maps aliases to them and grows with each join.

    ``extended``: tables were joined.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources, self._dialect, self.tables = sources, sources.schema.dialect, sources.tables
        self._select = sources.scope.expression
        self.extended = False

    def join(self, route: Route) -> str:
        """Join the tables of a route; returns the alias of the last."""
        self.keep_star()
        alias = route[0].start
        for leg in route:
            alias = self._join(alias, leg.step)
        return alias

    def reroute(self, join: exp.Join, alias: str, route: Route) -> None:
        """Replace the condition of ``join``, which adds ``alias``, by the keys of a route to that table."""
        joins = self._select.args["joins"]
        at = next(index for index, other in enumerate(joins) if other is join)
        before, after = joins[:at], joins[at + 1 :]
        joins.clear()
        start = route[0].start
        for leg in route[:-1]:
            start = self._join(start, leg.step)
        joins[:] = [*before, *self._select.args["joins"], join, *after]
        self._select.set("joins", joins)
        last = route[-1].step
        join.set("on", self._sources.equal(start, last.here, alias, last.there))

    def star_is_kept(self) -> bool:
        """Whether ``SELECT *`` can be limited to one table before others are joined."""
        stars = any(isinstance(item, exp.Star) for item in self._select.args["expressions"])
        return not stars or len(self._sources.scope.selected_sources) == 1 or self.extended

    def keep_star(self) -> None:
        """Limit ``SELECT *`` to the table that it selects from so far."""
        for star in [item for item in self._select.args["expressions"] if isinstance(item, exp.Star)]:
            alias = self._sources.identifier(next(iter(self.tables)))
            star.replace(exp.Column(this=exp.Star(), table=alias))

    def outer(self) -> bool:
        """Whether the query has an outer join, whose missing rows another join could take away."""
        return any(join.side for join in self._select.args.get("joins") or ())

    def only_left(self) -> bool:
        """Whether all outer joins are LEFT joins, so that another one may follow."""
        return {join.side.upper() for join in self._select.args.get("joins") or ()} <= {"", "LEFT"}

    def _join(self, alias: str, step: Step) -> str:
        """Join a key's table to ``alias`` unless it is there; returns the table's alias."""
        known = next((name for name, table in self.tables.items() if table is step.table), None)
        return self.add(step.table, on=(alias, step)) if known is None else known

    def add(self, table: Table, on: tuple[str, Step] | None, *, outer: bool = False) -> str:
        """Join a table on a key, by a LEFT JOIN if ``outer``, or by CROSS JOIN without one; returns its alias."""
        bare, select = bare_name(table), self._select
        assert isinstance(select, exp.Select)
        taken = {alias.lower() for alias in (*self._sources.scope.sources, *self.tables)}
        alias = next(name for name in _names(bare) if name.lower() not in taken)
        node = table_node(table, self._dialect)
        if alias != bare:
            node.set("alias", exp.TableAlias(this=identifier(alias, self._dialect)))
        if on is None:
            select.join(node, join_type="CROSS", copy=False)
        else:
            start, step = on
            side = "LEFT" if outer or self.outer() else ""
            condition = self._sources.equal(start, step.here, alias, step.there)
            select.join(node, on=condition, join_type=side, copy=False)
        self.tables[alias] = table
        self.extended = True
        return alias


def _names(bare: str) -> Iterator[str]:
    yield bare
    yield from (f"{bare}_{number}" for number in range(2, 1000))

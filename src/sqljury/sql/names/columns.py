"""Binds the columns of one SELECT to the schema: lists what each unknown one may mean, and a ``Reading`` chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from sqljury.sql.names.joined import JoinedTables
from sqljury.sql.names.present import PresentColumns
from sqljury.sql.names.readings import Option, Reading
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, find_table, has_column, other_side, table_named
from sqljury.types import Table

if TYPE_CHECKING:
    from sqlglot.optimizer.scope import Scope

# Scores of options; benchmarks/bind.py counts the right and wrong repairs of each kind.
_ALIAS: Final = 0.95
_OWNER: Final = 0.9
_STRAY: Final = 0.7
_AMBIGUOUS: Final = 0.6


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
        self._present = PresentColumns(sources, reading)
        self._joined = JoinedTables(sources, reading, self._columns)

    def bind(self) -> bool:
        """Repair the columns that can be repaired; True if any was."""
        if not isinstance(self._select, exp.Select) or not self._tables:
            return False
        changed = [self._column(column) for column in self._columns]
        changed.append(self._reading.choose(self._joined.counted_rows()))
        if self._joined.added:  # the new table may share names with the old ones
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
            self._present.paired(column, list(self._tables)),
            lambda: self._present.whole_name(column, list(self._tables)) if len(self._tables) == 1 else [],
            lambda: self._present.own_key(column, list(self._tables)),
            lambda: self._present.member(column, list(self._tables)),
            lambda: self._joined.in_role(column, list(self._tables)),
            lambda: [
                *self._present.own_day(column, list(self._tables)),
                *self._present.own_code(column, list(self._tables)),
                *self._joined.having(column),
            ],
            lambda: self._near(column, list(self._tables)),
            lambda: self._present.some_day(column, list(self._tables)),
        )

    def _as_of(self, column: exp.Column, alias: str, first: str) -> Option:
        """An ambiguous name as the column of one of its tables: of the ``first``, unless the question names another."""
        likely = (1.0 if alias == first else _AMBIGUOUS) * self._reading.asks_for(self._tables[alias])
        likely = 0.0 if alias != first and self._equated(column.name, first, alias) else likely  # the same either way
        return self._of(column, alias, likely, "ambiguous")

    def _of(self, column: exp.Column, alias: str, likely: float, kind: str) -> Option:
        return Option(likely, kind, partial(self._sources.assign, column, alias))

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
        owned_column = (owners[0].lower(), column.name.lower()) if owners else None
        if other is not None and (other.table.lower(), other.name.lower()) == owned_column:
            return self._choose(spelt, self._joined.reroutes(column))
        moved = [
            self._of(column, owner, _OWNER * self._reading.asks_for(self._tables[owner]), "alias") for owner in owners
        ]
        in_join = column.find_ancestor(exp.Join, exp.Select) is not self._select
        return self._choose(
            spelt,
            moved,
            lambda: self._present.whole_name(column, [alias]),
            lambda: [] if in_join else self._present.paired(column, [alias]),
            lambda: self._joined.reroutes(column),
            lambda: self._present.own_key(column, [alias]),
            lambda: self._present.member(column, [alias]),
            lambda: self._joined.in_role(column, [alias]),
            lambda: [*self._present.own_day(column, [alias]), *self._joined.having(column)],
            lambda: self._near(column, [alias]),
            lambda: self._present.some_day(column, [alias]),
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
        return self._reading.choose([self._of(column, owner, _OWNER, "alias") for owner in owners])

    def _undefined(self, column: exp.Column) -> bool:
        return column.table.lower() not in self._outside()

    def _lacking(self, column: exp.Column) -> bool:
        """A column of an enclosing query's table that the table lacks, if its alias has no other meaning."""
        table = self._outside()[column.table.lower()]
        if table is None or has_column(table, column.name):
            return False
        self._reading.search()
        return self._choose(self._joined.having(column))

    def _stray(self, column: exp.Column) -> bool:
        """A qualifier that the query does not have: a table of the schema, or an alias that was never defined.

        A table that the query has under an alias is meant by it; another one is joined in, where it has the column.
        """
        self._reading.search()
        owners = self._sources.owners(column.name)
        moved = [self._of(column, owner, _STRAY, "undefined alias") for owner in owners]
        named = table_named(self._schema, column.table)
        if named is None:
            brought = self._joined.having(column, alias=column.table)
            return self._choose([*moved, *brought], lambda: self._near(column, list(self._tables)))
        aliases = [alias for alias, table in self._tables.items() if table is named]
        if not has_column(named, column.name):
            near = [option for alias in aliases for option in self._near(column, [alias])]
            return self._choose(near, moved)
        inside = [self._of(column, alias, _ALIAS, "table for its alias") for alias in aliases]
        joined = self._joined
        return self._choose(inside, lambda: joined.tied(column, named), lambda: joined.having(column, named), moved)

    def _near(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The columns that an unknown name may stand for: of ``aliases``, of other tables here, of tables near by."""
        if column.name.lower() in self._reading.names:
            return []  # a real name, so it is not misspelt: it stands somewhere else
        near = self._present.near(column, aliases) or self._joined.called_after(column)
        return near or self._present.by_meaning(column, aliases)

    def _qualify(self, column: exp.Column) -> None:
        if not column.table and not self._is_output(column) and (owners := self._sources.owners(column.name)):
            self._sources.assign(column, owners[0])

    def _is_output(self, column: exp.Column) -> bool:
        """Whether it names an output column: in ORDER BY those come first."""
        ordering = column.find_ancestor(exp.Order, exp.Window, exp.Select)
        return column.name.lower() in self._aliases and isinstance(ordering, exp.Order)

    def _in_subquery(self, name: str) -> bool:
        """Whether a subquery in FROM has the column, or may have it."""
        return any(
            names is None or name.lower() in {output.lower() for output in names} for names in self._outputs.values()
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

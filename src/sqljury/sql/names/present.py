"""What an unknown column may mean among the tables of its query: keys, days, codes, and columns with a like name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from sqljury.language.alike import mentions, pieces
from sqljury.sql.names.near import (
    GLUED,
    KEY_WORDS,
    after_table,
    is_name_of,
    is_whole_name,
    near_by_meaning,
    near_columns,
    person_names,
)
from sqljury.sql.names.readings import READINGS, Option, Reading
from sqljury.sql.names.routes import Step
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, compared, compared_with, has_column, identifier, is_date, owner, tables_of

# Scores of options; benchmarks/bind.py counts the right and wrong repairs of each kind.
_ELSEWHERE: Final = 0.8
_OWN_DAY: Final = 0.6
"""Less than a certain key to the table that has the day; it counts where that finds nothing."""
_OWN_CODE: Final = 0.75
"""Less than a key to one row that has the column, more than a way to several such rows."""
_BOTH_NAMES: Final = 0.9
_FIRST_DAY: Final = 0.5
_LATER_DAY: Final = 0.3
"""Tables list first when something began."""
_DAYS: Final = (("date",), ("dt",), ("day",), ("on",))
"""Last words of columns of days."""
_RECORDED: Final = frozenset(("created", "updated", "modified", "changed", "deleted", "inserted", "loaded"))


class PresentColumns:
    """Options for an unknown column among the tables that FROM has, or among those of some ``aliases``."""

    def __init__(self, sources: Sources, reading: Reading) -> None:
        self._sources, self._reading, self._schema = sources, reading, sources.schema
        self._tables = sources.tables

    def paired(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
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
            Option(step.score, "column of a key", partial(self._sources.assign, column, alias, step.here[0]))
            for table in tables[:1]
            for alias in aliases
            if self._tables[alias] is not table
            for step in self._reading.routes.between(self._tables[alias], table, other.name)
        ]

    def member(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The key that leads to the table of what a subquery is compared with: ``id IN (SELECT buyer FROM sale)``.

        Where that key leads to another column, the query around compares that one.
        """
        select = column.parent
        is_output = isinstance(select, exp.Select) and select.selects == [column]
        outer = compared_with(select) if is_output else None
        owned = owner(outer, self._schema) if outer is not None else None
        if outer is None or owned is None:
            return []
        keys = [
            (alias, step)
            for alias in aliases
            if self._tables[alias] is not owned[1]
            for step in self._reading.routes.keys_of(self._tables[alias])
            if step.table is owned[1]
        ]
        near = [match.column for alias in aliases for match in near_columns(column.name, self._tables[alias])[:1]]
        keys = [(alias, step) for alias, step in keys if not near or step.here[0] in near]
        same = [(alias, step) for alias, step in keys if step.there[0].lower() == outer.name.lower()]
        meant = same or keys
        if len(meant) > 1:  # of several keys, the one that has a word of the name
            named = {*pieces(column.name)} - KEY_WORDS
            meant = [(alias, step) for alias, step in meant if named & {*pieces(step.here[0])}]
        return [
            Option(step.score, "column of a key", partial(self._compare, outer, column, alias, step))
            for alias, step in meant
        ]

    def _compare(self, outer: exp.Column, column: exp.Column, alias: str, step: Step) -> None:
        outer.set("this", identifier(step.there[0], self._schema.dialect))
        self._sources.assign(column, alias, step.here[0])

    def own_key(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The key of a table of the query, called after the table as other tables call it: ``id`` for ``order_id``."""
        return [
            Option(1.0, "key of the table", partial(self._sources.assign, column, alias, name))
            for alias in aliases
            if (name := after_table(column.name, self._tables[alias].name, self._tables[alias])) is not None
            and self._tables[alias].primary_key == (name,)
        ]

    def whole_name(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """First and last name of a person for an output, a group or an order called after the whole name."""
        options = []
        for alias in aliases:
            names = person_names(self._tables[alias])
            if names is None or not is_whole_name(column.name, self._tables[alias]) or place_of(column) is None:
                continue
            both = [self._sources.column(alias, name) for name in names]
            options.append(Option(_BOTH_NAMES, "names of a person", partial(put_names, column, both)))
        return options

    def some_day(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The first of the days that a table has, for a day called after the table: ``rental_date``; or another one."""
        named = pieces(column.name)
        options = []
        for alias in aliases:
            table = self._tables[alias]
            if named[-1:] not in _DAYS or not named[:-1] or not {*named[:-1]} <= {*pieces(table.name)}:
                continue
            days = [known.name for known in table.columns if is_date(known.type)]
            days = [day for day in days if not _RECORDED.intersection(pieces(day))]
            options += [
                Option(
                    (_FIRST_DAY if at == 0 else _LATER_DAY) * self._reading.overlap([day]),
                    "day of the table",
                    partial(self._sources.assign, column, alias, day),
                )
                for at, day in enumerate(days[:READINGS])
            ]
        return options

    def own_day(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The only day that a table has, for a day of another table that the question does not mention."""
        others = [table for table in self._schema.tables if has_column(table, column.name)]
        meant = {*pieces(column.name)[:-1], *(word for table in others for word in pieces(table.name))}
        if not _is_day(column.name) or mentions(self._reading.question, meant):
            return []
        days = {
            alias: [known.name for known in self._tables[alias].columns if _is_day(known.name)] for alias in aliases
        }
        return [
            Option(_OWN_DAY, "day of the table", partial(self._sources.assign, column, alias, names[0]))
            for alias, names in days.items()
            if len(names) == 1
        ]

    def own_code(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The column that is called so with "code" or "name" behind it: ``country_code`` for ``country``."""
        codes = [
            (alias, known.name)
            for alias in aliases
            for known in self._tables[alias].columns
            if is_name_of(known.name, column.name)
        ]
        return [
            Option(_OWN_CODE, "code of the table", partial(self._sources.assign, column, alias, name))
            for alias, name in codes
            if len(codes) == 1
        ]

    def near(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The columns with a name like an unknown one: of ``aliases``, and misspelt ones of the other tables."""
        options = []
        for alias, table in self._tables.items():
            if (name := after_table(column.name, alias, table)) is not None:
                options.append(Option(GLUED, "table and column", partial(self._sources.assign, column, alias, name)))
            for near in near_columns(column.name, table, self._reading.question):
                if alias in aliases or near.kind == "spelling":
                    likely = near.score * (1.0 if alias in aliases else _ELSEWHERE) * self._reading.asks_for(table)
                    apply = partial(self._sources.assign, column, alias, near.column)
                    options.append(Option(likely, near.kind, apply))
        return options

    def by_meaning(self, column: exp.Column, aliases: Collection[str]) -> list[Option]:
        """The column that means most nearly the same, by word vectors."""
        return [
            Option(near.score, near.kind, partial(self._sources.assign, column, alias, near.column))
            for alias in aliases
            for near in near_by_meaning(column.name, self._tables[alias])
        ]


def place_of(column: exp.Column) -> exp.Expr | None:
    """The output, key of a group or key of an order that a column is; None where it is a part of something else."""
    node: exp.Expr = column
    while isinstance(node.parent, exp.Alias | exp.Ordered):
        node = node.parent
    listed = isinstance(node.parent, exp.Select | exp.Group | exp.Order)
    return node if listed and node.arg_key == "expressions" else None


def put_names(column: exp.Column, both: Sequence[exp.Column]) -> None:
    """Put two columns in the place of one; an order is by the last name first."""
    entry = place_of(column)
    if entry is None or entry.parent is None:
        return
    if isinstance(entry, exp.Ordered):
        nodes: list[exp.Expr] = []
        for name in reversed(both):
            key = entry.copy()
            key.set("this", name.copy())
            nodes.append(key)
    else:
        nodes = [name.copy() for name in both]
    around = entry.parent
    listed = [node for item in around.expressions for node in (nodes if item is entry else [item])]
    around.set("expressions", listed)


def _is_day(column: str) -> bool:
    """Whether a column holds by its name the day on which something happened."""
    named = pieces(column)
    return named[-1:] in _DAYS and not _RECORDED.intersection(named)

"""Which column a name means in strict mode: aliases, queries in FROM, and the queries around count."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqljury.metrics.match.plus.structure import Column, Derived, Expression, columns_of, parts, table_of
from sqljury.metrics.spider.names import Names

UNNAMED = "\0"
"""What the names of columns begin with that a query cannot say."""


@dataclass(frozen=True, slots=True)
class Relation:
    """One item of FROM: ``alias`` is what it goes by, ``outputs`` all its columns by name, in order.

    Of two with one name the first is meant by it.
    """

    alias: str
    outputs: tuple[tuple[str, Expression], ...]

    def column(self, name: str) -> Expression | None:
        """What stands behind a column's name."""
        return next((expression for own, expression in self.outputs if own == name), None)


def table_relation(table: str, place: str, alias: str, names: Names) -> Relation:
    """A table; ``place`` is its name in the structure, another one where it is in FROM twice."""
    return Relation(alias, tuple((name, Column(f"{place}.{name}")) for name in names.tables[table]))


@dataclass(slots=True)
class Scope:
    """The names of one query; ``selected`` has the aliases that SELECT gives, ``borrowed`` tables of queries around.

    ``aliases`` are the same names before SELECT is read.
    """

    outer: Scope | None
    relations: list[Relation] = field(default_factory=list)
    selected: dict[str, Expression] = field(default_factory=dict)
    aliases: frozenset[str] = frozenset()
    borrowed: set[str] = field(default_factory=set)

    def column(self, name: str, qualifier: str) -> Expression | None:
        """What a column name stands for here, else in the queries around; the first of several."""
        for relation in self.relations:
            if qualifier in ("", relation.alias) and (found := relation.column(name)) is not None:
                return found
        if not qualifier and name in self.selected:
            return self.selected[name]
        found = None if self.outer is None else self.outer.column(name, qualifier)
        if found is not None:
            self.borrowed |= {base_of(column) for column in columns_of(found)}
            self.borrowed |= {"" for part in parts(found) if isinstance(part, Derived)}
        return found

    def all_columns(self, qualifier: str = "") -> list[tuple[str, Expression]]:
        """What the star stands for, with the names."""
        return [
            output for relation in self.relations if qualifier in ("", relation.alias) for output in relation.outputs
        ]

    def may_name(self, name: str) -> bool:
        """Whether a name in double quotes may be a column after all: an alias, or one without a name of its own."""
        unnamed = any(own.startswith(UNNAMED) for relation in self.relations for own, _ in relation.outputs)
        if unnamed or name in self.aliases or name in ("rowid", "oid", "_rowid_"):
            return True
        return self.outer is not None and self.outer.may_name(name)


def base_of(column: str) -> str:
    """The table of a column, or of a table's place in FROM, by the name that the schema has for it."""
    return table_of(column).partition(":")[0]

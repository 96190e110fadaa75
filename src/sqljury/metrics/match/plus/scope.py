"""Which column a name means in strict mode: aliases, queries in FROM, and the queries around count."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqljury.metrics.match.plus.structure import Column, Expression
from sqljury.metrics.spider.names import Names


@dataclass(frozen=True, slots=True)
class Relation:
    """One item of FROM: ``alias`` is what it goes by, ``columns`` what stands behind each of its column names."""

    alias: str
    columns: dict[str, Expression]


def table_relation(table: str, place: str, alias: str, names: Names) -> Relation:
    """A table; ``place`` is its name in the structure, another one where it is in FROM twice."""
    return Relation(alias, {name: Column(f"{place}.{name}") for name in names.tables[table]})


@dataclass(slots=True)
class Scope:
    """The names of one query; ``selected`` has those that SELECT gives."""

    outer: Scope | None
    relations: list[Relation] = field(default_factory=list)
    selected: dict[str, Expression] = field(default_factory=dict)

    def column(self, name: str, qualifier: str) -> Expression | None:
        """What a column name stands for here, else in the queries around; the first of several."""
        for relation in self.relations:
            if qualifier in ("", relation.alias) and name in relation.columns:
                return relation.columns[name]
        if not qualifier and name in self.selected:
            return self.selected[name]
        return None if self.outer is None else self.outer.column(name, qualifier)

    def all_columns(self, qualifier: str = "") -> dict[str, Expression]:
        """What the star stands for, by name; of two columns with one name the first."""
        columns: dict[str, Expression] = {}
        for relation in self.relations:
            if qualifier in ("", relation.alias):
                for name, expression in relation.columns.items():
                    columns.setdefault(name, expression)
        return columns

"""What a schema guarantees, which is all that an equivalence rule may assume (ESM+ paper, section 3.2 and Table 1).

What a rule is: a function from a query to the equivalent one, with the assumptions it needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self, TypeAlias

from sqljury.metrics.esm_plus.structure import Query
from sqljury.metrics.spider.structure import Names
from sqljury.sql.affinity import Affinity, affinity
from sqljury.types import Schema, Table


@dataclass(frozen=True, slots=True)
class Facts:
    """Columns by full name, in lower case.

    ``unique`` are single-column primary keys and columns with a UNIQUE index of their own, ``non_null`` those declared
    NOT NULL and single-column primary keys, ``references`` leads from a foreign key's column to the one it refers to.
    ``affinities``, which only strict mode looks at, say how SQLite compares a column.
    """

    names: Names
    unique: frozenset[str]
    non_null: frozenset[str]
    primary_keys: Mapping[str, tuple[str, ...]]
    references: Mapping[str, str]
    affinities: Mapping[str, Affinity] = field(default_factory=dict)

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """From what a schema declares, not from inferred keys; views are left out.

        Spider's ``tables.json`` will not do: it says nothing of NOT NULL and UNIQUE, on which most rules rest.
        """
        tables = [table for table in schema.tables if not table.is_view]
        return cls(
            names=Names.of((table.name, (column.name for column in table.columns)) for table in tables),
            unique=frozenset(name for table in tables for name in _unique(table)),
            non_null=frozenset(name for table in tables for name in _non_null(table)),
            primary_keys={table.name.lower(): tuple(_full(table, table.primary_key)) for table in tables},
            references={
                column: f"{key.ref_table}.{ref_column}".lower()
                for table in tables
                for key in reversed(table.declared_keys)  # of two keys on one column the first declared counts
                for column, ref_column in zip(_full(table, key.columns), key.ref_columns, strict=True)
            },
            affinities={
                f"{table.name}.{column.name}".lower(): _alike(affinity(column.type))
                for table in tables
                for column in table.columns
            },
        )

    def columns(self, table: str) -> tuple[str, ...]:
        """The full names of a table's columns, none for an unknown one."""
        return tuple(f"{table}.{column}" for column in self.names.tables.get(table, ()))

    def is_single_key(self, column: str) -> bool:
        """Whether the column alone is its table's primary key."""
        return self.primary_keys.get(column.partition(".")[0]) == (column,)

    def has_key(self, table: str) -> bool:
        """Whether no two rows of the table are the same, for it has a primary key or a unique column."""
        return bool(self.primary_keys.get(table)) or any(column in self.unique for column in self.columns(table))

    def within(self, tables: Iterable[object]) -> Self:
        """The same facts, but only columns of these tables are unique or non-null."""
        wanted = set(tables)
        unique, non_null = (
            frozenset(c for c in known if _table(c) in wanted) for known in (self.unique, self.non_null)
        )
        return replace(self, unique=unique, non_null=non_null)

    def affinity(self, column: str) -> Affinity | None:
        """How SQLite compares the column; INTEGER is told as NUMERIC, which compares alike. None for an unknown one."""
        table, _, name = column.partition(".")
        return self.affinities.get(f"{table.partition(':')[0]}.{name}")

    def same_values(self, one: str, other: str) -> bool:
        """Whether two columns that are equal hold the very same value: not the text '01' where the other holds 1."""
        return self.affinity(one) == self.affinity(other) in ("TEXT", "NUMERIC", "REAL")

    def told_apart(self, column: str, by: str) -> bool:
        """Whether comparing with the column ``by`` leaves different values of ``column`` different."""
        column_affinity, by_affinity = self.affinity(column), self.affinity(by)
        numeric = ("NUMERIC", "REAL")
        return (
            column_affinity in numeric
            or (column_affinity == "TEXT" and by_affinity not in (*numeric, None))
            or column_affinity == by_affinity == "BLOB"
        )

    def spread(self, groups: Iterable[Iterable[str]]) -> Self:
        """The same facts where the columns of each group are equal: what one guarantees holds for all (rule 16)."""
        unique, non_null = set(self.unique), set(self.non_null)
        for group in map(set, groups):
            for known in (unique, non_null):
                if known & group:
                    known |= group
        return replace(self, unique=frozenset(unique), non_null=frozenset(non_null))


def is_unique(column: str) -> str:
    """The assumption in words."""
    return f"{column} is unique"


def is_non_null(column: str) -> str:
    """The assumption in words."""
    return f"{column} is never NULL"


def refers_to(column: str, key: str) -> str:
    """The assumption in words."""
    return f"{column} is a foreign key to {key}"


def _table(column: str) -> str:
    return column.partition(".")[0]


def _alike(kind: Affinity) -> Affinity:
    return "NUMERIC" if kind == "INTEGER" else kind


def _full(table: Table, columns: Iterable[str]) -> Iterable[str]:
    return (f"{table.name}.{column}".lower() for column in columns)


def _unique(table: Table) -> Iterable[str]:
    return _full(table, (column.name for column in table.columns if column.unique))


def _non_null(table: Table) -> Iterable[str]:
    single = table.primary_key if len(table.primary_key) == 1 else ()
    return _full(table, (column.name for column in table.columns if column.not_null or column.name in single))


class Applied(NamedTuple):
    """The query rewritten, and what of the schema that rests on, in words.

    ``facts``, where given, holds in this query for the rules that come after.
    """

    query: Query
    assumptions: tuple[str, ...] = ()
    facts: Facts | None = None


Rule: TypeAlias = "Callable[[Query, Facts], Applied | None]"
"""Looks at one query, not into those nested in it, which are rewritten before; None where it does not apply."""

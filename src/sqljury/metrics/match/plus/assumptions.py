"""What a schema guarantees, which is all that an equivalence rule may assume (ESM+ paper, section 3.2 and Table 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from sqljury.metrics.spider.names import Names
from sqljury.types import Schema, Table


@dataclass(frozen=True, slots=True)
class Facts:
    """Columns by full name, in lower case.

    ``unique`` are single-column primary keys and columns with a UNIQUE index of their own, ``non_null`` those declared
    NOT NULL and single-column primary keys, ``references`` leads from a foreign key's column to the one it refers to.
    """

    names: Names
    unique: frozenset[str]
    non_null: frozenset[str]
    primary_keys: Mapping[str, tuple[str, ...]]
    references: Mapping[str, str]

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """From an introspected schema; views are left out.

        Spider's ``tables.json`` will not do: it says nothing of NOT NULL and UNIQUE, on which most rules rest.
        """
        tables = [table for table in schema.tables if table.kind == "table"]
        return cls(
            names=Names.of((table.name, (column.name for column in table.columns)) for table in tables),
            unique=frozenset(name for table in tables for name in _unique(table)),
            non_null=frozenset(name for table in tables for name in _non_null(table)),
            primary_keys={table.name.lower(): tuple(_full(table, table.primary_key)) for table in tables},
            references={
                own: f"{key.ref_table}.{other}".lower()
                for table in tables
                for key in reversed(table.foreign_keys)  # of two keys on one column the first declared counts
                for own, other in zip(_full(table, key.columns), key.ref_columns, strict=True)
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


def _full(table: Table, columns: Iterable[str]) -> Iterable[str]:
    return (f"{table.name}.{column}".lower() for column in columns)


def _unique(table: Table) -> Iterable[str]:
    return _full(table, (column.name for column in table.columns if column.unique))


def _non_null(table: Table) -> Iterable[str]:
    single = table.primary_key if len(table.primary_key) == 1 else ()
    return _full(table, (column.name for column in table.columns if column.not_null or column.name in single))

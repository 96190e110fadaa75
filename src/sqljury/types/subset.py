"""Parts of a schema: some of its tables with some of their columns, and keys that hold together; other orders."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from sqljury.types import ForeignKey, Schema, Table

T = TypeVar("T")


def subset(schema: Schema, columns: Mapping[str, Collection[str]]) -> Schema:
    """The tables named in ``columns`` with those of their columns, both spelled as in the schema and in its order.

    A table of which no column is left is left out. A key is kept where all its columns are, on both sides.
    """
    kept = {table.name: _columns(table, columns[table.name]) for table in schema.tables if table.name in columns}
    kept = {name: table for name, table in kept.items() if table.columns}
    names = {name: {column.name for column in table.columns} for name, table in kept.items()}
    tables = tuple(
        replace(table, foreign_keys=tuple(key for key in table.foreign_keys if _holds(key, names[name], names)))
        for name, table in kept.items()
    )
    return replace(schema, tables=tables)


def only_tables(schema: Schema, names: Collection[str]) -> Schema:
    """The tables of these names, whole."""
    return subset(schema, {table.name: _names(table) for table in schema.tables if table.name in names})


def shuffled(schema: Schema, seed: int) -> Schema:
    """The same tables with the same columns in an order that the seed gives; keys stay as they are.

    Each table's columns have an order of their own, which no other table changes.
    """
    tables = [replace(table, columns=_shuffled(table.columns, f"{seed} {table.name}")) for table in schema.tables]
    return replace(schema, tables=_shuffled(tables, f"{seed}"))


def _shuffled(items: Sequence[T], seed: str) -> tuple[T, ...]:
    return tuple(random.Random(seed).sample(items, len(items)))  # noqa: S311


def _columns(table: Table, names: Collection[str]) -> Table:
    kept = tuple(column for column in table.columns if column.name in names)
    present = {column.name for column in kept}
    return replace(
        table,
        columns=kept,
        primary_key=table.primary_key if present.issuperset(table.primary_key) else (),
        unique_keys=tuple(key for key in table.unique_keys if present.issuperset(key)),
    )


def _holds(key: ForeignKey, own: set[str], names: Mapping[str, set[str]]) -> bool:
    return own.issuperset(key.columns) and names.get(key.ref_table, set()).issuperset(key.ref_columns)


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]

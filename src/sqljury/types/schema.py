"""The schema of a database, and smaller or reordered copies of one."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

T = TypeVar("T")

Form = Literal["ddl", "compact", "mschema", "listed"]
"""The forms in which a prompt shows a schema; ``sqljury.schema.forms`` writes them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as declared; ``unique`` means a key or UNIQUE constraint on this column alone.

    ``values`` lists what an enumerated type allows; ``comment`` is the database's own comment on the column.
    """

    name: str
    type: str = ""
    not_null: bool = False
    unique: bool = False
    comment: str = ""
    values: tuple[str, ...] = ()
    generated: bool = False


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key: ``columns`` refer to ``ref_columns`` of ``ref_table``, position by position.

    ``ref_table`` and ``ref_schema`` are the ``name`` and ``schema`` of the other ``Table``. A key that nobody
    ``declared`` was inferred, or given by notes: ``score`` is the probability that it is one, with the ``evidence``.
    """

    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]
    ref_schema: str = ""
    declared: bool = True
    score: float = 1.0
    evidence: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether the key was declared or given by notes, not inferred."""
        return self.declared or self.score >= 1.0

    def leads_to(self, table: Table) -> bool:
        """Whether it refers to this table.

        The name alone does not say it: ``hr.staff`` is ``staff`` of the schema ``hr``, and may be a whole name in the
        default one.
        """
        return (self.ref_table, self.ref_schema) == (table.name, table.schema)


Kind = Literal["table", "partitioned table", "foreign table", "view", "materialized view"]
"""What a table is, as SQL writes it after CREATE."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view.

    ``name`` is unique in the database: bare in the default schema, else prefixed with ``schema`` and a dot.
    ``unique_keys`` holds the columns of each UNIQUE constraint, without the primary key. ``candidate_keys`` are not
    declared: their values were found to be unique and not NULL, the most likely key first. ``foreign_keys`` holds the
    declared ones first. ``definition`` is the statement that created a view, as the database stores it; empty for
    tables. ``partition_by`` says how a partitioned table is divided, such as ``RANGE (day)``.
    """

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    candidate_keys: tuple[tuple[str, ...], ...] = ()
    kind: Kind = "table"
    definition: str = ""
    schema: str = ""
    comment: str = ""
    partition_by: str = ""

    @property
    def is_view(self) -> bool:
        """Whether the rows come from a query, of which ``definition`` may be known."""
        return self.kind in ("view", "materialized view")

    @property
    def declared_keys(self) -> tuple[ForeignKey, ...]:
        """The foreign keys that the database declares: what published metrics may rest on."""
        return tuple(key for key in self.foreign_keys if key.declared)

    @property
    def likely_key(self) -> tuple[str, ...]:
        """The most likely candidate key where no primary key is declared, else empty."""
        return self.candidate_keys[0] if self.candidate_keys and not self.primary_key else ()

    @property
    def row_key(self) -> tuple[str, ...]:
        """The columns that identify a row: the primary key, or the likely one; empty if there is neither."""
        return self.primary_key or self.likely_key


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables and views of one database, in the order the database lists them.

    ``default`` names the default schema where tables of others are listed too.
    """

    name: str
    dialect: str
    tables: tuple[Table, ...]
    default: str = ""


DIALECT_NAMES = {"sqlite": "SQLite", "duckdb": "DuckDB", "postgres": "PostgreSQL", "mysql": "MySQL"}


def subset(schema: Schema, columns: Mapping[str, Collection[str]]) -> Schema:
    """The tables named in ``columns`` with only the columns given there, in the schema's order.

    Names are spelled as in the schema. A table without any remaining column is dropped, and so is a key that lacks a
    column on either side.
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
    """The tables of these names with all their columns."""
    kept = (table for table in schema.tables if table.name in names)
    return subset(schema, {table.name: [column.name for column in table.columns] for table in kept})


def qualified(schema: Schema) -> Schema:
    """The schema as it is to be read: tables that share their name with one of another schema have theirs, too.

    Only for showing it, since elsewhere a table of the default schema bears none.
    """
    if not schema.default:
        return schema
    others = {table.name.removeprefix(f"{table.schema}.") for table in schema.tables if table.schema}
    shared = others.intersection(table.name for table in schema.tables if not table.schema)

    def with_schema(key: ForeignKey) -> ForeignKey:
        moved = not key.ref_schema and key.ref_table in shared
        return replace(key, ref_table=f"{schema.default}.{key.ref_table}", ref_schema=schema.default) if moved else key

    def shown(table: Table) -> Table:
        keys = tuple(map(with_schema, table.foreign_keys))
        if table.schema or table.name not in shared:
            return replace(table, foreign_keys=keys)
        return replace(table, name=f"{schema.default}.{table.name}", schema=schema.default, foreign_keys=keys)

    return replace(schema, tables=tuple(map(shown, schema.tables)))


def shuffled(schema: Schema, seed: int) -> Schema:
    """The schema with tables and columns shuffled by ``seed``; keys stay as they are.

    The order of a table's columns depends on its name and the seed only.
    """
    tables = [replace(table, columns=_shuffled(table.columns, f"{seed} {table.name}")) for table in schema.tables]
    return replace(schema, tables=_shuffled(tables, f"{seed}"))


def _shuffled(items: Sequence[T], seed: str) -> tuple[T, ...]:
    return tuple(random.Random(seed).sample(items, len(items)))  # noqa: S311


def _columns(table: Table, names: Collection[str]) -> Table:
    kept = tuple(column for column in table.columns if column.name in names)
    present = {column.name for column in kept}
    dropped = [column.name for column in table.columns if column.name not in present]
    return replace(
        table,
        columns=kept,
        partition_by="" if any(name in table.partition_by for name in dropped) else table.partition_by,
        primary_key=table.primary_key if present.issuperset(table.primary_key) else (),
        unique_keys=tuple(key for key in table.unique_keys if present.issuperset(key)),
        candidate_keys=tuple(key for key in table.candidate_keys if present.issuperset(key)),
    )


def _holds(key: ForeignKey, columns: set[str], names: Mapping[str, set[str]]) -> bool:
    return columns.issuperset(key.columns) and names.get(key.ref_table, set()).issuperset(key.ref_columns)

"""The statements that make a copied table on an engine; every name is quoted, exactly as it is spelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqljury.engines.columns import CopiedType, Kind
from sqljury.engines.source import CopiedTable, Source
from sqljury.types import ForeignKey

_TYPES: Final[dict[str, dict[Kind, str]]] = {
    "postgres": {
        "integer": "integer",
        "bigint": "bigint",
        "decimal": "numeric",
        "real": "double precision",
        "text": "text",
        "date": "date",
        "timestamp": "timestamp",
        "bytes": "bytea",
    },
    "duckdb": {
        "integer": "INTEGER",
        "bigint": "BIGINT",
        "decimal": "DOUBLE",
        "real": "DOUBLE",
        "text": "VARCHAR",
        "date": "DATE",
        "timestamp": "TIMESTAMP",
        "bytes": "BLOB",
    },
    "mysql": {
        "integer": "INT",
        "bigint": "BIGINT",
        "decimal": "DOUBLE",
        "real": "DOUBLE",
        "text": "LONGTEXT",
        "date": "DATE",
        "timestamp": "DATETIME",
        "bytes": "LONGBLOB",
    },
}

_MAX_KEY_TEXT: Final = 255
"""Characters of a text within a key of MySQL: its keys have 3,072 bytes."""


def quoted(name: str, dialect: str = "sqlite") -> str:
    """The name in quotes, which keep its case and allow any word."""
    mark = "`" if dialect == "mysql" else '"'
    return mark + name.replace(mark, mark * 2) + mark


def create_table(table: CopiedTable, dialect: str, *, keys: bool) -> str:
    """CREATE TABLE with types and NOT NULL, with ``keys`` also all its keys."""
    keyed = {column for key in _keys(table) for column in key}
    lines = []
    for column, kind in zip(table.table.columns, table.types, strict=True):
        null = " NOT NULL" if column.not_null and _is_full(table, column.name) else ""
        type_ = type_name(kind, dialect, keyed=column.name in keyed)
        lines.append(f"{quoted(column.name, dialect)} {type_}{null}")
    if keys:
        lines += [f"PRIMARY KEY ({_names(table.primary_key, dialect)})"] if table.primary_key else []
        lines += [f"UNIQUE ({_names(key, dialect)})" for key in table.unique_keys]
        lines += [_foreign_key(key, dialect) for key in table.foreign_keys]
    return f"CREATE TABLE {quoted(table.name, dialect)} ({', '.join(lines)})"


def create_in_sqlite(table: CopiedTable) -> str:
    """CREATE TABLE as the file declares the columns, with NOT NULL and comments but without any key."""
    lines = []
    columns = table.table.columns
    for number, column in enumerate(columns, 1):
        line = f"{quoted(column.name)} {column.type}".rstrip() + " NOT NULL" * column.not_null
        comment = f" -- {' '.join(column.comment.split())}" if column.comment else ""
        lines.append(f"    {line}{',' if number < len(columns) else ''}{comment}")
    return f"CREATE TABLE {quoted(table.name)} (\n" + "\n".join(lines) + "\n)"


def add_keys(tables: Sequence[CopiedTable], dialect: str) -> list[str]:
    """Statements that add the keys of filled tables: primary and unique ones first."""
    unique, foreign = [], []
    for table in tables:
        alter = f"ALTER TABLE {quoted(table.name, dialect)} ADD"
        if table.primary_key:
            unique.append(f"{alter} PRIMARY KEY ({_names(table.primary_key, dialect)})")
        unique += [f"{alter} UNIQUE ({_names(key, dialect)})" for key in table.unique_keys]
        foreign += [f"{alter} {_foreign_key(key, dialect)}" for key in table.foreign_keys]
    return unique + foreign


def type_name(kind: CopiedType, dialect: str, *, keyed: bool = False) -> str:
    """The engine's type; ``keyed`` columns are in some key, where MySQL cannot have texts of any length."""
    if kind.kind == "text" and kind.length:
        return f"VARCHAR({kind.length})"
    if kind.kind == "text" and keyed and dialect == "mysql":
        return f"VARCHAR({_MAX_KEY_TEXT})"
    return _TYPES[dialect][kind.kind]


def in_order(source: Source) -> list[CopiedTable]:
    """The tables, each behind those it refers to; foreign keys of a circle, or to the table itself, are dropped."""
    waiting = {table.name: table for table in source.tables}
    ordered: dict[str, CopiedTable] = {}
    while waiting:
        ready = [table for table in waiting.values() if all(key.ref_table in ordered for key in table.foreign_keys)]
        for table in ready:
            ordered[table.name] = waiting.pop(table.name)
        if not ready:
            name, table = next(iter(waiting.items()))
            kept = tuple(key for key in table.foreign_keys if key.ref_table in ordered)
            source.changes["foreign keys of a circle"] += len(table.foreign_keys) - len(kept)
            waiting[name] = replace(table, foreign_keys=kept)
    return list(ordered.values())


def _keys(table: CopiedTable) -> list[tuple[str, ...]]:
    return [table.primary_key, *table.unique_keys, *(key.columns for key in table.foreign_keys)]


def _is_full(table: CopiedTable, column: str) -> bool:
    return all(value is not None for (value,) in table.values([column]))


def _foreign_key(key: ForeignKey, dialect: str) -> str:
    target = f"{quoted(key.ref_table, dialect)} ({_names(key.ref_columns, dialect)})"
    return f"FOREIGN KEY ({_names(key.columns, dialect)}) REFERENCES {target}"


def _names(columns: Sequence[str], dialect: str) -> str:
    return ", ".join(quoted(column, dialect) for column in columns)

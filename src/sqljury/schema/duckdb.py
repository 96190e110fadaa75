"""Reads the schema of a DuckDB database from its catalogue functions, in four queries and one for each view."""

from __future__ import annotations

import contextlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.db.files import FilesDatabase
from sqljury.errors import QueryError
from sqljury.types import Column, ForeignKey, Row, Table

_DEFAULT: Final = "main"
_USER: Final = "database_name = current_database() AND NOT internal AND NOT temporary"
_ENUM: Final = re.compile(r"ENUM\((.*)\)", re.DOTALL)
_LABEL: Final = re.compile(r"'((?:[^']|'')*)'")

_TABLES: Final = (
    "SELECT schema_name, table_name, table_oid, 'table', NULL, comment FROM duckdb_tables() "  # noqa: S608
    f"WHERE {_USER} UNION ALL "
    f"SELECT schema_name, view_name, view_oid, 'view', sql, comment FROM duckdb_views() WHERE {_USER} ORDER BY 3"
)
_COLUMNS: Final = (
    "SELECT table_oid, column_name, data_type, is_nullable, comment, is_generated FROM duckdb_columns() "
    "WHERE database_name = current_database() AND NOT internal ORDER BY table_oid, column_index"
)
_CONSTRAINTS: Final = (
    "SELECT table_oid, constraint_type, to_json(constraint_column_names), referenced_table, "
    "to_json(referenced_column_names) FROM duckdb_constraints() WHERE database_name = current_database() "
    "AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') ORDER BY table_oid, constraint_index"
)
_INDEXES: Final = (
    "SELECT table_oid, expressions FROM duckdb_indexes() "
    "WHERE database_name = current_database() AND is_unique AND NOT is_primary ORDER BY index_oid"
)


class _Keys(NamedTuple):
    primary: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    foreign: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]


class _Listed(NamedTuple):
    """A table or view in the catalogue; ``name`` is without the schema."""

    schema: str
    name: str
    number: int
    kind: str
    definition: str
    comment: str


def tables(db: Database) -> tuple[Table, ...]:
    """Tables and working views of the chosen schemas, schema by schema, in the catalogue's order.

    Views over data files are listed as tables, without the definitions that read the files.
    """
    schemas = db.schemas or (_DEFAULT,)
    listed = [
        _Listed(str(row[0]), str(row[1]), int(row[2]), str(row[3]), row[4] or "", row[5] or "")
        for row in db.catalog(_TABLES)
    ]
    chosen = [table for schema in schemas for table in listed if table.schema == schema]
    columns, constraints = _grouped(db.catalog(_COLUMNS)), _grouped(db.catalog(_CONSTRAINTS))
    indexes = _grouped(db.catalog(_INDEXES))
    of_files = isinstance(db, FilesDatabase)
    read = []
    for table in chosen:
        if table.kind == "view" and not of_files and not _works(db, table):
            continue
        keys = _keys(constraints[table.number], indexes[table.number], columns[table.number])
        read.append(_table(table, columns[table.number], keys, schemas[0], plain=of_files))
    return _with_spelled_keys(read)


def _grouped(rows: Iterable[Row]) -> Mapping[int, list[Row]]:
    """The rows by their first cell, the table's number, and without it."""
    groups: dict[int, list[Row]] = defaultdict(list)
    for number, *cells in rows:
        groups[int(number)].append(tuple(cells))
    return groups


def _works(db: Database, view: _Listed) -> bool:
    """Whether the view can be queried; one on a dropped table or on missing files cannot."""
    with contextlib.suppress(QueryError):
        db.catalog(f"SELECT * FROM {_quoted(view.schema)}.{_quoted(view.name)} LIMIT 0")  # noqa: S608
        return True
    return False


def _keys(constraints: Iterable[Row], indexes: Iterable[Row], columns: Iterable[Row]) -> _Keys:
    primary: tuple[str, ...] = ()
    unique: list[tuple[str, ...]] = []
    foreign = []
    for kind, names, ref_table, ref_names in constraints:
        key = tuple(str(name) for name in json.loads(names))
        if kind == "PRIMARY KEY":
            primary = key
        elif kind == "UNIQUE":
            unique.append(key)
        else:
            foreign.append((key, str(ref_table), tuple(str(name) for name in json.loads(ref_names))))
    known = {str(row[0]) for row in columns}
    for (expressions,) in indexes:
        index = _index_columns(str(expressions), known)
        if index:
            unique.append(index)
    return _Keys(primary, tuple(dict.fromkeys(unique)), tuple(dict.fromkeys(foreign)))


def _index_columns(expressions: str, known: set[str]) -> tuple[str, ...]:
    """The columns of an index, empty if a part of it is an expression. DuckDB writes ``[a, '"b c"']``."""
    parts = [part.strip("'") for part in expressions.strip("[]").split(", ")]
    names = [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts]
    return tuple(names) if known.issuperset(names) else ()


def _table(listed: _Listed, columns: Iterable[Row], keys: _Keys, default: str, *, plain: bool) -> Table:
    alone = {key[0] for key in (keys.primary, *keys.unique) if len(key) == 1}
    schema = "" if listed.schema == default else listed.schema
    is_view = listed.kind == "view" and not plain
    return Table(
        name=_name(listed.name, schema),
        columns=tuple(_column(row, alone) for row in columns),
        primary_key=keys.primary,
        foreign_keys=tuple(
            ForeignKey(names, _name(ref_table, schema), ref_names, schema)
            for names, ref_table, ref_names in keys.foreign
        ),
        unique_keys=keys.unique,
        kind="view" if is_view else "table",
        definition=listed.definition if is_view else "",
        schema=schema,
        comment=listed.comment,
    )


def _column(row: Row, alone: set[str]) -> Column:
    name, kind, is_nullable, comment, is_generated = row
    enum = _ENUM.fullmatch(str(kind))
    return Column(
        name=str(name),
        type="ENUM" if enum else str(kind),
        not_null=not is_nullable,
        unique=name in alone,
        comment=str(comment or ""),
        values=tuple(label.replace("''", "'") for label in _LABEL.findall(enum[1])) if enum else (),
        generated=bool(is_generated),
    )


def _with_spelled_keys(tables: list[Table]) -> tuple[Table, ...]:
    """The tables with foreign keys spelled as in the referenced tables, not as in the declaration."""
    by_name = {table.name.lower(): table for table in tables}
    return tuple(
        replace(table, foreign_keys=tuple(_spelled(key, table, by_name) for key in table.foreign_keys))
        for table in tables
    )


def _spelled(key: ForeignKey, table: Table, by_name: Mapping[str, Table]) -> ForeignKey:
    target = by_name.get(key.ref_table.lower(), table)
    columns, ref_columns = _as_in_table(key.columns, table), _as_in_table(key.ref_columns, target)
    return ForeignKey(columns, target.name, ref_columns, target.schema)


def _as_in_table(names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    columns = {column.name.lower(): column.name for column in table.columns}
    return tuple(columns.get(name.lower(), name) for name in names)


def _name(name: str, schema: str) -> str:
    return f"{schema}.{name}" if schema else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

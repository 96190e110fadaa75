"""The schema of an SQLite database, from its PRAGMA functions."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from dataclasses import replace
from typing import Final

from sqljury.db.base import Database
from sqljury.errors import QueryError
from sqljury.schema.sql_comments import read_comments
from sqljury.types import Column, ForeignKey, Row, Table

_HIDDEN: Final = 1  # a column that a virtual table keeps to itself
_GENERATED: Final = (2, 3)


def tables(db: Database) -> tuple[Table, ...]:
    """User tables and views that work, in the order they were created."""
    listed = db.catalog(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    )
    shadows = _shadows(db)
    found = []
    for name, kind, sql in listed:
        if name in shadows:
            continue
        # A view on a dropped table, or a virtual table of a module that is not here, cannot be asked about.
        with contextlib.suppress(QueryError):
            table = _table(db, str(name), str(sql or ""), is_view=kind == "view")
            if table.columns:
                found.append(table)
    return _with_resolved_keys(found)


def _shadows(db: Database) -> frozenset[str]:
    """Tables in which virtual tables keep their index."""
    try:
        return frozenset(
            str(name)
            for (name,) in db.catalog("SELECT name FROM pragma_table_list WHERE type = 'shadow' AND schema = 'main'")
        )
    except QueryError:  # before SQLite 3.37
        return frozenset()


def _table(db: Database, name: str, definition: str, *, is_view: bool) -> Table:
    """The table or view of that name, with the comments that stand in a table's ``definition``."""
    comments = read_comments("" if is_view else definition)
    rows = db.catalog('SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)', (name,))
    rows = [row for row in rows if row[4] != _HIDDEN]
    unique_keys = () if is_view else _unique_keys(db, name)
    primary_key = tuple(str(row[0]) for row in sorted(rows, key=lambda row: int(row[3])) if row[3])
    alone = {keys[0] for keys in (primary_key, *unique_keys) if len(keys) == 1}
    columns = tuple(
        Column(
            name=str(row[0]),
            type=str(row[1] or ""),
            not_null=bool(row[2]),
            unique=row[0] in alone,
            comment=comments.columns.get(str(row[0]).lower(), ""),
            generated=row[4] in _GENERATED,
        )
        for row in rows
    )
    return Table(
        name=name,
        columns=columns,
        primary_key=primary_key,
        foreign_keys=() if is_view else _foreign_keys(db, name),
        unique_keys=unique_keys,
        kind="view" if is_view else "table",
        definition=definition if is_view else "",
        comment=comments.table,
    )


def _unique_keys(db: Database, table: str) -> tuple[tuple[str, ...], ...]:
    """UNIQUE constraints and unique indexes of whole columns and all rows, in the order they were created."""
    indexes = db.catalog(
        "SELECT name FROM pragma_index_list(?) "
        "WHERE \"unique\" AND NOT partial AND origin IN ('u', 'c') ORDER BY seq DESC",
        (table,),
    )
    keys: list[tuple[str, ...]] = []
    for (index,) in indexes:
        columns = db.catalog("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (str(index),))
        key = tuple(str(column) for (column,) in columns if column is not None)
        if len(key) == len(columns) and key not in keys:  # an expression has no name
            keys.append(key)
    return tuple(keys)


def _foreign_keys(db: Database, table: str) -> tuple[ForeignKey, ...]:
    """Foreign keys as declared, with no ``ref_columns`` where the primary key is meant."""
    rows = db.catalog(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (table,)
    )
    grouped: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[int(row[0])].append(row)
    return tuple(
        ForeignKey(
            columns=tuple(str(row[2]) for row in group),
            ref_table=str(group[0][1]),
            ref_columns=tuple(str(row[3]) for row in group if row[3] is not None),
        )
        for group in grouped.values()
    )


def _with_resolved_keys(found: list[Table]) -> tuple[Table, ...]:
    """The same tables, their foreign keys spelled as the referenced table spells itself.

    SQLite neither checks nor corrects what a foreign key refers to; one that leads nowhere is left out, since
    no query can join along it.
    """
    by_name = {table.name.lower(): table for table in found}
    resolved = []
    for table in found:
        keys = [_resolve(key, table, by_name.get(key.ref_table.lower())) for key in table.foreign_keys]
        unique = dict.fromkeys(key for key in keys if key is not None)
        resolved.append(replace(table, foreign_keys=tuple(unique)))
    return tuple(resolved)


def _resolve(key: ForeignKey, table: Table, target: Table | None) -> ForeignKey | None:
    if target is None:
        return None
    columns = _spelled(key.columns, table)
    ref_columns = _spelled(key.ref_columns or target.primary_key, target)
    if columns is None or ref_columns is None or len(columns) != len(ref_columns):
        return None
    return ForeignKey(columns, target.name, ref_columns)


def _spelled(names: tuple[str, ...], table: Table) -> tuple[str, ...] | None:
    """The names in the table's own case, None when one is no column of it."""
    own = {column.name.lower(): column.name for column in table.columns}
    spelled = tuple(own[name.lower()] for name in names if name.lower() in own)
    return spelled if len(spelled) == len(names) else None

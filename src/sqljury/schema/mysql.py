"""The schema of a MySQL or MariaDB database, from ``information_schema``: five queries, however many tables."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final

from sqljury.db.base import Database
from sqljury.schema.drafts import Draft, Reference, finished
from sqljury.types import Column, Table

_TABLES: Final = """
    SELECT table_schema, table_name, table_type, table_comment FROM information_schema.tables
    WHERE table_schema IN ({schemas}) AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')
    ORDER BY table_schema, table_name
"""
_COLUMNS: Final = """
    SELECT table_schema, table_name, column_name, data_type, column_type, is_nullable, extra, column_comment
    FROM information_schema.columns
    WHERE table_schema IN ({schemas}) AND concat(',', privileges, ',') LIKE '%%select,%%'
    ORDER BY table_schema, table_name, ordinal_position
"""
_KEYS: Final = """
    SELECT table_schema, table_name, index_name, coalesce(column_name, ''), sub_part
    FROM information_schema.statistics WHERE table_schema IN ({schemas}) AND non_unique = 0
    ORDER BY table_schema, table_name, index_name, seq_in_index
"""
_REFERENCES: Final = """
    SELECT table_schema, table_name, constraint_name, column_name,
        referenced_table_schema, referenced_table_name, referenced_column_name
    FROM information_schema.key_column_usage
    WHERE table_schema IN ({schemas}) AND referenced_table_name IS NOT NULL
    ORDER BY table_schema, table_name, constraint_name, ordinal_position
"""
_VIEWS: Final = """
    SELECT table_schema, table_name, view_definition FROM information_schema.views WHERE table_schema IN ({schemas})
"""
_VALUE: Final = re.compile(r"'((?:[^']|'')*)'")

Drafts = dict[tuple[str, str], Draft]


def tables(db: Database) -> tuple[Table, ...]:
    """Tables and views of which the user may read a column, by name."""
    schemas = db.schemas or (db.name,)

    def rows(sql: str) -> list[tuple[object, ...]]:
        return db.catalog(sql.format(schemas=", ".join(["%s"] * len(schemas))), schemas)

    drafts: Drafts = {}
    for schema, name, kind, comment in rows(_TABLES):
        is_view = kind == "VIEW"
        draft = Draft(str(schema), str(name), "view" if is_view else "table", "" if is_view else str(comment or ""))
        drafts[draft.schema, draft.name] = draft
    for schema, table, *described in rows(_COLUMNS):
        if (draft_ := drafts.get((str(schema), str(table)))) is not None:
            draft_.columns.append(_column(*(str(part or "") for part in described)))
    for schema, table, definition in rows(_VIEWS):
        if definition and (str(schema), str(table)) in drafts:  # empty without the right SHOW VIEW
            quoted = str(table).replace("`", "``")
            drafts[str(schema), str(table)].definition = f"CREATE VIEW `{quoted}` AS {definition}"
    _add_keys(drafts, rows(_KEYS))
    _add_references(drafts, rows(_REFERENCES))
    ranked = sorted(drafts.values(), key=lambda draft: schemas.index(draft.schema))
    return finished(ranked, schemas[0])


def _column(name: str, kind: str, declared: str, nullable: str, extra: str, comment: str) -> Column:
    listed = kind.lower() in ("enum", "set")
    values = tuple(value.replace("''", "'") for value in _VALUE.findall(declared)) if listed else ()
    return Column(
        name=name,
        type=kind if listed else declared,
        not_null=nullable == "NO",
        comment=comment,
        values=values,
        generated="GENERATED" in extra.upper() and "DEFAULT_GENERATED" not in extra.upper(),
    )


def _add_keys(drafts: Drafts, rows: list[tuple[object, ...]]) -> None:
    keys: dict[tuple[str, str, str], list[tuple[object, ...]]] = defaultdict(list)
    for row in rows:
        keys[str(row[0]), str(row[1]), str(row[2])].append(row)
    for (schema, table, index), group in keys.items():
        draft = drafts.get((schema, table))
        names = tuple(str(row[3]) for row in group)
        # An index on an expression, or on the first characters only, says nothing about the column.
        if draft is None or not all(names) or any(row[4] is not None for row in group):
            continue
        if index == "PRIMARY":
            draft.primary_key = names
        else:
            draft.unique_keys.append(names)


def _add_references(drafts: Drafts, rows: list[tuple[object, ...]]) -> None:
    keys: dict[tuple[str, str, str], list[tuple[object, ...]]] = defaultdict(list)
    for row in rows:
        keys[str(row[0]), str(row[1]), str(row[2])].append(row)
    for (schema, table, _), group in keys.items():
        if (schema, table) in drafts:
            own, other = (tuple(str(row[at]) for row in group) for at in (3, 6))
            reference = Reference(own, str(group[0][4]), str(group[0][5]), other)
            drafts[schema, table].references.append(reference)

"""Reads the schemas of PostgreSQL, from its catalogue, and of MySQL and MariaDB, from ``information_schema``.

A fixed number of queries lists all tables; drafts of the tables collect their results.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.db.postgres import READABLE
from sqljury.types import Column, ForeignKey, Table
from sqljury.types.schema import Kind

Rows = list[tuple[object, ...]]


class Reference(NamedTuple):
    """A foreign key by the names in the catalogue."""

    columns: tuple[str, ...]
    schema: str
    table: str
    ref_columns: tuple[str, ...]


@dataclass
class Draft:
    """A table or view as far as it has been read."""

    schema: str
    name: str
    kind: Kind
    comment: str = ""
    definition: str = ""
    partition_by: str = ""
    columns: list[Column] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    unique_keys: list[tuple[str, ...]] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)


def finished(drafts: Iterable[Draft], default: str) -> tuple[Table, ...]:
    """The tables; names include the schema unless it is ``default``.

    Foreign keys to other tables or columns are dropped, since no query can join on them, and so is any key with a
    column that may not be read.
    """
    kept = [draft for draft in drafts if draft.columns]
    tables = {(draft.schema, draft.name): _table(draft, default) for draft in kept}
    resolved = []
    for draft in kept:
        table = tables[draft.schema, draft.name]
        keys = [_resolved(reference, table, tables) for reference in draft.references]
        resolved.append(replace(table, foreign_keys=tuple(dict.fromkeys(key for key in keys if key is not None))))
    return tuple(resolved)


def _table(draft: Draft, default: str) -> Table:
    names = {column.name for column in draft.columns}
    primary_key = draft.primary_key if names.issuperset(draft.primary_key) else ()
    unique_keys = [key for key in dict.fromkeys(draft.unique_keys) if names.issuperset(key) and key != primary_key]
    alone = {key[0] for key in (primary_key, *unique_keys) if len(key) == 1}
    schema = "" if draft.schema == default else draft.schema
    return Table(
        name=f"{schema}.{draft.name}" if schema else draft.name,
        columns=tuple(replace(column, unique=True) if column.name in alone else column for column in draft.columns),
        primary_key=primary_key,
        unique_keys=tuple(unique_keys),
        kind=draft.kind,
        definition=draft.definition,
        schema=schema,
        comment=draft.comment,
        partition_by=draft.partition_by,
    )


def _resolved(reference: Reference, table: Table, tables: dict[tuple[str, str], Table]) -> ForeignKey | None:
    target = tables.get((reference.schema, reference.table))
    if target is None or not _has(target, reference.ref_columns) or not _has(table, reference.columns):
        return None
    return ForeignKey(reference.columns, target.name, reference.ref_columns, target.schema)


def _has(table: Table, columns: Sequence[str]) -> bool:
    return {column.name for column in table.columns}.issuperset(columns)


_RELATIONS: Final = f"""
    SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text,
        coalesce(obj_description(c.oid, 'pg_class'), ''), coalesce(pg_get_partkeydef(c.oid), '')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE {READABLE} AND n.nspname IN ({{schemas}})
    ORDER BY c.oid
"""  # noqa: S608
_KINDS: Final[dict[object, Kind]] = {
    "r": "table",
    "p": "partitioned table",
    "f": "foreign table",
    "v": "view",
    "m": "materialized view",
}
_COLUMNS: Final = """
    SELECT a.attrelid::bigint, a.attname::text,
        CASE t.typtype WHEN 'e' THEN t.typname::text WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod)
            ELSE format_type(a.atttypid, a.atttypmod) END,
        a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attgenerated <> '',
        coalesce(col_description(a.attrelid, a.attnum), ''),
        CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END::bigint
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition AND n.nspname IN ({schemas})
        AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    ORDER BY a.attrelid, a.attnum
"""
_LABELS: Final = "SELECT enumtypid::bigint, enumlabel::text FROM pg_catalog.pg_enum ORDER BY enumtypid, enumsortorder"
_KEYS: Final = """
    SELECT i.indexrelid::bigint, i.indrelid::bigint, i.indisprimary, coalesce(a.attname::text, '')
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
        LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
        AND n.nspname IN ({schemas}) AND k.place <= i.indnkeyatts
    ORDER BY i.indexrelid, k.place
"""
_REFERENCES: Final = """
    SELECT k.oid::bigint, k.conrelid::bigint, a.attname::text, n.nspname::text, r.relname::text, b.attname::text
    FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
        JOIN pg_catalog.pg_namespace o ON o.oid = c.relnamespace
        JOIN pg_catalog.pg_class r ON r.oid = k.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS p(own, other, place)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.own
        JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = p.other
    WHERE k.contype = 'f' AND k.conparentid = 0 AND o.nspname IN ({schemas})
    ORDER BY k.oid, p.place
"""
_VIEWS: Final = """
    SELECT c.oid::bigint, pg_get_viewdef(c.oid)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('v', 'm') AND n.nspname IN ({schemas})
"""


def postgres_tables(db: Database) -> tuple[Table, ...]:
    """Tables and views of any kind that the role may read, in the order they were created; partitions are left out."""
    schemas = db.schemas or tuple(str(name) for (name,) in db.catalog("SELECT current_schema()::text") if name)
    if not schemas:  # no schema of the search path exists
        return ()

    def rows(sql: str) -> Rows:
        return db.catalog(sql.format(schemas=", ".join(["%s"] * len(schemas))), schemas)

    drafts: dict[object, Draft] = {}
    for oid, schema, name, kind, comment, divided in rows(_RELATIONS):
        drafts[oid] = Draft(str(schema), str(name), _KINDS[kind], str(comment), partition_by=str(divided))
    labels: dict[object, tuple[str, ...]] = defaultdict(tuple)
    for type_oid, label in db.catalog(_LABELS):
        labels[type_oid] += (str(label),)
    for oid, name, declared, not_null, generated, comment, type_oid in rows(_COLUMNS):
        if oid in drafts:
            described = str(name), str(declared), bool(not_null), False, str(comment)
            drafts[oid].columns.append(Column(*described, labels.get(type_oid, ()), bool(generated)))
    for oid, definition in rows(_VIEWS):
        if oid in drafts and definition:
            quoted = drafts[oid].name.replace('"', '""')
            drafts[oid].definition = f'CREATE VIEW "{quoted}" AS {str(definition).strip()}'
    for group in _groups(rows(_KEYS), 1):
        _add_key(drafts.get(group[0][1]), _cells(group, 3), primary=bool(group[0][2]))
    for group in _groups(rows(_REFERENCES), 1):
        _, oid, _, schema, table, _ = group[0]
        if oid in drafts:
            drafts[oid].references.append(Reference(_cells(group, 2), str(schema), str(table), _cells(group, 5)))
    ranked = sorted(drafts.values(), key=lambda draft: schemas.index(draft.schema))
    return finished(ranked, schemas[0])


def _groups(rows: Rows, width: int) -> Iterable[Rows]:
    """The rows grouped by their first ``width`` cells."""
    groups: dict[tuple[object, ...], Rows] = defaultdict(list)
    for row in rows:
        groups[row[:width]].append(row)
    return groups.values()


def _cells(group: Rows, at: int) -> tuple[str, ...]:
    return tuple(str(row[at]) for row in group)


def _add_key(draft: Draft | None, names: tuple[str, ...], *, primary: bool) -> None:
    if draft is None or not all(names):
        return
    if primary:
        draft.primary_key = names
    else:
        draft.unique_keys.append(names)


_TABLES: Final = """
    SELECT table_schema, table_name, table_type, table_comment, create_options LIKE '%%partitioned%%'
    FROM information_schema.tables
    WHERE table_schema IN ({schemas}) AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')
    ORDER BY table_schema, table_name
"""
_MYSQL_COLUMNS: Final = """
    SELECT table_schema, table_name, column_name, data_type, column_type, is_nullable, extra, column_comment
    FROM information_schema.columns
    WHERE table_schema IN ({schemas}) AND concat(',', privileges, ',') LIKE '%%select,%%'
    ORDER BY table_schema, table_name, ordinal_position
"""
_MYSQL_KEYS: Final = """
    SELECT table_schema, table_name, index_name, coalesce(column_name, ''), sub_part
    FROM information_schema.statistics WHERE table_schema IN ({schemas}) AND non_unique = 0
    ORDER BY table_schema, table_name, index_name, seq_in_index
"""
_MYSQL_REFERENCES: Final = """
    SELECT table_schema, table_name, constraint_name, column_name,
        referenced_table_schema, referenced_table_name, referenced_column_name
    FROM information_schema.key_column_usage
    WHERE table_schema IN ({schemas}) AND referenced_table_name IS NOT NULL
    ORDER BY table_schema, table_name, constraint_name, ordinal_position
"""
_MYSQL_PARTITIONS: Final = """
    SELECT DISTINCT table_schema, table_name, partition_method, partition_expression FROM information_schema.partitions
    WHERE table_schema IN ({schemas}) AND partition_method IS NOT NULL
"""
_MYSQL_VIEWS: Final = """
    SELECT table_schema, table_name, view_definition FROM information_schema.views WHERE table_schema IN ({schemas})
"""
_VALUE: Final = re.compile(r"'((?:[^']|'')*)'")

Drafts = dict[tuple[str, str], Draft]


def mysql_tables(db: Database) -> tuple[Table, ...]:
    """Tables and views of which the user may read a column, by name."""
    schemas = db.schemas or (db.name,)

    def rows(sql: str) -> Rows:
        return db.catalog(sql.format(schemas=", ".join(["%s"] * len(schemas))), schemas)

    drafts: Drafts = {}
    divided = False
    for schema, name, kind, comment, partitioned in rows(_TABLES):
        is_view, divided = kind == "VIEW", divided or bool(partitioned)
        draft = Draft(str(schema), str(name), "view" if is_view else "table", "" if is_view else str(comment or ""))
        drafts[draft.schema, draft.name] = draft
    for schema, name, method, expression in rows(_MYSQL_PARTITIONS) if divided else ():
        if (partitioned_ := drafts.get((str(schema), str(name)))) is not None:
            partitioned_.kind, partitioned_.partition_by = "partitioned table", f"{method} ({expression or ''})"
    for schema, table, *described in rows(_MYSQL_COLUMNS):
        if (draft_ := drafts.get((str(schema), str(table)))) is not None:
            draft_.columns.append(_column(*(str(part or "") for part in described)))
    for schema, table, definition in rows(_MYSQL_VIEWS):
        if definition and (str(schema), str(table)) in drafts:  # empty without the right SHOW VIEW
            quoted = str(table).replace("`", "``")
            drafts[str(schema), str(table)].definition = f"CREATE VIEW `{quoted}` AS {definition}"
    for group in _groups(rows(_MYSQL_KEYS), 3):
        schema, table, index, *_ = map(str, group[0])
        # An index on an expression, or on the first characters only, says nothing about the column.
        if all(row[4] is None for row in group):
            _add_key(drafts.get((schema, table)), _cells(group, 3), primary=index == "PRIMARY")
    for group in _groups(rows(_MYSQL_REFERENCES), 3):
        schema, table, _, _, ref_schema, ref_table, _ = map(str, group[0])
        if (schema, table) in drafts:
            reference = Reference(_cells(group, 3), ref_schema, ref_table, _cells(group, 6))
            drafts[schema, table].references.append(reference)
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

"""The schema of a PostgreSQL database, from its catalogue: a few queries, however many tables there are."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from sqljury.db.base import Database
from sqljury.schema.drafts import Draft, Reference, finished
from sqljury.types import Column, Table

# Partitions belong to their parent, and what an extension made for itself is nobody's question.
_RELATIONS: Final = """
    SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text,
        coalesce(obj_description(c.oid, 'pg_class'), '')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition AND n.nspname IN ({schemas})
        AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d
            WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.oid
"""
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


def tables(db: Database) -> tuple[Table, ...]:
    """Tables, views, materialised views and foreign tables that the role may read, in the order they were created."""
    schemas = db.schemas or tuple(str(name) for (name,) in db.catalog("SELECT current_schema()::text") if name)
    if not schemas:  # no schema of the search path exists
        return ()

    def rows(sql: str) -> list[tuple[object, ...]]:
        return db.catalog(sql.format(schemas=", ".join(["%s"] * len(schemas))), schemas)

    drafts: dict[object, Draft] = {}
    for oid, schema, name, kind, comment in rows(_RELATIONS):
        drafts[oid] = Draft(str(schema), str(name), "view" if kind in ("v", "m") else "table", str(comment))
    labels: dict[object, tuple[str, ...]] = defaultdict(tuple)
    for type_oid, label in db.catalog(_LABELS):
        labels[type_oid] += (str(label),)
    for oid, name, declared, not_null, generated, comment, type_oid in rows(_COLUMNS):
        if oid in drafts:
            told = str(name), str(declared), bool(not_null), False, str(comment)
            drafts[oid].columns.append(Column(*told, labels.get(type_oid, ()), bool(generated)))
    for oid, definition in rows(_VIEWS):
        if oid in drafts and definition:
            quoted = drafts[oid].name.replace('"', '""')
            drafts[oid].definition = f'CREATE VIEW "{quoted}" AS {str(definition).strip()}'
    _add_keys(drafts, rows(_KEYS))
    _add_references(drafts, rows(_REFERENCES))
    ranked = sorted(drafts.values(), key=lambda draft: schemas.index(draft.schema))
    return finished(ranked, schemas[0])


def _add_keys(drafts: dict[object, Draft], rows: list[tuple[object, ...]]) -> None:
    keys: dict[object, list[tuple[object, ...]]] = defaultdict(list)
    for row in rows:
        keys[row[0]].append(row)
    for group in keys.values():
        _, oid, is_primary, _ = group[0]
        names = tuple(str(row[3]) for row in group)
        if oid not in drafts or not all(names):
            continue
        if is_primary:
            drafts[oid].primary_key = names
        else:
            drafts[oid].unique_keys.append(names)


def _add_references(drafts: dict[object, Draft], rows: list[tuple[object, ...]]) -> None:
    keys: dict[object, list[tuple[object, ...]]] = defaultdict(list)
    for row in rows:
        keys[row[0]].append(row)
    for group in keys.values():
        _, oid, _, schema, table, _ = group[0]
        if oid in drafts:
            own, other = (tuple(str(row[at]) for row in group) for at in (2, 5))
            drafts[oid].references.append(Reference(own, str(schema), str(table), other))

"""Reads what access rules need besides the schema: the owner's code, partitions, and fields of composite types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqljury.db.base import Database

_POSTGRES_OWN: Final = """{oid} >= 16384 AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend e
    WHERE e.classid = 'pg_catalog.{catalog}'::regclass AND e.objid = {oid} AND e.deptype = 'e')"""
"""Objects that are neither built in nor an extension's: PostgreSQL's OIDs of user objects start at 16384."""


def _own(oid: str, catalog: str) -> str:
    return _POSTGRES_OWN.format(oid=oid, catalog=catalog)


_ROW_TYPE: Final = "SELECT 1 FROM pg_catalog.pg_type t WHERE t.typtype = 'c' AND t.oid = ANY ({types})"
_POSTGRES_CODE: Final = f"""
    SELECT lower(p.proname::text), p.pronargs - p.pronargdefaults,
        CASE WHEN p.provariadic <> 0 THEN 1000 ELSE p.pronargs END,
        EXISTS ({_ROW_TYPE.format(types="p.proargtypes::oid[]")})
    FROM pg_catalog.pg_proc p WHERE pg_function_is_visible(p.oid) AND {_own("p.oid", "pg_proc")}
"""  # noqa: S608
_POSTGRES_OPERATORS: Final = f"""
    SELECT DISTINCT o.oprname::text FROM pg_catalog.pg_operator o
    WHERE {_own("o.oid", "pg_operator")} AND NOT EXISTS ({_ROW_TYPE.format(types="ARRAY[o.oprleft, o.oprright]")})
"""  # noqa: S608
_POSTGRES_ARITIES: Final = """
    SELECT DISTINCT lower(proname::text), pronargs FROM pg_catalog.pg_proc WHERE oid < 16384
"""
_POSTGRES_TYPES: Final = f"""
    SELECT lower(t.typname::text) FROM pg_catalog.pg_type t
    WHERE t.typtype <> 'e' AND t.typelem = 0 AND {_own("t.oid", "pg_type")}
    UNION SELECT lower(format_type(c.casttarget, NULL)) FROM pg_catalog.pg_cast c
    WHERE c.castfunc <> 0 AND {_own("c.castfunc", "pg_proc")}
        AND NOT EXISTS ({_ROW_TYPE.format(types="ARRAY[c.castsource]")})
"""  # noqa: S608
_POSTGRES_RUNS: Final = f"""
    SELECT n.nspname::text, c.relname::text
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid IN (
        SELECT coalesce(r.ev_class, v.adrelid) FROM pg_catalog.pg_depend d
            LEFT JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
            LEFT JOIN pg_catalog.pg_attrdef v ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND v.oid = d.objid
            LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = v.adrelid AND a.attnum = v.adnum
        WHERE (r.oid IS NOT NULL OR a.attgenerated <> '') AND (
            d.refclassid = 'pg_catalog.pg_proc'::regclass AND {_own("d.refobjid", "pg_proc")}
            OR d.refclassid = 'pg_catalog.pg_operator'::regclass AND {_own("d.refobjid", "pg_operator")}
            OR d.refclassid = 'pg_catalog.pg_type'::regclass AND EXISTS (
                SELECT 1 FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_depend f
                    ON f.classid = 'pg_catalog.pg_constraint'::regclass AND f.objid = k.oid
                    AND f.refclassid = 'pg_catalog.pg_proc'::regclass
                WHERE k.contypid = d.refobjid AND {_own("f.refobjid", "pg_proc")})))
"""  # noqa: S608
_POSTGRES_PARTS: Final = """
    WITH RECURSIVE tree (parent, part) AS (
        SELECT inhparent, inhrelid FROM pg_catalog.pg_inherits
        UNION SELECT t.parent, i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.part)
    SELECT n.nspname::text, p.relname::text, m.nspname::text, c.relname::text
    FROM tree t JOIN pg_catalog.pg_class p ON p.oid = t.parent JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace
        JOIN pg_catalog.pg_class c ON c.oid = t.part JOIN pg_catalog.pg_namespace m ON m.oid = c.relnamespace
    WHERE p.relkind IN ('r', 'p', 'f')
"""
_POSTGRES_FIELDS: Final = """
    SELECT n.nspname::text, c.relname::text, a.attname::text, f.attname::text
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
        JOIN pg_catalog.pg_class k ON k.oid = t.typrelid AND k.relkind = 'c'
        JOIN pg_catalog.pg_attribute f ON f.attrelid = k.oid AND f.attnum > 0 AND NOT f.attisdropped
    WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped
"""
_DUCKDB_FUNCTIONS: Final = "SELECT DISTINCT function_name, internal FROM system.main.duckdb_functions()"
"""Calls nothing by a name that a macro of the owner's may have, and would answer to instead."""

_MOST: Final = 1000  # arguments, of a function that takes any number
_MYSQL_ROUTINES: Final = "SELECT lower(routine_name) FROM information_schema.routines WHERE routine_schema = database()"


@dataclass(frozen=True, slots=True)
class Kin:
    """A table that shares rows with another, such as a partition or child table; patterns match it like a ``Table``."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """What a query or a view may run or read that the schema does not show; tables are named as in the schema.

    ``code`` has the possible numbers of arguments of the owner's functions and macros, by lower-case name. ``implicit``
    are macros that a query may run without a call of their name, as ``extract(year FROM d)`` runs ``date_part``.
    ``operators`` and ``types`` are names of the owner's. ``row_code`` are names of the owner's functions on rows
    for which a built-in function takes the same number of other arguments. ``runs`` are tables and views that run the
    owner's code when read. ``parts`` are the partitions and child tables of a table at any depth. ``fields`` are those
    of columns of a composite type, by table and column.
    """

    code: Mapping[str, range] = field(default_factory=dict)
    implicit: frozenset[str] = frozenset()
    row_code: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[Kin, ...]] = field(default_factory=dict)
    fields: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)


def default_schema(db: Database) -> str:
    """The schema in which unqualified names are looked up; empty for engines with a single schema."""
    if db.schemas or db.dialect != "postgres":
        return db.schemas[0] if db.schemas else ""
    return str(db.catalog("SELECT current_schema()::text")[0][0] or "")


def read_catalog(db: Database, default: str) -> Catalog:
    """The catalog of a database; ``default`` is its default schema. Raises ``DatabaseError`` if it cannot be read."""
    if db.dialect == "postgres":
        return _postgres(db, default)
    if db.dialect == "duckdb":
        return _duckdb(db)
    if db.dialect == "mysql":
        return Catalog(code=dict.fromkeys(_names(db, _MYSQL_ROUTINES), range(_MOST)))
    return Catalog()


def _names(db: Database, sql: str) -> frozenset[str]:
    return frozenset(str(name) for (name,) in db.catalog(sql))


def _duckdb(db: Database) -> Catalog:
    """The macros; one with the name of an operator or of a function of DuckDB's own may be run by syntax alone."""
    from sqljury.db.duckdb import OPERATOR  # there already, as the database is

    functions = [(str(name).lower(), internal) for name, internal in db.catalog(_DUCKDB_FUNCTIONS)]
    built_in = {name for name, internal in functions if internal}
    macros = {name for name, internal in functions if not internal}
    implicit = frozenset(name for name in macros if name in built_in or OPERATOR.match(name))
    return Catalog(code=dict.fromkeys(macros, range(_MOST)), implicit=implicit)


def _postgres(db: Database, default: str) -> Catalog:
    def name(schema: object, table: object) -> str:
        return str(table) if schema == default else f"{schema}.{table}"

    parts: dict[str, tuple[Kin, ...]] = defaultdict(tuple)
    for schema, table, part_schema, part in db.catalog(_POSTGRES_PARTS):
        kin_schema = "" if part_schema == default else str(part_schema)
        parts[name(schema, table)] += (Kin(name(part_schema, part), kin_schema),)
    fields: dict[tuple[str, str], frozenset[str]] = defaultdict(frozenset)
    for schema, table, column, part in db.catalog(_POSTGRES_FIELDS):
        fields[name(schema, table), str(column)] |= {str(part)}
    code, row_code = _postgres_code(db)
    return Catalog(
        code=code,
        row_code=row_code,
        operators=_names(db, _POSTGRES_OPERATORS),
        types=_names(db, _POSTGRES_TYPES),
        runs=frozenset(name(schema, table) for schema, table in db.catalog(_POSTGRES_RUNS)),
        parts=dict(parts),
        fields=dict(fields),
    )


def _postgres_code(db: Database) -> tuple[dict[str, range], frozenset[str]]:
    """``Catalog.code`` and ``Catalog.row_code``; functions of the latter can be called only with rows."""
    built_in = {(str(name), int(arguments)) for name, arguments in db.catalog(_POSTGRES_ARITIES)}
    code: dict[str, range] = {}
    row_code = set()
    for function, fewest, most, takes_row in db.catalog(_POSTGRES_CODE):
        name = str(function)
        if takes_row and fewest == most and (name, int(most)) in built_in:
            row_code.add(name)
            continue
        known = code.get(name, range(int(fewest), int(most) + 1))
        code[name] = range(min(known.start, int(fewest)), max(known.stop, int(most) + 1))
    return code, frozenset(row_code)

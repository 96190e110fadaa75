"""Refuses casts to types that the owner made: a table's row, a domain with a condition, an enumeration's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from sqljury.schema.access_names import broad
from sqljury.schema.access_resolve import refuse
from sqljury.schema.access_scopes import Rules

if TYPE_CHECKING:
    from sqlglot import exp

_KIND_WORDS: Final = """
    ARRAY BIGINT BIT BOOLEAN BPCHAR CHAR DATE DATEMULTIRANGE DATERANGE DECIMAL DOUBLE FLOAT INET INT INT4MULTIRANGE
    INT4RANGE INT8MULTIRANGE INT8RANGE INTERVAL JSON JSONB MONEY NAME NCHAR NULL NUMMULTIRANGE NUMRANGE NVARCHAR POINT
    SMALLINT TEXT TIME TIMESTAMP TIMESTAMPNTZ TIMESTAMPTZ TIMETZ TSMULTIRANGE TSRANGE TSTZMULTIRANGE TSTZRANGE UUID
    VARBINARY VARCHAR XML
"""
_KINDS: Final = frozenset(_KIND_WORDS.split())
"""The parser's names for types that PostgreSQL has; it knows others, which there would be the owner's."""

_BUILT_IN_WORDS: Final = """
    xid xid8 lseg path box polygon line circle macaddr macaddr8 cidr varbit pg_lsn tsvector tsquery jsonpath
    txid_snapshot pg_snapshot
"""
_BUILT_IN: Final = frozenset(_BUILT_IN_WORDS.split())
"""Types of PostgreSQL that the parser takes for somebody's own."""


def check_types(statement: exp.Expr, rules: Rules) -> None:
    """Refuse a type that is neither built in nor the enumeration of a column that is shown.

    What a type allows may be a hidden column's values, a row's type has its columns, and a domain may run code.
    """
    from sqlglot import exp

    if rules.dialect not in ("duckdb", "postgres"):
        return
    in_postgres = rules.dialect == "postgres"
    for node in statement.find_all(exp.DataType):
        kind, type_ = node.args.get("kind"), node.this
        name = str(kind.name if isinstance(kind, exp.Identifier) else kind or node.sql(rules.dialect))
        if type_ == exp.DataType.Type.USERDEFINED:
            known = in_postgres and broad(name) in rules.enums | _BUILT_IN
        else:
            known = not in_postgres or getattr(type_, "name", "") in _KINDS
        if not known or broad(name) in rules.catalog.types:
            refuse_type(name)


def refuse_type(name: str) -> NoReturn:
    """Refuse a type in the same words whether it exists or not."""
    refuse(f"the type {name[:60]} is not allowed under access rules; use a built-in type")

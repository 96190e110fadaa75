"""Rules for rows: of a table with a rule, queries read only the rows that meet its condition.

Each such table of a query is replaced by a subquery, once the names of the query are resolved. The subquery has a LIMIT
that no table reaches, so that engines do not move the query's conditions into it, where they would see all rows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sqljury.access.words import without_comments
from sqljury.db import readonly
from sqljury.errors import InputError, QueryRefusedError
from sqljury.sql.parse import quiet
from sqljury.sql.text import quote_name, quote_table
from sqljury.types import Table

if TYPE_CHECKING:
    from sqlglot import exp

_RULE: Final = re.compile(r'((?:"(?:[^"]|"")+"|[^":])+):(.+)', re.DOTALL)
_ALL: Final = 2**63 - 1


@functools.lru_cache(maxsize=1024)
def divided(text: str) -> tuple[str, str]:
    """The pattern of tables and the condition in ``table: condition``; raises ``InputError``."""
    match = _RULE.fullmatch(text.strip())
    if match is None or not match[2].strip():
        raise InputError(f"rows: {text[:80]!r} is not a rule; write it as in \"customer: region = 'north'\"")
    return match[1].strip(), match[2].strip()


@quiet()
def checked(table: Table, condition: str, dialect: str) -> tuple[str, frozenset[str]]:
    """The condition without comments, and the columns that it reads in lower case; raises ``InputError``.

    It is one expression over columns of the table, without subqueries.
    """
    from sqlglot import exp

    name = quote_table(table.name, table.schema, dialect)
    sql = f"SELECT 1 FROM {name} WHERE ({condition}\n)"  # noqa: S608 - it is parsed, and the operator's
    try:
        tokens, _ = readonly.parse(sql, dialect)
        tokens, tree = readonly.parse(without_comments(sql, tokens), dialect)
        readonly.check(sql, dialect)
    except QueryRefusedError as error:
        raise InputError(f"rows: the condition on {table.name} cannot be used: {error}") from None
    where = tree.args.get("where")
    if where is None or not isinstance(where.this, exp.Paren) or len(list(tree.find_all(exp.Query))) != 1:
        raise InputError(f"rows: the condition on {table.name} is not one expression over its own columns")
    columns = list(where.find_all(exp.Column))
    if not columns:  # in MySQL a name in double quotes is a text
        raise InputError(f"rows: the condition on {table.name} cannot be used: it names no column")
    known = {column.name.lower() for column in table.columns}
    for column in columns:  # SQLite takes an unknown name in double quotes for a text, and the rule would not hold
        if dialect == "sqlite" and column.this.args.get("quoted") and column.name.lower() not in known:
            raise InputError(
                f"rows: the condition on {table.name} cannot be used: there is no column {column.name[:80]!r}; write "
                "texts in single quotes"
            )
    clean = " ".join(without_comments(sql, tokens).partition(" WHERE (")[2].rpartition(")")[0].splitlines()).strip()
    return clean, frozenset(column.name.lower() for column in columns)


def subquery(node: exp.Table, shown: Iterable[str], conditions: Sequence[str], dialect: str) -> tuple[int, int, str]:
    """The edit that puts the visible columns of the allowed rows in the place of a table in FROM."""
    parts = [part for part in node.parts if part is not None]
    columns = ", ".join(quote_name(name, dialect) for name in shown)
    text = ".".join(part.sql(dialect=dialect) for part in parts)
    where = " AND ".join(f"({condition})" for condition in conditions)
    made = f"(SELECT {columns} FROM {text} WHERE {where} LIMIT {_ALL})"  # noqa: S608 - names are quoted
    alias = node.args.get("alias")
    if alias is None or alias.this is None:
        made += f" AS {node.this.sql(dialect=dialect)}"
    return min(part.meta["start"] for part in parts), max(part.meta["end"] for part in parts) + 1, made


def rules_of(
    tables: Iterable[Table],
    rules: Sequence[tuple[str, Collection[str]]],
    kin: Mapping[str, Collection[str]],
    dialect: str,
) -> tuple[dict[str, tuple[str, ...]], frozenset[tuple[str, str]]]:
    """The conditions by table, and the columns that they read, both in lower case as SQLite's authorizer asks.

    ``rules`` are conditions with the names of their tables, ``kin`` the tables that share rows with one. Raises
    ``InputError`` for a condition that cannot be used, and for one that a table with the same rows lacks.
    """
    by_name = {table.name: table for table in tables}
    conditions: dict[str, tuple[str, ...]] = {}
    read = set()
    for condition, names in rules:
        for name in names:
            clean, columns = checked(by_name[name], condition, dialect)
            conditions[name] = (*conditions.get(name, ()), clean)
            read |= {(name.lower(), column) for column in columns}
    for name in conditions:
        if open_ := [other for other in kin.get(name, ()) if other in by_name and other not in conditions]:
            raise InputError(f"rows: {open_[0]} holds rows of {name}, so that it needs a rule of its own")
    return conditions, frozenset(read)

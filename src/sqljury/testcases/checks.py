"""CHECK constraints and enumerations as conditions that SQLite takes: those simple enough to be sure of."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqljury.db import parsing
from sqljury.db.base import Database
from sqljury.db.quiet import quiet
from sqljury.errors import SqljuryError
from sqljury.metrics.suite.reading import DIALECT
from sqljury.types import Schema, Table

Checks = dict[str, tuple[str, ...]]
"""By table, conditions that every row must not break."""

_ALLOWED: Final = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Neg),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.Between, exp.In, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like),
    *(exp.Length, exp.Upper, exp.Lower, exp.Add, exp.Sub, exp.Mul),
)
"""Database content is hostile: a condition with anything else is left out."""


def read_checks(db: Database, schema: Schema) -> Checks:
    """The CHECK constraints of an SQLite database, and enumerated types of any, as conditions in SQLite's words.

    Left out: conditions with functions other than LENGTH, UPPER and LOWER or on columns that ``schema`` does not have,
    and all CHECK constraints of other engines or behind access rules, where the catalogue is closed.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    definitions = _definitions(db)
    for table in schema.tables:
        if table.kind == "table":
            found[table.name] += _enumerated(table)
            found[table.name] += _conditions(definitions.get(table.name, ""), table)
    return {name: tuple(dict.fromkeys(conditions)) for name, conditions in found.items() if conditions}


def of_part(checks: Checks, part: Schema) -> Checks:
    """The conditions whose columns all are in this part of a schema."""
    tables = {table.name: table for table in part.tables}
    kept = {
        name: tuple(condition for condition in conditions if _known(tree(condition), tables[name]))
        for name, conditions in checks.items()
        if name in tables
    }
    return {name: conditions for name, conditions in kept.items() if conditions}


def tree(condition: str) -> exp.Expr:
    """The condition as sqlglot reads it."""
    return parsing.parse_one(condition, DIALECT)


def _definitions(db: Database) -> dict[str, str]:
    if db.dialect != "sqlite":
        return {}
    with contextlib.suppress(SqljuryError):
        return {str(name): str(sql) for name, sql in db.catalog("SELECT name, sql FROM sqlite_master WHERE sql <> ''")}
    return {}


def _enumerated(table: Table) -> Iterator[str]:
    for column in table.columns:
        if column.values:
            values = [exp.Literal.string(value) for value in column.values]
            yield exp.In(this=exp.column(column.name, quoted=True), expressions=values).sql(dialect=DIALECT)


def _conditions(definition: str, table: Table) -> list[str]:
    trees = [one for one in map(_parsed, _texts(definition)) if one is not None]
    return [one.sql(dialect=DIALECT, identify=True) for one in trees if _simple(one) and _known(one, table)]


def _texts(definition: str) -> list[str]:
    """What stands in parentheses after each CHECK; the rest of the statement may be beyond sqlglot."""
    try:
        tokens = parsing.tokenize(definition, DIALECT)
    except (SqlglotError, RecursionError):
        return []
    found = []
    for at, token in enumerate(tokens[:-1]):
        if token.text.upper() == "CHECK" and tokens[at + 1].token_type.name == "L_PAREN":
            depth = 0
            for other in tokens[at + 1 :]:
                depth += {"L_PAREN": 1, "R_PAREN": -1}.get(other.token_type.name, 0)
                if not depth:
                    found.append(definition[tokens[at + 1].end + 1 : other.start])
                    break
    return found


@quiet()
def _parsed(condition: str) -> exp.Expr | None:
    try:
        return parsing.parse_one(condition, DIALECT)
    except (SqlglotError, RecursionError):
        return None


def _simple(condition: exp.Expr) -> bool:
    return all(isinstance(node, _ALLOWED) for node in condition.walk())


def _known(condition: exp.Expr, table: Table) -> bool:
    names = {column.name.lower() for column in table.columns}
    return all(column.name.lower() in names and not column.table for column in condition.find_all(exp.Column))

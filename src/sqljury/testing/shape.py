"""CHECK constraints and enumerations as conditions that SQLite takes: those simple enough to be sure of.

The tables that small databases are made of: their keys by position, and which rows can stand without others.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqljury.db.base import Database
from sqljury.errors import SqljuryError
from sqljury.sql import parse as parsing
from sqljury.sql.affinity import Affinity, affinity, stored
from sqljury.sql.parse import quiet
from sqljury.sql.tree import DIALECT
from sqljury.testing.fuzz import Rows
from sqljury.testing.store import create_table
from sqljury.types import ForeignKey, Row, Schema, Table, TestCase

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


class Link(NamedTuple):
    """A foreign key by the places of its columns; ``into`` are the affinities by which SQLite compares."""

    child: str
    columns: tuple[int, ...]
    parent: str
    refs: tuple[int, ...]
    into: tuple[Affinity, ...]

    def wanted(self, row: Row) -> Row | None:
        """What a row of the child refers to; None where a NULL says that it refers to nothing."""
        cells = [row[at] for at in self.columns]
        if any(cell is None for cell in cells):
            return None
        return tuple(stored(cell, into) for cell, into in zip(cells, self.into, strict=True))

    def offered(self, row: Row) -> Row:
        """What rows of the child may refer to this row of the parent by."""
        return tuple(row[at] for at in self.refs)

    def pointed(self, row: Row, parent: Row) -> Row:
        """The child's row, referring to this parent."""
        cells = list(row)
        for at, ref in zip(self.columns, self.refs, strict=True):
            cells[at] = parent[ref]
        return tuple(cells)


class Shape:
    """A schema's tables, views left out, and the conditions on their rows.

    SQLite checks all but the foreign keys that refer to columns which are no key; ``closed`` sees to those too.
    """

    def __init__(self, schema: Schema, checks: Checks) -> None:
        tables = tuple(table for table in schema.tables if table.kind == "table")
        self.schema = Schema(schema.name, schema.dialect, tables)
        self.checks = checks
        self.tables = {table.name: table for table in tables}
        self.places = {table.name: {column.name: at for at, column in enumerate(table.columns)} for table in tables}
        self.links = tuple(self._link(table, key) for table in tables for key in table.foreign_keys if self._has(key))
        self.links_of = {name: tuple(link for link in self.links if link.child == name) for name in self.tables}

    def _has(self, key: ForeignKey) -> bool:
        return key.ref_table in self.tables

    def _link(self, table: Table, key: ForeignKey) -> Link:
        own, other = self.places[table.name], self.places[key.ref_table]
        types = {column.name: column.type for column in self.tables[key.ref_table].columns}
        return Link(
            table.name,
            tuple(own[name] for name in key.columns),
            key.ref_table,
            tuple(other[name] for name in key.ref_columns),
            tuple(affinity(types[name]) for name in key.ref_columns),
        )

    def keys(self, name: str) -> tuple[tuple[int, ...], ...]:
        """The places of each key's columns, the primary key first where there is one."""
        table, places = self.tables[name], self.places[name]
        alone = [(column.name,) for column in table.columns if column.unique]
        found = dict.fromkeys(key for key in (table.primary_key, *table.unique_keys, *alone) if key)
        return tuple(tuple(places[column] for column in key) for key in found)

    def optional(self, name: str) -> frozenset[int]:
        """The places where NULL may stand."""
        table = self.tables[name]
        return frozenset(
            at
            for at, column in enumerate(table.columns)
            if not column.not_null and column.name not in table.primary_key
        )

    def statements(self, *, plain: bool = False) -> dict[str, str]:
        """What creates the tables in SQLite, by name; ``plain`` without any constraint."""
        return {
            name: create_table(_checked(table, self.tables), plain=plain, checks=self.checks.get(name, ()))
            for name, table in self.tables.items()
        }

    def closed(self, rows: Mapping[str, Sequence[Row]]) -> Rows:
        """The rows without those whose parents are not among them, and without those that then lose theirs."""
        kept: Rows = {name: list(rows.get(name, ())) for name in self.tables}
        changed = True
        while changed:
            changed = False
            for link in self.links:
                offered = {link.offered(row) for row in kept[link.parent]}
                fewer = [row for row in kept[link.child] if (want := link.wanted(row)) is None or want in offered]
                changed = changed or len(fewer) < len(kept[link.child])
                kept[link.child] = fewer
        return kept

    def lost(self, rows: Rows) -> Iterator[tuple[Link, int]]:
        """Every row that refers to none: by which foreign key, and its place in its table."""
        for link in self.links:
            offered = {link.offered(row) for row in rows[link.parent]}
            for at, row in enumerate(rows[link.child]):
                wanted = link.wanted(row)
                if wanted is not None and wanted not in offered:
                    yield link, at

    def children_first(self) -> list[str]:
        """The tables' names, referencing before referenced; a cycle is cut anywhere."""
        ordered: dict[str, None] = {}
        waiting = list(self.tables)
        while waiting:
            ready = [name for name in waiting if not self._referred(name, waiting)] or waiting[:1]
            ordered.update(dict.fromkeys(ready))
            waiting = [name for name in waiting if name not in ordered]
        return list(ordered)

    def _referred(self, name: str, waiting: Iterable[str]) -> bool:
        others = set(waiting) - {name}
        return any(link.parent == name and link.child in others for link in self.links)

    def case(self, rows: Rows) -> TestCase:
        """The rows as a value."""
        return TestCase(self.schema, tuple(tuple(rows[name]) for name in self.tables))


def size(rows: Mapping[str, Sequence[Row]]) -> int:
    """Rows of all tables together."""
    return sum(map(len, rows.values()))


def _checked(table: Table, tables: Mapping[str, Table]) -> Table:
    """The table with those foreign keys that SQLite enforces: it refuses all writing where one leads to no key."""
    keys = tuple(key for key in table.foreign_keys if key.ref_table in tables and _enforced(key, tables[key.ref_table]))
    return Table(table.name, table.columns, table.primary_key, keys, table.unique_keys)


def _enforced(key: ForeignKey, parent: Table) -> bool:
    alone = [(column.name,) for column in parent.columns if column.unique]
    return any(set(key.ref_columns) == set(own) for own in (parent.primary_key, *parent.unique_keys, *alone))

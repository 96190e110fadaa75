"""The tables of small databases: their CHECK constraints, their keys by column index, and which rows need others."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.errors import SqljuryError
from sqljury.sql.affinity import Affinity, affinity, stored
from sqljury.sql.parse import errors, exp, parse_one, quiet, tokenize
from sqljury.sql.tree import DIALECT
from sqljury.testing.store import create_table, unique_keys
from sqljury.types import Column, ForeignKey, Row, Schema, Table, TestCase

Rows = dict[str, list[Row]]
"""The rows of each table, cells in the order of its columns."""

Checks = dict[str, tuple[str, ...]]
"""By table, conditions that no row may break."""

_ALLOWED: Final = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Neg),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.Between, exp.In, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Like),
    *(exp.Length, exp.Upper, exp.Lower, exp.Add, exp.Sub, exp.Mul),
)
"""Database content is hostile: a condition with anything else is left out."""


def read_checks(db: Database, schema: Schema) -> Checks:
    """The CHECK constraints of an SQLite database, and enumerated types of any, as conditions in SQLite's dialect.

    Left out: conditions with functions other than LENGTH, UPPER and LOWER or on columns that ``schema`` does not have,
    and all CHECK constraints of other engines or behind access rules, where the catalogue is closed.
    """
    checks: defaultdict[str, list[str]] = defaultdict(list)
    definitions = _definitions(db)
    for table in schema.tables:
        if not table.is_view:
            checks[table.name] += _enumerated(table)
            checks[table.name] += _conditions(definitions.get(table.name, ""), table)
    return {name: tuple(dict.fromkeys(conditions)) for name, conditions in checks.items() if conditions}


def checks_of(part: Schema, checks: Checks) -> Checks:
    """The conditions whose columns all are in this part of a schema."""
    kept = {
        table.name: tuple(text for text in checks.get(table.name, ()) if _known(parse_one(text, DIALECT), table))
        for table in part.tables
    }
    return {name: conditions for name, conditions in kept.items() if conditions}


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
    trees = [tree for tree in map(_parsed, _texts(definition)) if tree is not None]
    return [
        tree.sql(dialect=DIALECT, identify=True)
        for tree in trees
        if all(isinstance(node, _ALLOWED) for node in tree.walk()) and _known(tree, table)
    ]


def _texts(definition: str) -> list[str]:
    """What stands in parentheses after each CHECK; sqlglot may not know the rest of the statement."""
    try:
        tokens = tokenize(definition, DIALECT)
    except (errors.SqlglotError, RecursionError):
        return []
    texts = []
    for index, token in enumerate(tokens[:-1]):
        if token.text.upper() == "CHECK" and tokens[index + 1].token_type.name == "L_PAREN":
            depth = 0
            for following in tokens[index + 1 :]:
                depth += {"L_PAREN": 1, "R_PAREN": -1}.get(following.token_type.name, 0)
                if not depth:
                    texts.append(definition[tokens[index + 1].end + 1 : following.start])
                    break
    return texts


@quiet()
def _parsed(condition: str) -> exp.Expr | None:
    try:
        return parse_one(condition, DIALECT)
    except (errors.SqlglotError, RecursionError):
        return None


def _known(condition: exp.Expr, table: Table) -> bool:
    names = {column.name.lower() for column in table.columns}
    return all(column.name.lower() in names and not column.table for column in condition.find_all(exp.Column))


class Link(NamedTuple):
    """A foreign key by the indexes of its columns; ``into`` are the affinities by which SQLite compares."""

    child: str
    columns: tuple[int, ...]
    parent: str
    refs: tuple[int, ...]
    into: tuple[Affinity, ...]

    def wanted(self, row: Row) -> Row | None:
        """What a row of the child refers to; None where a NULL says that it refers to nothing."""
        cells = [row[index] for index in self.columns]
        if any(cell is None for cell in cells):
            return None
        return tuple(stored(cell, into) for cell, into in zip(cells, self.into, strict=True))

    def offered(self, row: Row) -> Row:
        """The key by which rows of the child refer to this row of the parent."""
        return tuple(row[ref] for ref in self.refs)

    def pointed(self, row: Row, parent: Row) -> Row:
        """The child's row, referring to this parent."""
        cells = list(row)
        for index, ref in zip(self.columns, self.refs, strict=True):
            cells[index] = parent[ref]
        return tuple(cells)


class Shape:
    """A schema's tables, views left out, and the conditions on their rows.

    SQLite checks all but the foreign keys that refer to columns which are not a key; ``closed`` keeps those too.
    """

    def __init__(self, schema: Schema, checks: Checks) -> None:
        tables = tuple(table for table in schema.tables if not table.is_view)
        self.schema = Schema(schema.name, schema.dialect, tables)
        self.checks = checks
        self.tables = {table.name: table for table in tables}
        self._indexes = {table.name: {column.name: at for at, column in enumerate(table.columns)} for table in tables}
        links = ((table, key) for table in tables for key in table.foreign_keys if key.ref_table in self.tables)
        self.links = tuple(self._link(table, key) for table, key in links)
        self.links_of = {name: tuple(link for link in self.links if link.child == name) for name in self.tables}

    def _link(self, table: Table, key: ForeignKey) -> Link:
        parent, indexes = self.tables[key.ref_table], self._indexes[key.ref_table]
        refs = tuple(indexes[name] for name in key.ref_columns)
        columns = tuple(self._indexes[table.name][name] for name in key.columns)
        return Link(table.name, columns, parent.name, refs, tuple(affinity(parent.columns[ref].type) for ref in refs))

    def columns(self) -> Iterator[tuple[str, int, Column]]:
        """Every column, with its table's name and its index in the table's rows."""
        for name, table in self.tables.items():
            for index, column in enumerate(table.columns):
                yield name, index, column

    def keys(self, name: str) -> tuple[tuple[int, ...], ...]:
        """The indexes of each key's columns, the primary key first where there is one."""
        return tuple(tuple(self._indexes[name][column] for column in key) for key in unique_keys(self.tables[name]))

    def key_columns(self, name: str) -> frozenset[int]:
        """The indexes of columns that belong to a key of the table, primary, unique or foreign."""
        foreign = (link.columns for link in self.links_of[name])
        return frozenset(index for key in (*self.keys(name), *foreign) for index in key)

    def optional(self, name: str) -> frozenset[int]:
        """The indexes of the columns that may be NULL."""
        table = self.tables[name]
        return frozenset(
            index
            for index, column in enumerate(table.columns)
            if not column.not_null and column.name not in table.row_key
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
        """Every row whose parent is missing: by which foreign key, and its index in its table."""
        for link in self.links:
            offered = {link.offered(row) for row in rows[link.parent]}
            for index, row in enumerate(rows[link.child]):
                wanted = link.wanted(row)
                if wanted is not None and wanted not in offered:
                    yield link, index

    def children_first(self) -> list[str]:
        """The tables' names, referencing before referenced; a cycle is cut anywhere."""
        ordered: dict[str, None] = {}
        waiting = list(self.tables)
        while waiting:
            held = {link.parent for link in self.links if link.child in waiting and link.child != link.parent}
            ready = [name for name in waiting if name not in held] or waiting[:1]
            ordered.update(dict.fromkeys(ready))
            waiting = [name for name in waiting if name not in ordered]
        return list(ordered)

    def case(self, rows: Rows) -> TestCase:
        """The rows as a value."""
        return TestCase(self.schema, tuple(tuple(rows[name]) for name in self.tables))


def size(rows: Mapping[str, Sequence[Row]]) -> int:
    """The number of rows in all tables."""
    return sum(map(len, rows.values()))


def _checked(table: Table, tables: Mapping[str, Table]) -> Table:
    """The table with those foreign keys that SQLite enforces: it refuses all writes where one leads to no key."""
    keys = tuple(
        key
        for key in table.foreign_keys
        if key.ref_table in tables and set(key.ref_columns) in map(set, unique_keys(tables[key.ref_table]))
    )
    return Table(table.name, table.columns, table.primary_key, keys, table.unique_keys, table.candidate_keys)

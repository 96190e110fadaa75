"""What a suite needs to know of a gold query: its tree, its constants and the columns they are compared with."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.types import Cell, Schema

DIALECT: Final = "sqlite"
MAX_QUERY_CHARS: Final = 20_000

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.In, exp.Between)


class Facts(NamedTuple):
    """Of several queries: by column name in lower case its constants, and the names that are compared with each other.

    The key ``""`` holds constants whose column is not seen, such as that of ``HAVING count(*) > 3``.
    """

    constants: dict[str, tuple[Cell, ...]]
    linked: frozenset[frozenset[str]]


def column_names(schema: Schema) -> frozenset[str]:
    """The names of all columns in lower case."""
    return frozenset(column.name.lower() for table in schema.tables for column in table.columns)


@quiet()
def tree_of(sql: str, columns: Collection[str] = ()) -> exp.Expr | None:
    """The query's tree, None where sqlglot cannot read it as one SELECT.

    What stands in double quotes and is none of ``columns`` becomes the string that SQLite takes it for.
    """
    if len(sql) > MAX_QUERY_CHARS:
        return None
    try:
        tree = parse_one(sql, DIALECT)
    except (errors.SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Query):
        return None
    for column in list(tree.find_all(exp.Column)):
        name = column.this
        quoted = isinstance(name, exp.Identifier) and name.quoted and not column.table
        if quoted and name.name.lower() not in columns:
            column.replace(exp.Literal.string(name.name))
    return tree


def facts_of(trees: Collection[exp.Expr]) -> Facts:
    """The constants and linked columns of these queries, found by name, whatever table a column is of."""
    constants: dict[str, dict[Cell, None]] = {}
    linked = set()
    for tree in trees:
        for node in tree.find_all(*_COMPARISONS):
            sides = [part.name.lower() for part in node.find_all(exp.Column) if part.name]
            operands = [node.this, node.args.get("expression")]
            if all(isinstance(side, exp.Column) for side in operands) and len(set(sides)) == 2:
                linked.add(frozenset(sides))
            name = node.this.name.lower() if isinstance(node.this, exp.Column) else ""
            for literal in _literals(node):
                constants.setdefault(name, {})[_value(literal)] = None
    return Facts({name: tuple(found) for name, found in constants.items()}, frozenset(linked))


def _literals(node: exp.Expr) -> list[exp.Literal]:
    """The constants on the right of a comparison, those of a subquery left out."""
    right = [
        node.args.get("expression"),
        node.args.get("low"),
        node.args.get("high"),
        *node.args.get("expressions", ()),
    ]
    return [part for part in right if isinstance(part, exp.Literal)]


def _value(literal: exp.Literal) -> Cell:
    text = str(literal.this)
    if literal.is_string:
        return text.replace("%", "")
    try:
        whole = int(text)
    except ValueError:
        return float(text)
    return whole if abs(whole) < 2**63 else float(text)  # as SQLite reads it

"""SQLite queries as test databases see them: the tree, its constants and the columns they are compared with."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from sqljury.sql.parse import exp, quiet, read_query
from sqljury.sql.resolve import quoted_texts
from sqljury.types import Cell

DIALECT: Final = "sqlite"
MAX_QUERY_CHARS: Final = 20_000


class Facts(NamedTuple):
    """Of several queries: by column name in lower case its constants, and the names that are compared with each other.

    The key ``""`` holds constants whose column is not seen, such as that of ``HAVING count(*) > 3``.
    """

    constants: dict[str, tuple[Cell, ...]]
    linked: frozenset[frozenset[str]]


@quiet()
def tree_of(sql: str, columns: Collection[str] = ()) -> exp.Expr | None:
    """The query's tree, None where the parser cannot read it as one query.

    A name in double quotes that is not among ``columns`` becomes the string that SQLite takes it for.
    """
    tree = read_query(sql, DIALECT) if len(sql) <= MAX_QUERY_CHARS else None
    if tree is None:
        return None
    for column in quoted_texts(tree, columns):
        column.replace(exp.Literal.string(column.name))
    return tree


def facts_of(trees: Collection[exp.Expr]) -> Facts:
    """The constants and linked columns of these queries, found by name, whatever table a column is of."""
    comparisons = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.In, exp.Between)
    constants: dict[str, dict[Cell, None]] = {}
    linked = set()
    for tree in trees:
        for node in tree.find_all(*comparisons):
            sides = [part.name.lower() for part in node.find_all(exp.Column) if part.name]
            operands = [node.this, node.args.get("expression")]
            if all(isinstance(side, exp.Column) for side in operands) and len(set(sides)) == 2:
                linked.add(frozenset(sides))
            name = node.this.name.lower() if isinstance(node.this, exp.Column) else ""
            for literal in _literals(node):
                constants.setdefault(name, {})[_value(literal)] = None
    return Facts({name: tuple(values) for name, values in constants.items()}, frozenset(linked))


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

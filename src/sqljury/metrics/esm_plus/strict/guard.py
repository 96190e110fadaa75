"""Which column a name means in strict mode: aliases, queries in FROM, and the queries around count.

What strict mode does not read, though SQLite does: there the parser loses a meaning, or the rules would.

Refusing is safe: a query that is not read matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from sqljury.errors import InputError
from sqljury.metrics.esm_plus.structure import (
    INNER,
    Aggregate,
    Column,
    Conditions,
    Derived,
    Expression,
    Query,
    Source,
    columns_of,
    expressions,
    operands,
    parts,
    table_of,
)
from sqljury.metrics.spider.structure import Names
from sqljury.sql.parse import exp

UNNAMED = "\0"
"""What the names of columns begin with that a query cannot say."""


@dataclass(frozen=True, slots=True)
class Relation:
    """One item of FROM: ``alias`` is what it goes by, ``outputs`` all its columns by name, in order.

    Of two with one name the first is meant by it.
    """

    alias: str
    outputs: tuple[tuple[str, Expression], ...]

    def column(self, name: str) -> Expression | None:
        """What stands behind a column's name."""
        return next((expression for column, expression in self.outputs if column == name), None)


def table_relation(table: str, place: str, alias: str, names: Names) -> Relation:
    """A table; ``place`` is its name in the structure, another one where it is in FROM twice."""
    return Relation(alias, tuple((name, Column(f"{place}.{name}")) for name in names.tables[table]))


@dataclass(slots=True)
class Scope:
    """The names of one query; ``selected`` has the aliases that SELECT gives, ``borrowed`` tables of queries around.

    ``aliases`` are the same names before SELECT is read.
    """

    outer: Scope | None
    relations: list[Relation] = field(default_factory=list)
    selected: dict[str, Expression] = field(default_factory=dict)
    aliases: frozenset[str] = frozenset()
    borrowed: set[str] = field(default_factory=set)

    def column(self, name: str, qualifier: str) -> Expression | None:
        """What a column name stands for here, else in the queries around; the first of several."""
        for relation in self.relations:
            if qualifier in ("", relation.alias) and (expression := relation.column(name)) is not None:
                return expression
        if not qualifier and name in self.selected:
            return self.selected[name]
        expression = None if self.outer is None else self.outer.column(name, qualifier)
        if expression is not None:
            self.borrowed |= {base_of(column) for column in columns_of(expression)}
            self.borrowed |= {"" for part in parts(expression) if isinstance(part, Derived)}
        return expression

    def all_columns(self, qualifier: str = "") -> list[tuple[str, Expression]]:
        """What the star stands for, with the names."""
        return [
            output for relation in self.relations if qualifier in ("", relation.alias) for output in relation.outputs
        ]

    def may_name(self, name: str) -> bool:
        """Whether a name in double quotes may be a column after all: an alias, or one without a name of its own."""
        unnamed = any(column.startswith(UNNAMED) for relation in self.relations for column, _ in relation.outputs)
        if unnamed or name in self.aliases or name in ("rowid", "oid", "_rowid_"):
            return True
        return self.outer is not None and self.outer.may_name(name)


def base_of(column: str) -> str:
    """The table of a column, or of a table's place in FROM, by the name that the schema has for it."""
    return table_of(column).partition(":")[0]


MAX_BARE_JOINS: Final = 10
"""Joins without ON in a query; sqlglot takes twice as long for each more."""

_ASIDE: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_LOST: Final = {
    "a plus sign before a value": re.compile(
        r"(?:[-+(,=<>*/%|]|\b(?:select|distinct|where|and|or|not|by|on|when|then|else|case|having|in|like|between|is))"
        r"\s*\+",
        re.IGNORECASE,
    ),
    "digits apart": re.compile(r"(?<![\w.])\d[\d.]*_"),
    "two strings in a row": re.compile(r"'\s*'"),
}
_COMPARISONS: Final = frozenset(
    {"eq", "neq", "gt", "gte", "lt", "lte", "is", "like", "glob", "in", "between", "escape", "not", "match"}
)
_AGGREGATES: Final = frozenset({"max", "min", "count", "sum", "avg"})
_SCALAR: Final = frozenset(
    {
        "date",
        "time",
        "datetime",
        "julianday",
        "strftime",
        "unixepoch",
        "timediff",
        "printf",
        "format",
        "hex",
        "typeof",
        "quote",
        "likely",
        "unlikely",
        "instr",
        "char",
        "unicode",
        "zeroblob",
        "sign",
        "nullif",
        "trim",
        "ltrim",
        "rtrim",
        "round",
        "soundex",
    }
)


def fail(reason: str) -> NoReturn:
    """Raises ``InputError``."""
    raise InputError(f"not read in strict mode: {reason}")


def check_text(sql: str) -> None:
    """Raises ``InputError`` for words that the parser passes over, or takes too long for."""
    if _bare_joins(sql) > MAX_BARE_JOINS:
        fail("too many joins without ON")
    plain = _ASIDE.sub(lambda match: "'" if match[0].startswith("'") else "x" if match[0][0] in '"`[' else " ", sql)
    for what, pattern in _LOST.items():
        if pattern.search(plain):
            fail(what)


def _bare_joins(sql: str) -> int:
    """How many joins are followed by another one before an ON; an ON stands for one join at most."""
    between = re.split(r"\b(?:on|using)\b", _ASIDE.sub(" ", sql).lower())
    return sum(max(len(re.findall(r"\bjoin\b", part)) - 1, 0) for part in between)


def check_tree(tree: exp.Expr) -> None:
    """Raises ``InputError`` for windows, chance, aggregates beyond the five, functions nobody knows."""
    for node in tree.walk():
        if isinstance(node, exp.Window):
            fail("a window")
        if isinstance(node, exp.AggFunc) and node.key not in _AGGREGATES:
            fail(f"the aggregate {node.key}")
        if isinstance(node, exp.Rand | exp.Randn):
            fail("random()")
        if isinstance(node, exp.Anonymous) and node.name.lower() not in _SCALAR:
            fail(f"the function {node.name[:40]}")
        if node.key in _COMPARISONS and any(_is_bare_comparison(node, part) for part in node.iter_expressions()):
            fail("a comparison of comparisons without parentheses")


def _is_bare_comparison(node: exp.Expr, part: exp.Expr) -> bool:
    """Whether SQLite may take the one inside for the one outside, which is so for all but NOT and LIKE ... ESCAPE."""
    return part.key in _COMPARISONS and node.key not in ("not", "escape")


def check_names(query: Query, scope: Scope) -> None:
    """Raises ``InputError`` where a column of a query around cannot be told from one of this query."""
    tables = {base_of(table) if isinstance(table, str) else "" for table in query.tables}
    if scope.borrowed & tables:
        fail("a query that refers to the one around it, with the same table in FROM")
    for expression in expressions(query) if scope.borrowed else ():
        for part in parts(expression):
            if isinstance(part, Aggregate) and {base_of(name) for name in columns_of(part)} & scope.borrowed:
                fail("an aggregate over columns of a query around")


def check_joins(tables: Sequence[Source], joins: Sequence[str], on: Sequence[Conditions]) -> None:
    """Raises ``InputError`` where ON beside outer joins has conditions that could stand at another join as well.

    ``on`` has those of each join, which are kept in one list.
    """
    if len(joins) < 2 or set(joins) == {INNER}:
        return
    for table, conditions in zip(tables[1:], on, strict=True):
        if "or" in conditions or not isinstance(table, str):
            fail("several joins, outer ones among them, with OR or queries")
        for unit in conditions[::2]:
            names = {table_of(name) for expression in operands(unit) for name in columns_of(expression)}
            if table not in names:
                fail("outer joins with a condition in ON that is not of the table joined there")

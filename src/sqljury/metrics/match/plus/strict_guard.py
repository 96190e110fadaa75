"""What strict mode does not read, though SQLite does: there the parser loses a meaning, or the rules would.

Refusing is safe: a query that is not read matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from sqljury.errors import InputError
from sqljury.metrics.match.plus.scope import Scope, base_of
from sqljury.metrics.match.plus.structure import (
    INNER,
    Aggregate,
    Conditions,
    Query,
    Source,
    columns_of,
    expressions,
    operands,
    parts,
    table_of,
)

if TYPE_CHECKING:
    from sqlglot import exp

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
    plain = _ASIDE.sub(lambda found: "'" if found[0].startswith("'") else "x" if found[0][0] in '"`[' else " ", sql)
    for what, pattern in _LOST.items():
        if pattern.search(plain):
            fail(what)


def _bare_joins(sql: str) -> int:
    """How many joins are followed by another one before an ON; an ON stands for one join at most."""
    between = re.split(r"\b(?:on|using)\b", _ASIDE.sub(" ", sql).lower())
    return sum(max(len(re.findall(r"\bjoin\b", part)) - 1, 0) for part in between)


def check_tree(tree: exp.Expr) -> None:
    """Raises ``InputError`` for windows, chance, aggregates beyond the five, functions nobody knows."""
    from sqlglot import exp

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
    own = {base_of(table) if isinstance(table, str) else "" for table in query.tables}
    if scope.borrowed & own:
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

"""Which part of a query leaves it without rows, found by running it without that part.

A query without the part asks another question: what is found here is for people, and for hints, never an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Final

from sqljury.sql import text
from sqljury.sql.conditions import outer_conjuncts
from sqljury.sql.parse import errors, exp, parse_one, quiet
from sqljury.sql.provenance.phrases import Phrases
from sqljury.types import Schema

TRIED: Final = 5
"""Queries run at most."""
_CONDITION_CHARS: Final = 100

Finds = Callable[[str], bool | None]
"""Whether a query finds a row; None where it failed or took too long, which ends the search."""

Rows = Callable[[str], str | None]
"""How many rows a query has, such as ``12 rows``; None where it failed or took too long."""


@quiet()
def emptied(sql: str, schema: Schema, finds: Finds) -> list[str]:
    """Lines on what empties a query: single conditions of its WHERE or HAVING, else the first join that finds nothing.

    Looked at is the outermost SELECT; nothing is said of set operations and of what cannot be parsed.
    """

    def lines(select: exp.Select) -> list[str]:
        needless, queries_left = _needless(select, schema.dialect, finds)
        return needless or _lost_join(select, schema.dialect, finds, queries_left)

    return _read(sql, schema, lines)


@quiet()
def empty_join(sql: str, schema: Schema, finds: Finds) -> list[str]:
    """A line on the first join that finds nothing, whatever the conditions; empty where there is none."""
    return _read(sql, schema, lambda select: _lost_join(select, schema.dialect, finds, TRIED))


@quiet()
def caused(sql: str, schema: Schema, texts: Collection[str], finds: Finds) -> bool:
    """Whether a query that finds no row finds one without its conditions that a column is, or is one of, ``texts``.

    Only conditions that must hold count, in subqueries too: one within OR or NOT, or of several texts of which a column
    has some, does not leave a query empty.
    """
    try:
        tree = parse_one(sql, schema.dialect)
        needed = [node for node in tree.find_all(exp.EQ, exp.In) if _names_only(node, texts) and _must_hold(node)]
        for node in needed:
            node.replace(exp.true())
        return bool(needed) and bool(finds(tree.sql(dialect=schema.dialect)))
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return False


def _names_only(node: exp.Expr, texts: Collection[str]) -> bool:
    """Whether a comparison has texts in quotes, all of them among ``texts``."""
    sides = [node.this, node.expression] if isinstance(node, exp.EQ) else node.expressions
    literals = [side for side in sides if isinstance(side, exp.Literal)]
    return bool(literals) and all(side.is_string and side.name in texts for side in literals)


def _must_hold(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, exp.And | exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Where | exp.Having | exp.Join)


@quiet()
def loosened(sql: str, schema: Schema, rows: Rows) -> list[str]:
    """Lines such as ``without the condition x is 1 there are 12 rows``, for single conditions of WHERE and HAVING.

    ``rows`` runs a query and returns how many rows it has, with ``or more`` where a limit cut them; None ends the
    search.
    """

    def lines(select: exp.Select) -> list[str]:
        remarks: list[str] = []
        for condition, without in islice(_conditions(select), TRIED):
            count = rows(without.sql(dialect=schema.dialect))
            if count is None:
                break
            if count != "0 rows":
                shown = text.remark(Phrases(schema).condition(condition), _CONDITION_CHARS)
                remarks.append(f"without the condition {shown} there {_are(count)}")
        return remarks

    return _read(sql, schema, lines)


def _are(count: str) -> str:
    return f"is {count}" if count == "1 row" else f"are {count}"


def _read(sql: str, schema: Schema, lines: Callable[[exp.Select], list[str]]) -> list[str]:
    try:
        tree = parse_one(sql, schema.dialect)
        return lines(tree) if isinstance(tree, exp.Select) else []
    except (errors.SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return []  # a parser's own bug on odd text too


def _needless(select: exp.Select, dialect: str, finds: Finds) -> tuple[list[str], int]:
    """Lines on conditions without which rows are found, and how many queries may still be run."""
    lines: list[str] = []
    queries_left = TRIED
    for condition, without in _conditions(select):
        if queries_left <= 1 or (any_rows := finds(_limited(without).sql(dialect=dialect))) is None:
            return lines, 0
        queries_left -= 1
        if any_rows:
            lines.append(f"without the condition {_shown(condition, dialect)} it finds rows")
    return lines, queries_left


def _lost_join(select: exp.Select, dialect: str, finds: Finds, queries_left: int) -> list[str]:
    for join, upto in _joins(select):
        if not queries_left or (any_rows := finds(_limited(upto).sql(dialect=dialect))) is None:
            return []
        queries_left -= 1
        if not any_rows:
            return [f"the join with {_shown(join, dialect)} finds nothing, whatever the conditions"]
    return []


def _conditions(select: exp.Select) -> Iterator[tuple[exp.Expr, exp.Select]]:
    """Each condition that must hold, and the query without it."""
    for clause in ("where", "having"):
        if (node := select.args.get(clause)) is None:
            continue
        terms = outer_conjuncts(node)
        for at, term in enumerate(terms):
            if (
                isinstance(term, exp.EQ)
                and isinstance(term.this, exp.Column)
                and isinstance(term.expression, exp.Column)
            ):
                continue  # a join of tables with a comma between them: without it every row meets every other
            rest = [other.copy() for index, other in enumerate(terms) if index != at]
            without = select.copy()
            without.set(clause, type(node)(this=exp.and_(*rest)) if rest else None)
            yield term, without


def _joins(select: exp.Select) -> Iterator[tuple[exp.Expr, exp.Select]]:
    """Each join, and what is in FROM up to it, without conditions."""
    joins = select.args.get("joins") or []
    for at, join in enumerate(joins, 1):
        upto = exp.Select(expressions=[exp.Literal.number(1)])
        for clause in ("with_", "from_"):
            if (node := select.args.get(clause)) is not None:
                upto.set(clause, node.copy())
        upto.set("joins", [earlier.copy() for earlier in joins[:at]])
        yield join, upto


def _limited(select: exp.Select) -> exp.Select:
    """One row is enough, in any order."""
    select.set("order", None)
    return select.limit(1, copy=False)


def _shown(node: exp.Expr, dialect: str) -> str:
    if isinstance(node, exp.Join):
        on = node.args.get("on")
        written = f"{node.this.sql(dialect=dialect)}{f' ON {on.sql(dialect=dialect)}' if on is not None else ''}"
    else:
        written = node.sql(dialect=dialect)
    return text.remark(written, _CONDITION_CHARS)

"""Which part of a query leaves it without rows, found by running it without that part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from sqljury.db import parsing
from sqljury.db.quiet import quiet
from sqljury.schema import text
from sqljury.types import Schema

if TYPE_CHECKING:
    from sqlglot import exp

TRIED: Final = 5
"""Queries run at most."""
_CONDITION_CHARS: Final = 100

Finds = Callable[[str], bool | None]
"""Whether a query finds a row; None where it failed or took too long, which ends the search."""


@quiet()
def emptied(sql: str, schema: Schema, finds: Finds) -> list[str]:
    """Lines on what empties a query: single conditions of its WHERE or HAVING, else the first join that finds nothing.

    Looked at is the outermost SELECT; nothing is said of set operations and of what cannot be parsed.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = parsing.parse_one(sql, schema.dialect)
        return _lines(tree, schema.dialect, finds) if isinstance(tree, exp.Select) else []
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return []  # a parser's own bug on odd text too


def _lines(select: exp.Select, dialect: str, finds: Finds) -> list[str]:
    lines: list[str] = []
    left = TRIED
    for condition, without in _conditions(select):
        if left <= 1 or (found := finds(_limited(without).sql(dialect=dialect))) is None:
            return lines
        left -= 1
        if found:
            lines.append(f"without the condition {_shown(condition, dialect)} it finds rows")
    if lines:
        return lines
    for join, upto in _joins(select):
        if not left or (found := finds(_limited(upto).sql(dialect=dialect))) is None:
            return []
        left -= 1
        if not found:
            return [f"the join with {_shown(join, dialect)} finds nothing, whatever the conditions"]
    return []


def _conditions(select: exp.Select) -> Iterator[tuple[exp.Expr, exp.Select]]:
    """Each condition that must hold, and the query without it."""
    from sqlglot import exp

    for clause in ("where", "having"):
        if (node := select.args.get(clause)) is None:
            continue
        terms = list(node.this.flatten()) if isinstance(node.this, exp.And) else [node.this]
        for at, term in enumerate(terms):
            if (
                isinstance(term, exp.EQ)
                and isinstance(term.this, exp.Column)
                and isinstance(term.expression, exp.Column)
            ):
                continue  # a join of tables with a comma between them: without it every row meets every other
            rest = [other.copy() for place, other in enumerate(terms) if place != at]
            without = select.copy()
            without.set(clause, type(node)(this=exp.and_(*rest)) if rest else None)
            yield term, without


def _joins(select: exp.Select) -> Iterator[tuple[exp.Expr, exp.Select]]:
    """Each join, and what is in FROM up to it, without conditions."""
    from sqlglot import exp

    joins = select.args.get("joins") or []
    for at, join in enumerate(joins, 1):
        upto = exp.Select(expressions=[exp.Literal.number(1)])
        for clause in ("with_", "from_"):
            if (node := select.args.get(clause)) is not None:
                upto.set(clause, node.copy())
        upto.set("joins", [one.copy() for one in joins[:at]])
        yield join, upto


def _limited(select: exp.Select) -> exp.Select:
    """One row is enough, in any order."""
    select.set("order", None)
    return select.limit(1, copy=False)


def _shown(node: exp.Expr, dialect: str) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Join):
        on = node.args.get("on")
        written = f"{node.this.sql(dialect=dialect)}{f' ON {on.sql(dialect=dialect)}' if on is not None else ''}"
    else:
        written = node.sql(dialect=dialect)
    return text.remark(written, _CONDITION_CHARS)

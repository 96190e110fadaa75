"""Rules 1, 2, 5, 7, 9 and 10 of ESM+: SELECT, GROUP BY, ORDER BY and LIMIT (ESM+ paper, Table 1).

Rules 3, 4, 6 and 18 of ESM+: INTERSECT, UNION and EXCEPT (ESM+ paper, Table 1).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqljury.metrics.esm_plus.assumptions import Applied, Facts, is_non_null, is_unique
from sqljury.metrics.esm_plus.joins import equal_columns
from sqljury.metrics.esm_plus.structure import (
    STAR,
    Aggregate,
    Column,
    Condition,
    Expression,
    Key,
    Query,
    mapped,
    mapped_expression,
    parts,
)

_EXTREME: Final = {"min": "asc", "max": "desc"}


def rule_1(query: Query, facts: Facts) -> Applied | None:
    """``WHERE c = (SELECT min(c) / max(c) FROM t)`` ~ ``ORDER BY c ASC / DESC LIMIT 1``, c unique.

    That is the only condition, on the same table, and there is no other ORDER BY.
    """
    if query.order_by or query.limit is not None or query.group_by:
        return None
    match query.where:
        case (Condition(False, "=", Column(column), Query() as nested, None),):
            direction = _extreme(nested, column)
            if direction and column in facts.unique and nested.tables == query.tables:
                key = Key(Column(column), direction)
                return Applied(replace(query, where=(), order_by=(key,), limit=1), (is_unique(column),))
    return None


def rule_2(query: Query, facts: Facts) -> Applied | None:
    """``SELECT DISTINCT c`` ~ ``SELECT c``, one table in FROM and some selected plain column unique."""
    if not query.distinct or len(query.tables) != 1:
        return None
    for expression in query.select:
        match expression:
            case Column(name) if name in facts.unique:
                return Applied(replace(query, distinct=False), (is_unique(name),))
    return None


def rule_2_in_aggregates(query: Query, facts: Facts) -> Applied | None:
    """``count(DISTINCT c)`` ~ ``count(c)``, c unique."""
    assumptions: list[str] = []

    def change(expression: Expression) -> Expression:
        match expression:
            case Aggregate(function, True, Column(name) as argument) if name in facts.unique:
                assumptions.append(is_unique(name))
                return Aggregate(function, False, argument)
        return expression

    changed = mapped(query, lambda expression: mapped_expression(expression, change))
    return Applied(changed, tuple(dict.fromkeys(assumptions))) if assumptions else None


def rule_5(query: Query, facts: Facts) -> Applied | None:
    """``GROUP BY c``, no HAVING, no aggregate in SELECT, one table ~ no GROUP BY; ``GROUP BY c, ...`` ~ ``GROUP BY c``.

    ``c`` is unique.
    """
    for expression in query.group_by:
        match expression:
            case Column(name) if name in facts.unique:
                if len(query.tables) == 1 and not query.having and not _aggregated(query):
                    return Applied(replace(query, group_by=()), (is_unique(name),))
                if len(query.group_by) > 1:
                    return Applied(replace(query, group_by=(expression,)), (is_unique(name),))
    return None


def rule_7(query: Query, facts: Facts) -> Applied | None:
    """``count(c)`` ~ ``count(*)`` in SELECT, HAVING and ORDER BY, c non-null and not DISTINCT."""
    assumptions: list[str] = []

    def change(expression: Expression) -> Expression:
        match expression:
            case Aggregate("count", False, Column(name)) if name in facts.non_null:
                assumptions.append(is_non_null(name))
                return Aggregate("count", False, Column(STAR))
        return expression

    changed = mapped(query, lambda expression: mapped_expression(expression, change))
    return Applied(changed, tuple(dict.fromkeys(assumptions))) if assumptions else None


def rule_9(query: Query, _: Facts) -> Applied | None:
    """``SELECT c ORDER BY c DESC / ASC LIMIT 1`` ~ ``SELECT max(c) / min(c)``, c a plain column."""
    if query.limit != 1 or query.offset or query.group_by:
        return None
    match query.select, query.order_by:
        case (Column(name) as selected,), (Key(expression, direction),) if expression == selected and name != STAR:
            function = "max" if direction == "desc" else "min"
            return Applied(replace(query, select=(Aggregate(function, False, selected),), order_by=(), limit=None))
    return None


def rule_10(query: Query, facts: Facts) -> Applied | None:
    """All columns of the tables in FROM ~ ``*``; of columns that the joins make equal, each stands for the others."""
    selected = [expression.name for expression in query.select if isinstance(expression, Column)]
    tables = [table for table in query.tables if isinstance(table, str)]
    if len(selected) != len(query.select) or len(tables) != len(query.tables):
        return None
    every = [column for table in tables for column in facts.columns(table)]
    names = {name: min(group) for group in equal_columns(query) for name in group}
    if sorted(names.get(name, name) for name in selected) != sorted(names.get(name, name) for name in every):
        return None
    assumption = f"the columns of {', '.join(tables)} are {', '.join(sorted(every))}"
    return Applied(replace(query, select=(Column(STAR),)), (assumption,))


def _extreme(nested: Query, column: str) -> str:
    """How to order by the column so that what the query selects comes first; empty where it is no extreme of it."""
    match nested.select:
        case (Aggregate(function, _, Column(name)),) if name == column and nested.plain and not nested.where:
            return _EXTREME.get(function, "")
    return ""


def _aggregated(query: Query) -> bool:
    """Whether an aggregate is in SELECT or ORDER BY."""
    selected = (*query.select, *(key.expression for key in query.order_by))
    return any(isinstance(part, Aggregate) for expression in selected for part in parts(expression))


def rule_3(query: Query, facts: Facts) -> Applied | None:
    """``q INTERSECT q'``, same SELECT and FROM, one condition each ~ ``WHERE d1 AND d2``, a selected column unique."""
    return _one_query(query, facts, "intersect", "and")


def rule_4(query: Query, facts: Facts) -> Applied | None:
    """``q UNION q'``, likewise ~ ``WHERE d1 OR d2``."""
    return _one_query(query, facts, "union", "or")


def rule_6(query: Query, facts: Facts) -> Applied | None:
    """``SELECT c ... WHERE c NOT IN (q)`` ~ ``SELECT c ... EXCEPT q``, a single condition, c unique and non-null."""
    if query.set_operator or len(query.select) != 1:
        return None
    match query.where:
        case (Condition(True, "in", Column(column) as left, Query() as nested, None),) if query.select == (left,):
            if column in facts.unique and column in facts.non_null:
                changed = replace(query, where=(), set_operator="except", other=nested)
                return Applied(changed, (is_unique(column), is_non_null(column)))
    return None


def rule_18(query: Query, _: Facts) -> Applied | None:
    """``q UNION q``, ``q INTERSECT q`` ~ ``q``."""
    if query.set_operator not in ("union", "intersect"):
        return None
    alone = replace(query, set_operator="", other=None)
    return Applied(alone) if query.other == alone else None


def _one_query(query: Query, facts: Facts, operator: str, connective: str) -> Applied | None:
    other = query.other
    if query.set_operator != operator or other is None or other.set_operator:
        return None
    # DISTINCT of one part says nothing: a selected column is unique, and the operator drops what is repeated.
    if query.select != other.select or _from(query) != _from(other) or not len(query.where) == len(other.where) == 1:
        return None
    if query.group_by or query.having or other.group_by or other.having:
        return None
    why = _tells_rows_apart(query, facts)
    if why is None:
        return None
    where = query.where if query.where == other.where else (*query.where, connective, *other.where)
    # What orders and cuts a compound query is written after its last part.
    changed = replace(query, where=where, order_by=other.order_by, limit=other.limit, set_operator="", other=None)
    changed = replace(changed, distinct=query.distinct and other.distinct, offset=other.offset or query.offset)
    return Applied(changed, (why,))


def _from(query: Query) -> tuple[object, ...]:
    return query.tables, query.joins, query.on


def _tells_rows_apart(query: Query, facts: Facts) -> str | None:
    """Why no two rows of the query are the same, if so."""
    for expression in query.select:
        match expression:
            case Column(name) if name in facts.unique:
                return is_unique(name)
            case Column(name) if name == STAR and len(query.tables) == 1:
                table = query.tables[0]
                if isinstance(table, str) and facts.has_key(table):
                    return f"{table} has a key"
    return None

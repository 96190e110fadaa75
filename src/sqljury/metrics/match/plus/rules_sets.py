"""Rules 3, 4, 6 and 18 of ESM+: INTERSECT, UNION and EXCEPT (ESM+ paper, Table 1)."""

from __future__ import annotations

from dataclasses import replace

from sqljury.metrics.match.plus.applied import Applied
from sqljury.metrics.match.plus.assumptions import Facts, is_non_null, is_unique
from sqljury.metrics.match.plus.structure import STAR, Column, Condition, Query


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
    same = (query.select, query.distinct) == (other.select, other.distinct) and _from(query) == _from(other)
    if not same or len(query.where) != 1 or len(other.where) != 1:
        return None
    if query.group_by or query.having or other.group_by or other.having:
        return None
    why = _tells_rows_apart(query, facts)
    if why is None:
        return None
    where = query.where if query.where == other.where else (*query.where, connective, *other.where)
    # What orders and cuts a compound query is written after its last part.
    changed = replace(query, where=where, order_by=other.order_by, limit=other.limit, set_operator="", other=None)
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

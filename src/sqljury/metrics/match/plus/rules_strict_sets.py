"""Rules 3, 4, 6 and 18 as strict mode has them, where what orders and cuts a chain is kept with its first part."""

from __future__ import annotations

from dataclasses import replace

from sqljury.metrics.match.plus.applied import Applied, Rule
from sqljury.metrics.match.plus.assumptions import Facts
from sqljury.metrics.match.plus.rules_sets import rule_3, rule_4, rule_6
from sqljury.metrics.match.plus.rules_strict_joins import all_inner, equal, known_once
from sqljury.metrics.match.plus.structure import (
    STAR,
    Aggregate,
    Column,
    Condition,
    Key,
    Literal,
    Query,
    columns,
    parts,
    table_of,
)


def rule_3_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 3 without aggregates, of which each part has its own."""
    return _one_query(query, facts, rule_3)


def rule_4_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 4 without aggregates, of which each part has its own."""
    return _one_query(query, facts, rule_4)


def rule_6_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 6 only where the nested query gives no NULL: ``c NOT IN (NULL)`` holds for no row.

    EXCEPT compares values as they are, so both columns have to be of one kind.
    """
    match query.select, query.where:
        case (Column(own) as selected,), (Condition(value1=Query(select=(Column(name),)) as nested),):
            if nested.set_operator or not all_inner(nested) or not facts.same_values(own, name):
                return None
            tables = {table for table in nested.tables if isinstance(table, str)}
            if not {table_of(column) for column in columns(nested)} <= tables or table_of(own) in ("", STAR):
                return None
            if name not in facts.within(tables).non_null.union(*equal(nested, facts)):
                return None
            if any(key.expression != selected for key in query.order_by):
                return None
            order = tuple(Key(Literal(1), key.direction) for key in query.order_by)
            once = known_once(query, facts)
            return rule_6(replace(query, order_by=order), replace(once, non_null=facts.non_null))
    return None


def rule_18_strictly(query: Query, facts: Facts) -> Applied | None:
    """``q UNION q``, ``q INTERSECT q`` ~ ``SELECT DISTINCT`` what q selects."""
    if query.set_operator not in ("union", "intersect") or query.other is None:
        return None
    alone = replace(query, set_operator="", other=None, order_by=(), limit=None, offset=None)
    if replace(query.other, distinct=alone.distinct) != alone or (order := _order(query)) is None:
        return None
    unique = known_once(query, facts).unique
    repeats = not any(isinstance(unit, Column) and unit.name in unique for unit in query.select)
    return Applied(replace(alone, distinct=repeats, order_by=order, limit=query.limit, offset=query.offset))


def _one_query(query: Query, facts: Facts, rule: Rule) -> Applied | None:
    other = query.other
    if other is None or other.order_by or other.limit is not None or (order := _order(query)) is None:
        return None
    if any(isinstance(part, Aggregate) for unit in query.select for part in parts(unit)):
        return None
    known = replace(known_once(query, facts), primary_keys={})
    moved = replace(query, order_by=(), limit=None, other=replace(other, order_by=order, limit=query.limit))
    if (applied := rule(moved, known)) is None and (key := _whole_key(query, facts)):
        applied = rule(moved, replace(known, unique=known.unique | {key[0]}))
        return applied and applied._replace(assumptions=(f"{', '.join(key)} together are unique",))
    return applied


def _whole_key(query: Query, facts: Facts) -> tuple[str, ...]:
    """The key of the only table in FROM, several columns, where all of them are selected."""
    key = facts.primary_keys.get(str(query.tables[0]), ()) if len(query.tables) == 1 else ()
    return key if all(Column(column) in query.select for column in key) else ()


def _order(query: Query) -> tuple[Key, ...] | None:
    """The keys of a chain as those of its first part; None where they cannot be told."""
    keys: list[Key] = []
    for key in query.order_by:
        place = key.expression.value if isinstance(key.expression, Literal) else None
        if not isinstance(place, int) or place > len(query.select) or Column(STAR) in query.select:
            return None
        keys.append(Key(query.select[place - 1], key.direction))
    return tuple(keys)

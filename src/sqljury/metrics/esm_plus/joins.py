"""Rules 12, 13, 16 and 17 of ESM+: joins, and conditions that stand for them (ESM+ paper, Table 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from sqljury.metrics.esm_plus.assumptions import Applied, Facts, is_non_null, refers_to
from sqljury.metrics.esm_plus.structure import (
    INNER,
    STAR,
    Aggregate,
    Column,
    Condition,
    Expression,
    Group,
    Query,
    columns,
    columns_of,
    expressions,
    joined,
    put,
    renamed,
    table_of,
)


def rule_12(query: Query, facts: Facts) -> Applied | None:
    """``A WHERE a IN (SELECT b FROM B WHERE d)``, also with ``=`` ~ ``A JOIN B ON a = b WHERE d``.

    ``b`` is B's primary key and ``a`` a foreign key to it. As published, there is no other join, and no other ``=`` or
    IN before it.
    """
    if query.on:
        return None
    for at, unit in enumerate(query.where):
        if isinstance(unit, Condition) and (unit.operator == "=" or (unit.operator == "in" and not unit.negated)):
            return with_join(query, at, facts)
    return None


def with_join(query: Query, at: int, facts: Facts) -> Applied | None:
    """The query with a join instead of the condition at this place, where that is a key IN or = a query."""
    match query.where[at]:
        case Condition(
            False, "=" | "in", Column(foreign_key) as left, Query(select=(Column(key) as right,)) as nested, None
        ):
            if not nested.plain or key not in facts.primary_keys.get(table_of(key), ()):
                return None
            if facts.references.get(foreign_key) != key:
                return None
            changed = replace(
                query,
                tables=query.tables + nested.tables,
                joins=(*query.joins, INNER, *nested.joins),
                on=joined("and", query.on, (Condition(False, "=", left, right, None),), nested.on),
                where=put(query.where, at, nested.where),
            )
            return Applied(changed, (refers_to(foreign_key, key),))
    return None


def rule_13(query: Query, facts: Facts) -> Applied | None:
    """``A JOIN B ON A.fk = B.pk`` ~ ``A``, where nothing else of B is used.

    ``pk`` is a non-composite key, ``fk`` non-null and declared to reference it. As published, the kind of the join does
    not count, and what comes after a join along no foreign key stays.
    """
    return without_joins(query, facts, _any_kind)


def rule_16(query: Query, facts: Facts) -> Applied | None:
    """``a`` ~ ``b`` anywhere in the query, where it joins on ``a = b``; non-null and unique spread over them."""
    groups = equal_columns(query)
    if not groups:
        return None
    names = {name: min(group) for group in groups for name in group}
    changed = replace(renamed(query, names), on=query.on)
    known = facts.spread(groups)
    if changed == query and known == facts:
        return None
    return Applied(changed, tuple(f"the query joins on {' = '.join(sorted(group))}" for group in groups), known)


def rule_17(query: Query, _: Facts) -> Applied | None:
    """``A WHERE c IN (SELECT c FROM A WHERE d)`` ~ ``A WHERE d``."""
    for at, unit in enumerate(query.where):
        if not isinstance(unit, Condition) or unit.negated or unit.operator != "in":
            continue
        nested = unit.value1
        if not isinstance(nested, Query) or not nested.where or not nested.plain:
            continue
        if nested.select == (unit.left,) and _same_tables(query, nested):
            where = put(query.where, at, nested.where)
            return Applied(replace(query, where=where), (f"both queries are on {_listed(query)}",))
    return None


def _same_tables(first: Query, second: Query) -> bool:
    names = [sorted(table for table in query.tables if isinstance(table, str)) for query in (first, second)]
    return names[0] == names[1] and len(names[0]) == len(first.tables) == len(second.tables)


def _listed(query: Query) -> str:
    return ", ".join(table for table in query.tables if isinstance(table, str))


# Rule 13


def without_joins(query: Query, facts: Facts, keeps: Keeps) -> Applied | None:
    """One join after another dropped; each may have been all that another one was needed for."""
    assumptions: tuple[str, ...] = ()
    while (needless := _needless_join(query, facts, keeps)) is not None:
        at, foreign_key, key = needless
        position = query.tables.index(table_of(key))
        # As published the join after the table goes with it; where kinds count, the one before it has to.
        join = min(position, len(query.joins) - 1) if keeps is _any_kind else max(position - 1, 0)
        changed = replace(
            query,
            tables=query.tables[:position] + query.tables[position + 1 :],
            joins=query.joins[:join] + query.joins[join + 1 :],
            on=put(query.on, at, ()),
        )
        query = renamed(changed, {key: foreign_key})
        assumptions += (refers_to(foreign_key, key), is_non_null(foreign_key))
    return Applied(query, assumptions) if assumptions else None


def _needless_join(query: Query, facts: Facts, keeps: Keeps) -> tuple[int, str, str] | None:
    """The place of a join condition to be dropped, its foreign key and the key that it refers to."""
    for at, unit in enumerate(query.on):
        if isinstance(unit, str):
            continue
        link = next((pair for pair in equal_pairs(unit) if _is_link(*pair, facts)), None)
        if link is None:
            if keeps is _any_kind:
                return None
            continue
        foreign_key, key = link
        if foreign_key in facts.non_null and _is_only_key(query, key) and keeps(query, foreign_key, key):
            return at, foreign_key, key
    return None


def equal_pairs(unit: Condition | Group | str) -> Iterator[tuple[str, str]]:
    """The columns of a join condition ``a = b``, both ways round."""
    match unit:
        case Condition(False, "=", Column(left), Column(right), None):
            yield left, right
            yield right, left


def _is_link(foreign_key: str, key: str, facts: Facts) -> bool:
    return (
        facts.is_single_key(key) and facts.references.get(foreign_key) == key and table_of(foreign_key) != table_of(key)
    )


def _is_only_key(query: Query, key: str) -> bool:
    """Whether of the key's table, once in FROM, nothing but the key is used."""
    table = table_of(key)
    return (
        query.tables.count(table) == 1
        and not any(table_of(name) == table and name != key for name in columns(query))
        and not any(shows_all(expression) for expression in expressions(query))
    )


Keeps: TypeAlias = "Callable[[Query, str, str], bool]"
"""Whether the key's table, the last of these three, is joined to its foreign key so that it may go."""


def _any_kind(query: Query, foreign_key: str, key: str) -> bool:  # noqa: ARG001
    return True


def shows_all(expression: Expression) -> bool:
    """Whether this is the star, not counted: then the columns of every table are used."""
    match expression:
        case Column(name):
            return name == STAR
        case Aggregate(function, _, argument):
            return function != "count" and STAR in columns_of(argument)
    return False


# Rule 16


def equal_columns(query: Query, same: Callable[[str, str], bool] | None = None) -> list[set[str]]:
    """Columns in groups that the join conditions make equal; only pairs of which ``same`` is true, if given."""
    groups: list[set[str]] = []
    for unit in query.on:
        for left, right in equal_pairs(unit):
            if same is not None and not same(left, right):
                continue
            linked = [group for group in groups if left in group or right in group]
            groups = [group for group in groups if group not in linked]
            groups.append({left, right}.union(*linked))
    return [group for group in groups if len(group) > 1]

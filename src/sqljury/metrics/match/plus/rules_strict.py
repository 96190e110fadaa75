"""The rules of strict mode: those of ESM+ where they hold for all data, for published ones do not always.

They differ in that a unique column is taken for unique only where the joins do not repeat its rows, a non-null one for
non-null only without outer joins, and that OR is minded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqljury.metrics.match.plus.applied import Applied, Rule
from sqljury.metrics.match.plus.assumptions import Facts, is_unique
from sqljury.metrics.match.plus.rules import PUBLISHED_RULES
from sqljury.metrics.match.plus.rules_clauses import rule_1, rule_2, rule_2_in_aggregates, rule_5, rule_7, rule_9
from sqljury.metrics.match.plus.rules_conditions import rule_8
from sqljury.metrics.match.plus.rules_joins import (
    equal_columns,
    equal_pairs,
    rule_12,
    rule_12_anywhere,
    rule_13,
    rule_13_by_kind,
    rule_16,
    rule_17,
)
from sqljury.metrics.match.plus.rules_sets import rule_3, rule_4, rule_6
from sqljury.metrics.match.plus.structure import INNER, Column, Condition, Group, Query, conditions, renamed, table_of


def _all_inner(query: Query) -> bool:
    return set(query.joins) <= {INNER} and "or" not in query.on


def _inner(rule: Rule) -> Rule:
    """The rule only without outer joins."""
    return lambda query, facts: rule(query, facts) if _all_inner(query) else None


def _unrepeated(rule: Rule, *, null: bool = False) -> Rule:
    """The rule with only those columns unique whose rows the query has once at most.

    They are non-null, unless the rule may have ``null``: several rows may be without a value in a unique column.
    """

    def checked(query: Query, facts: Facts) -> Applied | None:
        once = {table for table in query.tables if isinstance(table, str) and _is_once(query, table, facts)}
        known = facts.unique if null else facts.unique & facts.non_null
        return rule(query, replace(facts, unique=frozenset(column for column in known if table_of(column) in once)))

    return checked


def _is_once(query: Query, table: str, facts: Facts) -> bool:
    """Whether every other table is joined, step by step from this one, by a unique column of its own."""
    if len(query.tables) == 1:
        return True
    if not _all_inner(query) or len(set(query.tables)) < len(query.tables):
        return False
    reached, before = {table}, 0
    while len(reached) > before:
        before = len(reached)
        pairs = (pair for unit in query.on for pair in equal_pairs(unit))
        reached |= {table_of(far) for near, far in pairs if table_of(near) in reached and far in facts.unique}
    return reached >= set(query.tables)


def _rule_5(query: Query, facts: Facts) -> Applied | None:
    """Rule 5; in a join only for columns of a table whose key is grouped by too, or what the query joins it with."""
    if len(query.tables) == 1:
        return rule_5(query, replace(facts, unique=facts.unique & facts.non_null))
    names = [unit.name for unit in query.group_by if isinstance(unit, Column)]
    if len(names) < max(2, len(query.group_by)):
        return None
    equal = equal_columns(query) if _all_inner(query) else []
    for name in names:
        same = next((group for group in equal if name in group), {name})
        keys = {table_of(column): column for column in sorted(same) if facts.is_single_key(column)}
        rest = tuple(Column(other) for other in names if other == name or table_of(other) not in keys)
        if len(rest) < len(names):
            return Applied(replace(query, group_by=rest), tuple(map(is_unique, keys.values())))
    return None


def _rule_6(query: Query, facts: Facts) -> Applied | None:
    """Rule 6 only where the nested query gives no NULL: ``c NOT IN (NULL)`` holds for no row."""
    match query.where:
        case (Condition(value1=Query(select=(Column(name),)) as nested),) if _all_inner(nested):
            if name in facts.non_null.union(*equal_columns(nested)):
                return rule_6(query, facts)
    return None


def _rule_8(query: Query, facts: Facts) -> Applied | None:
    """Rule 8 only without OR: a condition that always holds makes the others beside it needless."""
    units = (*query.on, *query.where, *query.having)
    return None if "or" in units or any(isinstance(unit, Group) for unit in units) else rule_8(query, facts)


def _rule_9(query: Query, facts: Facts) -> Applied | None:
    """Rule 9 only where NULL is not the first in the order; of no rows the one gives none, the other NULL."""
    match query.select, query.order_by:
        case (Column(name),), (key,) if key.direction == "desc" or (name in facts.non_null and _all_inner(query)):
            return rule_9(query, facts)
    return None


def _rule_16(query: Query, facts: Facts) -> Applied | None:
    """Rule 16 without what it says of unique columns, whose rows a join may repeat; what a join compares is no NULL."""
    groups = equal_columns(query)
    known = replace(facts, non_null=facts.non_null.union(*groups))
    changed = replace(renamed(query, {name: min(group) for group in groups for name in group}), on=query.on)
    assumptions = (f"the query joins on {' = '.join(sorted(group))}" for group in groups)
    return Applied(changed, tuple(assumptions), known) if groups else None


def _rule_17(query: Query, facts: Facts) -> Applied | None:
    """Rule 17 only where another row cannot have the same value in the column."""
    columns = [unit.left for unit in conditions(query.where) if unit.operator == "in"]
    unique = all(isinstance(column, Column) and column.name in facts.unique for column in columns)
    return rule_17(query, facts) if unique and "or" not in query.where and len(query.tables) == 1 else None


_INSTEAD: Final[dict[Rule, Rule]] = {
    rule_1: _unrepeated(rule_1),
    rule_2: _unrepeated(rule_2),
    rule_2_in_aggregates: _unrepeated(rule_2_in_aggregates, null=True),
    rule_3: _unrepeated(rule_3),
    rule_4: _unrepeated(rule_4),
    rule_5: _rule_5,
    rule_6: _unrepeated(_rule_6),
    rule_7: _inner(rule_7),
    rule_8: _inner(_rule_8),
    rule_9: _rule_9,
    rule_12: rule_12_anywhere,
    rule_13: rule_13_by_kind,
    rule_16: _inner(_rule_16),
    rule_17: _rule_17,
}

STRICT_RULES: Final[tuple[tuple[int, Rule], ...]] = tuple((n, _INSTEAD.get(rule, rule)) for n, rule in PUBLISHED_RULES)
"""With their numbers, in the order they are applied."""

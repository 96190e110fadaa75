"""The rules of ESM+ in the order they are applied to a query, as published and in strict mode (ESM+ paper, Table 1)."""

from __future__ import annotations

from typing import Final

from sqljury.metrics.match.plus.applied import Applied, Rule
from sqljury.metrics.match.plus.assumptions import Facts
from sqljury.metrics.match.plus.rules_clauses import (
    rule_1,
    rule_2,
    rule_2_in_aggregates,
    rule_5,
    rule_7,
    rule_9,
    rule_10,
)
from sqljury.metrics.match.plus.rules_conditions import rule_8, rule_11, rule_15, rule_19, rule_20
from sqljury.metrics.match.plus.rules_joins import (
    rule_12,
    rule_12_anywhere,
    rule_13,
    rule_13_by_kind,
    rule_16,
    rule_16_inner,
    rule_17,
)
from sqljury.metrics.match.plus.rules_sets import rule_3, rule_4, rule_6, rule_18
from sqljury.metrics.match.plus.structure import INNER, Column, Group, Query, conditions


def _alone(rule: Rule) -> Rule:
    """The rule only for one table: in a join, a unique column is not."""
    return lambda query, facts: rule(query, facts) if len(query.tables) == 1 else None


def _inner(rule: Rule) -> Rule:
    """The rule only without outer joins: in one, a non-null column can be NULL."""
    return lambda query, facts: rule(query, facts) if set(query.joins) <= {INNER} else None


def _rule_8_of_and(query: Query, facts: Facts) -> Applied | None:
    """Rule 8 only without OR: a condition that always holds makes the others beside it needless."""
    units = (*query.on, *query.where, *query.having)
    return None if "or" in units or any(isinstance(unit, Group) for unit in units) else rule_8(query, facts)


def _rule_17_of_unique(query: Query, facts: Facts) -> Applied | None:
    """Rule 17 only where another row cannot have the same value in the column."""
    columns = [unit.left for unit in conditions(query.where) if unit.operator == "in"]
    unique = all(isinstance(column, Column) and column.name in facts.unique for column in columns)
    return rule_17(query, facts) if unique and "or" not in query.where else None


PUBLISHED_RULES: Final[tuple[tuple[int, Rule], ...]] = (
    (11, rule_11),
    (15, rule_15),
    (20, rule_20),
    (8, rule_8),
    (2, rule_2_in_aggregates),
    (13, rule_13),
    (16, rule_16),
    (3, rule_3),
    (4, rule_4),
    (1, rule_1),
    (9, rule_9),
    (10, rule_10),
    (17, rule_17),
    (7, rule_7),
    (6, rule_6),
    (2, rule_2),
    (12, rule_12),
    (19, rule_19),
    (5, rule_5),
    (18, rule_18),
)
"""With their numbers; rule 14, aliases without AS, acts while a query is read."""

_SOUND: Final[dict[Rule, Rule]] = {
    rule_1: _alone(rule_1),
    rule_2_in_aggregates: _alone(rule_2_in_aggregates),
    rule_3: _alone(rule_3),
    rule_4: _alone(rule_4),
    rule_5: _alone(rule_5),
    rule_6: _alone(rule_6),
    rule_7: _inner(rule_7),
    rule_8: _inner(_rule_8_of_and),
    rule_12: rule_12_anywhere,
    rule_13: rule_13_by_kind,
    rule_16: rule_16_inner,
    rule_17: _alone(_rule_17_of_unique),
}

STRICT_RULES: Final[tuple[tuple[int, Rule], ...]] = tuple((n, _SOUND.get(rule, rule)) for n, rule in PUBLISHED_RULES)
"""The same where a rule as published would equate queries that are not equivalent, or overlook some that are."""

NUMBERS: Final = frozenset(number for number, _ in PUBLISHED_RULES) | {14}
"""The numbers of all rules, 1 to 20."""

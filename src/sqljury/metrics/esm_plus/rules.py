"""The rules of ESM+ in the order they are applied to each query, as published (ESM+ paper, Table 1).

Applies equivalence rules to a query, innermost queries first, and keeps a record of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from sqljury.metrics.esm_plus.assumptions import Facts, Rule
from sqljury.metrics.esm_plus.clauses import (
    rule_1,
    rule_2,
    rule_2_in_aggregates,
    rule_3,
    rule_4,
    rule_5,
    rule_6,
    rule_7,
    rule_9,
    rule_10,
    rule_18,
)
from sqljury.metrics.esm_plus.conditions import rule_8, rule_11, rule_15, rule_19, rule_20
from sqljury.metrics.esm_plus.joins import rule_12, rule_13, rule_16, rule_17
from sqljury.metrics.esm_plus.published import INSTEAD
from sqljury.metrics.esm_plus.structure import Expression, Query, mapped, mapped_expression

TABLE_1_RULES: Final[tuple[tuple[int, Rule], ...]] = (
    (11, rule_11),
    (15, rule_15),
    (20, rule_20),
    (8, rule_8),
    (2, rule_2_in_aggregates),
    (13, rule_13),
    (16, rule_16),
    (2, rule_2_in_aggregates),  # once more, for the columns that are unique by rule 16
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
"""With their numbers, as the paper has them; rule 14, aliases without AS, acts while a query is read."""

PUBLISHED_RULES: Final = tuple((number, INSTEAD.get(number, rule)) for number, rule in TABLE_1_RULES)
"""The same as the published program applies them."""

NUMBERS: Final = frozenset(number for number, _ in TABLE_1_RULES) | {14}
"""The numbers of all rules, 1 to 20."""

MEANINGS: Final[dict[int, str]] = {
    1: "c = (SELECT max(c) ...) ~ ORDER BY c DESC LIMIT 1, c unique",
    2: "SELECT DISTINCT c ~ SELECT c, c unique",
    3: "INTERSECT ~ AND, a selected column unique",
    4: "UNION ~ OR, a selected column unique",
    5: "GROUP BY c ~ nothing, or GROUP BY c, d ~ GROUP BY c, c unique",
    6: "c NOT IN ~ EXCEPT, c unique and non-null",
    7: "count(c) ~ count(*), c non-null",
    8: "c IS NOT NULL ~ nothing, c non-null",
    9: "SELECT c ORDER BY c DESC LIMIT 1 ~ SELECT max(c)",
    10: "all columns ~ *",
    11: "'5' ~ 5",
    12: "a IN (SELECT b ...) ~ JOIN ON a = b, a a foreign key to the key b",
    13: "a join ON a = b that adds nothing ~ no join, a a non-null foreign key to the key b",
    14: "t AS x ~ t x",
    15: "c IN (v, w) ~ c = v OR c = w",
    16: "a ~ b, where joined on a = b; unique and non-null spread",
    17: "c IN (SELECT c FROM the same tables WHERE d) ~ d",
    18: "q UNION q, q INTERSECT q ~ q",
    19: "c BETWEEN a AND b ~ c >= a AND c <= b",
    20: "NOT c = v ~ c != v",
}
"""What each rule takes for the same, in the order of Table 1, and what the schema must guarantee."""


class Fired(NamedTuple):
    """A rule that changed a query, and what it assumed, in words."""

    rule: int
    assumptions: tuple[str, ...]


@dataclass(slots=True)
class Rewriter:
    """Applies ``rules`` in their order, ``settle`` after each, and notes in ``fired`` those that did something."""

    rules: Sequence[tuple[int, Rule]]
    settle: Callable[[Query], Query]
    fired: list[Fired] = field(default_factory=list)

    def rewrite(self, query: Query, facts: Facts) -> Query:
        """The query after all rules, those nested in it first."""
        query = self.settle(self._with_nested(query, facts))
        for number, rule in self.rules:
            if (applied := rule(query, facts)) is not None:
                self.fired.append(Fired(number, applied.assumptions))
                query = self.settle(applied.query)
                facts = applied.facts or facts
        return query

    def _with_nested(self, query: Query, facts: Facts) -> Query:
        def change(expression: Expression) -> Expression:
            return self.rewrite(expression, facts) if isinstance(expression, Query) else expression

        tables = tuple(self.rewrite(table, facts) if isinstance(table, Query) else table for table in query.tables)
        other = None if query.other is None else self.rewrite(query.other, facts)
        query = mapped(query, lambda expression: mapped_expression(expression, change))
        return replace(query, tables=tables, other=other)

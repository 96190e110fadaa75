"""Applies equivalence rules to a query, innermost queries first, and keeps a record of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sqljury.metrics.match.plus.applied import Rule
from sqljury.metrics.match.plus.assumptions import Facts
from sqljury.metrics.match.plus.structure import Expression, Query, mapped, mapped_expression


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

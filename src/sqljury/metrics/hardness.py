"""How hard a gold query is by Spider's own measure (Yu et al. 2018, "Spider", section 3 and its evaluation program)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from sqljury.metrics.spider.structure import Condition, Query

Hardness = Literal["easy", "medium", "hard", "extra"]
LEVELS: Final[tuple[Hardness, ...]] = ("easy", "medium", "hard", "extra")
BIRD_LEVELS: Final = ("simple", "moderate", "challenging")
"""The levels that BIRD's files give; they are not computed."""


def levels_of(given: Iterable[str]) -> tuple[str, ...]:
    """The levels by which questions with the ``given`` ones are shown: BIRD's if there are any of these, else Spider's.

    All seven where there are questions of both.
    """
    levels = set(given)
    if levels.isdisjoint(BIRD_LEVELS):
        return LEVELS
    return BIRD_LEVELS if levels.isdisjoint(LEVELS) else (*LEVELS, *BIRD_LEVELS)


def hardness(gold: Query) -> Hardness:
    """The level of a gold query, from its clauses, the queries nested in it, and what it has more than one of.

    A query that Spider's parser cannot read has no level; of its empty structure this would be ``easy``.
    """
    clauses, nested, plural = _clauses(gold), len(gold.nested), _plural(gold)
    if nested:
        return "hard" if nested == 1 and clauses <= 1 and not plural else "extra"
    if clauses <= 1 and not plural:
        return "easy"
    if (clauses <= 1 and plural <= 2) or (clauses <= 2 and plural < 2):
        return "medium"
    if (clauses <= 2 and plural > 2) or (clauses == 3 and plural <= 2):
        return "hard"
    return "extra"


def _clauses(query: Query) -> int:
    """WHERE, GROUP BY, ORDER BY and LIMIT, each join, each OR and each LIKE."""
    present = [query.where, query.group_by, query.order, query.limit is not None]
    joins = max(len(query.tables) - 1, 0)
    likes = sum(condition.operator == "like" for condition in query.conditions)
    return sum(map(bool, present)) + joins + query.connectives.count("or") + likes


def _plural(query: Query) -> int:
    """Of aggregates, selected expressions, conditions and grouping columns: how many there are several of."""
    several = [_aggregates(query), len(query.select), len(query.where), len(query.group_by)]
    return sum(count > 1 for count in several)


def _aggregates(query: Query) -> int:
    """Aggregates as the benchmark counts them, which is not quite what they are.

    Those of SELECT, GROUP BY and ORDER BY; in WHERE each negated condition, and in HAVING each negated condition and
    each AND and OR, for the program looks there at the first field of something else.
    """
    keys = [unit for key in query.order_by for unit in (key.left, key.right) if unit is not None]
    aggregates = [unit.aggregate for unit in query.select] + [unit.aggregate for unit in (*query.group_by, *keys)]
    negated = [unit.negated for unit in query.where + query.having if isinstance(unit, Condition)]
    between = [unit for unit in query.having if isinstance(unit, str)]
    return sum(aggregate != "none" for aggregate in aggregates) + sum(negated) + len(between)

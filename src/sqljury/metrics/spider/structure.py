"""Spider's structured form of a query: compared by value, hashable, with words where the benchmark has numbers.

A column is named ``table.column`` in lower case, the star ``*``. Aggregates are ``none max min count sum avg``,
arithmetic ``none - + * /``, condition operators ``not between = > < >= <= != in like is exists``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

AGGREGATES = ("none", "max", "min", "count", "sum", "avg")
ARITHMETIC = ("none", "-", "+", "*", "/")
OPERATORS = ("not", "between", "=", ">", "<", ">=", "<=", "!=", "in", "like", "is", "exists")
SET_OPERATORS = ("intersect", "union", "except")


class ColUnit(NamedTuple):
    """A column, aggregated or not."""

    aggregate: str
    column: str
    distinct: bool


class ValUnit(NamedTuple):
    """A column, or two in one arithmetic operation."""

    operator: str
    left: ColUnit
    right: ColUnit | None


Value: TypeAlias = "float | str | ColUnit | Query | None"
"""A number, a string with its double quotes, a column, or a nested query."""


class Condition(NamedTuple):
    """``value2`` is the upper end of BETWEEN, else None."""

    negated: bool
    operator: str
    left: ValUnit
    value1: Value
    value2: Value


Conditions: TypeAlias = "tuple[Condition | str, ...]"
"""Conditions, with ``and`` or ``or`` between each two of them: flat, for parentheses are not part of the form."""


class SelectUnit(NamedTuple):
    """One selected expression, with the aggregate around it."""

    aggregate: str
    unit: ValUnit


TableUnit: TypeAlias = "str | Query"
"""The name of a table, or a query in FROM."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query; the default of every field together is the empty structure that stands for an unreadable one.

    ``order`` is ``asc`` or ``desc`` for the whole ORDER BY, empty without one. ``set_operator`` is ``intersect``,
    ``union``, ``except`` or empty, and joins this query with ``other``.
    """

    distinct: bool = False
    select: tuple[SelectUnit, ...] = ()
    tables: tuple[TableUnit, ...] = ()
    join: Conditions = ()
    where: Conditions = ()
    group_by: tuple[ColUnit, ...] = ()
    having: Conditions = ()
    order: str = ""
    order_by: tuple[ValUnit, ...] = ()
    limit: int | None = None
    set_operator: str = ""
    other: Query | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of JOIN, WHERE and HAVING, without what is between them."""
        return tuple(unit for unit in self.join + self.where + self.having if isinstance(unit, Condition))

    @property
    def connectives(self) -> tuple[str, ...]:
        """The ``and`` and ``or`` of JOIN, WHERE and HAVING."""
        return tuple(unit for unit in self.join + self.where + self.having if isinstance(unit, str))

    @property
    def nested(self) -> tuple[Query, ...]:
        """Queries directly inside conditions or joined by a set operator; not those in FROM."""
        values = [value for condition in self.conditions for value in (condition.value1, condition.value2)]
        return tuple(value for value in (*values, self.other) if isinstance(value, Query))

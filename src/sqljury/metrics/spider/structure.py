"""The names a query may use, all in lower case, as Spider's parser looks them up.

Spider's structured form of a query: compared by value, hashable, with words where the benchmark has numbers.

A column is named ``table.column`` in lower case, the star ``*``. Aggregates are ``none max min count sum avg``,
arithmetic ``none - + * /``, condition operators ``not between = > < >= <= != in like is exists``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

from sqljury.errors import DatasetError
from sqljury.types import Schema


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of one database with their columns, in the order the database lists them."""

    tables: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, tables: Iterable[tuple[str, Iterable[str]]]) -> Self:
        """From pairs of a table's name and its columns' names, in any case."""
        return cls({name.lower(): tuple(column.lower() for column in columns) for name, columns in tables})

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """From an introspected schema; views are left out, for the benchmark's parser does not know them."""
        tables = (table for table in schema.tables if not table.is_view)
        return cls.of((table.name, (column.name for column in table.columns)) for table in tables)

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Self:
        """From one entry of Spider's ``tables.json``; raises ``DatasetError`` when it has not that form."""
        try:
            tables: list[tuple[str, list[str]]] = [(name, []) for name in entry["table_names_original"]]
            for table, column in entry["column_names_original"]:
                if table >= 0:  # -1 is the star
                    tables[table][1].append(column)
            return cls.of(tables)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            database = entry.get("db_id", "?") if isinstance(entry, Mapping) else "?"
            message = f"tables.json: the entry of {database!r} is malformed ({error!r}); use the file as Spider has it"
            raise DatasetError(message) from None


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

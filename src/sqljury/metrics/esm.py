"""Which column stands for which when foreign keys are taken for what they refer to.

Exact set match, as Spider's evaluation program decides it (Yu et al. 2018; ESM+ paper, section 3.1).

Two queries match when each clause holds the same set of parts. What looks like an omission below is the published
program's: join conditions, the number in LIMIT and DISTINCT after SELECT are not compared, and a foreign key counts as
the column it refers to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from sqljury.errors import DatasetError
from sqljury.metrics.spider.structure import ColUnit, Condition, Conditions, Query, SelectUnit, Value, ValUnit
from sqljury.types import Schema


@dataclass(frozen=True, slots=True)
class ForeignKeys:
    """For each column in a foreign key, the one that stands for it: the first column of those it is linked with."""

    stands_for: Mapping[str, str]

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Self:
        """From one entry of Spider's ``tables.json``; raises ``DatasetError`` when it has not that form."""
        try:
            tables = entry["table_names_original"]
            columns = [
                f"{tables[table]}.{column}".lower() if table >= 0 else "*"
                for table, column in entry["column_names_original"]
            ]
            return cls(_stand_ins(columns, entry["foreign_keys"]))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            database = entry.get("db_id", "?") if isinstance(entry, Mapping) else "?"
            message = f"tables.json: the entry of {database!r} is malformed ({error!r}); use the file as Spider has it"
            raise DatasetError(message) from None

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """From the declared keys of a schema; composite keys link their columns one by one."""
        columns = [f"{table.name}.{column.name}".lower() for table in schema.tables for column in table.columns]
        numbers = {column: number for number, column in enumerate(columns)}
        links = [
            (numbers[f"{table.name}.{column}".lower()], numbers[f"{key.ref_table}.{ref_column}".lower()])
            for table in schema.tables
            for key in table.declared_keys
            for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
            if f"{key.ref_table}.{ref_column}".lower() in numbers
        ]
        return cls(_stand_ins(columns, links))


def _stand_ins(columns: list[str], links: Iterable[Iterable[int]]) -> dict[str, str]:
    """Linked columns form groups, but two groups that a later key links stay two, as in the published program."""
    groups: list[set[int]] = []
    for first, second in links:
        group = next((group for group in groups if first in group or second in group), None)
        if group is None:
            groups.append(group := set())
        group |= {first, second}
    return {columns[number]: columns[min(group)] for group in groups for number in sorted(group)}


@dataclass(frozen=True, slots=True)
class ComparedParts:
    """What is compared; the published program's defaults.

    Without ``values`` every value but a nested query is left out, without ``distinct`` the DISTINCT of aggregates. That
    of SELECT is never compared, except in a query nested in a condition, where it always is.
    """

    values: bool = False
    distinct: bool = False


PUBLISHED: Final = ComparedParts()


def differing_clauses(
    gold: Query, predicted: Query, keys: ForeignKeys, compared: ComparedParts = PUBLISHED
) -> tuple[str, ...]:
    """The names of the clauses in which the two do not match, in the order of ``CLAUSES``."""
    pair = prepared(gold, keys, compared), prepared(predicted, keys, compared)
    return tuple(name for name, same in CLAUSES.items() if not same(*pair))


def same_structure(gold: Query, predicted: Query) -> bool:
    """The same for queries that are ``prepared`` already."""
    return all(same(gold, predicted) for same in CLAUSES.values())


def _same_select(gold: Query, predicted: Query) -> bool:
    return Counter(gold.select) == Counter(predicted.select)


def _same_where(gold: Query, predicted: Query) -> bool:
    return Counter(gold.where[::2]) == Counter(predicted.where[::2])


def _same_connectives(gold: Query, predicted: Query) -> bool:
    return set(gold.where[1::2]) == set(predicted.where[1::2])


def _same_group_by(gold: Query, predicted: Query) -> bool:
    """HAVING counts only beside GROUP BY, and its conditions in their order."""
    if not gold.group_by and not predicted.group_by:
        return True
    columns = [[unit.column for unit in query.group_by] for query in (gold, predicted)]
    return columns[0] == columns[1] and gold.having == predicted.having


def _same_order_by(gold: Query, predicted: Query) -> bool:
    """The keys in their order; beside ORDER BY, whether there is a LIMIT, not which."""
    if not gold.order and not predicted.order:
        return True
    limited = [query.limit is not None for query in (gold, predicted)]
    return (gold.order, gold.order_by) == (predicted.order, predicted.order_by) and limited[0] == limited[1]


def _same_other(gold: Query, predicted: Query) -> bool:
    if gold.other is None or predicted.other is None:
        return gold.other is predicted.other
    return gold.set_operator == predicted.set_operator and same_structure(gold.other, predicted.other)


def _same_keywords(gold: Query, predicted: Query) -> bool:
    return keywords(gold) == keywords(predicted)


def _same_tables(gold: Query, predicted: Query) -> bool:
    return not gold.tables or Counter(gold.tables) == Counter(predicted.tables)


CLAUSES: Final[dict[str, Callable[[Query, Query], bool]]] = {
    "select": _same_select,
    "where": _same_where,
    "and/or": _same_connectives,
    "group by": _same_group_by,
    "order by": _same_order_by,
    "set operator": _same_other,
    "keywords": _same_keywords,
    "from": _same_tables,
}


def keywords(query: Query) -> set[str]:
    """The words of a query that the published program compares as one clause of their own."""
    present = {
        "where": query.where,
        "group": query.group_by,
        "having": query.having,
        "order": query.order,
        "limit": query.limit is not None,
        "or": "or" in query.connectives,
        "not": any(condition.negated for condition in query.conditions),
        "in": any(condition.operator == "in" for condition in query.conditions),
        "like": any(condition.operator == "like" for condition in query.conditions),
    }
    return {word for word, part in present.items() if part} | ({query.order, query.set_operator} - {""})


def prepared(query: Query, keys: ForeignKeys, compared: ComparedParts) -> Query:
    """The query with foreign keys replaced and without what ``compared`` leaves out.

    Only columns of the outermost FROM are replaced, and none in a query nested in a condition.
    """
    tables = {table for table in query.tables if isinstance(table, str)}
    stands_for = {
        column: representative
        for column, representative in keys.stands_for.items()
        if column.partition(".")[0] in tables
    }
    return _Rewriter(stands_for, compared).query(query)


class _Rewriter:
    """Rebuilds a query part by part."""

    def __init__(self, stands_for: Mapping[str, str], compared: ComparedParts) -> None:
        self._stands_for = stands_for
        self._compared = compared

    def query(self, query: Query) -> Query:
        """The query rebuilt, and what a set operator joins to it."""
        return replace(
            query,
            distinct=query.distinct and self._compared.distinct,
            select=tuple(SelectUnit(unit.aggregate, self._val_unit(unit.unit)) for unit in query.select),
            join=self._conditions(query.join),
            where=self._conditions(query.where),
            group_by=tuple(self._col_unit(unit) for unit in query.group_by),
            having=self._conditions(query.having),
            order_by=tuple(self._val_unit(unit) for unit in query.order_by),
            other=None if query.other is None else self.query(query.other),
        )

    def _conditions(self, conditions: Conditions) -> Conditions:
        return tuple(unit if isinstance(unit, str) else self._condition(unit) for unit in conditions)

    def _condition(self, unit: Condition) -> Condition:
        value1, value2 = (self._value(value) for value in (unit.value1, unit.value2))
        return Condition(unit.negated, unit.operator, self._val_unit(unit.left), value1, value2)

    def _value(self, value: Value) -> Value:
        if self._compared.values:
            return value
        return _without_values(value) if isinstance(value, Query) else None

    def _val_unit(self, unit: ValUnit) -> ValUnit:
        right = None if unit.right is None else self._col_unit(unit.right)
        return ValUnit(unit.operator, self._col_unit(unit.left), right)

    def _col_unit(self, unit: ColUnit) -> ColUnit:
        column = self._stands_for.get(unit.column, unit.column)
        return ColUnit(unit.aggregate, column, unit.distinct and self._compared.distinct)


def _without_values(query: Query) -> Query:
    """A nested query keeps its DISTINCT and its foreign keys, whatever is compared."""

    def strip(conditions: Conditions) -> Conditions:
        return tuple(
            unit
            if isinstance(unit, str)
            else unit._replace(
                value1=_without_values(unit.value1) if isinstance(unit.value1, Query) else None,
                value2=_without_values(unit.value2) if isinstance(unit.value2, Query) else None,
            )
            for unit in conditions
        )

    return replace(
        query,
        join=strip(query.join),
        where=strip(query.where),
        having=strip(query.having),
        other=None if query.other is None else _without_values(query.other),
    )

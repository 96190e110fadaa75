"""The rules of strict mode: those of ESM+ where they hold for all data, for published ones do not always.

They differ in that a unique column is taken for unique only where it is non-null and the joins do not repeat its rows,
a non-null one for non-null only without outer joins, in that OR is minded, and how SQLite compares text with numbers.
Rule 9 is left out: of no rows ``max(c)`` gives NULL and ``ORDER BY c DESC LIMIT 1`` nothing.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Final

from sqljury.metrics.esm_plus.assumptions import Applied, Facts, Rule, is_unique
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
from sqljury.metrics.esm_plus.conditions import applied, rule_8, rule_11, rule_15, rule_19, spelled_out
from sqljury.metrics.esm_plus.joins import rule_12, rule_13, rule_16, rule_17
from sqljury.metrics.esm_plus.rules import TABLE_1_RULES
from sqljury.metrics.esm_plus.strict.joins import (
    all_inner,
    equal,
    known_once,
    rule_3_strictly,
    rule_4_strictly,
    rule_6_strictly,
    rule_12_strictly,
    rule_13_strictly,
    rule_16_strictly,
    rule_17_strictly,
    rule_18_strictly,
)
from sqljury.metrics.esm_plus.structure import (
    STAR,
    Aggregate,
    Arithmetic,
    Column,
    Condition,
    Conditions,
    Group,
    Literal,
    Query,
    Value,
    ValueList,
    parts,
    table_of,
)
from sqljury.sql.affinity import Affinity, number_of

_COMPARISONS: Final = frozenset({"=", "!=", "<", ">", "<=", ">=", "in", "between"})


def rule_8_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 8 without outer joins and OR: a condition that always holds makes the others beside OR needless.

    HAVING without GROUP BY stays as well, for of no rows it looks at NULL.
    """
    units = (*query.on, *query.where, *query.having)
    if "or" in units or any(isinstance(unit, Group) for unit in units) or not all_inner(query):
        return None
    return None if query.having and not query.group_by else rule_8(query, facts.within(query.tables))


def rule_11_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 11 as SQLite compares: a column of numbers makes a number of text, one of text makes text of a number.

    So ``'5'`` is ``5`` only for columns of numbers, and ``5`` is ``5.0`` for all but those of text.
    """

    def change(unit: Condition) -> Conditions:
        if unit.operator not in _COMPARISONS:
            return (unit,)
        match unit.left:
            case Column(name):
                kind = facts.affinity(name)
            case Aggregate() | Arithmetic():
                kind = "BLOB"  # no affinity, like a column declared as BLOB
            case _:
                kind = None
        if kind is None:
            return (unit,)
        return (unit._replace(value1=_compared(unit.value1, kind), value2=_compared(unit.value2, kind)),)

    return applied(query, change)


def rule_15_strictly(query: Query, _: Facts) -> Applied | None:
    """Rule 15 for lists that are not empty: ``IN ()`` holds for no row."""

    def change(unit: Condition) -> Conditions:
        return (unit,) if unit.value1 == ValueList(()) else spelled_out(unit)

    return applied(query, change)


def rule_19_strictly(query: Query, _: Facts) -> Applied | None:
    """Rule 19 in all clauses, and ``c NOT BETWEEN a AND b`` ~ ``c < a OR c > b``."""
    return applied(query, _bounds)


def _bounds(unit: Condition) -> Conditions:
    if unit.operator != "between":
        return (unit,)
    low, connective, high = ("<", "or", ">") if unit.negated else (">=", "and", "<=")
    return (
        Condition(False, low, unit.left, unit.value1, None),
        connective,
        Condition(False, high, unit.left, unit.value2, None),
    )


def _compared(value: Value, kind: Affinity) -> Value:
    """A constant as SQLite compares it with a column of this affinity."""
    match value:
        case ValueList(values):
            return ValueList(tuple(_compared(item, kind) for item in values))
        case Literal(int() as number) if kind == "TEXT":
            return Literal(f'"{number}"')
        case Literal(str() as text) if text.startswith('"') and kind in ("NUMERIC", "REAL"):
            return _number(number_of(text[1:-1]), value)
        case Literal(str() as text) if text[:1] in "-0123456789" and kind != "TEXT":
            return _number(number_of(text), value)
    return value


def _number(number: int | float | None, otherwise: Literal) -> Literal:
    if number is None:
        return otherwise
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**53:
        return Literal(int(number))
    if isinstance(number, int):
        return Literal(number)
    return Literal(repr(number)) if isfinite(number) else otherwise


def _rule_1(query: Query, facts: Facts) -> Applied | None:
    """Rule 1 where the query gives a row for each one it reads, and both queries read the same ones."""
    if query.distinct or query.set_operator or query.having or _aggregates(query):
        return None
    match query.where:
        case (Condition(value1=Query() as nested),) if (nested.joins, nested.on) == (query.joins, query.on):
            return rule_1(query, known_once(query, facts))
    return None


def _rule_2(query: Query, facts: Facts) -> Applied | None:
    """Rule 2, also in a join that repeats no row."""
    if not query.distinct:
        return None
    unique = known_once(query, facts).unique
    for expression in query.select:
        if isinstance(expression, Column) and expression.name in unique:
            return Applied(replace(query, distinct=False), (is_unique(expression.name),))
    return None


def _rule_2_in_aggregates(query: Query, facts: Facts) -> Applied | None:
    """Rule 2 in aggregates, which pass over NULL anyway."""
    return rule_2_in_aggregates(query, known_once(query, facts, null=True))


def _rule_5(query: Query, facts: Facts) -> Applied | None:
    """Rule 5; in a join only for columns of a table whose key is grouped by too, or what the query joins it with.

    Not with DISTINCT and ORDER BY: which of the rows that are one then counts for the order hangs on the groups.
    """
    if query.distinct and query.order_by:
        return None
    if len(query.tables) == 1:
        return rule_5(query, known_once(query, facts))
    names = [unit.name for unit in query.group_by if isinstance(unit, Column)]
    if len(names) < max(2, len(query.group_by)):
        return None
    groups = equal(query, facts) if all_inner(query) else []
    for name in names:
        same = next((group for group in groups if name in group), {name})
        keys = {table_of(column): column for column in sorted(same) if facts.is_single_key(column)}
        kept = tuple(Column(column) for column in names if column == name or table_of(column) not in keys)
        if len(kept) < len(names):
            return Applied(replace(query, group_by=kept), tuple(map(is_unique, keys.values())))
    return None


def _rule_7(query: Query, facts: Facts) -> Applied | None:
    """Rule 7 only without outer joins."""
    return rule_7(query, facts.within(query.tables)) if all_inner(query) else None


def _rule_10(query: Query, facts: Facts) -> Applied | None:
    """Rule 10 the other way round, the star as all columns: so other rules see what is selected."""
    if Column(STAR) not in query.select or not query.tables:
        return None
    tables = [table for table in query.tables if isinstance(table, str)]
    if len(tables) < len(query.tables):
        return None
    every = [f"{table}.{column}" for table in tables for column in facts.names.tables[table.partition(":")[0]]]
    select: list[Column] = []
    for unit in query.select:
        select += map(Column, every) if unit == Column(STAR) else [unit]  # type: ignore[list-item]
    assumption = f"the columns of {', '.join(tables)} are {', '.join(every)}"
    return Applied(replace(query, select=tuple(select)), (assumption,))


def _aggregates(query: Query) -> bool:
    return any(isinstance(part, Aggregate) for expression in query.select for part in parts(expression))


_INSTEAD: Final[dict[Rule, Rule]] = {
    rule_1: _rule_1,
    rule_2: _rule_2,
    rule_2_in_aggregates: _rule_2_in_aggregates,
    rule_3: rule_3_strictly,
    rule_4: rule_4_strictly,
    rule_5: _rule_5,
    rule_6: rule_6_strictly,
    rule_7: _rule_7,
    rule_8: rule_8_strictly,
    rule_11: rule_11_strictly,
    rule_12: rule_12_strictly,
    rule_13: rule_13_strictly,
    rule_15: rule_15_strictly,
    rule_16: rule_16_strictly,
    rule_17: rule_17_strictly,
    rule_18: rule_18_strictly,
    rule_19: rule_19_strictly,
}

_ORDER: Final = [(number, _INSTEAD.get(rule, rule)) for number, rule in TABLE_1_RULES if rule not in (rule_9, rule_10)]
_AFTER_12: Final = 1 + [number for number, _ in _ORDER].index(12)

STRICT_RULES: Final[tuple[tuple[int, Rule], ...]] = (
    (10, _rule_10),
    *_ORDER[:_AFTER_12],
    (16, rule_16_strictly),  # once more, for the columns that rule 12 joined
    *_ORDER[_AFTER_12:],
)
"""With their numbers, in the order they are applied."""

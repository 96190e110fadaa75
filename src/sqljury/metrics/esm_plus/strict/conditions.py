"""Rules 8, 11, 15 and 19 as strict mode has them."""

from __future__ import annotations

from math import isfinite
from typing import Final

from sqljury.metrics.esm_plus.assumptions import Applied, Facts
from sqljury.metrics.esm_plus.conditions import rewritten, rule_8, spelled_out
from sqljury.metrics.esm_plus.strict.joins import all_inner
from sqljury.metrics.esm_plus.structure import (
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

    changed = rewritten(query, change)
    return Applied(changed) if changed != query else None


def rule_15_strictly(query: Query, _: Facts) -> Applied | None:
    """Rule 15 for lists that are not empty: ``IN ()`` holds for no row."""

    def change(unit: Condition) -> Conditions:
        return (unit,) if unit.value1 == ValueList(()) else spelled_out(unit)

    changed = rewritten(query, change)
    return Applied(changed) if changed != query else None


def rule_19_strictly(query: Query, _: Facts) -> Applied | None:
    """Rule 19 in all clauses, and ``c NOT BETWEEN a AND b`` ~ ``c < a OR c > b``."""
    changed = rewritten(query, _bounds)
    return Applied(changed) if changed != query else None


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

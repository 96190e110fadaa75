"""Rules 8, 11, 15, 19 and 20 of ESM+: ways to write a condition (ESM+ paper, Table 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Final, TypeAlias

from sqljury.metrics.esm_plus.assumptions import Applied, Facts, is_non_null
from sqljury.metrics.esm_plus.structure import (
    NULL,
    Column,
    Condition,
    Conditions,
    Group,
    Literal,
    Query,
    Value,
    ValueList,
    joined,
)

_OPPOSITE: Final = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def rule_8(query: Query, facts: Facts) -> Applied | None:
    """``c IS NOT NULL`` ~ nothing, where c is non-null."""
    gone: list[str] = []

    def keep(unit: Condition) -> Conditions:
        if unit.negated and unit.operator == "is" and unit.value1 == Literal(NULL) and isinstance(unit.left, Column):
            column = unit.left.name
            if column in facts.non_null:
                gone.append(is_non_null(column))
                return ()
        return (unit,)

    changed = _rewritten(query, keep)
    return Applied(changed, tuple(dict.fromkeys(gone))) if gone else None


def rule_11(query: Query, _: Facts) -> Applied | None:
    """``'5'`` ~ ``5``."""
    return applied(query, lambda unit: (unit._replace(value1=_number(unit.value1), value2=_number(unit.value2)),))


def rule_15(query: Query, _: Facts) -> Applied | None:
    """``c IN (v, w)`` ~ ``c = v OR c = w``; ``NOT IN`` ~ ``!=`` and AND."""
    return applied(query, spelled_out)


def rule_19(query: Query, _: Facts) -> Applied | None:
    """``c BETWEEN a AND b`` ~ ``c >= a AND c <= b``."""
    return applied(query, _bounds)


def rule_20(query: Query, _: Facts) -> Applied | None:
    """``NOT c = v`` ~ ``c != v``, likewise ``<`` and ``>=``, ``>`` and ``<=``."""
    return applied(query, _turned)


def _number(value: Value) -> Value:
    if isinstance(value, ValueList):
        return ValueList(tuple(map(_number, value.values)))
    if isinstance(value, Literal) and isinstance(value.value, str) and value.value.startswith('"'):
        try:
            number = float(value.value[1:-1])
        except ValueError:
            return value
        return Literal(number) if isfinite(number) else value
    return value


def spelled_out(unit: Condition) -> Conditions:
    """A condition with IN and a list as one for each value."""
    if unit.operator != "in" or not isinstance(unit.value1, ValueList):
        return (unit,)
    operator, connective = ("!=", "and") if unit.negated else ("=", "or")
    values = ((Condition(False, operator, unit.left, value, None),) for value in unit.value1.values)
    return joined(connective, *values)


def _bounds(unit: Condition) -> Conditions:
    if unit.operator != "between" or unit.negated:
        return (unit,)
    low = Condition(False, ">=", unit.left, unit.value1, None)
    return low, "and", Condition(False, "<=", unit.left, unit.value2, None)


def _turned(unit: Condition) -> Conditions:
    if unit.negated and unit.operator in _OPPOSITE:
        return (unit._replace(negated=False, operator=_OPPOSITE[unit.operator]),)
    return (unit,)


_Change: TypeAlias = "Callable[[Condition], Conditions]"


def applied(query: Query, change: _Change) -> Applied | None:
    """The query rewritten condition by condition; None where that leaves it as it is."""
    changed = _rewritten(query, change)
    return Applied(changed) if changed != query else None


def _rewritten(query: Query, change: _Change) -> Query:
    """Every condition replaced by what ``change`` makes of it, in ON, WHERE and HAVING."""
    if not (query.on or query.where or query.having):
        return query
    on, where, having = (_replaced(units, change) for units in (query.on, query.where, query.having))
    return replace(query, on=on, where=where, having=having)


def _replaced(units: Conditions, change: _Change) -> Conditions:
    """One condition may become none, or several in a group."""
    whole: list[Condition | Group | str] = []
    connective = ""
    for unit in units:
        if isinstance(unit, str):
            connective = unit
        elif new := _replaced_unit(unit, change):
            whole += [connective, *new] if whole else new
    return tuple(whole)


def _replaced_unit(unit: Condition | Group, change: _Change) -> Conditions:
    if isinstance(unit, Group):
        inner = _replaced(unit.conditions, change)
        return (Group(unit.negated, inner),) if inner else ()
    return joined("and", change(unit))

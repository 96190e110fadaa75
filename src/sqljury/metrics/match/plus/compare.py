"""Compares two rewritten queries clause by clause (ESM+ paper, section 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from sqljury.metrics.match.plus.structure import (
    INNER,
    Aggregate,
    Arithmetic,
    Call,
    Column,
    Condition,
    Conditions,
    Derived,
    Expression,
    Group,
    Literal,
    Query,
    Value,
    ValueList,
)


class Compared(NamedTuple):
    """What counts: ``values`` in conditions; ``strict`` is the mode of that name.

    As published, GROUP BY and HAVING have an order, ORDER BY has one direction, and ``a + b`` is not ``b + a``; not so
    in strict mode.
    """

    values: bool = True
    strict: bool = False


Form: TypeAlias = Hashable
"""What stands for a clause: equal for clauses that match."""


def differing_clauses(gold: Query, predicted: Query, compared: Compared) -> tuple[str, ...]:
    """The names of the clauses in which two queries do not match, in the order of ``CLAUSES``; empty for a match."""
    return tuple(name for name, form in CLAUSES.items() if form(gold, compared) != form(predicted, compared))


def _form(query: Query, compared: Compared) -> Form:
    return tuple(form(query, compared) for form in CLAUSES.values())


def _select(query: Query, compared: Compared) -> Form:
    return query.distinct, _bag(_expression(unit, compared) for unit in query.select)


def _from(query: Query, compared: Compared) -> Form:
    """Tables joined in whatever order, unless a join is of a kind for which the order matters."""
    tables = [_form(table, compared) if isinstance(table, Query) else table for table in query.tables]
    return _bag(tables) if set(query.joins) <= {INNER} else (*tables, *query.joins)


def _on(query: Query, compared: Compared) -> Form:
    return _conditions(query.on, compared), "or" in query.on


def _where(query: Query, compared: Compared) -> Form:
    return _conditions(query.where, compared)


def _connectives(query: Query, _: Compared) -> Form:
    return frozenset(query.where[1::2])


def _group_by(query: Query, compared: Compared) -> Form:
    units = [_expression(unit, compared) for unit in query.group_by]
    return frozenset(units) if compared.strict else tuple(units)


def _having(query: Query, compared: Compared) -> Form:
    if compared.strict:
        return _conditions(query.having, compared), frozenset(query.having[1::2])
    return tuple(unit if isinstance(unit, str) else _condition(unit, compared) for unit in query.having)


def _order_by(query: Query, compared: Compared) -> Form:
    """Keys in their order, as published with the direction of the last key that names one."""
    if compared.strict:
        return tuple((_expression(key.expression, compared), key.direction or "asc") for key in query.order_by)
    named = [key.direction for key in query.order_by if key.direction]
    return tuple(_expression(key.expression, compared) for key in query.order_by), named[-1] if named else "asc"


def _limit(query: Query, _: Compared) -> Form:
    return query.limit, query.offset


def _set_operator(query: Query, compared: Compared) -> Form:
    return query.set_operator, None if query.other is None else _form(query.other, compared)


CLAUSES: Final[dict[str, Callable[[Query, Compared], Form]]] = {
    "select": _select,
    "from": _from,
    "on": _on,
    "where": _where,
    "and/or": _connectives,
    "group by": _group_by,
    "having": _having,
    "order by": _order_by,
    "limit": _limit,
    "set operator": _set_operator,
}


def _bag(items: Iterable[Form]) -> Form:
    return frozenset(Counter(items).items())


def _conditions(units: Conditions, compared: Compared) -> Form:
    return _bag(_condition(unit, compared) for unit in units if not isinstance(unit, str))


def _condition(unit: Condition | Group, compared: Compared) -> Form:
    if isinstance(unit, Group):
        return unit.negated, _conditions(unit.conditions, compared), frozenset(unit.conditions[1::2])
    left, value1, value2 = (_value(value, compared) for value in (unit.left, unit.value1, unit.value2))
    if unit.operator == "=" and isinstance(unit.value1, Column | Aggregate | Arithmetic | Call | Derived):
        return unit.negated, unit.operator, frozenset((left, value1))
    return unit.negated, unit.operator, left, value1, value2


def _value(value: Value, compared: Compared) -> Form:
    if isinstance(value, ValueList):
        return frozenset(_value(item, compared) for item in value.values)
    return None if value is None else _expression(value, compared)


def _expression(expression: Expression, compared: Compared) -> Form:
    match expression:
        case Aggregate(function, distinct, argument):
            return function, distinct, _expression(argument, compared)
        case Arithmetic("+" | "*" as operator, _, _) if compared.strict:
            return operator, _bag(_expression(operand, compared) for operand in _operands(expression, operator))
        case Arithmetic(operator, left, right):
            return operator, _expression(left, compared), _expression(right, compared)
        case Call(function, arguments):
            return function, tuple(_expression(argument, compared) for argument in arguments)
        case Derived(inner):
            return "derived", _expression(inner, compared)
        case Literal():
            return expression if compared.values else Literal("")
        case Query():
            return _form(expression, compared)
    return expression


def _operands(expression: Expression, operator: str) -> Iterator[Expression]:
    """What a chain of one operator connects."""
    if isinstance(expression, Arithmetic) and expression.operator == operator:
        yield from _operands(expression.left, operator)
        yield from _operands(expression.right, operator)
    else:
        yield expression

"""Compares two rewritten queries clause by clause (ESM+ paper, section 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from sqljury.metrics.esm_plus.structure import (
    INNER,
    STAR,
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
    columns_of,
)


class Compared(NamedTuple):
    """What counts: ``values`` in conditions; ``strict`` is the mode of that name.

    As published, GROUP BY and HAVING have an order, as has everything in nested queries, but for the tables of one
    right in WHERE (``loose_tables``); ORDER BY has one direction, and ``a + b`` is not ``b + a``. Not so in strict
    mode, where in turn the ``ordered`` columns of nested queries have an order.
    """

    values: bool = True
    strict: bool = False
    ordered: bool = False
    loose_tables: bool = False


Form: TypeAlias = Hashable
"""What stands for a clause: equal for clauses that match."""


def differing_clauses(gold: Query, predicted: Query, compared: Compared) -> tuple[str, ...]:
    """The names of the clauses in which two queries do not match, in the order of ``CLAUSES``; empty for a match."""
    if compared.strict:
        gold, predicted = (with_sorted_parts(query, compared) for query in (gold, predicted))
    return tuple(name for name, form in CLAUSES.items() if form(gold, compared) != form(predicted, compared))


def _form(query: Query, compared: Compared) -> Form:
    return tuple(form(query, compared) for form in CLAUSES.values())


def _nested(query: Query, compared: Compared) -> Form:
    """A query inside another one, where the order of columns tells which is compared with which."""
    return _form(query, compared._replace(ordered=True)) if compared.strict else _as_written(query, compared)


def _as_written(query: Query, compared: Compared) -> Form:
    inside = compared._replace(loose_tables=False)

    def conditions(units: Conditions) -> Form:
        return tuple(unit if isinstance(unit, str) else _condition(unit, inside) for unit in units)

    tables = [_as_written(table, inside) if isinstance(table, Query) else table for table in query.tables]
    return (
        query.distinct,
        tuple(_expression(unit, inside) for unit in query.select),
        tuple(sorted(tables, key=str)) if compared.loose_tables else (tuple(tables), query.joins),
        conditions(query.on),
        conditions(query.where),
        tuple(_expression(unit, inside) for unit in query.group_by),
        conditions(query.having),
        _order_by(query, inside),
        (query.limit, query.offset),
        query.set_operator,
        None if query.other is None else _as_written(query.other, inside),
    )


def _select(query: Query, compared: Compared) -> Form:
    if compared.strict and query.set_operator:
        return _columns(query, compared)
    units = (_expression(unit, compared) for unit in query.select)
    return query.distinct, tuple(units) if compared.ordered else _bag(units)


def _from(query: Query, compared: Compared) -> Form:
    """Tables joined in whatever order, unless it matters: for joins of a kind, for which of two queries a column is."""
    ordered = compared.ordered or (compared.strict and bool(query.set_operator))
    inside = compared._replace(ordered=ordered and Column(STAR) in query.select)
    form = _form if compared.strict else _as_written
    tables = [form(table, inside) if isinstance(table, Query) else table for table in query.tables]
    several = compared.strict and sum(isinstance(table, Query) for table in query.tables) > 1
    return (*tables, *query.joins) if several or not set(query.joins) <= {INNER} else _bag(tables)


def _on(query: Query, compared: Compared) -> Form:
    return _conditions(query.on, compared), "or" in query.on


def _where(query: Query, compared: Compared) -> Form:
    return _conditions(query.where, compared._replace(loose_tables=not compared.strict))


def _connectives(query: Query, _: Compared) -> Form:
    return frozenset(query.where[1::2])


def _group_by(query: Query, compared: Compared) -> Form:
    """As published by the columns alone: what is around them does not count."""
    if compared.strict:
        return frozenset(_expression(unit, compared) for unit in query.group_by)
    return tuple(tuple(columns_of(unit)) for unit in query.group_by)


def _having(query: Query, compared: Compared) -> Form:
    if compared.strict:
        return _conditions(query.having, compared), frozenset(query.having[1::2])
    if not query.group_by:
        return bool(query.having), _keywords(query.having) - _keywords((*query.on, "and", *query.where))
    return tuple(unit if isinstance(unit, str) else _condition(unit, compared) for unit in query.having)


def _keywords(units: Conditions) -> frozenset[str]:
    """The words that the published program looks for in conditions, whose own clause it compares not at all."""
    words = {unit.operator for unit in units if isinstance(unit, Condition)} & {"in", "like"}
    words |= {"not"} if any(isinstance(unit, Condition) and unit.negated for unit in units) else set()
    return frozenset(words | ({"or"} & set(units)))


def _order_by(query: Query, compared: Compared) -> Form:
    """Keys in their order, as published with the direction of the last key that names one."""
    if compared.strict:
        return tuple((_sorted_by(key.expression, query, compared), key.direction or "asc") for key in query.order_by)
    named = [key.direction for key in query.order_by if key.direction]
    return tuple(_expression(key.expression, compared) for key in query.order_by), named[-1] if named else "asc"


def _sorted_by(key: Expression, query: Query, compared: Compared) -> Form:
    """A key's form; after set operators keys are numbers of columns, and stand for that column of every part."""
    if query.set_operator and isinstance(key, Literal) and isinstance(key.value, int):
        selects = [part.select for part in chain(query)]
        if all(len(select) >= key.value and Column(STAR) not in select for select in selects):
            return tuple(_expression(select[key.value - 1], compared) for select in selects)
    return _expression(key, compared)


def _limit(query: Query, _: Compared) -> Form:
    return query.limit, query.offset


def _set_operator(query: Query, compared: Compared) -> Form:
    if not compared.strict or query.other is None:
        return query.set_operator, None if query.other is None else _form(query.other, compared)
    return tuple((part.set_operator, _without_columns(part, compared)) for part in chain(query)[1:]), query.set_operator


def chain(query: Query) -> list[Query]:
    """The query and those that set operators join to it."""
    queries = [query]
    while queries[-1].other is not None:
        queries.append(queries[-1].other)
    return queries


def _without_columns(part: Query, compared: Compared) -> Form:
    """A part of a chain but for what it selects and what follows it."""
    return tuple(form(part, compared) for name, form in CLAUSES.items() if name not in ("select", "set operator"))


def _columns(query: Query, compared: Compared) -> Form:
    """What the parts of a chain select, column by column: another order of the columns is one in all parts."""
    parts = chain(query)
    selects = [tuple(_expression(unit, compared) for unit in part.select) for part in parts]
    whole = compared.ordered or len({len(select) for select in selects}) > 1
    starred = any(len(part.select) > 1 and Column(STAR) in part.select for part in parts)
    distinct = tuple(part.distinct for part in parts)
    return distinct, tuple(selects) if whole or starred else _bag(zip(*selects, strict=True))


_COMMUTATIVE: Final = frozenset({"union", "intersect", "union all"})


def with_sorted_parts(query: Query, compared: Compared) -> Query:
    """The query with the parts of a chain in one order, where it does not matter which one they have.

    Only for a whole query: the type of a nested one's columns, by which SQLite compares them, may be its first part's.
    """
    parts = chain(query)
    if {part.set_operator for part in parts[:-1]} - _COMMUTATIVE or len({p.set_operator for p in parts[:-1]}) != 1:
        return query
    if any(part.order_by or part.limit is not None for part in parts[1:]):  # by rule 1: it is of that part alone
        return query
    operator, order, cut = query.set_operator, query.order_by, (query.limit, query.offset)
    alone = [replace(part, set_operator="", other=None) for part in parts]
    alone[0] = replace(alone[0], order_by=(), limit=None, offset=None)
    # Equal forms have equal hashes; should different ones too, two queries that match may be told apart, no more.
    last, *before = sorted(alone, key=lambda part: hash(_form(part, compared)), reverse=True)
    for part in before:
        last = replace(part, set_operator=operator, other=last)
    return replace(last, order_by=order, limit=cut[0], offset=cut[1])


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
    left, value1 = _value(unit.left, compared), _value(unit.value1, compared)
    value2 = _value(unit.value2, compared._replace(loose_tables=False))
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
        case Arithmetic("+" | "*" as operator, left, right) if compared.strict:
            return operator, _bag(_expression(operand, compared) for operand in (left, right))
        case Arithmetic(operator, left, right):
            return operator, _expression(left, compared), _expression(right, compared)
        case Call(function, arguments):
            return function, tuple(_expression(argument, compared) for argument in arguments)
        case Derived(inner, number):
            return "derived", number, _expression(inner, compared)
        case Literal():
            return expression if compared.values else Literal("")
        case Query():
            return _nested(expression, compared)
    return expression

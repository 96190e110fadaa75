"""Writes the structure back as SQL, for people to read: tables by their names, without aliases."""

from __future__ import annotations

from sqljury.metrics.esm_plus.structure import (
    Aggregate,
    Arithmetic,
    Call,
    Column,
    Condition,
    Conditions,
    Derived,
    Group,
    Literal,
    Query,
    Value,
    ValueList,
)


def render(query: Query) -> str:
    """One line of SQL; where a table is in FROM twice, its columns cannot be told apart in it, as in ESM+ itself."""
    parts = ["SELECT", "DISTINCT" if query.distinct else "", ", ".join(map(_value, query.select)), _from(query)]
    parts += _clause("WHERE", query.where)
    if query.group_by:
        parts.append("GROUP BY " + ", ".join(map(_value, query.group_by)))
    parts += _clause("HAVING", query.having)
    if query.order_by:
        keys = (f"{_value(key.expression)} {key.direction.upper()}".strip() for key in query.order_by)
        parts.append("ORDER BY " + ", ".join(keys))
    if query.limit is not None:
        parts.append(f"LIMIT {query.limit}")
    if query.offset:
        parts.append(f"OFFSET {query.offset}")
    if query.other is not None:
        parts += [query.set_operator.upper(), render(query.other)]
    return " ".join(filter(None, parts))


def _from(query: Query) -> str:
    text = ""
    for table, join in zip(query.tables, ("", *query.joins), strict=False):
        name = f"({render(table)})" if isinstance(table, Query) else table
        text += f" {join.upper()} {name}" if join else name
    return " ".join([f"FROM {text}" if text else "", *_clause("ON", query.on)]).strip()


def _clause(word: str, units: Conditions) -> list[str]:
    return [f"{word} {_conditions(units)}"] if units else []


def _conditions(units: Conditions) -> str:
    return " ".join(unit.upper() if isinstance(unit, str) else _condition(unit) for unit in units)


def _condition(unit: Condition | Group) -> str:
    if isinstance(unit, Group):
        return f"{'NOT ' if unit.negated else ''}({_conditions(unit.conditions)})"
    operator = unit.operator.upper()
    if unit.operator == "is":
        return f"{_value(unit.left)} IS {'NOT ' if unit.negated else ''}{_value(unit.value1)}"
    between = f" AND {_value(unit.value2)}" if unit.operator == "between" else ""
    text = f"{operator} {_value(unit.value1)}{between}"
    if unit.negated:
        return f"{_value(unit.left)} NOT {text}" if operator.isalpha() else f"NOT {_value(unit.left)} {text}"
    return f"{_value(unit.left)} {text}"


def _value(value: Value) -> str:
    match value:
        case Column(name):
            return name
        case Aggregate(function, distinct, argument):
            return f"{function}({'DISTINCT ' if distinct else ''}{_value(argument)})"
        case Arithmetic(operator, left, right):
            return f"({_value(left)} {operator} {_value(right)})"
        case Call(function, (argument,)) if function.startswith("strftime "):
            times = " ".join(f"%{time}" for time in function.split(" ")[1:])
            return f"strftime('{times}', {_value(argument)})"
        case Call(function, arguments):
            return f"{function}({', '.join(map(_value, arguments))})"
        case Derived(expression, _):
            return f"[{_value(expression)}]"
        case Literal(text):
            return _literal(text)
        case ValueList(values):
            return f"({', '.join(map(_value, values))})"
        case Query():
            return f"({render(value)})"
    return ""


def _literal(value: float | str) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return "'" + value[1:-1].replace("'", "''") + "'" if value.startswith('"') else value.upper()
    return f"{value:g}" if value == int(value) and abs(value) < 1e6 else repr(value)

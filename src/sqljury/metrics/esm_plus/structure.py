"""What ESM+ compares: a query as values, richer than Spider's own structure (ESM+ paper, section 3.3 and A.1).

Beside that one it has join types, lists after IN, a direction for each key of ORDER BY and expressions of any depth.
Columns are ``table.column`` in lower case, resolved in the query that they stand in, so aliases are gone. Everything is
hashable and compares by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

STAR: Final = "*"
NULL: Final = "null"
INNER: Final = "join"


class Column(NamedTuple):
    """A column by its full name, or the star."""

    name: str


class Aggregate(NamedTuple):
    """``count(DISTINCT x)`` and its like."""

    function: str
    distinct: bool
    argument: Expression


class Arithmetic(NamedTuple):
    """Two expressions and what is between them."""

    operator: str
    left: Expression
    right: Expression


class Call(NamedTuple):
    """Any other function, an operator other than arithmetic, CASE; only strict mode reads them."""

    function: str
    arguments: tuple[Expression, ...]


class Derived(NamedTuple):
    """A column of a query in FROM, by the expression behind it there; only strict mode reads them.

    ``place`` is that query's number in FROM: two may have such an expression.
    """

    expression: Expression
    place: int = 1


class Literal(NamedTuple):
    """A number, or a text: a string in double quotes, the word ``null``, or in strict mode another keyword.

    Strict mode has whole numbers as ``int`` and others by their text, for 5 / 2 is not 5 / 2.0.
    """

    value: float | str


class ValueList(NamedTuple):
    """The list after IN."""

    values: tuple[Value, ...]


Expression: TypeAlias = "Column | Aggregate | Arithmetic | Call | Derived | Literal | Query"
Value: TypeAlias = "Expression | ValueList | None"
"""What a condition compares with."""


class Condition(NamedTuple):
    """``value2`` is the upper end of BETWEEN, else None; operators are spelled as in Spider's structure."""

    negated: bool
    operator: str
    left: Expression
    value1: Value
    value2: Value


class Group(NamedTuple):
    """Conditions in parentheses, or kept together by precedence; only strict mode reads them."""

    negated: bool
    conditions: Conditions


Conditions: TypeAlias = "tuple[Condition | Group | str, ...]"
"""Conditions, with ``and`` or ``or`` between each two of them."""


class Key(NamedTuple):
    """A key of ORDER BY; ``direction`` is empty where none is written."""

    expression: Expression
    direction: str


Source: TypeAlias = "str | Query"
"""The name of a table, or a query in FROM."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query; ``joins`` has the words between each two of ``tables``, ``on`` the conditions of all of them.

    ``set_operator`` is ``intersect``, ``union``, ``except`` or empty (in strict mode also ``union all``), and joins
    this query with ``other``.
    """

    select: tuple[Expression, ...]
    tables: tuple[Source, ...]
    distinct: bool = False
    joins: tuple[str, ...] = ()
    on: Conditions = ()
    where: Conditions = ()
    group_by: tuple[Expression, ...] = ()
    having: Conditions = ()
    order_by: tuple[Key, ...] = ()
    limit: int | None = None
    offset: int | None = None
    set_operator: str = ""
    other: Query | None = None

    @property
    def plain(self) -> bool:
        """Nothing but SELECT, FROM and WHERE."""
        return not (
            self.group_by
            or self.having
            or self.order_by
            or self.limit is not None
            or self.offset is not None
            or self.set_operator
        )


def conditions(units: Conditions) -> tuple[Condition, ...]:
    """Those that stand for themselves, without what is between them and without groups."""
    return tuple(unit for unit in units if isinstance(unit, Condition))


def joined(connective: str, *parts: Conditions) -> Conditions:
    """Lists of conditions made one with the connective, each in a group where it is several."""
    whole: list[Condition | Group | str] = []
    for part in filter(None, parts):
        unit = part[0] if len(part) == 1 else Group(False, part)
        whole += [connective, unit] if whole else [unit]
    return tuple(whole)


def put(units: Conditions, at: int, new: Conditions) -> Conditions:
    """The list with the condition at this place replaced by others, in a group where they are several."""
    if new:
        return units[:at] + joined("and", new) + units[at + 1 :]
    return units[: at - 1] + units[at + 1 :] if at else units[2:]


def flat(query: Query) -> Query:
    """The query without groups: the published metric knows no parentheses."""
    return _settled(query, _flat)


def grouped(query: Query) -> Query:
    """The query with groups only where they matter: each list has one connective, and NOT stands before conditions."""
    return _settled(query, simplified)


def _settled(query: Query, change: Callable[[Conditions], Conditions]) -> Query:
    units = (query.on, query.where, query.having)
    if not any(isinstance(unit, Group) for part in units for unit in part):
        return query
    on, where, having = map(change, units)
    return replace(query, on=on, where=where, having=having)


def _flat(units: Conditions) -> Conditions:
    whole: list[Condition | Group | str] = []
    for unit in units:
        whole += _flat(unit.conditions) if isinstance(unit, Group) else [unit]
    return tuple(whole)


def simplified(units: Conditions) -> Conditions:
    """The list without needless groups, for a list with one connective."""
    connective = units[1] if len(units) > 1 else ""
    whole: list[Condition | Group | str] = []
    for unit in units:
        inner = simplified(_inside(unit)) if isinstance(unit, Group) else (unit,)
        if len(inner) == 1 or connective in ("", inner[1]):
            whole += inner
        else:
            whole.append(Group(False, inner))
    return tuple(whole)


def _inside(group: Group) -> Conditions:
    """What is in a group, with its NOT moved inwards (De Morgan)."""
    if not group.negated:
        return group.conditions
    return tuple(
        ("or" if unit == "and" else "and") if isinstance(unit, str) else unit._replace(negated=not unit.negated)
        for unit in group.conditions
    )


def expressions(query: Query) -> Iterator[Expression]:
    """Every expression of the query itself, outermost ones only; queries in conditions among them, FROM's not."""
    yield from query.select
    yield from query.group_by
    yield from (key.expression for key in query.order_by)
    for unit in (*query.on, *query.where, *query.having):
        yield from operands(unit)


def operands(unit: Condition | Group | str) -> Iterator[Expression]:
    """The expressions that a condition or a group compares, outermost ones only."""
    if isinstance(unit, Condition):
        for value in (unit.left, unit.value1, unit.value2):
            yield from _values(value)
    elif isinstance(unit, Group):
        for inner in unit.conditions:
            yield from operands(inner)


def _values(value: Value) -> Iterator[Expression]:
    if isinstance(value, ValueList):
        for item in value.values:
            yield from _values(item)
    elif value is not None:
        yield value


def columns(query: Query) -> Iterator[str]:
    """Names of the columns the query itself uses; of nested queries, only those of tables they do not have in FROM."""
    for expression in expressions(query):
        yield from columns_of(expression)


def columns_of(expression: Expression) -> Iterator[str]:
    """Names of the columns in an expression, as in ``columns``."""
    match expression:
        case Column(name):
            yield name
        case Aggregate(_, _, argument):
            yield from columns_of(argument)
        case Arithmetic(_, left, right):
            yield from columns_of(left)
            yield from columns_of(right)
        case Call(_, arguments):
            for argument in arguments:
                yield from columns_of(argument)
        case Query():
            yield from (name for name in columns(expression) if _is_free(name, expression))


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and those it is made of; arguments of aggregates and nested queries are not looked into."""
    yield expression
    match expression:
        case Arithmetic(_, left, right):
            yield from parts(left)
            yield from parts(right)
        case Call(_, arguments):
            for argument in arguments:
                yield from parts(argument)


def _is_free(name: str, query: Query) -> bool:
    """Whether a column belongs to a query around this one; the star never does."""
    return name != STAR and table_of(name) not in query.tables


def table_of(column: str) -> str:
    """The table in a column's full name."""
    return column.partition(".")[0]


Mapping: TypeAlias = "Callable[[Expression], Expression]"


def mapped(query: Query, change: Mapping) -> Query:
    """The query with ``change`` applied to each of its expressions, outermost ones only; FROM's queries stay."""

    def over(units: Conditions) -> Conditions:
        return tuple(unit if isinstance(unit, str) else _mapped_unit(unit, change) for unit in units)

    return replace(
        query,
        select=tuple(map(change, query.select)),
        on=over(query.on),
        where=over(query.where),
        group_by=tuple(map(change, query.group_by)),
        having=over(query.having),
        order_by=tuple(Key(change(key.expression), key.direction) for key in query.order_by),
    )


def _mapped_unit(unit: Condition | Group, change: Mapping) -> Condition | Group:
    if isinstance(unit, Group):
        inner = tuple(item if isinstance(item, str) else _mapped_unit(item, change) for item in unit.conditions)
        return Group(unit.negated, inner)
    value1, value2 = (_mapped_value(value, change) for value in (unit.value1, unit.value2))
    return Condition(unit.negated, unit.operator, change(unit.left), value1, value2)


def _mapped_value(value: Value, change: Mapping) -> Value:
    if isinstance(value, ValueList):
        return ValueList(tuple(_mapped_value(item, change) for item in value.values))
    return None if value is None else change(value)


def mapped_expression(expression: Expression, change: Mapping) -> Expression:
    """The expression with ``change`` applied to what it is made of, and then to itself; nested queries count as one."""
    match expression:
        case Aggregate(function, distinct, argument):
            expression = Aggregate(function, distinct, mapped_expression(argument, change))
        case Arithmetic(operator, left, right):
            expression = Arithmetic(operator, mapped_expression(left, change), mapped_expression(right, change))
        case Call(function, arguments):
            expression = Call(function, tuple(mapped_expression(argument, change) for argument in arguments))
    return change(expression)


def without_distinct(query: Query) -> Query:
    """The query without any DISTINCT, in nested queries neither."""

    def change(expression: Expression) -> Expression:
        match expression:
            case Aggregate(function, True, argument):
                return Aggregate(function, False, argument)
            case Query():
                return without_distinct(expression)
        return expression

    tables = tuple(without_distinct(table) if isinstance(table, Query) else table for table in query.tables)
    other = None if query.other is None else without_distinct(query.other)
    query = mapped(query, lambda expression: mapped_expression(expression, change))
    return replace(query, distinct=False, tables=tables, other=other)


def renamed(query: Query, names: dict[str, str]) -> Query:
    """The query with columns replaced by others, in nested queries too where the column is the outer query's."""

    def change(expression: Expression) -> Expression:
        match expression:
            case Column(name):
                return Column(names.get(name, name))
            case Query():
                free = {old: new for old, new in names.items() if _is_free(old, expression)}
                return renamed(expression, free) if free else expression
        return expression

    return mapped(query, lambda expression: mapped_expression(expression, change))

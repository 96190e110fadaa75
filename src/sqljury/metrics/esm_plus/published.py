"""Rules of ESM+ where the published program departs from Table 1: verdicts under that name are the program's.

Strict mode has them as Table 1 says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqljury.errors import InputError
from sqljury.metrics.esm_plus.assumptions import Applied, Facts, Rule, is_non_null, is_unique
from sqljury.metrics.esm_plus.joins import with_join
from sqljury.metrics.esm_plus.structure import (
    NULL,
    STAR,
    Aggregate,
    Arithmetic,
    Call,
    Column,
    Condition,
    Conditions,
    Expression,
    Group,
    Key,
    Literal,
    Query,
)


def rule_1(query: Query, facts: Facts) -> Applied | None:
    """``WHERE c = (SELECT ... c ...)`` ~ ``ORDER BY c ASC LIMIT 1``, c unique: whatever aggregate of whatever rows."""
    if query.order_by:
        return None
    match query.where:
        case (Condition(False, "=", Column(column) as left, Query(select=(selected,)), None),):
            inner = selected.argument if isinstance(selected, Aggregate) else selected
            if inner == left and column in facts.unique:
                return Applied(replace(query, where=(), order_by=(Key(left, "asc"),), limit=1), (is_unique(column),))
    return None


def rule_3(query: Query, facts: Facts) -> Applied | None:
    """``q INTERSECT q'``, same SELECT and FROM, one condition each ~ ``WHERE d1 AND d2``, a selected column unique."""
    return _one_query(query, facts, "intersect", "and")


def rule_4(query: Query, facts: Facts) -> Applied | None:
    """``q UNION q'``, likewise ~ ``WHERE d1 OR d2``."""
    return _one_query(query, facts, "union", "or")


def rule_5(query: Query, facts: Facts) -> Applied | None:
    """``GROUP BY c`` ~ nothing, in one table, without HAVING or aggregates; else ``GROUP BY c, d`` ~ ``GROUP BY c``."""
    keys = [unit for unit in query.group_by if isinstance(unit, Column) and unit.name in facts.unique]
    if not keys:
        return None
    why = (is_unique(keys[0].name),)
    if len(query.tables) == 1 and not query.having:
        aggregated = any(isinstance(unit, Aggregate) and unit.function for unit in query.select)
        return None if aggregated else Applied(replace(query, group_by=()), why)
    return Applied(replace(query, group_by=(keys[0],)), why) if len(query.group_by) > 1 else None


def rule_7(query: Query, facts: Facts) -> Applied | None:
    """``count(c)`` ~ ``count(*)``, c non-null: whole expressions, up to the first DISTINCT in a clause."""
    assumptions: list[str] = []

    def over(units: tuple[Expression, ...], every: bool) -> tuple[Expression, ...]:
        changed = list(units)
        for at, unit in enumerate(units):
            match unit:
                case Aggregate(function, True) if every or function == "count":
                    break
                case Aggregate("count", False, Column(name)) if name in facts.non_null:
                    assumptions.append(is_non_null(name))
                    changed[at] = Aggregate("count", False, Column(STAR))
        return tuple(changed)

    having = [unit for unit in query.having if isinstance(unit, Condition)]
    left_sides = iter(over(tuple(unit.left for unit in having), every=True))
    keys = over(tuple(key.expression for key in query.order_by), every=True)
    changed = replace(
        query,
        select=over(query.select, every=False),
        having=tuple(
            unit._replace(left=next(left_sides)) if isinstance(unit, Condition) else unit for unit in query.having
        ),
        order_by=tuple(Key(new, key.direction) for new, key in zip(keys, query.order_by, strict=True)),
    )
    return Applied(changed, tuple(dict.fromkeys(assumptions))) if assumptions else None


def rule_8(query: Query, facts: Facts) -> Applied | None:
    """``c IS NOT NULL`` ~ nothing, c non-null; between two other conditions it leaves what cannot be read."""
    gone: list[str] = []

    def keep(units: Conditions) -> Conditions:
        kept: list[Condition | Group | str] = []
        for unit in units:
            match unit:
                case Condition(True, "is", Column(name), Literal(value)) if value == NULL and name in facts.non_null:
                    gone.append(is_non_null(name))
                case _:
                    kept.append(unit)
        kept = kept[:-1] if kept and isinstance(kept[-1], str) else kept
        kept = kept[1:] if kept and isinstance(kept[0], str) else kept
        if any(isinstance(unit, str) is not bool(at % 2) for at, unit in enumerate(kept)):
            raise InputError("rule 8 leaves two words between conditions")
        return tuple(kept)

    on, where, having = map(keep, (query.on, query.where, query.having))
    changed = replace(query, on=on, where=where, having=having)
    return Applied(changed, tuple(dict.fromkeys(gone))) if gone else None


def rule_9(query: Query, _: Facts) -> Applied | None:
    """``SELECT c ORDER BY c DESC / ASC LIMIT 1`` ~ ``SELECT max(c) / min(c)``, whatever GROUP BY there is."""
    if query.limit != 1:
        return None
    match query.select, query.order_by:
        case (Column() | Arithmetic() | Call() as selected,), (Key(expression, direction),) if expression == selected:
            function = "max" if direction == "desc" else "min"
            return Applied(replace(query, select=(Aggregate(function, False, selected),), order_by=(), limit=None))
    return None


def rule_10(query: Query, facts: Facts) -> Applied | None:
    """All columns of the tables in FROM ~ ``*``; a column that rule 16 has replaced is not among them."""
    selected = [unit.name for unit in query.select if isinstance(unit, Column)]
    tables = [table for table in query.tables if isinstance(table, str)]
    every = [column for table in tables for column in facts.columns(table)]
    if len(selected) != len(query.select) or sorted(selected) != sorted(every):
        return None
    assumption = f"the columns of {', '.join(tables)} are {', '.join(sorted(every))}"
    return Applied(replace(query, select=(Column(STAR),)), (assumption,))


def rule_12(query: Query, facts: Facts) -> Applied | None:
    """``A WHERE a IN (SELECT b FROM B WHERE d)`` ~ ``A JOIN B ON a = b WHERE d``, whatever follows the nested WHERE.

    Fails where the nested query, of the first ``=`` or IN, selects no column.
    """
    for at, unit in enumerate(query.where):
        if not isinstance(unit, Condition) or (unit.operator, unit.negated) not in (("=", False), ("in", False)):
            continue
        if not isinstance(unit.value1, Query) or len(unit.value1.select) != 1:
            return None
        selected = unit.value1.select[0]
        inner = selected.argument if isinstance(selected, Aggregate) else selected
        if inner == Column(STAR) or isinstance(inner, Literal):
            raise InputError("rule 12 looks for the table of what is no column")
        if query.on or not isinstance(inner, Column):
            return None
        source = unit.value1
        nested = Query((inner,), source.tables, joins=source.joins, on=source.on, where=source.where)
        where = (*query.where[:at], unit._replace(value1=nested), *query.where[at + 1 :])
        return with_join(replace(query, where=where), at, facts)
    return None


def rule_17(query: Query, _: Facts) -> Applied | None:
    """``A WHERE c IN (SELECT c FROM A WHERE d)`` ~ ``A WHERE d``; of d all but the first stands there twice.

    Only the first IN is looked at. What follows it goes, as does all of the nested query but its conditions.
    """
    for at, unit in enumerate(query.where):
        if (
            not isinstance(unit, Condition)
            or unit.negated
            or unit.operator != "in"
            or not isinstance(unit.value1, Query)
        ):
            continue
        nested = unit.value1
        selected = nested.select[0] if nested.select else None
        inner = selected.argument if isinstance(selected, Aggregate) else selected
        if not nested.where or inner != unit.left or _names(nested) != _names(query):
            return None
        where = (*query.where[:at], *nested.where, *nested.where[1:])
        return Applied(replace(query, where=where), (f"both queries are on {', '.join(_names(query))}",))
    return None


def rule_19(query: Query, _: Facts) -> Applied | None:
    """``c BETWEEN a AND b`` ~ ``c >= a AND c <= b`` in WHERE; a second one is written over what precedes it."""
    where = list(query.where)
    for at, unit in enumerate(query.where):
        if isinstance(unit, Condition) and unit.operator == "between":
            low = unit._replace(operator=">=", value2=None)
            where[at : at + 1] = (low, "and", low._replace(operator="<=", value1=unit.value2))
    return Applied(replace(query, where=tuple(where))) if tuple(where) != query.where else None


def _one_query(query: Query, facts: Facts, operator: str, connective: str) -> Applied | None:
    """What groups, orders and cuts the second query goes; DISTINCT has to be in both or in neither."""
    other = query.other
    if query.set_operator != operator or other is None:
        return None
    if (query.select, query.distinct) != (other.select, other.distinct):
        return None
    why = [is_unique(unit.name) for unit in query.select if isinstance(unit, Column) and unit.name in facts.unique]
    if Column(STAR) in query.select and len(query.tables) == 1:
        if operator == "intersect":
            raise InputError("rule 3 looks for a UNION where there is an INTERSECT")
        table = query.tables[0]
        if query.tables == other.tables:
            if isinstance(table, Query):
                raise InputError("rule 4 looks for the key of a query in FROM")
            if facts.has_key(table):
                why.append(f"{table} has a key")
    same = (query.tables, query.joins, query.on) == (other.tables, other.joins, other.on)
    if not why or not same or not len(query.where) == len(other.where) == 1:
        return None
    where = query.where if query.where == other.where else (*query.where, connective, *other.where)
    return Applied(replace(query, where=where, set_operator="", other=None), (why[0],))


def _names(query: Query) -> list[str]:
    return sorted(table if isinstance(table, str) else "(SELECT)" for table in query.tables)


INSTEAD: Final[dict[int, Rule]] = {
    1: rule_1,
    3: rule_3,
    4: rule_4,
    5: rule_5,
    7: rule_7,
    8: rule_8,
    9: rule_9,
    10: rule_10,
    12: rule_12,
    17: rule_17,
    19: rule_19,
}
"""By number, what stands for a rule of Table 1."""

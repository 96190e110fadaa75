"""Rules 12, 13, 16 and 17 as strict mode has them, and what joins do to the facts.

Rules 3, 4, 6 and 18 as strict mode has them, where what orders and cuts a chain is kept with its first part.
"""

from __future__ import annotations

from dataclasses import replace

from sqljury.metrics.esm_plus.assumptions import Applied, Facts, Rule
from sqljury.metrics.esm_plus.clauses import rule_3, rule_4, rule_6
from sqljury.metrics.esm_plus.joins import equal_columns, equal_pairs, rule_17, shows_all, with_join, without_joins
from sqljury.metrics.esm_plus.structure import (
    INNER,
    STAR,
    Aggregate,
    Column,
    Condition,
    Key,
    Literal,
    Query,
    Value,
    columns,
    columns_of,
    conditions,
    operands,
    parts,
    renamed,
    table_of,
)


def all_inner(query: Query) -> bool:
    """Whether no join adds rows of NULLs, and every condition in ON holds."""
    return set(query.joins) <= {INNER} and "or" not in query.on


def known_once(query: Query, facts: Facts, *, null: bool = False) -> Facts:
    """The facts with only those columns unique whose rows the query has once at most.

    They are non-null, unless ``null`` is allowed: several rows may be without a value in a unique column.
    """
    once = [table for table in query.tables if isinstance(table, str) and is_once(query, table, facts)]
    known = facts if null else replace(facts, unique=facts.unique & facts.non_null)
    return known.within(once)


def is_once(query: Query, table: str, facts: Facts) -> bool:
    """Whether every other table is joined, step by step from this one, by a unique column of its own."""
    if len(query.tables) == 1:
        return True
    if not all_inner(query) or len(set(query.tables)) < len(query.tables):
        return False
    reached, before = {table}, 0
    while len(reached) > before:
        before = len(reached)
        pairs = (pair for unit in query.on for pair in equal_pairs(unit))
        reached |= {
            table_of(far)
            for near, far in pairs
            if table_of(near) in reached and far in facts.unique and facts.told_apart(far, near)
        }
    return reached >= set(query.tables)


def equal(query: Query, facts: Facts) -> list[set[str]]:
    """Columns in groups that the join conditions make the same, not only equal: ``'01' = 1`` is true of some."""
    return equal_columns(query, facts.same_values)


def rule_12_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 12 for every condition that qualifies, beside other joins too, but not beside OR.

    The join must repeat no row and add no column that is seen. With ``=`` the nested query may have one row at most: a
    value is given for one of its unique columns.
    """
    if "or" in query.where or "or" in query.on or any(map(shows_all, query.select)):
        return None
    for at, unit in enumerate(query.where):
        if not isinstance(unit, Condition) or not (unit.operator == "in" or _has_one_row(unit.value1, facts)):
            continue
        if _repeats_no_row(unit, query, facts) and (applied := with_join(query, at, facts)) is not None:
            return applied
    return None


def _repeats_no_row(unit: Condition, query: Query, facts: Facts) -> bool:
    match unit.left, unit.value1:
        case Column(column), Query(select=(Column(key),)) as nested:
            return (
                facts.is_single_key(key)
                and facts.told_apart(key, column)
                and all_inner(nested)
                and not set(nested.tables) & set(query.tables)
                and is_once(nested, table_of(key), facts)
            )
    return False


def _has_one_row(value: Value, facts: Facts) -> bool:
    if not isinstance(value, Query) or len(value.tables) != 1 or "or" in value.where:
        return False
    return any(
        unit.operator == "=" and not unit.negated and isinstance(unit.value1, Literal)
        for unit in conditions(value.where)
        if isinstance(unit.left, Column)
        and unit.left.name in facts.unique
        and facts.affinity(unit.left.name) is not None
        and table_of(unit.left.name) in value.tables
    )


def rule_13_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 13 only where the join cannot add or take rows: an inner one, or a LEFT JOIN of B."""
    if "or" in query.on:
        return None
    same = {foreign_key: key for foreign_key, key in facts.references.items() if facts.same_values(foreign_key, key)}
    return without_joins(query, replace(facts.within(query.tables), references=same), _keeps_rows)


def _keeps_rows(query: Query, foreign_key: str, key: str) -> bool:
    """Whether the join of the key's table keeps all rows, those of NULLs too that a LEFT JOIN before it made."""
    if set(query.joins) <= {INNER}:
        return True
    key_index, foreign_key_index = (query.tables.index(table_of(column)) for column in (key, foreign_key))
    if not set(query.joins) <= {INNER, "left join"} or _uses(query, table_of(key)) > 1:
        return False
    kinds = ("", *query.joins)
    if kinds[key_index] == "left join":
        return True
    return kinds[foreign_key_index] != "left join" and (key_index > 0 or kinds[1] == INNER)


def _uses(query: Query, table: str) -> int:
    """In how many conditions of ON the table is."""
    return sum(
        any(table_of(name) == table for expression in operands(unit) for name in columns_of(expression))
        for unit in query.on
    )


def rule_16_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 16 without what it says of unique columns, whose rows a join may repeat; what a join compares is no NULL."""
    if not all_inner(query):
        return None
    known = replace(facts, non_null=facts.non_null.union(*equal_columns(query)))
    groups = equal(query, facts)
    if not groups:
        return None if known == facts else Applied(query, (), known)
    changed = replace(renamed(query, {name: min(group) for group in groups for name in group}), on=query.on)
    assumptions = (f"the query joins on {' = '.join(sorted(group))}" for group in groups)
    return Applied(changed, tuple(assumptions), known)


def rule_17_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 17 only where another row cannot have the same value in the column, and it has one."""
    known = facts.within(query.tables)
    columns = [unit.left for unit in conditions(query.where) if unit.operator == "in"]
    unique = all(isinstance(column, Column) and column.name in known.unique & known.non_null for column in columns)
    return rule_17(query, facts) if unique and "or" not in query.where and len(query.tables) == 1 else None


def rule_3_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 3 without aggregates, of which each part has its own."""
    return _one_query(query, facts, rule_3)


def rule_4_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 4 without aggregates, of which each part has its own."""
    return _one_query(query, facts, rule_4)


def rule_6_strictly(query: Query, facts: Facts) -> Applied | None:
    """Rule 6 only where the nested query gives no NULL: ``c NOT IN (NULL)`` holds for no row.

    EXCEPT compares values as they are, so both columns have to be of one kind.
    """
    match query.select, query.where:
        case (Column(outer_column) as selected,), (Condition(value1=Query(select=(Column(name),)) as nested),):
            if nested.set_operator or not all_inner(nested) or not facts.same_values(outer_column, name):
                return None
            tables = {table for table in nested.tables if isinstance(table, str)}
            if not {table_of(column) for column in columns(nested)} <= tables or table_of(outer_column) in ("", STAR):
                return None
            if name not in facts.within(tables).non_null.union(*equal(nested, facts)):
                return None
            if any(key.expression != selected for key in query.order_by):
                return None
            order = tuple(Key(Literal(1), key.direction) for key in query.order_by)
            once = known_once(query, facts)
            return rule_6(replace(query, order_by=order), replace(once, non_null=facts.non_null))
    return None


def rule_18_strictly(query: Query, facts: Facts) -> Applied | None:
    """``q UNION q``, ``q INTERSECT q`` ~ ``SELECT DISTINCT`` what q selects."""
    if query.set_operator not in ("union", "intersect") or query.other is None:
        return None
    alone = replace(query, set_operator="", other=None, order_by=(), limit=None, offset=None)
    if replace(query.other, distinct=alone.distinct) != alone or (order := _order(query)) is None:
        return None
    unique = known_once(query, facts).unique
    repeats = not any(isinstance(unit, Column) and unit.name in unique for unit in query.select)
    return Applied(replace(alone, distinct=repeats, order_by=order, limit=query.limit, offset=query.offset))


def _one_query(query: Query, facts: Facts, rule: Rule) -> Applied | None:
    other = query.other
    if other is None or other.order_by or other.limit is not None or (order := _order(query)) is None:
        return None
    if any(isinstance(part, Aggregate) for unit in query.select for part in parts(unit)):
        return None
    known = replace(known_once(query, facts), primary_keys={})
    moved = replace(query, order_by=(), limit=None, other=replace(other, order_by=order, limit=query.limit))
    if (applied := rule(moved, known)) is None and (key := _whole_key(query, facts)):
        applied = rule(moved, replace(known, unique=known.unique | {key[0]}))
        return applied and applied._replace(assumptions=(f"{', '.join(key)} together are unique",))
    return applied


def _whole_key(query: Query, facts: Facts) -> tuple[str, ...]:
    """The key of the only table in FROM, several columns, where all of them are selected."""
    key = facts.primary_keys.get(str(query.tables[0]), ()) if len(query.tables) == 1 else ()
    return key if all(Column(column) in query.select for column in key) else ()


def _order(query: Query) -> tuple[Key, ...] | None:
    """The keys of a chain as those of its first part; None where they cannot be told."""
    keys: list[Key] = []
    for key in query.order_by:
        position = key.expression.value if isinstance(key.expression, Literal) else None
        if not isinstance(position, int) or position > len(query.select) or Column(STAR) in query.select:
            return None
        keys.append(Key(query.select[position - 1], key.direction))
    return tuple(keys)

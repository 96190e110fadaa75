"""The order of rows: where NULLs stand, which days come first, and how many rows the question asks for.

PostgreSQL has NULL above all values, SQLite and MySQL below; DuckDB puts it last in either direction. "Longest overdue
first" is a descending number of days, but an ascending day.
"""

from __future__ import annotations

import re
from typing import Final

from sqljury.language.cues import extreme, ranked
from sqljury.language.sorting import latest_first
from sqljury.language.wants import number_of_rows, place_of_row
from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, Change, held, holds_days, single_select, turn
from sqljury.sql.parse import exp
from sqljury.sql.terms import group_keys, meant

_LONG_AGO: Final = re.compile(r"\bleast recent(?:ly)?\b|\blongest ago\b|\bnot\b.*\bthe longest\b", re.IGNORECASE)
"""What never happened may be the longest ago."""
_LACKING: Final = re.compile(
    r"\b(?:no|without|none|missing|unknowns?|unspecified|unassigned|unset|undefined|nulls?|blanks?|n/?a|empty|lack\w*"
    r"|not? \w+ed|if any)\b",
    re.IGNORECASE,
)
"""Words that may ask for the group of what has no value."""
_FIRST: Final = {"postgres": True, "sqlite": False, "mysql": False}
"""Whether NULLs come first in descending order, else in ascending order."""


def null_order(tree: exp.Query, asked: Asked) -> Change | None:
    """Put NULLs last where the first rows of an order are asked for and one of them has NULL there.

    "First" and "last" ask for an end of an order by dates; elsewhere they may be part of a name. "Least recently"
    leaves the order as it is: NULL may be never.
    """
    question = asked.question.whole
    ends = extreme(question)
    if asked.dialect not in _FIRST or not (ends or ranked(question)) or _LONG_AGO.search(question):
        return None
    changed = False
    for select in list(tree.find_all(exp.Select)):
        order = select.args.get("order")
        if order is None or select.args.get("limit") is None or not isinstance(order.expressions[0], exp.Ordered):
            continue
        ordered = order.expressions[0]
        key = meant(ordered.this, select)
        if bool(ordered.args.get("desc")) != _FIRST[asked.dialect] or not _may_be_null(key, select, asked):
            continue
        if not ends and not _is_date(key, asked):
            continue
        if not ordered.args.get("desc") and key.find(exp.Sum) is not None:
            continue  # a sum of nothing may well be the smallest
        if _starts_with_null(select, key, tree, asked):
            changed = True
            _put_last(order, ordered, key, asked.dialect)
    return Change("NULL comes first in the order, before the values that are asked for") if changed else None


def group_of_null(tree: exp.Query, asked: Asked) -> Change | None:
    """Leave out the group of rows without a value where the first groups of an order, or those of a size, are wanted.

    "The most common reason" is none of the rows that have no reason, and they are no artist with at least eight lots.
    Only for one key, which is shown, and not after an outer join, whose NULL is a row that lacks others. First groups
    are those of an order by an aggregate.
    """
    select, question = single_select(tree), asked.question.whole
    if select is None or _LACKING.search(question) or not (_takes_first(select, question) or _takes_large(select)):
        return None
    keys, kinds = group_keys(select)
    if kinds or len(keys) != 1:
        return None
    key = meant(keys[0], select)
    shown = [at for at, item in enumerate(select.selects) if item.unalias() == key]
    outer = any(join.side for join in select.args.get("joins") or ())
    if outer or not shown or held(key, asked.schema) is None or not _may_be_null(key, select, asked):
        return None
    known = exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null()))
    if known in conjuncts(select.args.get("where")):
        return None
    if all(row[shown[0]] is not None for row in asked.data.rows(select.sql(dialect=asked.dialect)) or ()):
        return None
    select.where(known, copy=False)
    return Change(f"rows without {key.name} are none of the groups that are asked for")


def _takes_first(select: exp.Select, question: str) -> bool:
    """Whether a query takes the first groups of an order by an aggregate, and the question asks for an end."""
    order = select.args.get("order") if select.args.get("limit") is not None else None
    by_size = order is not None and order.expressions[0].find(exp.AggFunc) is not None
    return by_size and bool(extreme(question) or ranked(question))


def _takes_large(select: exp.Select) -> bool:
    """Whether HAVING wants a number of rows, and at least two."""
    conditions = conjuncts(select.args.get("having"))
    return bool(conditions) and all(
        isinstance(condition, exp.GT | exp.GTE)
        and isinstance(condition.this, exp.Count)
        and condition.expression.name not in ("0", "1" if isinstance(condition, exp.GTE) else "0")
        for condition in conditions
    )


def _is_date(key: exp.Expr, asked: Asked) -> bool:
    known = held(key, asked.schema)
    return known is not None and holds_days(known, asked.data)


def _may_be_null(key: exp.Expr, select: exp.Select, asked: Asked) -> bool:
    if isinstance(key, exp.Count | exp.Literal | exp.Null | exp.Predicate):
        return False
    known = held(key, asked.schema)
    outer = any(join.side for join in select.args.get("joins") or ())
    return known is None or outer or not (known.column.not_null or known.column.name in known.table.primary_key)


def _starts_with_null(select: exp.Select, key: exp.Expr, tree: exp.Query, asked: Asked) -> bool:
    """Whether one of the rows that LIMIT keeps has NULL for its key, by running this SELECT with the key added."""
    probe = select.copy()
    probe.append("expressions", exp.alias_(key.copy(), "sorted_by"))
    around = tree.args.get("with_")
    if select is not tree and around is not None and probe.args.get("with_") is None:
        probe.set("with_", around.copy())
    rows = asked.data.rows(probe.sql(dialect=asked.dialect))
    return any(row[-1] is None for row in rows or ())


def _put_last(order: exp.Order, ordered: exp.Ordered, key: exp.Expr, dialect: str) -> None:
    if dialect != "mysql":
        ordered.set("nulls_first", False)
        return
    is_null = exp.Is(this=key.copy(), expression=exp.Null())
    order.set("expressions", [exp.Ordered(this=is_null, nulls_first=True), *order.expressions])


def directions(tree: exp.Query, asked: Asked) -> Change | None:
    """Turn the order of the only key that is a day where the question says which days come first.

    The question says so once, and the order has one key that is a column of days.
    """
    descending = latest_first(asked.question.text)
    order = tree.args.get("order")
    if descending is None or order is None or not all(isinstance(key, exp.Ordered) for key in order.expressions):
        return None
    days = [key for key in order.expressions if _is_day(meant(key.this, tree), asked)]
    if len(days) != 1 or bool(days[0].args.get("desc")) == descending:
        return None
    turn(days[0], asked.dialect, descending=descending)
    return Change(f"the question wants the {'latest' if descending else 'earliest'} days first")


def _is_day(node: exp.Expr, asked: Asked) -> bool:
    """Whether a key is a column of days, or the first or last day of such."""
    return _is_date(node.this if isinstance(node, exp.Max | exp.Min) else node, asked)


def missing_limit(tree: exp.Query, asked: Asked) -> Change | None:
    """Keep as many rows as the question asks for, of a query that sorts them by a number or a day.

    Not where a condition has that number: "reached the top 10" is one on a rank.
    """
    select, wanted = single_select(tree), number_of_rows(asked.question.text)
    order = select.args.get("order") if select is not None else None
    if select is None or wanted is None or order is None or any(select.args.get(key) for key in ("limit", "offset")):
        return None
    if _is_condition(select, wanted) or select.find(exp.Window) or not isinstance(order.expressions[0], exp.Ordered):
        return None
    known = held(meant(order.expressions[0].this, select), asked.schema)
    if known is not None and known.is_text and not holds_days(known, asked.data):
        return None
    select.limit(wanted, copy=False)
    return Change(f"the question asks for {wanted} rows")


def _is_condition(select: exp.Select, number: int) -> bool:
    """Whether WHERE bounds a column by a number or the next one: ``place <= 3``, ``place < 4``."""
    where = select.args.get("where")
    literals = where.find_all(exp.Literal) if where is not None else ()
    bounds = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
    return any(
        not literal.is_string
        and literal.name in (str(number), str(number + 1))
        and isinstance(literal.parent, bounds)
        and literal.parent.find(exp.Column) is not None
        for literal in literals
    )


def row_at_place(tree: exp.Query, asked: Asked) -> Change | None:
    """Keep the second row of an order, say, where the question asks for the second largest.

    The query keeps the first row alone, or all rows up to the second one.
    """
    select, position = single_select(tree), place_of_row(asked.question.text)
    limit = select.args.get("limit") if select is not None else None
    if select is None or position is None or not isinstance(limit, exp.Limit) or select.args.get("offset") is not None:
        return None
    if select.args.get("order") is None or limit.expression.sql() not in ("1", str(position)):
        return None
    select.limit(1, copy=False)
    select.offset(position - 1, copy=False)
    return Change(f"the question asks for row {position} of the order")

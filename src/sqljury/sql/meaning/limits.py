"""The rows of an order that the question asks for: "which three ... most often", "the second largest"."""

from __future__ import annotations

from sqljury.language.wants import number_of_rows, place_of_row
from sqljury.sql.meaning.base import Asked, Change, held, holds_days, single_select
from sqljury.sql.parse import exp
from sqljury.sql.terms import meant


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
    select, place = single_select(tree), place_of_row(asked.question.text)
    limit = select.args.get("limit") if select is not None else None
    if select is None or place is None or not isinstance(limit, exp.Limit) or select.args.get("offset") is not None:
        return None
    if select.args.get("order") is None or limit.expression.sql() not in ("1", str(place)):
        return None
    select.limit(1, copy=False)
    select.offset(place - 1, copy=False)
    return Change(f"the question asks for row {place} of the order")

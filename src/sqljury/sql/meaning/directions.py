"""The direction of an order by days, where the question says which come first: "soonest first", "newest first".

"Longest overdue first" is a descending number of days, but an ascending day.
"""

from __future__ import annotations

from sqljury.language.sorting import latest_first
from sqljury.sql.meaning.base import Asked, Change, held, holds_days, turn
from sqljury.sql.parse import exp
from sqljury.sql.terms import meant


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
    inner = node.this if isinstance(node, exp.Max | exp.Min) else node
    known = held(inner, asked.schema)
    return known is not None and holds_days(known, asked.data)

"""Numbers of rows that the question asks for and the query does not keep to: "which three ... most often"."""

from __future__ import annotations

from sqljury.language.wants import number_of_rows
from sqljury.sql.meaning.base import Asked, Change, held, holds_days, single_select
from sqljury.sql.parse import exp
from sqljury.sql.terms import meant


def missing_limit(tree: exp.Query, asked: Asked) -> Change | None:
    """Keep as many rows as the question asks for, of a query that sorts them by a number or a day."""
    select, wanted = single_select(tree), number_of_rows(asked.question.text)
    order = select.args.get("order") if select is not None else None
    if select is None or wanted is None or order is None or any(select.args.get(key) for key in ("limit", "offset")):
        return None
    if select.find(exp.Window) is not None or not isinstance(order.expressions[0], exp.Ordered):
        return None
    known = held(meant(order.expressions[0].this, select), asked.schema)
    if known is not None and known.is_text and not holds_days(known, asked.data):
        return None
    select.limit(wanted, copy=False)
    return Change(f"the question asks for {wanted} rows")

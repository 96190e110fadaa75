"""Orders by a day that is the same in all rows: ``WHERE left_on IS NULL ORDER BY left_on``."""

from __future__ import annotations

from typing import Final

from sqljury.language.cues import ranked
from sqljury.language.words import words
from sqljury.sql.conditions import conjuncts
from sqljury.sql.meaning.base import Asked, Change, Held, held, holds_days, single_select, turn
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier
from sqljury.sql.terms import meant

_DESCENDING: Final = {"longest": False, "oldest": False, "earliest": False, "newest": True, "latest": True}
"""Whether days are descending for the word that asks for an end: who is with us the longest came first."""
_BIRTH: Final = frozenset(words("birth birthday birthdate born dob"))


def fixed_order(tree: exp.Query, asked: Asked) -> Change | None:
    """Sort by the other day of the table where a condition fixes the one that is sorted by.

    The table has one other column of days, a birth left out, and one word of the question says which end is wanted.
    """
    select = single_select(tree)
    order = select.args.get("order") if select is not None else None
    descending = {_DESCENDING.get(word) for word in ranked(asked.question.text)}
    if select is None or order is None or len(descending) != 1 or not isinstance(order.expressions[0], exp.Ordered):
        return None
    [wanted], first = descending, order.expressions[0]
    known = held(meant(first.this, select), asked.schema)
    if wanted is None or known is None or not isinstance(first.this, exp.Column):
        return None
    others = _other_days(known, asked)
    if len(others) != 1 or not holds_days(known, asked.data) or not _is_fixed(select, known, asked):
        return None
    fixed, other = known.column.name, others[0]
    first.this.set("this", identifier(other, asked.dialect))
    turn(first, asked.dialect, descending=wanted)
    return Change(f"all rows have the same {fixed}, so that they are sorted by {other}")


def _is_fixed(select: exp.Select, known: Held, asked: Asked) -> bool:
    """Whether all rows must have NULL, or one constant, in the column."""
    for condition in conjuncts(select.args.get("where")):
        constant = isinstance(condition, exp.Is | exp.EQ) and isinstance(condition.expression, exp.Null | exp.Literal)
        if constant and held(condition.this, asked.schema) == known:
            return True
    return False


def _other_days(known: Held, asked: Asked) -> list[str]:
    columns = [Held(known.table, column) for column in known.table.columns if column.name != known.column.name]
    days = [other.column.name for other in columns if holds_days(other, asked.data)]
    return [name for name in days if not _BIRTH & set(words(name))]

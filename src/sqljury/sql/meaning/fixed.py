"""What a condition makes the same in all rows: the day of an order, or the measure of a share.

``WHERE left_on IS NULL ORDER BY left_on``; ``SELECT AVG(attended) ... WHERE attended = 0``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.cues import ranked
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.conditions import conjuncts, outer_conjuncts, take_out
from sqljury.sql.meaning.base import Asked, Change, Held, held, holds_days, single_select, turn
from sqljury.sql.meaning.best import is_aggregate
from sqljury.sql.parse import exp
from sqljury.sql.resolve import identifier, owner
from sqljury.sql.terms import group_keys, meant

_DESCENDING: Final = {"longest": False, "oldest": False, "earliest": False, "newest": True, "latest": True}
"""Whether days are descending for the word that asks for an end: who is with us the longest came first."""
_SHARE: Final = regex(
    r"%|\b(?:percent(?:ages?)?|per cent|shares?|proportions?|fractions?|ratios?|rates?)\b", re.IGNORECASE
)
_CONSTANT: Final = (0, 1, 100)
"""A share of nothing and of everything, in percent too."""
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


def fixed_measure(tree: exp.Query, asked: Asked) -> Change | None:
    """Remove ``attended = 0`` where the question asks for a share, and the only aggregate output measures ``attended``.

    The condition makes the measure 0 or 100 % in every group: ``100.0 * SUM(attended) / COUNT(*)``.
    """
    select = single_select(tree)
    if select is None or not _SHARE.search(asked.question.whole) or select.find(exp.Window) is not None:
        return None
    if any(join.side for join in select.args.get("joins") or ()):
        return None
    measures = [item for item in select.selects if is_aggregate(item)]
    if len(measures) != 1 or measures[0].find(exp.Div, exp.Avg) is None:
        return None
    used = [item for item in select.selects if item is not measures[0]]
    used += [meant(key, select) for key in group_keys(select)[0]]
    fixing = [
        condition
        for condition in outer_conjuncts(select.args.get("where"))
        if _fixes(condition) and _is_measured(condition.this, measures[0], used, asked)
    ]
    if len(fixing) != 1 or not _is_constant(select, measures[0], asked):
        return None
    column = fixing[0].this.name
    take_out(select, "where", fixing)
    return Change(f"a condition makes {column} the same in all rows of which a share is asked", without=("conditions",))


def _fixes(condition: exp.Expr) -> bool:
    """Whether a condition is that a column has one constant."""
    constant = isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Literal | exp.Boolean)
    return constant and isinstance(condition.this, exp.Column)


def _is_measured(column: exp.Column, measure: exp.Expr, used: Sequence[exp.Expr], asked: Asked) -> bool:
    """Whether an output measures a column by aggregates, asks for nothing else of the rows, and no other uses it."""
    mine = _place(column, asked)
    if mine is None or any(_place(node, asked) == mine for item in used for node in item.find_all(exp.Column)):
        return False
    measured = [node for node in measure.find_all(exp.Column) if _place(node, asked) == mine]
    others = [node for node in measure.find_all(exp.Column) if _place(node, asked) != mine]
    aggregated = all(node.find_ancestor(exp.AggFunc, exp.Filter) is not None for node in measured)
    asks_more = any(isinstance(node.find_ancestor(exp.Predicate, exp.Select), exp.Predicate) for node in others)
    return bool(measured) and aggregated and not asks_more


def _place(column: exp.Column, asked: Asked) -> tuple[str, str] | None:
    """The alias and the name of a column, in lower case; None where its table is not certain."""
    owned = None if isinstance(column.this, exp.Star) else owner(column, asked.schema)
    return None if owned is None else (owned[0].lower(), column.name.lower())


def _is_constant(select: exp.Select, measure: exp.Expr, asked: Asked) -> bool:
    """Whether the output is none or all in every row of the result."""
    index = next(at for at, item in enumerate(select.selects) if item is measure)
    rows = asked.data.rows(select.sql(dialect=asked.dialect))
    values = {row[index] for row in rows or ()}
    return len(values) == 1 and values <= {*_CONSTANT}

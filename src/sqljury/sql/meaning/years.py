"""Dates compared with a day or with ``'2012'`` where a month or a year is meant, and texts compared with numbers.

All but days compared for whole months and years is for SQLite alone: no engine with types would run it. A column
declared as DATE has NUMERIC affinity: ``'2012'`` becomes a number beside it, which is below every text, and so below
every date. What STRFTIME and SUBSTR return is a text without affinity, which is above every number.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from sqljury.language.times import Period, named_period
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, as_day, compared, day_of, held, holds_dates, is_date
from sqljury.sql.meaning.order import sort_key
from sqljury.sql.parse import exp

_SPAN: Final = re.compile(r"([12]\d{3})(?:-(0[1-9]|1[0-2]))?")
SINCE: Final = re.compile(r"\b(?:since|from|starting|beginning|as of|onwards?|or (?:later|after))\b", re.IGNORECASE)
TURNED: Final = {"gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte"}
_WHOLE: Final = re.compile(r"(?:%[YmdHMSjwuWs])+")
_FRACTION: Final = re.compile(r"%[fJ]")
"""Formats of STRFTIME whose text is a whole number, or one with a fraction."""
_STATES: Final = frozenset(
    (
        *("snapshot", "snap", "balance", "bal", "stock", "inventory", "position", "rate", "valid", "effective"),
        *("eff", "asof", "period", "month", "fiscal"),
    )
)
"""Words of names of columns and tables whose rows hold from a day on, or on each day: one of these may be meant."""


_ONE_DAY: Final = "the question names a month or a year, and the query has a day of it"


def years(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare dates with the first day of a year or a month, or with the one after its last, and not with ``'2012'``.

    After a year is after its last day, unless the question says ``since``.
    """
    if asked.dialect != "sqlite":
        return None
    changed = False
    for node in list(tree.find_all(exp.Between)):
        low, high = _limits(node.args["low"]), _limits(node.args["high"])
        if not node.args.get("symmetric") and (low or high) and holds_dates(held(node.this, asked.schema), asked.data):
            lower = exp.GTE(this=node.this.copy(), expression=low[0] if low else node.args["low"].copy())
            upper = (
                exp.LT(this=node.this.copy(), expression=high[1])
                if high
                else exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
            )
            changed = True
            node.replace(exp.Paren(this=exp.and_(lower, upper)))
    for node, column, other in compared(tree, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE):
        span = _limits(other)
        if span is not None and holds_dates(held(column, asked.schema), asked.data):
            operator = node.key if node.this is column else TURNED.get(node.key, node.key)
            changed = True
            node.replace(_beside(column, operator, span, since=bool(SINCE.search(asked.question.whole))))
    return Change("a year or a month is compared with whole dates", may_empty=True) if changed else None


def whole_periods(tree: exp.Query, asked: Asked) -> Change | None:
    """Let ``= '2024-03-01'`` be all of March where the question names "March 2024" and no day; likewise a year.

    ``BETWEEN '2024-03-01' AND '2024-03-30'`` ends on the last day of the month.
    """
    period = named_period(asked.question.whole)
    if period is None:
        return None
    changed = False
    for node in list(tree.find_all(exp.Between)):
        if _is_cut_short(node, period) and _holds_days(node.this, asked):
            changed = True
            node.set("high", as_day(node.args["high"], period.last))
    beside = [
        (comparison, column, constant)
        for comparison in tree.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
        for column, constant in ((comparison.this, comparison.expression), (comparison.expression, comparison.this))
        if (day_of(constant) or "")[:7] in (period.first.isoformat()[:7], period.last.isoformat()[:7])
    ]
    if len({_bare(column).sql() for _, column, _ in beside}) > 1:  # a row may be of a week, from one day to another
        return Change(_ONE_DAY) if changed else None
    equal = [
        (comparison, column, constant)
        for comparison, column, constant in beside
        if isinstance(comparison, exp.EQ | exp.NEQ) and day_of(constant) in _ends(period) and _holds_days(column, asked)
    ]
    for comparison, column, constant in equal:
        changed = True
        span = as_day(constant, period.first), as_day(constant, period.last + timedelta(days=1))
        comparison.replace(_beside(column, comparison.key, span, since=False))
    return Change(_ONE_DAY) if changed else None


def _ends(period: Period) -> tuple[str, str]:
    return period.first.isoformat(), period.last.isoformat()


def _is_cut_short(node: exp.Between, period: Period) -> bool:
    """Whether a range from the first day of the month ends one to three days before its last."""
    low, high = day_of(node.args["low"]), day_of(node.args["high"])
    short = [(period.last - timedelta(days=days)).isoformat() for days in (1, 2, 3)]
    whole = not node.args.get("symmetric") and not isinstance(node.parent, exp.Not)
    return whole and bool(period.month) and low == period.first.isoformat() and high in short


def _bare(node: exp.Expr) -> exp.Expr:
    """The column of a column that is cast to a date."""
    if isinstance(node, exp.Cast) and node.to.this != exp.DataType.Type.DATE:
        return node
    one = not any(value for key, value in node.args.items() if key not in ("this", "to", "expressions"))
    return node.this if isinstance(node, exp.Cast | exp.Date | exp.TsOrDsToDate) and one else node


def _holds_days(node: exp.Expr, asked: Asked) -> bool:
    """Whether an expression is a column of dates or times of what happened, as it is or cast to a date."""
    known = held(_bare(node), asked.schema)
    if known is None or _STATES & {*words(known.column.name), *words(known.table.name)}:
        return False
    type_ = known.column.type.lower()
    declared = is_date(type_) and "year" not in type_ and not type_.startswith("time ") and type_ != "time"
    return holds_dates(known, asked.data) or (declared and asked.dialect != "sqlite")


def _limits(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The first day of the year or month that a constant is, and the day after its last; None for anything else."""
    match = _SPAN.fullmatch(node.name) if isinstance(node, exp.Literal) else None
    if match is None:
        return None
    year, month = int(match[1]), int(match[2] or 0)
    after = f"{year + 1}-01-01" if month in (0, 12) else f"{year}-{month + 1:02}-01"
    return exp.Literal.string(f"{year}-{month or 1:02}-01"), exp.Literal.string(after)


def _beside(column: exp.Expr, operator: str, span: tuple[exp.Expr, exp.Expr], *, since: bool) -> exp.Expr:
    """The comparison of a column with all days from the first up to, and without, the second."""
    first, after = span
    if operator == "eq":
        return exp.Paren(this=exp.and_(_not_before(column, first), _before(column, after)))
    if operator == "neq":
        return exp.Paren(this=exp.or_(_before(column, first), _not_before(column, after)))
    if operator in ("gt", "gte"):
        return _not_before(column, first if operator == "gte" or since else after)
    return _before(column, first if operator == "lt" else after)


def _before(column: exp.Expr, day: exp.Expr) -> exp.LT:
    return exp.LT(this=column.copy(), expression=day.copy())


def _not_before(column: exp.Expr, day: exp.Expr) -> exp.GTE:
    return exp.GTE(this=column.copy(), expression=day.copy())


def numbers_of_texts(tree: exp.Query, asked: Asked) -> Change | None:
    """Read a part of a date or of a text as a number where it is compared with numbers alone."""
    if asked.dialect != "sqlite":
        return None
    changed = False
    for node in list(tree.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)):
        sides = [side for key in ("this", "expression", "low", "high") if (side := node.args.get(key)) is not None]
        sides += node.args.get("expressions") or ()
        texts = [side for side in sides if _number_type(side, asked)]
        if len(texts) == 1 and len(sides) > 1 and all(side is texts[0] or _is_number(side) for side in sides):
            changed = True
            texts[0].replace(exp.cast(texts[0].copy(), _number_type(texts[0], asked)))
    return Change("a text is compared with a number, and no text equals one", may_empty=True) if changed else None


def _number_type(node: exp.Expr, asked: Asked) -> str:
    """The type that the text of a call, or of the output that a name stands for, is to be read as; empty for others."""
    select = node.parent_select
    if isinstance(node, exp.Column) and isinstance(select, exp.Select) and held(node, asked.schema) is None:
        node = sort_key(select, node)
    if isinstance(node, exp.Substring | exp.Replace | exp.Trim):
        return "REAL"
    form = node.args.get("format") if isinstance(node, exp.TimeToStr) else None
    if isinstance(node, exp.Anonymous) and node.name.upper() == "STRFTIME" and node.expressions:
        form = node.expressions[0]
    if form is None:
        return ""
    return "INT" if _WHOLE.fullmatch(form.name) else "REAL" if _FRACTION.fullmatch(form.name) else ""


def _is_number(node: exp.Expr) -> bool:
    node = node.this if isinstance(node, exp.Neg) else node
    return isinstance(node, exp.Literal) and not node.is_string

"""The month or the year that a question names, where a query takes a day of it, or leaves it out."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from sqljury.language.times import MONTHS, Period, named_period
from sqljury.language.words import words
from sqljury.patterns import regex
from sqljury.sql.clock import is_clock
from sqljury.sql.meaning.base import (
    Asked,
    Change,
    Held,
    as_day,
    day_of,
    held,
    holds_dates,
    holds_days,
    is_met,
    single_select,
)
from sqljury.sql.meaning.dates_made import source
from sqljury.sql.meaning.years import SINCE, span_condition
from sqljury.sql.parse import exp
from sqljury.sql.resolve import Sources, is_date, sources_of
from sqljury.types import Table

_YEAR: Final = regex(r"(?<![\d.,/-])(?:19|20)\d\d(?![\d/-])")
_FROM_YEAR: Final = regex(
    r"\b(?:since|after|before|until|till|from|by|prior to|(?:later|earlier|newer|older) than|the end of) "
    r"(?P<after>(?:19|20)\d\d)(?![\d/-])"
    r"|\b(?P<before>(?:19|20)\d\d) (?:or|and) (?:later|after|afterwards|earlier|before|newer|older)\b",
    re.IGNORECASE,
)
_FINER: Final = regex(
    rf"\b(?:{'|'.join(MONTHS[1:])}|{'|'.join(month[:3] for month in MONTHS[1:])}"
    r"|sept|spring|summer|autumn|fall|winter|middle|mid|quarters?|half|halves|weeks?|months?|days?|date|season|term|semester|fiscal|financial"
    r"|tax|academic|school|fy|q[1-4]|h[12]|easter|christmas|new year)\b|\d+(?:st|nd|rd|th)|\d[-./]\d",
    re.IGNORECASE,
)
"""What makes the time of a question finer than a year, or another one than that of the calendar."""
_STATES: Final = frozenset(
    (
        *("snapshot", "snap", "balance", "bal", "stock", "inventory", "position", "rate", "valid", "effective"),
        *("eff", "asof", "period", "month", "fiscal"),
    )
)
"""Words of names of columns and tables whose rows hold from a day on, or on each day: one day may be meant."""
_ONE_DAY: Final = "the question names a month or a year, and the query has a day of it"
_SPECIAL: Final = frozenset(
    (
        *("birth", "born", "birthday", "dob", "death", "died", "due", "deadline", "expiry", "expire", "expiration"),
        *("until", "founded", "established", "built", "opened", "created", "updated", "modified", "changed"),
        *("registered", "hired", "hire", "joined", "signed", "login", "leaving"),
    )
)
"""Words of names of columns of days; a question means such a column only if it has the same word."""
_APART: Final = re.compile(
    r"\b(?:onwards?|older|newer|not|never|no|except|exclud\w+|outside|recent|latest|turns?|age[ds]?)\b", re.IGNORECASE
)
"""Words with which the period may be another one than that of the rows."""
_GOES_ON: Final = (
    "(?:and|at|by|with|which|that|who|in|of|for|to|than|per|was|were|is|are|did|do|does|has|have|had|alone)\\b"
)
"""Words that follow a year which stands by itself."""
_TIMES: Final = frozenset(
    ("year", "yr", "month", "mon", "season", "quarter", "qtr", "week", "period", "fiscal", "decade")
)
"""Words of names of columns that hold times other than days."""


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
        comparison.replace(span_condition(column, comparison.key, span, since=False))
    return Change(_ONE_DAY) if changed else None


def unsaid_days(tree: exp.Query, asked: Asked) -> Change | None:
    """Let ``>= '2015-01-15'`` be ``>= '2015-01-01'`` where the question says "since 2015" and nothing finer.

    Models take such days from the sample rows that they see. The question says once "since", "after", "before" and the
    like right before a year, or "or later" after it; the query compares one day of that year by order.
    """
    question = asked.question.whole
    years = [match["after"] or match["before"] for match in _FROM_YEAR.finditer(question)]
    if len(years) != 1 or len(_YEAR.findall(question)) != 1 or _FINER.search(question):
        return None
    within = [
        node
        for node in tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE)
        if (day_of(node.expression) or "").startswith(years[0])
        and (_holds_days(node.this, asked) or source(node.this) is not None)
    ]
    if len(within) != 1:
        return None
    [comparison] = within
    ends = (f"{years[0]}-01-01", f"{years[0]}-12-31")
    meant = ends[isinstance(comparison, exp.LTE | exp.GT)]
    if day_of(comparison.expression) in ends or (isinstance(comparison, exp.GT) and SINCE.search(question)):
        return None
    comparison.expression.replace(as_day(comparison.expression, date.fromisoformat(meant)))
    return Change("the question names a year, and the query has a day within it", may_empty=True)


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
    plain = not any(value for key, value in node.args.items() if key not in ("this", "to", "expressions"))
    return node.this if isinstance(node, exp.Cast | exp.Date | exp.TsOrDsToDate) and plain else node


def _holds_days(node: exp.Expr, asked: Asked) -> bool:
    """Whether an expression is a column of dates or times of what happened, as it is or cast to a date."""
    known = held(_bare(node), asked.schema)
    return known is not None and _is_of_events(known, asked)


def _is_of_events(known: Held, asked: Asked) -> bool:
    if _STATES & {*words(known.column.name), *words(known.table.name)}:
        return False
    type_ = known.column.type.lower()
    declared = is_date(type_) and "year" not in type_ and not type_.startswith("time ") and type_ != "time"
    return holds_dates(known, asked.data) or (declared and asked.dialect != "sqlite")


def missing_period(tree: exp.Query, asked: Asked) -> Change | None:
    """Add the condition on the period that the question names if the query has no condition on any time.

    The tables of the query must have exactly one column of days on which something happened, and none of years, months
    or other forms of time.
    """
    period = named_period(asked.question.whole)
    select = single_select(tree)
    if period is None or select is None:
        return None
    if not _is_during(period, asked.question.whole) or _has_year(select, period) or is_clock(select):
        return None
    if any(join.side for join in select.args.get("joins") or ()):
        return None
    sources = sources_of(select, asked.schema)
    columns = None if sources is None or sources.others else _columns_of_time(sources, asked)
    if columns is None or len(columns) != 1:
        return None
    [(table, column)] = columns
    first, after = (exp.Literal.string(day.isoformat()) for day in (period.first, period.last + timedelta(days=1)))
    bare = span_condition(exp.column(column.this.copy()), "eq", (first, after), since=False)
    if not is_met(bare, table, asked):
        return None
    select.where(span_condition(column, "eq", (first, after), since=False), copy=False)
    return Change(f"the question names {_said(period)}, and the query has no time")


def _is_during(period: Period, question: str) -> bool:
    """Whether a year stands as the time of something ("in 2024"), not as part of a name ("the 2018 World Cup")."""
    if _APART.search(question):
        return False
    form = rf"\b(?:in|of|during|for|from) (?:the year )?{period.year}\b(?! (?!{_GOES_ON})\w)(?! on\b)"
    return bool(period.month) or bool(re.search(form, question, re.IGNORECASE))


def _has_year(tree: exp.Select, period: Period) -> bool:
    """Whether a constant or a name of the query has a year, or the last two digits of this one."""
    short = re.compile(rf"(?<!\d){period.year % 100:02}(?!\d)|(?:19|20)\d\d")
    texts = [node.name for node in tree.find_all(exp.Literal, exp.Identifier)]
    return any(short.search(text) for text in texts)


def _columns_of_time(sources: Sources, asked: Asked) -> list[tuple[Table, exp.Column]] | None:
    """The columns of days on which something happened; None where a column holds times in another form, or is used."""
    columns = []
    question = {*words(asked.question.text)}
    question |= {"birth", "birthday", "dob"} if "born" in question else set()
    used = {node.name.lower() for node in sources.scope.expression.find_all(exp.Column)}
    for alias, table in sources.tables.items():
        for column in table.columns:
            known, called = Held(table, column), {*words(column.name)}
            if _TIMES & called or asked.data.times(table, column.name):
                return None
            if not holds_days(known, asked.data):
                continue
            if column.name.lower() in used and sources.scope.expression.find(exp.Where, exp.Having) is not None:
                return None
            if _SPECIAL & called and not _SPECIAL & called & question:
                continue
            if not _is_of_events(known, asked):
                return None
            columns.append((table, sources.column(alias, column.name)))
    return columns


def _said(period: Period) -> str:
    return f"{period.year}-{period.month:02}" if period.month else str(period.year)

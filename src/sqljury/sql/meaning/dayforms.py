"""Days that columns hold as numbers (20240131) or as texts (31.01.2024), where a query takes them for dates."""

from __future__ import annotations

import re
from functools import partial
from typing import Final, Literal

from sqljury.language.times import named_period
from sqljury.patterns import regex
from sqljury.sql.meaning.base import Asked, Change, day_of, held, holds_days, text_of
from sqljury.sql.meaning.dates_made import SHORT_MONTHS, day_and_time, of_number, of_text
from sqljury.sql.meaning.dayspans import Days, Form, between, covered, is_comparison, with_days, within_cast
from sqljury.sql.meaning.epochs import taken_as
from sqljury.sql.meaning.years import SINCE
from sqljury.sql.parse import exp

_ISO_PLACES: Final = frozenset(((1, 4), (1, 7), (6, 2)))
"""Start and length of the year, of year and month, and of the month in YYYY-MM-DD."""
_SORTING: Final = regex(r"YYYY(\W?)MM\1DD.*")
_NUMBER: Final = regex(r"\d+")
_PART: Final = regex(r"YYYY|YY|Mon|MM?|DD?|.")
_PATTERNS: Final = {
    "YYYY": r"(?P<y>\d{4})",
    "YY": r"(?P<y>\d\d)",
    "Mon": r"(?P<n>[A-Za-z]{3})",
    **dict.fromkeys(("M", "MM"), r"(?P<m>\d\d?)"),
    **dict.fromkeys(("D", "DD"), r"(?P<d>\d\d?)"),
}


def day_texts(tree: exp.Query, asked: Asked) -> Change | None:
    """Make dates of such a column where it is sorted, compared with days, or given to a function of dates.

    Also where the query takes its first letters for the year, as ``SUBSTR(day, 1, 4)`` does. A constant in the column's
    own form becomes a date too if it is compared by order.
    """
    since = bool(SINCE.search(asked.question.whole))
    replaced = []
    for column in list(tree.find_all(exp.Column)):
        source = _behind_alias(column)
        form = _form(source, asked) if _is_used(column) else ""
        made = _made(column, source, form, asked, since=since) if form else None
        if made is None:
            continue
        if isinstance(column.parent, exp.Max | exp.Min) and not _is_seen(column.parent, tree):
            return None  # what compares the extreme elsewhere would have to take the date too
        replaced.append(made)
    for old, new in replaced:
        old.replace(new)
    if not replaced:
        return None
    # Whether a range in the column's own form is a part of what the question names can only be told of dates.
    of_ranges = any(_is_by_order(old) for old, _ in replaced)
    return Change("the column holds days as texts in another form", may_empty=True, may_equal=of_ranges)


def _is_by_order(node: exp.Expr) -> bool:
    """Whether a comparison asks what is before or after."""
    return isinstance(node, exp.Between | exp.GT | exp.GTE | exp.LT | exp.LTE)


def _is_seen(extreme: exp.Expr, tree: exp.Query) -> bool:
    """Whether an extreme is an output or a key of the order, or all that a subquery returns beside a column."""
    select = extreme.parent_select
    if select is tree:
        return extreme.find_ancestor(exp.Predicate) is None
    above = select.parent if select is not None else None
    return isinstance(above, exp.Subquery | exp.In) and _extreme(above) is extreme


def _extreme(node: exp.Expr | None) -> exp.Expr | None:
    """The extreme of a column that is all that a subquery beside a column returns; None for anything else."""
    above = node.parent if node is not None else None
    if isinstance(node, exp.Subquery) and above is not None and is_comparison(above):
        beside = above.expression if above.this is node else above.this
        select = node.this
    elif isinstance(node, exp.In):
        query = node.args.get("query")
        beside, select = node.this, query.this if isinstance(query, exp.Subquery) else query
    else:
        return None
    outputs = select.selects if isinstance(select, exp.Select) else []
    extreme = outputs[0].unalias() if len(outputs) == 1 else None
    return extreme if isinstance(extreme, exp.Max | exp.Min) and isinstance(beside, exp.Column) else None


def _form(node: exp.Expr, asked: Asked) -> str:
    known = held(node, asked.schema)
    return asked.data.day_form(known.table, known.column.name) if known is not None else ""


def _is_used(column: exp.Column) -> bool:
    """Whether the form of a column can matter; the database is asked for it only then."""
    above = within_cast(column).parent
    kinds = exp.Ordered | exp.Max | exp.Min | exp.Substring | exp.Left
    return is_comparison(above) or isinstance(above, kinds) or bool(taken_as(column))


def _behind_alias(column: exp.Column) -> exp.Expr:
    """The output that a key of the order names; the column itself elsewhere."""
    select = column.parent_select
    if isinstance(column.parent, exp.Ordered) and not column.table and isinstance(select, exp.Select):
        for item in select.selects:
            if isinstance(item, exp.Alias) and item.alias.lower() == column.name.lower():
                output: exp.Expr = item.this
                return output
    return column


def _made(
    column: exp.Column, source: exp.Expr, form: str, asked: Asked, *, since: bool
) -> tuple[exp.Expr, exp.Expr] | None:
    """What of the query is to be replaced, and by what; None where it is right as it is, or no date can be made."""
    day = of_text(source, form, asked.dialect)
    moment = of_text(source, form, asked.dialect, timed=True)
    if day is None or moment is None:
        return None
    node, sorts = within_cast(column), bool(_SORTING.fullmatch(form))
    if node.parent is not None and is_comparison(node.parent):
        ordered = _is_by_order(node.parent) and not sorts
        days = partial(_covered, form=form) if ordered else _whole_day if sorts else covered
        written = Form(day, exp.Literal.string, days, since)
        compared = with_days(node, node.parent, written) or _of_named_month(node, node.parent, written, asked)
        if compared is not None:
            return node.parent, compared
        beside = _beside(node, node.parent, form, asked, ordered=ordered)
        if beside is not None:
            return (column, moment if beside == "extreme" else day) if beside else None
    above = column.parent
    if isinstance(above, exp.Ordered | exp.Max | exp.Min):
        return None if sorts else (column, moment)
    if isinstance(above, exp.Substring | exp.Left) and above.this is column:
        text = day if asked.dialect == "sqlite" else exp.cast(day, "CHAR" if asked.dialect == "mysql" else "TEXT")
        return (column, text) if _places(above) in _ISO_PLACES and not form.startswith("YYYY") else None
    use = taken_as(column)
    return (column, day if use == "day" else moment) if use else None


def _of_named_month(node: exp.Expr, compared: exp.Expr, form: Form, asked: Asked) -> exp.Expr | None:
    """The days of the month that the question names, where a pattern has its numbers in a wrong place: '03.%.2024'."""
    period = named_period(asked.question.whole)
    text = text_of(compared.expression) if isinstance(compared, exp.Like) and compared.this is node else None
    if period is None or not period.month or text is None:
        return None
    numbers = {int(number) for number in _NUMBER.findall(text)}
    if numbers != {period.month, period.year}:
        return None
    return between(Days(period.first.isoformat(), period.last.isoformat()), form)


def _beside(
    node: exp.Expr, compared: exp.Expr, form: str, asked: Asked, *, ordered: bool
) -> Literal["", "day", "extreme"] | None:
    """What the column is compared with: days of a column or a function, or the extreme that a subquery returns.

    Empty for what it can be compared with as it is; None for anything else. Of ``ordered`` texts, those in one form too
    are compared wrongly.
    """
    other = compared.args.get("expression") if compared.this is node else compared.this
    if isinstance(other, exp.Column):
        other_form, known = _form(other, asked), held(other, asked.schema)
        if other_form:
            return "day" if other_form != form or ordered else ""
        return "day" if known is not None and holds_days(known, asked.data) else ""
    extreme = _extreme(compared if isinstance(compared, exp.In) else other)
    if extreme is not None:
        return "extreme" if _form(extreme.this, asked) and not _SORTING.fullmatch(form) else ""
    is_date = isinstance(other, exp.Date) or (isinstance(other, exp.Anonymous) and other.name.upper() == "DATE")
    return "day" if is_date else None


def _places(node: exp.Substring | exp.Left) -> tuple[int, int] | None:
    start = exp.Literal.number(1) if isinstance(node, exp.Left) else node.args.get("start")
    length = node.expression if isinstance(node, exp.Left) else node.args.get("length")
    if not (isinstance(start, exp.Literal) and isinstance(length, exp.Literal)):
        return None
    return (int(start.name), int(length.name)) if start.name.isdigit() and length.name.isdigit() else None


def _whole_day(node: exp.Expr) -> Days | None:
    """The day of a constant, of texts that sort as they are: those of 2024 are above '2024', as may be meant."""
    day = day_of(node)
    return Days(day, day) if day is not None else None


def _covered(node: exp.Expr, form: str) -> Days | None:
    """The days that a constant covers, which may have the column's own form."""
    text = text_of(node)
    day = _PART.sub(lambda part: _PATTERNS.get(part[0], re.escape(part[0])), day_and_time(form)[0])
    match = re.fullmatch(day, text) if text is not None else None
    if match is None:
        return covered(node)
    parts = match.groupdict()
    month = int(parts["m"]) if "m" in parts else SHORT_MONTHS.find(parts["n"].lower()) // 3 + 1
    year = parts["y"] if len(parts["y"]) > 2 else f"{20 if parts['y'] < '70' else 19}{parts['y']}"
    written = f"{year}-{month:02}-{int(parts['d']):02}"
    return Days(written, written) if 1 <= month <= 12 and 1 <= int(parts["d"]) <= 31 else None


def day_numbers(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare such a column with numbers of days, with all of them where the query has a month or a year.

    A function of dates, or the database's clock beside the column, is given a date made of the number, except on
    MySQL, whose functions accept such numbers.
    """
    changed, since = False, bool(SINCE.search(asked.question.whole))
    for column in list(tree.find_all(exp.Column)):
        node = within_cast(column)
        if not is_comparison(node.parent):
            node = column
        old, new = node.parent, None
        if old is not None:
            new = with_days(node, old, Form(column, _number, covered, since))
        if new is None and asked.dialect != "mysql" and taken_as(column):
            old, new = column, of_number(column, asked.dialect)
        known = held(column, asked.schema) if new is not None else None
        if old is None or new is None or known is None:
            continue
        if asked.data.times(known.table, known.column.name) == "days":  # the database is asked last
            changed = True
            old.replace(new)
    return Change("the column holds days as numbers such as 20240131", may_empty=True) if changed else None


def _number(day: str) -> exp.Expr:
    return exp.Literal.number(day.replace("-", ""))

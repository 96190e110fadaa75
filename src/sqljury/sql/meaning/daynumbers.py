"""Numbers such as 20240131 that are days, where a query takes them for dates, months or years."""

from __future__ import annotations

from sqljury.sql.meaning.base import Asked, Change, held
from sqljury.sql.meaning.dates_made import of_number
from sqljury.sql.meaning.dayspans import Form, covered, is_comparison, with_days, within_cast
from sqljury.sql.meaning.epochs import taken_as
from sqljury.sql.meaning.years import SINCE
from sqljury.sql.parse import exp


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

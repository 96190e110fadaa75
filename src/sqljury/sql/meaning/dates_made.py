"""Dates made of what a column holds instead: numbers such as 20240131, and texts such as 31.01.2024.

SQLite has no dates; there they are texts as YYYY-MM-DD.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqljury.language.times import MONTHS
from sqljury.patterns import regex
from sqljury.sql.parse import exp

SHORT_MONTHS: Final = "".join(month[:3] for month in MONTHS[1:])
"""The first three letters of the months, one after another."""
_PARTS: Final = regex(r"YYYY|YY|Mon|HH|MI|SS|MM?|DD?")
_NAMES: Final[dict[str, dict[str, str]]] = {
    "postgres": {"HH": "HH24"},
    "mysql": {"YYYY": "%Y", "YY": "%y", "Mon": "%b", "MM": "%m", "DD": "%d", "HH": "%H", "MI": "%i", "SS": "%s"},
    "duckdb": {"YYYY": "%Y", "YY": "%y", "Mon": "%b", "MM": "%m", "DD": "%d", "HH": "%H", "MI": "%M", "SS": "%S"},
}
"""What the parts of a form are called in the formats of an engine, where it calls them otherwise."""
_KNOWN: Final = regex(r"(?:(?:YYYY|YY|Mon|MM?|DD?)(?:[-/. ]|, )?){3}(?:[ T]HH:MI(?::SS)?)?")
_OF_ANY_WIDTH: Final = regex(r"(D|M|YYYY)([-/.])(D|M)\2(D|M|YYYY)")
_LONG: Final = {"M": "MM", "D": "DD"}


def of_number(column: exp.Expr, dialect: str) -> exp.Expr:
    """The date of a number as YYYYMMDD."""
    if dialect == "sqlite":
        return _dashed([_part(column, start, length) for start, length in ((1, 4), (5, 2), (7, 2))])
    text = exp.cast(column.copy(), "TEXT")
    if dialect == "postgres":
        return _call("TO_DATE", text, exp.Literal.string("YYYYMMDD"))
    return exp.cast(_call("STRPTIME", text, exp.Literal.string("%Y%m%d")), "DATE")


def of_text(column: exp.Expr, form: str, dialect: str, *, timed: bool = False) -> exp.Expr | None:
    """The date of a text in a form such as DD.MM.YYYY, ``timed`` with its time; None where it cannot be made.

    M and D are months and days of one or two digits; a time follows the date after a blank or T.
    """
    day, time = day_and_time(form)
    of_any_width = _OF_ANY_WIDTH.fullmatch(form)
    if not _KNOWN.fullmatch(form) or not (of_any_width or {"DD", "YY"} <= {*_PARTS.findall(day.replace("YYYY", "YY"))}):
        return None
    if dialect == "sqlite":
        made = _of_any_width(column, of_any_width) if of_any_width else _texts(column, day)
        return _joined([*made, _part(column, len(day) + 1)] if timed and time else made)
    names = _NAMES[dialect]
    written = _PARTS.sub(lambda part: names.get(long := _LONG.get(part[0], part[0]), long), form)
    format_ = exp.Literal.string(written)
    timed = timed and bool(time)
    if dialect == "postgres":
        return _call("TO_TIMESTAMP" if timed else "TO_DATE", column.copy(), format_)
    moment = _call("STR_TO_DATE" if dialect == "mysql" else "TRY_STRPTIME", column.copy(), format_)
    return moment if timed or (dialect == "mysql" and not time) else exp.cast(moment, "DATE")


def source(node: exp.Expr) -> exp.Column | None:
    """The column of texts of whose days an expression makes dates; None for any other expression."""
    bare: exp.Expr = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(bare, exp.Cast) and not isinstance(bare.this, exp.Column):
        bare = bare.this
    by_form = isinstance(bare, exp.StrToDate | exp.StrToTime) or bare.name.upper() == "TRY_STRPTIME"
    columns = list(bare.find_all(exp.Column))
    if not columns or any(column != columns[0] for column in columns):
        return None
    if by_form:
        return columns[0]
    dashes = [leaf for leaf in bare.flatten() if isinstance(leaf, exp.Literal)] if isinstance(bare, exp.DPipe) else []
    return columns[0] if [dash.name for dash in dashes] == ["-", "-"] else None


def day_and_time(form: str) -> tuple[str, str]:
    """The part of a form before its time, and the time with the mark before it."""
    match = re.search(r"[ T]HH", form)
    return (form, "") if match is None else (form[: match.start()], form[match.start() :])


def _texts(column: exp.Expr, form: str) -> list[exp.Expr]:
    """The parts of YYYY-MM-DD, to be joined, of a text in this form."""
    year = _part(column, form.index("YY") + 1, 4 if "YYYY" in form else 2)
    if "YYYY" not in form:  # as other engines take it
        is_new = exp.LT(this=year.copy(), expression=exp.Literal.string("70"))
        century = exp.Case().when(is_new, exp.Literal.string("20")).else_(exp.Literal.string("19"))
        year = _joined([exp.Paren(this=century), year])
    if "Mon" in form:
        name = _call("LOWER", _part(column, form.index("Mon") + 1, 3))
        position = exp.Paren(
            this=exp.Add(this=_call("INSTR", exp.Literal.string(SHORT_MONTHS), name), expression=_number(2))
        )
        month = _two_digits(exp.Div(this=position, expression=_number(3)))
    else:
        month = _part(column, form.index("MM") + 1, 2)
    return _with_dashes([year, month, _part(column, form.index("DD") + 1, 2)])


def _of_any_width(column: exp.Expr, form: re.Match[str]) -> list[exp.Expr]:
    """The same of texts whose days and months have one digit or two: D.M.YYYY, M/D/YYYY, YYYY-M-D."""
    first, _, second, third = form.groups()
    mark = exp.Literal.string(form[2])

    def behind(text: exp.Expr) -> exp.Expr:
        position = exp.Add(this=_call("INSTR", text.copy(), mark.copy()), expression=_number(1))
        return _part(text, position)

    def whole(text: exp.Expr) -> exp.Expr:  # CAST reads the digits at the beginning
        return exp.cast(text, "INTEGER")

    if first == "YYYY":
        rest = _part(column, 6)
        parts = {"YYYY": _part(column, 1, 4), second: whole(rest), third: whole(behind(rest))}
    else:
        parts = {first: whole(column.copy()), second: whole(behind(column)), "YYYY": _part(column, -4)}
    return _with_dashes([parts["YYYY"], *(_two_digits(parts[key]) for key in "MD")])


def _two_digits(number: exp.Expr) -> exp.Expr:
    return _call("PRINTF", exp.Literal.string("%02d"), number)


def _part(text: exp.Expr, start: int | exp.Expr, length: int | None = None) -> exp.Expr:
    position = start if isinstance(start, exp.Expr) else _number(start)
    return exp.Substring(this=text.copy(), start=position, length=None if length is None else _number(length))


def _number(number: int) -> exp.Expr:
    return exp.Neg(this=exp.Literal.number(-number)) if number < 0 else exp.Literal.number(number)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _dashed(parts: Sequence[exp.Expr]) -> exp.Expr:
    return _joined(_with_dashes(parts))


def _with_dashes(parts: Sequence[exp.Expr]) -> list[exp.Expr]:
    dash = exp.Literal.string("-")
    return [parts[0], *(piece for part in parts[1:] for piece in (dash.copy(), part))]


def _joined(parts: Sequence[exp.Expr]) -> exp.Expr:
    """Texts one after another."""
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.DPipe(this=whole, expression=part, safe=True)
    return exp.Paren(this=whole) if len(parts) > 1 else whole

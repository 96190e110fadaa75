"""Finds the format in which texts or numbers are dates; formats are written with YYYY, MM, DD, HH, MI, SS and Mon."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from sqljury.patterns import regex

_YEARS: Final = (1900, 2100)

_YEAR_FIRST: Final = regex(r"(?P<y>\d{4})(?P<s>[-/.])(?P<a>\d{1,2})(?P=s)(?P<b>\d{1,2})(?P<rest>.*)")
_YEAR_LAST: Final = regex(r"(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d\d)(?P<rest>.*)")
_TOGETHER: Final = regex(r"(?P<y>\d{4})(?P<a>\d\d)(?P<b>\d\d)(?P<rest>.*)")
_NAME: Final = r"(?P<name>[A-Za-z]{3,9})(?P<dot>\.?)"
_NAMED: Final = (
    regex(rf"(?P<d>\d{{1,2}})(?P<s>[ /-]?){_NAME}(?P<t>,? |(?P=s))(?P<y>\d{{4}}|\d\d)(?P<rest>.*)"),
    regex(rf"{_NAME}(?P<s>[ /-])(?P<d>\d{{1,2}})(?P<t>, ?|(?P=s))(?P<y>\d{{4}}|\d\d)(?P<rest>.*)"),
    regex(rf"(?P<y>\d{{4}})(?P<s>[ /-]){_NAME}(?P<t>(?P=s))(?P<d>\d{{1,2}})(?P<rest>.*)"),
    regex(rf"{_NAME}(?P<s>[ /-])(?P<y>\d{{4}})(?P<rest>)"),
)
_ORDERS: Final = ("DMY", "MDY", "YMD", "MY")
_TIME: Final = regex(
    r"(?P<mark>[ T])(?P<hour>\d{1,2}):\d\d(?P<seconds>:\d\d(?P<part>\.\d+)?)?(?P<half> ?[AaPp][Mm])?"
    r"(?P<zone> ?(Z|UTC|[+-]\d\d(:?\d\d)?))?",
    re.IGNORECASE,
)
_SHORT_TIME: Final = regex(r"(?P<mark>[ T]?)([01]\d|2[0-3])[0-5]\d(?P<seconds>[0-5]\d)?(?P<zone>Z?)")

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

Times = Literal["none", "some", "all"]


class Dates(NamedTuple):
    """Every date format that fits, the likeliest first; how many values have times, and the times' one format.

    ``months``: the values have no day.
    """

    forms: tuple[str, ...]
    time: str = ""
    times: Times = "none"
    months: bool = False


def date_form(values: Sequence[str]) -> Dates | None:
    """The format in which all of these texts, at least one, are dates; None if there is none."""
    return _with_digits(values) or _together(values) or _named(values)


def numeric_form(numbers: Sequence[int]) -> str:
    """``YYYYMMDD`` or ``YYYYMM`` where all numbers are such days or months from 1900 to 2100, else nothing."""
    if all(_is_day(number) for number in numbers):
        return "YYYYMMDD"
    return "YYYYMM" if all(_is_month(number) for number in numbers) else ""


def _is_day(number: int) -> bool:
    return _is_month(number // 100) and 1 <= number % 100 <= 31


def _is_month(number: int) -> bool:
    return _YEARS[0] <= number // 100 <= _YEARS[1] and 1 <= number % 100 <= 12


def _with_digits(values: Sequence[str]) -> Dates | None:
    """Dates such as 31.01.2024 or 2024/1/31, whose order of day and month the values show, or leave open."""
    matches = [_YEAR_FIRST.fullmatch(value) or _YEAR_LAST.fullmatch(value) for value in values]
    parts = [match.groupdict() for match in matches if match is not None]
    if len(parts) != len(values):
        return None
    shapes = {(value[:4].isdigit(), part["s"], len(part["y"])) for value, part in zip(values, parts, strict=True)}
    clock = _clock([part["rest"] for part in parts], _TIME)
    if len(shapes) != 1 or clock is None:
        return None
    ((year_first, mark, year),) = shapes
    first, second = ([int(part[key]) for part in parts] for key in "ab")
    if min(first + second) < 1 or max(first + second) > 31:
        return None
    if year_first:
        return Dates((mark.join(("YYYY", "MM", "DD")),), *clock) if max(first) <= 12 else None
    orders = _day_and_month(first, second, mark)
    return Dates(tuple(mark.join((*order, "Y" * year)) for order in orders), *clock) if orders else None


def _day_and_month(first: list[int], second: list[int], mark: str) -> list[tuple[str, str]]:
    """The orders that fit; where points separate the parts, the day comes first."""
    if max(second) > 12:
        return [("MM", "DD")] if max(first) <= 12 and mark != "." else []
    open_ = max(first) <= 12 and mark != "."
    return [("DD", "MM"), *([("MM", "DD")] if open_ else [])]


def _together(values: Sequence[str]) -> Dates | None:
    """Dates such as 20240131 or 20240131 10:00:00."""
    matches = [_TOGETHER.fullmatch(value) for value in values]
    parts = [match.groupdict() for match in matches if match is not None]
    if len(parts) != len(values) or not all(_is_day(int(part["y"] + part["a"] + part["b"])) for part in parts):
        return None
    rests = [part["rest"] for part in parts]
    clock = _clock(rests, _TIME) or _clock(rests, _SHORT_TIME)
    return Dates(("YYYYMMDD",), *clock) if clock is not None else None


def _named(values: Sequence[str]) -> Dates | None:
    """Dates with the names of months, such as 31 Jan 2024, January 31, 2024 or 31-JAN-24."""
    for order, pattern in zip(_ORDERS, _NAMED, strict=True):
        matches = [pattern.fullmatch(value) for value in values]
        parts = [match.groupdict() for match in matches if match is not None]
        if len(parts) != len(values):
            continue
        names = {_month_form(part["name"]) for part in parts} - {"May"}  # which is both
        names = names or {"Mon"}
        shapes = {(part["s"], part.get("t") or "", len(part["y"]), part["dot"]) for part in parts}
        clock = _clock([part["rest"] for part in parts], _TIME)
        days = [int(part.get("d") or 1) for part in parts]
        if len(names) != 1 or "" in names or len(shapes) != 1 or clock is None or not 1 <= min(days) <= max(days) <= 31:
            return None
        ((mark, second_mark, year, dot),) = shapes
        words = {"D": "DD", "M": names.pop() + dot, "Y": "Y" * year}
        form = (
            mark.join(words[letter] for letter in order) if order == "MY" else _joined(order, words, mark, second_mark)
        )
        return Dates((form,), *clock, months=order == "MY")
    return None


def _joined(order: str, words: dict[str, str], mark: str, second_mark: str) -> str:
    first, second, third = (words[letter] for letter in order)
    return f"{first}{mark}{second}{second_mark}{third}"


def is_month(word: str) -> bool:
    """Whether the word is the English name of a month, whole or its beginning."""
    return bool(_month_form(word))


def _month_form(name: str) -> str:
    """``Month`` for a whole name, ``Mon`` for its beginning, ``May`` for that, nothing for another word."""
    word = name.lower()
    if word == "may":
        return "May"
    if word in _MONTHS:
        return "Month"
    short = word in ("sept", "june", "july") or (len(word) == 3 and any(month.startswith(word) for month in _MONTHS))
    return "Mon" if short else ""


def _clock(rests: Sequence[str], pattern: re.Pattern[str]) -> tuple[str, Times] | None:
    """The one format of the times, empty if they differ, and how many there are; None where a rest is not a time."""
    matches = [pattern.fullmatch(rest) for rest in rests if rest]
    if not all(matches):
        return None
    if not matches:
        return "", "none"
    forms = {_time_form(match) for match in matches if match is not None}
    return forms.pop() if len(forms) == 1 else "", "all" if len(matches) == len(rests) else "some"


def _time_form(match: re.Match[str]) -> str:
    parts = match.groupdict()
    colon = ":" if ":" in match.group() else ""
    seconds = f"{colon}SS" if parts["seconds"] else ""
    half = " AM" if (parts.get("half") or "").startswith(" ") else "AM" if parts.get("half") else ""
    zone = "TZ" if parts["zone"] else ""
    return f"{parts['mark']}HH{colon}MI{seconds}{'.FF' if parts.get('part') else ''}{half}{zone}"

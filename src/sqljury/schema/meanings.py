"""Finds what the values of a column mean beyond its type: dates in text, seconds since 1970, booleans, amounts.

``meanings`` gives values to decide by, ``phrase`` all of one in words, ``odd`` what a prompt must not leave out. All
sampled values of a column must agree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqljury.patterns import regex
from sqljury.schema.dates import Dates, date_form, is_month, numeric_form
from sqljury.types import Column, Result, Table

MIN_VALUES: Final = 5
"""The fewest non-NULL values, two of them different, from which anything is inferred."""

Kind = Literal[
    "epoch seconds", "epoch milliseconds", "epoch microseconds", "date", "month", "boolean", "number", "amount", "text"
]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the values of a column are, where its type does not say it.

    ``stored`` is how the engine returns them. ``date`` has ``forms``, every date format that fits, the likeliest first
    (``DD.MM.YYYY``, ``YYYYMMDD``, ``DD Mon YYYY``; ``month`` likewise), ``times`` for how many of the values have a
    time of day, and ``time``, its format with what separates it (`` HH:MI:SS``), where all have the same one.
    ``boolean`` has ``values``: the one for true, then the one for false, as stored. ``number`` and ``amount`` are
    numbers in text, the latter with the same ``mark`` beside each (``$``, `` kg``, ``%``); ``grouped`` says that
    commas separate thousands, ``sorts`` that the sampled texts sort like their numbers. ``text`` is text in a column
    that is declared as a number.
    """

    kind: Kind
    stored: Literal["text", "number"]
    forms: tuple[str, ...] = ()
    time: str = ""
    times: Literal["none", "some", "all"] = "none"
    values: tuple[str, ...] = ()
    mark: str = ""
    grouped: bool = False
    sorts: bool = True


_TEXT: Final = regex(r"char|clob|text|string", re.IGNORECASE)
_NUMBER_TYPE: Final = regex(r"(?<!po)int(?!erval|\d*(multi)?range)|real|floa|doub|num(?!(multi)?range)|dec|serial",
                                 re.IGNORECASE)  # fmt: skip
_BOOLEAN_TYPE: Final = regex(r"bool|tinyint\(1\)", re.IGNORECASE)
_DATE_TYPE: Final = regex(r"date|time", re.IGNORECASE)
_TIME_NAME: Final = regex(
    r"date|time|stamp|epoch|created|updated|modified|expir|deadline|login|(^|_)(ts|when|since|until)($|_)"
    r"|(_|[a-z])(at|on|At|On|TS|Ts)$|_ts$",
    re.IGNORECASE,
)
_MONTH_NAME: Final = regex(r"date|month|year|period", re.IGNORECASE)
_FLAG_NAME: Final = regex(
    r"(^|_)(is|has|had|was|can|did|does|should|allows?)_|^(is|has|was|can)[A-Z]|(^|_)flag(_|$)|Flag"
    r"|(^|_)(active|enabled|disabled|deleted|verified|archived|blocked|valid|approved|published|cancell?ed|paid)$"
)
_CODE_NAME: Final = regex(
    r"(^|_|[a-z])(id|ids|code|codes|no|nr|num|number|key|zip|postcode|phone|isbn|year)$", re.IGNORECASE
)
_TYPED: Final = ("postgres", "duckdb")
"""Dialects that refuse to compare text with dates."""

_NUMBER: Final = regex(r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_GROUPED: Final = regex(r"[+-]?\d{1,3}((,\d{3})+(\.\d+)?|(\.\d+)?)")
_LEADING_ZERO: Final = regex(r"[+-]?0\d")
_CURRENCY: Final = "[$€£¥₹₩₽]|USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|BRL|MXN|KRW|SEK|NOK|DKK|PLN|CZK|TRY|ZAR|SGD|HKD|NZD"
_UNIT: Final = "[kcm]?m|[km]?g|mi|ft|in|lbs?|oz|m?s|mins?|hrs?|[kKMGT]B|[kMG]W|[kMG]Wh|[kMG]Hz|°[CF]|[kmb]"
_AMOUNT: Final = regex(
    rf"(?P<before>[-+]?(?:{_CURRENCY}) ?)?(?P<number>[+-]?[\d.,]*\d)"
    rf"(?P<after> ?(?:[%‰]|{_CURRENCY}|{_UNIT})| [A-Za-z]{{1,6}}(?:/[A-Za-z]{{1,4}})?)?"
)
_TRUE_FALSE: Final = (("true", "false"), ("t", "f"), ("yes", "no"), ("y", "n"), ("1", "0"), ("on", "off"))

_EPOCH: Final = (946_684_800, 2_208_988_800)  # the years 2000 to 2039: smaller numbers are too often plain ones
_UNITS: Final[tuple[tuple[Kind, int], ...]] = (
    ("epoch seconds", 1),
    ("epoch milliseconds", 1_000),
    ("epoch microseconds", 1_000_000),
)


def meanings(table: Table, sample: Result) -> dict[str, Meaning]:
    """By column what its sampled values mean and its type does not say; ``sample`` is one of ``sample_rows``.

    At least ``MIN_VALUES`` values that are not NULL, two of them different, must agree. Digits with leading zeros are
    not numbers: they may be postcodes.
    """
    known = {}
    for column in table.columns:
        if column.name not in sample.columns:
            continue
        index = sample.columns.index(column.name)
        values = [row[index] for row in sample.rows if row[index] is not None]
        if len(values) >= MIN_VALUES and len(set(values)) > 1 and (meaning := _meaning(column, values)) is not None:
            known[column.name] = meaning
    return known


def are_numbers(values: Sequence[str]) -> bool:
    """Whether each text is a number, with neither leading zeros nor blanks; true for no texts."""
    return all(_NUMBER.fullmatch(value) and not _LEADING_ZERO.match(value) for value in values)


def phrase(meaning: Meaning, column: Column) -> str:
    """The meaning in words beside the type of its column, such as ``text that holds dates as DD.MM.YYYY``."""
    words = _words(meaning)
    if meaning.stored == "number":
        return f"number that holds {words}"
    if not column.type or _TEXT.search(column.type) or _DATE_TYPE.search(column.type):
        return f"text that holds {words}"
    return f"holds text: {words}" if words else "holds text"


def odd(table: Table, found: Mapping[str, Meaning], dialect: str, shown: Result) -> dict[str, str]:
    """By column, a few words on what a query would likely get wrong; ``found`` is what ``meanings`` gave.

    ISO dates in text are odd only where the engine compares no text with dates. Numbers in text are odd where they
    sort otherwise than numbers, unless the column is a key or a code by its name, which nobody sorts; texts for true
    and false where the rows that are ``shown`` beside the table do not have both.
    """
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    words = {}
    for name, meaning in found.items():
        known = meaning.kind == "number" and bool(name in keys or _CODE_NAME.search(name))
        if meaning.kind == "boolean" and meaning.stored == "text" and name in shown.columns:
            index = shown.columns.index(name)
            known = {str(row[index]).strip() for row in shown.rows}.issuperset(meaning.values)
        if not known and (brief := _brief(meaning, dialect)):
            words[name] = brief
    return words


def _brief(meaning: Meaning, dialect: str) -> str:
    match meaning.kind:
        case "date" | "month":
            form = " or ".join(meaning.forms) + meaning.time
            if meaning.stored == "text" and meaning.forms == ("YYYY-MM-DD",):
                return "dates as text" if dialect in _TYPED else ""
            return f"{meaning.kind}s as {form}"
        case "boolean":
            true, false = meaning.values
            if meaning.stored == "number":
                return f"{true} or {false}, not boolean" if dialect == "postgres" else ""
            return f"{true!r} or {false!r}"
        case "number":
            return "" if meaning.sorts else "numbers as text"
        case "amount":
            return f"text: numbers with {meaning.mark.strip()}"
        case "text":
            return ""
        case _:
            return meaning.kind


def _words(meaning: Meaning) -> str:
    match meaning.kind:
        case "date":
            times = {"none": "", "some": ", some with times", "all": " with times"}[meaning.times]
            return f"dates as {' or '.join(meaning.forms)}{times}"
        case "month":
            return f"months as {meaning.forms[0]}"
        case "boolean":
            return "{!r} for true and {!r} for false".format(*meaning.values)
        case "number":
            return "numbers with commas in them" if meaning.grouped else "numbers"
        case "amount":
            return f"numbers with {meaning.mark.strip()}"
        case "text":
            return ""
        case _:
            return f"{meaning.kind.removeprefix('epoch ')} since 1970-01-01"


def _meaning(column: Column, values: Sequence[Any]) -> Meaning | None:
    if all(isinstance(value, str) for value in values):
        return None if column.values else _of_texts(column, [value.strip() for value in values])
    if all(type(value) in (int, float) for value in values):
        return _of_numbers(column, values)
    return None


def _of_texts(column: Column, values: list[str]) -> Meaning | None:
    is_date = bool(_DATE_TYPE.search(column.type))
    is_text = not column.type or bool(_TEXT.search(column.type))
    meaning = _date(column, values) or _numbers(values) or _boolean(values) or _amount(values)
    if is_date:
        known = meaning is not None and meaning.kind == "date" and meaning.forms == ("YYYY-MM-DD",)
        return None if known else meaning
    if is_text:
        return meaning
    if not _NUMBER_TYPE.search(column.type):
        # The engine has a type for it, which is not text: an interval, money, a list.
        return meaning if meaning is not None and meaning.kind == "date" else None
    return meaning or Meaning("text", "text")


def _of_numbers(column: Column, values: Sequence[float]) -> Meaning | None:
    if all(value == value // 1 for value in values):  # holds for neither infinities nor NaN
        whole = [int(value) for value in values]
        if form := _numeric_date(column, whole):
            return form
        if set(whole) == {0, 1} and _FLAG_NAME.search(column.name) and not _BOOLEAN_TYPE.search(column.type):
            return Meaning("boolean", "number", values=("1", "0"))
    return _epoch(column, values, "number")


def _numeric_date(column: Column, numbers: Sequence[int]) -> Meaning | None:
    form = numeric_form(numbers)
    if form == "YYYYMM":
        return Meaning("month", "number", (form,)) if _MONTH_NAME.search(column.name) else None
    return Meaning("date", "number", (form,)) if form else None


def _epoch(column: Column, numbers: Sequence[float], stored: Literal["text", "number"]) -> Meaning | None:
    if not (_TIME_NAME.search(column.name) or _DATE_TYPE.search(column.type)):
        return None
    for kind, scale in _UNITS:
        if all(_EPOCH[0] * scale <= number < _EPOCH[1] * scale for number in numbers):
            return Meaning(kind, stored)
    return None


def _date(column: Column, values: list[str]) -> Meaning | None:
    if all(value.isascii() and value.isdigit() and len(value) <= 20 for value in values):
        numbers = [int(value) for value in values]
        form = numeric_form(numbers)
        if form == "YYYYMMDD":
            return Meaning("date", "text", (form,))
        if form == "YYYYMM" and _MONTH_NAME.search(column.name):
            return Meaning("month", "text", (form,))
        if (epoch := _epoch(column, numbers, "text")) is not None:
            return epoch
    dates: Dates | None = date_form(values)
    if dates is None:
        return None
    return Meaning("month" if dates.months else "date", "text", dates.forms, dates.time, dates.times)


def _boolean(values: Sequence[str]) -> Meaning | None:
    """By words for true and false in one spelling; both must occur."""
    spelled = set(values)
    if len(spelled) != 2:
        return None
    for pair in _TRUE_FALSE:
        by_word = {value.lower(): value for value in spelled}
        if set(by_word) == set(pair):
            return Meaning("boolean", "text", values=(by_word[pair[0]], by_word[pair[1]]))
    return None


def _numbers(values: Sequence[str]) -> Meaning | None:
    if set(values) == {"0", "1"}:
        return Meaning("boolean", "text", values=("1", "0"))
    if are_numbers(values):
        return Meaning("number", "text", sorts=_sort(values, values))
    if any(_LEADING_ZERO.match(value) for value in values):
        return None
    if all(_GROUPED.fullmatch(value) for value in values):
        return Meaning("number", "text", grouped=True, sorts=_sort(values, values))
    return None


def _amount(values: Sequence[str]) -> Meaning | None:
    """Numbers with the same mark before or after each of them."""
    matches = [_AMOUNT.fullmatch(value) for value in values]
    parts = [match.groupdict("") for match in matches if match is not None]
    marks = {(part["before"].strip("+- "), part["after"]) for part in parts}
    if len(parts) != len(values) or len(marks) != 1:
        return None
    ((before, after),) = marks
    numbers = [part["number"] for part in parts]
    if not (before or after) or is_month(after.strip()) or any(_LEADING_ZERO.match(number) for number in numbers):
        return None
    plain = are_numbers(numbers)
    if not plain and not all(_GROUPED.fullmatch(number) for number in numbers):
        return None
    return Meaning("amount", "text", mark=before or after, grouped=not plain, sorts=_sort(values, numbers))


def _sort(values: Sequence[str], numbers: Sequence[str]) -> bool:
    """Whether the texts sort like the numbers in them."""
    known = dict(zip(values, (float(number.replace(",", "")) for number in numbers), strict=True))
    return [known[value] for value in sorted(known)] == sorted(known.values())

"""Times that a question counts from today, such as "the last 30 days" or "this year"."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from sqljury.language.words import NUMBER_WORDS

Kind = Literal["rolling", "calendar"]
Unit = Literal["day", "week", "month", "year"]


class Span(NamedTuple):
    """A time counted from today.

    ``rolling`` ends today and began ``amount`` units ago. ``calendar`` is the whole day, week, month or year
    ``amount`` units ago: 0 is this one, 1 the one before. ``words`` are those of the question.
    """

    kind: Kind
    amount: int
    unit: Unit
    words: str


_NUMBER: Final = rf"\d{{1,4}}|{'|'.join(NUMBER_WORDS[1:])}"
_UNITS: Final = "day|week|month|year"
_ROLLING: Final = re.compile(
    rf"\b(?:last|past|previous|preceding)\s+(?P<amount>{_NUMBER})\s+(?P<unit>{_UNITS})s?\b", re.IGNORECASE
)
_PAST: Final = re.compile(rf"\b(?:over|in|during|within|for) the past (?P<unit>{_UNITS})\b(?! of\b)", re.IGNORECASE)
_CALENDAR: Final = re.compile(
    rf"\b(?P<which>this|current|last|previous)\s+(?P<unit>{_UNITS})\b(?!\s+(?:of|in|when|with)\b)", re.IGNORECASE
)
_DAYS: Final = re.compile(r"\b(?P<day>today|yesterday)\b(?!['’]s\b)", re.IGNORECASE)
_SO_FAR: Final = re.compile(r"\b(?:year to date|year-to-date|ytd)\b", re.IGNORECASE)


def relative(question: str) -> Span | None:
    """The one time that a question counts from today; None where it has none, or several."""
    spans = [
        *(Span("rolling", _amount(match["amount"]), _unit(match), match[0]) for match in _ROLLING.finditer(question)),
        *(Span("rolling", 1, _unit(match), match[0]) for match in _PAST.finditer(question)),
        *(_calendar(match) for match in _CALENDAR.finditer(question)),
        *(Span("calendar", int(match[0].lower() != "today"), "day", match[0]) for match in _DAYS.finditer(question)),
        *(Span("calendar", 0, "year", match[0]) for match in _SO_FAR.finditer(question)),
    ]
    return spans[0] if len(spans) == 1 and spans[0].amount >= 0 else None


def _calendar(match: re.Match[str]) -> Span:
    before = match["which"].lower() in ("last", "previous")
    return Span("calendar", int(before), _unit(match), match[0])


def _unit(match: re.Match[str]) -> Unit:
    unit: Unit = match["unit"].lower()  # type: ignore[assignment]
    return unit


def _amount(text: str) -> int:
    return int(text) if text.isdigit() else NUMBER_WORDS.index(text.lower())

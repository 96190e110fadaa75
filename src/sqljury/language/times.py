"""Times that a question counts from today ("the last 30 days", "this year"), and months and years that it names."""

from __future__ import annotations

import calendar
import re
from datetime import date
from typing import Final, Literal, NamedTuple

from sqljury.language.words import NUMBER_WORDS, ORDINALS, number_said
from sqljury.patterns import regex

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
_ROLLING: Final = regex(
    rf"\b(?:last|past|previous|preceding)\s+(?P<amount>{_NUMBER})\s+(?P<unit>{_UNITS})s?\b", re.IGNORECASE
)
_PAST: Final = regex(rf"\b(?:over|in|during|within|for) the past (?P<unit>{_UNITS})\b(?! of\b)", re.IGNORECASE)
_CALENDAR: Final = regex(
    rf"\b(?!(?:last|previous)\s+day\b)(?P<which>this|current|last|previous)\s+(?P<unit>{_UNITS})\b"
    r"(?!\s+(?:of|in|when|with)\b)",
    re.IGNORECASE,
)
"""Not "the last day", which is the end of something, and not yesterday."""
_DAYS: Final = regex(r"\b(?P<day>today|yesterday)\b(?!['’]s\b)", re.IGNORECASE)
_SO_FAR: Final = regex(r"\b(?:year to date|year-to-date|ytd)\b", re.IGNORECASE)


def relative(question: str) -> Span | None:
    """The one time that a question counts from today; None where it has none, or several."""
    spans = [
        *(Span("rolling", _amount(match), _unit(match), match[0]) for match in _ROLLING.finditer(question)),
        *(Span("rolling", 1, _unit(match), match[0]) for match in _PAST.finditer(question)),
        *(_calendar(match) for match in _CALENDAR.finditer(question)),
        *(Span("calendar", int(match[0].lower() != "today"), "day", match[0]) for match in _DAYS.finditer(question)),
        *(Span("calendar", 0, "year", match[0]) for match in _SO_FAR.finditer(question)),
    ]
    return spans[0] if len(spans) == 1 and spans[0].amount >= 0 else None


_SINCE: Final = re.compile(
    r"\b(?:since|starting (?:in|from|with)|beginning (?:in|with))\W+(?:(?:the )?(?:start|beginning) of )?(?:the )?$",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"\bfrom (?:(?:the )?(?:start|beginning) of )?(?:the )?$", re.IGNORECASE)
_ON: Final = re.compile(r"\s+on(?:wards?)?\b", re.IGNORECASE)
_OR_LATER: Final = re.compile(r"\W*(?:onwards?|(?:or|and) (?:later|after(?:wards)?|newer|since))\b", re.IGNORECASE)
_OTHER_BOUND: Final = re.compile(
    r"\b(?:before|until|till|up to|by|prior to|after|(?:later|earlier|older|newer|more recent) than"
    r"|(?:start|end|beginning|middle) of)\W+(?:the )?$",
    re.IGNORECASE,
)
_POINT: Final = re.compile(
    r"['’]s (?:start|end|beginning|close)\b|\W*(?:or|and) (?:earlier|before|older)\b", re.IGNORECASE
)


def bound(question: str, span: Span) -> Literal["", "since", "other"]:
    """Whether a question speaks of the time from a span on ("since last year"), or of one before or after it."""
    before, _, after = question.partition(span.words)
    if _POINT.match(after):
        return "other"
    if _SINCE.search(before) or _OR_LATER.match(after) or (_FROM.search(before) and _ON.match(after)):
        return "since"
    return "other" if _OTHER_BOUND.search(before) else ""


def _calendar(match: re.Match[str]) -> Span:
    before = match["which"].lower() in ("last", "previous")
    return Span("calendar", int(before), _unit(match), match[0])


def _unit(match: re.Match[str]) -> Unit:
    unit: Unit = match["unit"].lower()  # type: ignore[assignment]
    return unit


def _amount(match: re.Match[str]) -> int:
    return int(number_said(match["amount"]))


MONTHS: Final = tuple(name.lower() for name in calendar.month_name)
"""The names of the months in lower case; January is 1."""
_MONTH: Final = "|".join(f"{name}|{name[:3]}" for name in MONTHS[1:]) + "|sept"
_YEAR: Final = r"(?:19|20)\d\d"
_NAMED_MONTH: Final = regex(
    rf"\b(?P<name>{_MONTH})\b\.?(?:\s*,\s*|\s+of\s+|\s+|-|/)(?P<year>{_YEAR})(?![\d:.,/-]*\d)"
    rf"|(?<![\d/.-])(?P<before>0?[1-9]|1[0-2])/(?P<year_after>{_YEAR})(?![\d/.-]*\d)"
    rf"|(?<![\w/.-])(?P<year_before>{_YEAR})[-/](?P<after>0[1-9]|1[0-2])(?![\w/.-]*\d)",
    re.IGNORECASE,
)
_NAMED_YEAR: Final = regex(rf"(?<![\w/.,:$€£#-]){_YEAR}(?![\w/:-]|[.,]\d)(?!\s*%)")
_PART_BEFORE: Final = regex(
    r"(?:\b(?:by|early|mid|late)|\b\d{1,2}(?:st|nd|rd|th)?|\b(?:first|last)|\b[a-z-]*(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth"
    r"|tenth|eleventh|twelfth|teenth|tieth))\W*(?:day\W+)?(?:of\W+)?(?:the\W+month\W+of\W+)?$",
    re.IGNORECASE,
)
_OTHER_TIMES: Final = regex(
    rf"\b(?:{_MONTH}|q[1-4]|quarters?|half|halves|h[12]|weeks?|weekdays?|weekends?|day|daily|today|yesterday|tonight"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|spring|summer|autumn|fall|winter|christmas|easter|new year\W?s?"
    r"|pentecost|whitsun|thanksgiving|halloween|ramadan|diwali|carnival|black friday|cyber monday"
    r"|fiscal|financial|fy|as of|as at|valid|effective|since|until|till|through|up to|before|after|between|prior"
    r"|later|earlier|onwards?|starts? of|beginning|begin|opening|closing|ends?|year-?end|month-?end|midnight|noon)\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)\b|\d:\d\d|\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?",
    re.IGNORECASE,
)
"""Words that name another time than a whole month or year, or a point of it."""


class Period(NamedTuple):
    """A month of a year, or a whole year where ``month`` is 0."""

    year: int
    month: int

    @property
    def first(self) -> date:
        """The first day."""
        return date(self.year, self.month or 1, 1)

    @property
    def last(self) -> date:
        """The last day."""
        month = self.month or 12
        return date(self.year, month, calendar.monthrange(self.year, month)[1])


def named_period(question: str) -> Period | None:
    """The one month with its year, or else the one year, that a question names; None beside a day or another time.

    "March 2024", "in March of 2024", "03/2024" and "2024-03" name a month, "1 March 2024" and "as of 2024" do not.
    """
    months = list(_NAMED_MONTH.finditer(question))
    matches = months or list(_NAMED_YEAR.finditer(question))
    periods = {_month(match) if months else Period(int(match[0]), 0) for match in matches}
    if len(periods) != 1 or any(_PART_BEFORE.search(question[: match.start()]) for match in matches):
        return None
    rest = (_NAMED_MONTH if months else _NAMED_YEAR).sub(" ", question)
    return None if _OTHER_TIMES.search(rest) or _NAMED_YEAR.search(rest) else periods.pop()


def _month(match: re.Match[str]) -> Period:
    if match["name"]:
        short = match["name"].lower()[:3]
        month = next(at for at, name in enumerate(MONTHS) if at and name.startswith(short))
        return Period(int(match["year"]), month)
    return Period(int(match["year_after"] or match["year_before"]), int(match["before"] or match["after"]))


_NTH: Final = rf"(?P<nth>{'|'.join(ORDINALS)}|last|final)"
_PARTS: Final = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NTH}[ -](?P<part>quarter|half) (?:of|in) (?:the year )?(?P<year>(?:19|20)\d\d)\b",
        r"\b(?P<part>q|h)(?P<nth>[1-4])(?: of| in|/|-)? ?(?P<year>(?:19|20)\d\d)\b",
        r"\b(?P<year>(?:19|20)\d\d)[ /-]?(?P<part>q|h)(?P<nth>[1-4])\b",
    )
)


_ANY_PART: Final = regex(r"\b(?:q[1-4]|h[12]|quarters?|half|halves)\b", re.IGNORECASE)
_FISCAL: Final = regex(
    r"\b(?:fiscal|financial|fy)(?:\b|\d)|\b(?:tax|business|school|academic) (?:year|quarter|half|[qh]\d)", re.IGNORECASE
)
_BEFORE_PART: Final = regex(
    rf"(?:\b(?:(?:{'|'.join(ORDINALS)}|last|final)\W+(?:and|or|to|through|until|till)|before|after|since|until|till"
    r"|through|up to|to|from|by|prior to|between|(?:later|earlier|older|newer) than|except(?: for)?|excluding"
    r"|outside(?: of)?|not in|without|(?:start|end|beginning|middle|rest|day|week|month) of)|[-–])\W*(?:\bthe )?$",
    re.IGNORECASE,
)
_AFTER_PART: Final = regex(
    r"\W*(?:(?:onwards?|(?:or|and) (?:later|earlier|after\w*|before|since)|to|through|until|till)\b|[-–])",
    re.IGNORECASE,
)
"""What is said before or after a part of a year that makes it another time: from it on, up to it, a piece of it."""


def part_of_year(question: str) -> tuple[date, date] | None:
    """The first and last day of the one quarter or half of a year that a question names.

    None beside other years and parts ("Q1 and Q2 2024"), for a time that begins or ends with it ("before Q3 2024"), and
    for fiscal years, which begin on any day.
    """
    matches = [match for pattern in _PARTS for match in pattern.finditer(question)]
    if len(matches) != 1 or len(_NAMED_YEAR.findall(question)) > 1:
        return None
    before, after = question[: matches[0].start()], question[matches[0].end() :]
    if _ANY_PART.search(f"{before} {after}") or _FISCAL.search(question):
        return None
    if _BEFORE_PART.search(before) or _AFTER_PART.match(after):
        return None
    parts = 4 if matches[0]["part"].lower() in ("quarter", "q") else 2
    ordinal = matches[0]["nth"].lower()
    nth = parts if ordinal in ("last", "final") else ORDINALS.get(ordinal) or int(ordinal)
    if nth > parts:
        return None
    year, month = int(matches[0]["year"]), 12 // parts * nth
    first = date(year, month - 12 // parts + 1, 1)
    return first, date(year, month, calendar.monthrange(year, month)[1])


_IN_PARTS: Final = regex(
    r"\b(?:(?:for |in |of )?(?:each|every) (?:calendar )?(?:quarter|month)|(?:per|by) (?:calendar )?(?:quarter|month)"
    r"|month by month|quarter by quarter|month-by-month|quarter-by-quarter|monthly|quarterly)\b",
    re.IGNORECASE,
)
_LESS_THAN_A_YEAR: Final = regex(
    r"\b(?:months?|quarters?|so far|to date|ytd|up to now|already|year-on-year|compared|than|first|last|remaining)\b",
    re.IGNORECASE,
)
"""What may make it a part of the year, or another time beside it."""


def year_in_parts(question: str) -> int | None:
    """The year of "for each quarter of 2024" or "month by month for 2024"; None beside any other time."""
    rest = _IN_PARTS.sub(" ", question)
    if rest == question or _LESS_THAN_A_YEAR.search(rest):
        return None
    period = named_period(rest)
    return None if period is None or period.month else period.year

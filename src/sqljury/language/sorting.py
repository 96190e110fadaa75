"""The order of rows that an English question asks for: "highest total first, then by name"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqljury.language.cues import HIGHEST, LOWEST, ranked
from sqljury.patterns import regex

_ENDS: Final = regex(
    rf"\b(?:(?P<up>most|{HIGHEST}|busiest|dearest)|(?P<down>least|{LOWEST}))\b(?P<of>(?: [\w'-]+){{0,3}}?) first"
    r"(?=\s*(?:[,.;:)?!]|$|(?:and|then|within|for|in each)\b))",
    re.IGNORECASE,
)
_BARE: Final = frozenset(("highest", "largest", "biggest", "greatest", "lowest", "smallest"))
"""Ends that say nothing of what is sorted by."""
_NAMED: Final = r"(?:the |its |their )?(?P<by>[\w' -]{2,40}?)(?=[,.;:()?!]|$| (?:and )?then\b)"
_BY: Final = regex(
    rf"(?:\b(?:sort|order|arrang)\w* (?:alphabetically )?by|\balphabetical(?:ly)? by|\bin order of|[,;:] by) {_NAMED}",
    re.IGNORECASE,
)
_THEN: Final = regex(
    r"(?:\b(?:then|lastly|last|finally|(?:equal|same|tied)(?: [\w-]+){0,2}|ties(?: broken)?) (?:alphabetically )?by"
    rf"|(?<=[\w)], )then) {_NAMED}",
    re.IGNORECASE,
)
_DIRECTED: Final = regex(
    rf"\b(?:first|last(?! name)|descending|desc|down|latest|newest|recent|reverse\w*|each|{HIGHEST}|{LOWEST}"
    r"|high to low|large to small)\b(?! name)",
    re.IGNORECASE,
)
_ALPHABETICAL: Final = regex(
    r"(?:[,;:.(]|\bin|\band) (?:an? |the )?alphabetical(?:ly)?(?: (?:order(?:ed)?|sorted|list(?:ed)?))?"
    r"(?=\s*(?:[.;?!)]|$))"
    r"|\b(?:sort|order|list|arrang)\w* (?:[\w' -]{1,40} )?alphabetically(?=\s*(?:[.;?!)]|$))|\ba (?:to|-) z\b",
    re.IGNORECASE,
)
_OTHER_WAY: Final = regex(r"\b(?:reverse\w*|descending|z (?:to|-) a)\b", re.IGNORECASE)
_COMES_FIRST: Final = (
    r"(?: [\w'-]+){0,3}? (?:first(?=\s*(?:[,.;:)?!]|$|(?:and|then|within|for|in each)\b))|(?:at|on) (?:the )?top\b)"
)
_LATEST: Final = regex(rf"\b(?:latest|newest|youngest|(?:most|more) recent(?:ly)?)\b{_COMES_FIRST}", re.IGNORECASE)
_EARLIEST: Final = regex(
    rf"\b(?:earliest|soonest|oldest|longest[ -](?:overdue|ago|due|serving|standing|waiting|running|open|outstanding))\b"
    rf"{_COMES_FIRST}",
    re.IGNORECASE,
)
_NEAR: Final = 30
"""Characters after the name of what is sorted by in which its direction may stand."""
_END: Final = regex(r"[.;?!]|\bthen\b")


@dataclass(frozen=True, slots=True)
class Sorting:
    """What a question says of the order of its rows.

    ``descending``: whether the greatest come first, by "highest total first"; None where nothing of the kind is said,
    or more than once. ``of``: the words between, "total"; where there are none, a word such as "busiest". ``by`` and
    ``then``: what "sorted by" and "then by" name, in their order; none at all where one of them has a direction, within
    its words or behind them. ``named``: whether "sorted by" is said. ``listed``: what stands between it and "then by",
    which may name several columns. ``alphabetical``: whether that is said, of nothing
    in particular.
    """

    descending: bool | None = None
    of: str = ""
    by: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    named: bool = False
    listed: str = ""
    alphabetical: bool = False


def sorting(question: str) -> Sorting:
    """The order that a question asks for."""
    ends = list(_ENDS.finditer(question))
    single = ends[0] if len(ends) == 1 else None
    by, then = _BY.search(question), _THEN.search(question)
    return Sorting(
        descending=None if single is None else single["up"] is not None,
        of="" if single is None else _of(single),
        by=_named(_BY, question),
        then=_named(_THEN, question),
        named=by is not None,
        listed=question[by.start() : then.start()].strip(" ,") if by is not None and then is not None else "",
        alphabetical=bool(_ALPHABETICAL.search(question)) and not _OTHER_WAY.search(question),
    )


def only_sorts(question: str) -> bool:
    """Whether the question names an end of an order only to say which rows come first."""
    return bool(_ENDS.search(question)) and not ranked(_ENDS.sub("", question))


def latest_first(question: str) -> bool | None:
    """Whether the latest days come first ("newest first"), or the earliest ("soonest first", "longest overdue first").

    None where the question says neither, or says it more than once.
    """
    latest, earliest = len(_LATEST.findall(question)), len(_EARLIEST.findall(question))
    return bool(latest) if latest + earliest == 1 else None


def _of(match: re.Match[str]) -> str:
    end = (match["up"] or match["down"]).lower()
    return match["of"].strip().lower() or ("" if end in _BARE else end)


def _named(pattern: re.Pattern[str], question: str) -> tuple[str, ...]:
    matches = list(pattern.finditer(question))
    behind = [_END.split(question[match.end() : match.end() + _NEAR], maxsplit=1)[0] for match in matches]
    named = tuple(match["by"].strip().lower() for match in matches)
    return () if any(map(_DIRECTED.search, (*named, *behind))) else named

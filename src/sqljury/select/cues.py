"""Words of an English question that call for something in its query, and whether the query has it.

A question in another language has no cues: then a query with COUNT is as good as one without, which is no worse than
not looking. The lists were written by reading questions of Spider's training split.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqljury.select.anatomy import Anatomy


@dataclass(frozen=True, slots=True)
class Cue:
    """What words call for any of some elements of ``Anatomy``; ``strict``: without the words none is expected."""

    name: str
    words: re.Pattern[str]
    elements: frozenset[str]
    strict: bool = True


def _cue(name: str, words: str, elements: str, strict: bool = True) -> Cue:
    return Cue(name, re.compile(rf"\b(?:{words})\b", re.IGNORECASE), frozenset(elements.split()), strict)


GREATEST: Final = "most|highest|largest|biggest|greatest|longest|maximum|max|latest|newest|top|heaviest|tallest|richest"
SMALLEST: Final = "least|lowest|smallest|fewest|shortest|minimum|min|earliest|lightest|cheapest|worst"
_ALTERNATIVES: Final = "or|either|both|and also|as well as"
_COMPARED: Final = (
    r"more than|less than|fewer than|(?:great|old|young|long|short|high|low|large|small|bigg|heavi)er than|at least|"
    r"at most|above|below|over|under|between|before|after|exceed\w*|or more|or less|not exceeding|since|within"
)
CUES: Final = (
    _cue("count", "how many|how often|numbers? of|counts?|amount of|most|least|fewest|more than|at least", "count"),
    _cue("average", "averages?|mean", "avg"),
    _cue("sum", "total|sum|overall|altogether|combined", "sum count"),
    _cue("extreme", rf"{GREATEST}|{SMALLEST}|oldest|youngest|best|first|last|\w+est", "limit max min"),
    _cue("distinct", "different|distinct|unique|various", "distinct"),
    _cue(
        "sorted", r"order(?:ed)?|sort(?:ed)?|alphabetical(?:ly)?|ascending|descending|rank(?:ed)?|from .* to", "sorted"
    ),
    _cue("group", rf"each|every|per|{GREATEST}|{SMALLEST}|more than|at least|common|popular", "group"),
    _cue("negation", r"not|no|never|without|except|excluding|nor|neither|other than|\w+n['’]t|none", "not"),
    _cue("either", _ALTERNATIVES, "or both", strict=False),
    _cue("compare", _COMPARED, "compare having limit", strict=False),
    _cue(
        "like", r"contain\w*|starts?|starting|begins?|beginning|ends? with|ending|letters?|includ\w+|substring", "like"
    ),
)
_UP: Final = re.compile(rf"\b(?:{GREATEST}|descending)\b", re.IGNORECASE)
_DOWN: Final = re.compile(rf"\b(?:{SMALLEST})\b", re.IGNORECASE)


def missing(question: str, query: Anatomy) -> dict[str, float]:
    """By cue 1 where the question has it and the query nothing for it, else 0."""
    return {cue.name: float(bool(cue.words.search(question)) and not cue.elements & query.elements) for cue in CUES}


def uncalled(question: str, query: Anatomy) -> dict[str, float]:
    """By strict cue 1 where the query has an element that no word of the question calls for, else 0."""
    return {
        cue.name: float(bool(cue.elements & query.elements) and not cue.words.search(question))
        for cue in CUES
        if cue.strict
    }


def direction(question: str, query: Anatomy) -> float:
    """1 where question and query agree on the greatest or the smallest, -1 where they differ, 0 where one is silent."""
    asked = bool(_UP.search(question)) - bool(_DOWN.search(question))
    given = bool({"up", "max"} & query.elements) - bool({"down", "min"} & query.elements)
    return float(asked * given)

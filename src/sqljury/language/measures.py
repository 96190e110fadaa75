"""Units of weight, length and time in a question, beside those that columns hold by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from sqljury.language.words import NUMBER_WORDS, words

_SPELT: Final[Mapping[str, str]] = {
    "t": r"tonnes?|(?:metric )?tons?",
    "kg": r"kg|kgs|kilos?|kilogram(?:me)?s?",
    "g": r"g|grams?|grammes?",
    "km": r"km|kilomet(?:re|er)s?",
    "m": r"m|met(?:re|er)s?",
    "cm": r"cm|centimet(?:re|er)s?",
    "mm": r"mm|millimet(?:re|er)s?",
    "h": r"hours?|hrs?",
    "min": r"minutes?|mins?",
    "s": r"seconds?|secs?",
    "l": r"lit(?:re|er)s?",
    "ml": r"ml|millilit(?:re|er)s?",
}
_LARGER: Final[Mapping[str, Mapping[str, int]]] = {
    "kg": {"t": 1000},
    "g": {"kg": 1000, "t": 1_000_000},
    "m": {"km": 1000},
    "cm": {"m": 100},
    "mm": {"cm": 10, "m": 1000},
    "min": {"h": 60},
    "s": {"min": 60, "h": 3600},
    "ml": {"l": 1000},
}
"""By unit the larger ones of its kind, and how often they contain it."""
_ANYWHERE: Final[Mapping[str, str]] = {"kg": "kg", "kilogram": "kg", "cm": "cm", "mm": "mm", "ml": "ml"}
_LAST: Final[Mapping[str, str]] = {"gram": "g", "metre": "m", "meter": "m", "minute": "min", "second": "s"}
"""Words of a column's name by unit; those of ``_LAST`` only at its end."""
_OF_OTHER_THINGS: Final = re.compile(
    r"\b(?:opening|office|working|business|rush|peak|happy|man|labour|crew|shift|school|visiting|core) hours?\b",
    re.IGNORECASE,
)
_COUNTS: Final = "|".join(NUMBER_WORDS[1:])
_NUMBER: Final = rf"\d+(?:,\d{{3}})*(?:\.\d+)?|{_COUNTS}"


def unit_of(column: str) -> str:
    """The unit that a column holds by its name; empty where the name has none."""
    named = words(column)
    found = {_ANYWHERE[word] for word in named if word in _ANYWHERE} | {_LAST.get(word, "") for word in named[-1:]}
    return found.pop() if len(found := found - {""}) == 1 else ""


def wanted_unit(question: str, unit: str) -> tuple[str, int] | None:
    """The one larger unit in which a question wants figures of a unit, and how often it contains that; or None.

    Not one with a number before it ("over 5 tonnes"), nor one that something is counted by ("per tonne", "an hour");
    and none where the question names the unit itself.
    """
    text = _OF_OTHER_THINGS.sub(" ", question)
    if unit not in _LARGER or _wants(text, unit):
        return None
    found = [(larger, times) for larger, times in _LARGER[unit].items() if _wants(text, larger)]
    return found[0] if len(found) == 1 else None


def given(question: str, unit: str) -> dict[Decimal, Decimal]:
    """The numbers that a question gives in larger units than this one, and what they are in it."""
    found: dict[Decimal, Decimal] = {}
    for larger, times in _LARGER.get(unit, {}).items():
        for match in re.finditer(rf"(?<![\d.,])({_NUMBER})[ -](?:{_SPELT[larger]})\b", question, re.IGNORECASE):
            number = match[1].lower().replace(",", "")
            value = Decimal(NUMBER_WORDS.index(number) if number in NUMBER_WORDS else number)
            found[value] = value * times
    return found


def _wants(text: str, unit: str) -> bool:
    before = rf"(?<![\w.,])(?:({_NUMBER}|per|a|an|each|every|by|half|m|/)[ -]+)?"
    return any(match[1] is None for match in re.finditer(rf"{before}\b(?:{_SPELT[unit]})\b", text, re.IGNORECASE))

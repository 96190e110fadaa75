"""Units of weight, length and time in a question, beside those that columns hold by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from sqljury.language.words import NUMBER_WORDS, number_said, words

_SPELT: Final[Mapping[str, str]] = {
    "t": r"tonnes?|tons?|t",
    "kg": "kg|kgs|kilos?|kilograms?|kilogrammes?",
    "g": "g|grams?|grammes?",
    "km": "km|kilomet[er]{2}s?",
    "m": "m|met[er]{2}s?",
    "cm": "cm|centimet[er]{2}s?",
    "mm": "mm|millimet[er]{2}s?",
    "h": "hours|hrs|h",
    "min": "minutes|mins|min",
    "s": "seconds|secs|s",
    "l": "lit[er]{2}s?",
    "ml": "ml|millilit[er]{2}s?",
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
_RATES: Final = frozenset(("per", "price", "rate", "cost", "fee", "eur", "usd"))
_SHORT: Final = 4
"""The most letters of an abbreviation, which counts as a unit only in lower case behind "in" or a bracket."""
_ASKED: Final = "in|into|how many|number of|totals?|sum of|average|mean"
"""Words before a unit in which figures are asked for."""
_COUNTS: Final = "|".join(NUMBER_WORDS[1:])
_NUMBER: Final = rf"\d+(?:,\d{{3}})*(?:\.\d+)?|{_COUNTS}"


def unit_of(column: str) -> str:
    """The unit that a column holds by its name; empty where the name has none, or says "per" or "price"."""
    named = words(column)
    units = {_ANYWHERE[word] for word in named if word in _ANYWHERE} | {_LAST.get(word, "") for word in named[-1:]}
    return units.pop() if len(units := units - {""}) == 1 and not _RATES.intersection(named) else ""


def has_unit(column: str, unit: str) -> bool:
    """Whether a column's name has a unit among its words, in full or short."""
    return any(re.fullmatch(_SPELT[unit], form) for word in words(column) for form in (word, f"{word}s"))


def wanted_unit(question: str, unit: str) -> tuple[str, int] | None:
    """The one larger unit in which a question wants figures of a unit, and how often it contains that; or None.

    It must be asked for as such ("in hours", "how many tonnes", "total tonnes"), with no number before it ("over 5
    tonnes") and not as what something is counted by ("per tonne", "hour of the day"). None where the question names
    the unit itself.
    """
    if unit not in _LARGER or _names(question, unit):
        return None
    larger_units = [(larger, times) for larger, times in _LARGER[unit].items() if _wants(question, larger)]
    return larger_units[0] if len(larger_units) == 1 else None


def given(question: str, unit: str) -> dict[Decimal, Decimal]:
    """The numbers that a question gives in larger units than this one, and what they are in it."""
    converted: dict[Decimal, Decimal] = {}
    for larger, times in _LARGER.get(unit, {}).items():
        for match in re.finditer(rf"(?<![\d.,])({_NUMBER})[ -](?:{_SPELT[larger]})\b", question, re.IGNORECASE):
            value = number_said(match[1])
            converted[value] = value * times
    return converted


def _names(text: str, unit: str) -> bool:
    return bool(re.search(rf"(?<!\w)(?:{_SPELT[unit]})\b", text, re.IGNORECASE))


def _wants(text: str, unit: str) -> bool:
    full = "|".join(word for word in _SPELT[unit].split("|") if len(word) > _SHORT)
    asked = rf"(?:^\W*|\b(?:{_ASKED}) (?:whole |full )?)(?:{full})\b"
    short = "|".join(word for word in _SPELT[unit].split("|") if len(word) <= _SHORT)
    abbreviated = rf"(?:\bin |\()(?:{short})(?=[\s,.;:)?!]|$)" if short else r"(?!)"
    return bool(re.search(asked, text, re.IGNORECASE) or re.search(abbreviated, text))

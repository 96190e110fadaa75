"""Amounts of money in a question, and the unit in which it asks for them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from sqljury.patterns import regex

_UNIT: Final = (
    r"(?:euros?|dollars?|pounds?|francs?|kron(?:or|er|a|e)|zlotys?|rupees?|pesos?)\b"
    r"|(?-i:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|AUD|CAD)\b"
)
CURRENCIES: Final = {
    "EUR": "euros?",
    "USD": "(?:us |american )?dollars?",
    "GBP": "(?:british )?pounds?(?: sterling)?|sterling",
    "CHF": "(?:swiss )?francs?",
    "JPY": "(?:japanese )?yen",
    "SEK": "(?:swedish )?kron(?:a|or)",
    "DKK": "(?:danish )?kroner",
    "NOK": "(?:norwegian )?kroner",
    "PLN": "(?:polish )?zlot(?:y|ys)",
    "CZK": "(?:czech )?(?:crowns|koruna)",
    "INR": "(?:indian )?rupees?",
    "CNY": "(?:chinese )?(?:yuan|renminbi)",
    "AUD": "australian dollars?",
    "CAD": "canadian dollars?",
    "NZD": "new zealand dollars?",
}
"""By code of a currency a pattern of its names, in lower case."""
_SIGN: Final = "[€$£]"
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)?(?![\d,])"
_SCALE: Final = r"(?!\s*(?:k|m|bn|thousand|million|billion)\b)"
_PRICED: Final = regex(
    rf"(?:\b(?P<low>{_NUMBER})(?:\s*(?:and|to|or)\s+|\s*[-–]\s*))?"
    rf"(?:{_SIGN}\s?(?P<after>{_NUMBER}){_SCALE}|(?<![\d.,])(?P<before>{_NUMBER})[\s-]*(?:{_SIGN}|\b(?:{_UNIT})))",
    re.IGNORECASE,
)
_LOW: Final = regex(rf"{_SIGN}\s?(?P<after>{_NUMBER})(?=\s*(?:and|to|or|[-–])\s)", re.IGNORECASE)
_MAIN: Final = regex(rf"\b(?:{_UNIT})|{_SIGN}", re.IGNORECASE)
SMALL_UNITS: Final = "cents?|ct|cts|penn(?:y|ies)|pence|centimes?|rappen|[oö]re|øre|grosz\\w*|paise|centavos?"
"""Alternatives of a pattern: the units of which a hundred make a main one."""
_MINOR: Final = regex(rf"(?<!per )\b(?:{SMALL_UNITS})\b|¢|\bminor (?:currency )?units?\b", re.IGNORECASE)
_MONEY: Final = regex(
    r"\b(?:money|prices?|costs?|fees?|fares?|payments?|revenues?|sales|salar(?:y|ies)|wages?|incomes?|turnovers?|profits?"
    r"|budgets?|taxes|tax|vat|invoices?|bills?|spen[dt]\w*|pay|paid|earn\w*|expens\w+|donat\w+)\b",
    re.IGNORECASE,
)
_UNCLEAR: Final = regex(
    r"\b(?:thousands?|millions?|billions?|convert\w*|exchange\w*|currenc(?:y|ies)|ratio"
    r"|weigh\w*|heav\w+|mass|lbs?)\b|k[€$]",
    re.IGNORECASE,
)


def main_unit(question: str) -> bool:
    """Whether figures are asked for in euros, dollars or the like: a unit is named, and not with a number alone.

    Not where cents, thousands, another currency or pounds of weight may be meant.
    """
    rest = _PRICED.sub(" ", question)
    return bool(_MAIN.search(rest)) and not (_MINOR.search(question) or _UNCLEAR.search(question))


def speaks_of_money(question: str) -> bool:
    """Whether a question has a word of money, or one of its units."""
    return any(pattern.search(question) for pattern in (_MAIN, _MINOR, _MONEY))


def amounts(question: str) -> frozenset[Decimal]:
    """The numbers that a question gives as amounts in euros, dollars or the like; none where it names cents too."""
    if _MINOR.search(question):
        return frozenset()
    matches = [match.groupdict() for pattern in (_PRICED, _LOW) for match in pattern.finditer(question)]
    return frozenset(Decimal(text.replace(",", "")) for match in matches for text in match.values() if text)

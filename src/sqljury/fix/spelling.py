"""Spellings of one text."""

from __future__ import annotations

import re
from typing import Final

_ALIKE: Final = 60
"""Per cent of letters in common, by the ratio of rapidfuzz, from which a text may be a misspelling of another."""


def letters(text: str) -> str:
    """The letters and digits of a text, without case."""
    return "".join(character for character in text.casefold() if character.isalnum())


def digits(text: str) -> list[int]:
    """The numbers that a text holds, in their order."""
    return [int(run) for run in re.findall(r"\d{1,18}", text)]


def is_number(text: str) -> bool:
    """Whether the whole text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def respelt(old: str, new: str) -> bool:
    """Whether one text may be another spelling of the other: a typo, an abbreviation, initials; numbers are the same.

    Only for a text that its column does not have: ``male`` and ``female`` are alike too.
    """
    from rapidfuzz import fuzz

    ours, theirs = letters(old), letters(new)
    if not ours or not theirs or sorted(digits(old)) != sorted(digits(new)):
        return False
    short = ours.startswith(theirs) or theirs.startswith(ours)
    abbreviated = _initials(old).startswith(theirs) or _initials(new).startswith(ours)
    return short or abbreviated or fuzz.ratio(ours, theirs) >= _ALIKE


def _initials(text: str) -> str:
    return "".join(word[0] for word in re.findall(r"\w+", text.casefold()) if word not in ("of", "the", "and"))

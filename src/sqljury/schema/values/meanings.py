"""Ways to write a text whose meaning is compared, and what the vectors of meanings cannot be trusted with."""

from __future__ import annotations

from typing import Final

from sqljury.schema.embed import is_token, tokens

COLUMN_VALUES: Final = 2_000
"""Columns with more different values than this hold names rather than notions; their meaning is not looked at."""
ALL_VALUES: Final = 50_000
"""Values in all whose meaning is looked at, those of the columns with the fewest first; 1 KB each."""

_ABBREVIATION: Final = 4


def forms(text: str) -> list[str]:
    """The ways to write a text that is searched for, of which one may be nearer to a value's than another."""
    if text.isupper():  # perhaps an abbreviation, which is no word in small letters
        return [text]
    return list(dict.fromkeys((text, usual(text), text.title())))


def usual(text: str) -> str:
    """Small letters where all words are known in these, as most are but names; long words in capitals too."""
    lowered = text.lower()
    if len(text) > _ABBREVIATION and text.isupper():
        return lowered
    return lowered if all(is_token(word) for word in lowered.split()) else text


def knows(text: str) -> bool:
    """Whether all words are of the model's own vocabulary, so that they are hardly misspelt."""
    return all(any(map(is_token, {word, word.lower(), word.title()})) for word in text.split())


def shares_pieces_only(one: str, other: str) -> bool:
    """Whether two texts share pieces of words but no word: then their vectors are alike for no reason of meaning."""
    words = set(one.lower().split()) & set(other.lower().split())
    return not words and any(set(tokens(form)) & set(tokens(other)) for form in forms(one))

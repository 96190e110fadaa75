"""Questions without what belongs to their database, so that those of different databases can be compared by form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sqljury.schema.alike import STOP
from sqljury.schema.words import words

MASK: Final = "_"

# A sentence's first word has its capital from its place, so it must follow something to count as a name.
_VALUE: Final = re.compile(
    r"\"[^\"]{1,80}\"|“[^”]{1,80}”|‘[^’]{1,80}’|(?<!\w)'[^']{1,80}'(?!\w)|`[^`]{1,80}`"
    r"|\b\d[\w.,:/-]*\w|\b\d\b"
    r"|(?<=[^\W_][,;:)]\s)[A-Z][\w'’-]*|(?<=[^\W_]\s)[A-Z][\w'’-]*"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|_")
_ASKING: Final = """
    above after amongst at ascending before below count descending difference earlier earliest fewer fewest first
    greater last later latest longer longest max maximum mean min minimum newest number numbers older oldest order
    percent percentage ratio share shorter shortest since smaller sum top total twice unique youngest
"""
_KEPT: Final = STOP | frozenset(_ASKING.split())


def name_words(names: Iterable[str]) -> frozenset[str]:
    """The words of names and values, as ``mask`` meets them in a question."""
    return frozenset(word for name in names for word in words(name[:200]) if len(word) > 1)


def mask(question: str, known: frozenset[str]) -> str:
    """The question's words in lower case, with one mask for each run of values and of words that are ``known``.

    Values are what is quoted, numbers, and words with a capital within a sentence. Words that say what is asked for
    (number, most, average) are kept even where a column is called so.
    """
    found: list[str] = []
    for match in _WORD.finditer(_VALUE.sub(f" {MASK} ", question)):
        word = match[0].lower()
        stem = word.removesuffix("'s").removesuffix("’s")
        masked = word == MASK or (stem not in _KEPT and known.issuperset(words(stem)))
        if not masked:
            found.append(word)
        elif not found or found[-1] != MASK:
            found.append(MASK)
    return " ".join(found)

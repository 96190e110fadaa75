"""Questions with the names and values of their database masked, so that questions on different databases compare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqljury.language.words import FORM_WORDS, words
from sqljury.patterns import regex

MASK: Final = "_"

# The first word of a sentence has a capital anyway, so a name must follow something.
_VALUE: Final = regex(
    r"\"[^\"]{1,80}\"|“[^”]{1,80}”|‘[^’]{1,80}’|(?<!\w)'[^']{1,80}'(?!\w)|`[^`]{1,80}`"
    r"|\b\d[\w.,:/-]*\w|\b\d\b"
    r"|(?<=[^\W_][,;:)]\s)[A-Z][\w'’-]*|(?<=[^\W_]\s)[A-Z][\w'’-]*"
)
_WORD: Final = regex(r"[^\W\d_]+(?:['’][^\W\d_]+)?|_")


def name_words(names: Iterable[str]) -> frozenset[str]:
    """The words of names and values, as ``mask`` compares them with a question's."""
    return frozenset(word for name in names for word in words(name[:200]) if len(word) > 1)


def mask(question: str, known: frozenset[str]) -> str:
    """The question's words in lower case, with one mask for each run of values and of words that are ``known``.

    Values are quoted texts, numbers, and words with a capital within a sentence. Words that say what is asked for
    (number, most, average) are kept even where a column has that name.
    """
    kept: list[str] = []
    for match in _WORD.finditer(_VALUE.sub(f" {MASK} ", question)):
        word = match[0].lower()
        stem = word.removesuffix("'s").removesuffix("’s")
        masked = word == MASK or (stem not in FORM_WORDS and known.issuperset(words(stem)))
        if not masked:
            kept.append(word)
        elif not kept or kept[-1] != MASK:
            kept.append(MASK)
    return " ".join(kept)

"""The text of several that shares most with a question: by runs of words, then by runs of letters.

The two stages by which the ESM+ paper matches example values to a question (A.2, after Qi et al. 2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqljury.patterns import regex

_WORD: Final = regex(r"\w+")
_LONGEST: Final = 5
"""Words of the longest run that is compared."""
_LETTERS: Final = 3
_CHARS: Final = 2_000
"""What is compared of a text."""


class Matcher:
    """Compares texts with one question."""

    def __init__(self, question: str) -> None:
        words = _words(question)
        self._runs = [frozenset(_runs(words, size)) for size in range(1, _LONGEST + 1)]
        self._letters = _grams(question)

    def best(self, texts: Iterable[str]) -> str | None:
        """The text with the longest run of the question's words, by the share of its words that are in such runs.

        Where none has a word of the question, or several are equal, the share of common runs of three letters decides;
        of equal ones the first. None for no texts.
        """
        listed = list(dict.fromkeys(texts))
        if not listed:
            return None
        by_words = [self._by_words(text) for text in listed]
        most = max(by_words)
        tied = [text for text, score in zip(listed, by_words, strict=True) if score == most]
        return tied[0] if len(tied) == 1 else max(tied, key=self._by_letters)

    def _by_words(self, text: str) -> tuple[int, float]:
        """The size of the longest common run of words, and the share of the text's words that the question has."""
        words = _words(text)
        if not words:
            return 0, 0.0
        sizes = range(min(_LONGEST, len(words)), 0, -1)
        longest = next((size for size in sizes if self._runs[size - 1].intersection(_runs(words, size))), 0)
        return longest, sum((word,) in self._runs[0] for word in words) / len(words) if longest else 0.0

    def _by_letters(self, text: str) -> float:
        grams = _grams(text)
        return len(grams & self._letters) / len(grams | self._letters) if grams else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_CHARS].casefold())


def _runs(words: Sequence[str], size: int) -> Iterable[tuple[str, ...]]:
    return (tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def _grams(text: str) -> frozenset[str]:
    padded = f"  {' '.join(_words(text))} "
    return frozenset(padded[at : at + _LETTERS] for at in range(len(padded) - _LETTERS + 1))

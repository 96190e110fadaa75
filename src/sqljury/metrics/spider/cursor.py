"""A position in a list of words, which both readers of the benchmark's SQL move along."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


class Cursor:
    """The words and where reading is; ``fail`` raises for what the reader's grammar does not have."""

    def __init__(self, words: list[str], fail: Callable[[str], NoReturn]) -> None:
        self._words = words
        self._at = 0
        self._fail = fail

    def _peek(self, ahead: int = 0) -> str:
        """The next word, or one after it; empty at the end: no word is."""
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else ""

    def _next(self) -> str:
        word = self._peek()
        if not word:
            self._fail("the query ends too early")
        self._at += 1
        return word

    def _skip(self, word: str) -> bool:
        """Move past the next word if it is this one."""
        found = self._peek() == word
        self._at += found
        return found

    def _expect(self, word: str) -> None:
        if not self._skip(word):
            self._fail(f"{self._peek() or 'the end'!r} where {word!r} is needed")

"""Names of tables and columns for what comes from files, and what is wrong with these."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_NOT_WORD: Final = re.compile(r"\W+")
_PATTERN: Final = re.compile(r"[*?\[]")


class FileError(Exception):
    """What is wrong with a file, in words for its user."""


def as_pattern(path: str) -> str:
    """The path as DuckDB's readers take it, which read ``[p].csv`` as a pattern for ``p.csv``."""
    return _PATTERN.sub(r"[\g<0>]", path)


class Names:
    """Gives out names that differ by more than the case of their letters."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def table(self, stem: str) -> str:
        """A name from a file's stem or a sheet's title that needs no quotes; letters of every script are kept."""
        base = _NOT_WORD.sub("_", unicodedata.normalize("NFC", stem)).strip("_") or "data"
        return self.column(f"t_{base}" if base[0].isdigit() else base)

    def column(self, title: str) -> str:
        """The title itself where it is still free, else with a number behind it."""
        name, number = title, 1
        while name.lower() in self._taken:
            number += 1
            name = f"{title}_{number}"
        self._taken.add(name.lower())
        return name

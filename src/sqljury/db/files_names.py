"""What readers of files share: names of tables and columns, telling a header, and room on disk for copies."""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Final, Self

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


def is_header(row: Sequence[Any], below: Sequence[Any]) -> bool:
    """Whether a first row names columns: texts alone, or with years in even steps, as above the columns of a pivot.

    Where what stands ``below`` the years are years too, they are data.
    """
    numbers = [cell for cell in row if isinstance(cell, int) and not isinstance(cell, bool)]
    others = [cell for cell in row if cell is None or isinstance(cell, str)]
    if not others or len(numbers) + len(others) < len(row):
        return False
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    under = [cell for cell, above in zip(below, row, strict=False) if isinstance(above, int)]
    return not numbers or (_years(numbers) and len(steps) == 1 and 0 not in steps and not _years(under))


def _years(cells: Sequence[Any]) -> bool:
    return bool(cells) and all(isinstance(cell, int) and 1900 <= cell <= 2100 for cell in cells)


def quoted(name: str) -> str:
    """The name as SQL has it, in quotes."""
    return '"' + name.replace('"', '""') + '"'


class Room:
    """What a folder may hold, ``limit`` bytes in all."""

    def __init__(self, folder: str, limit: int) -> None:
        self._folder, self._limit = folder, limit

    def left(self) -> int:
        """The bytes still free; raises ``FileError`` when there are none."""
        with os.scandir(self._folder) as entries:
            free = self._limit - sum(entry.stat().st_size for entry in entries)
        if free <= 0:
            self.refuse()
        return free

    def refuse(self) -> None:
        """Raise ``FileError``."""
        raise FileError(
            f"must be copied to be read, and the copies would take more than {self._limit // 1024**2} MiB in all; "
            "give fewer files, or this one as plain CSV in UTF-8"
        )


class Copy:
    """A text file in UTF-8 being written anew, for which there must be room."""

    def __init__(self, path: str, room: Room) -> None:
        self._room, self._left = room, room.left()
        self._file = open(path, "wb")  # noqa: SIM115 - closed by __exit__

    def write(self, text: str) -> None:
        """Append the text; raises ``FileError`` where there is no room for it."""
        data = text.encode()
        self._left -= len(data)
        if self._left < 0:
            self._room.refuse()
        self._file.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

"""How much of the disk the copies of files and the database built for them may take, all together."""

from __future__ import annotations

import os
from typing import Final, Self

from sqljury.db.files_names import FileError

_MIB: Final = 1024**2


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
            f"must be copied to be read, and the copies would take more than {self._limit // _MIB} MiB in all; "
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

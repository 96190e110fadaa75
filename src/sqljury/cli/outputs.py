"""Where tables are written: opened before the long work, and never over a file that holds something else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sqljury.errors import InputError


class TableFile:
    """A TSV file that will be written once, at the end."""

    def __init__(self, stream: IO[str], regular: bool) -> None:
        self._stream = stream
        self._regular = regular
        self.written = False

    def write(self, text: str) -> None:
        """Put ``text`` in the place of what was there."""
        if self._regular:
            self._stream.seek(0)
            self._stream.truncate()
        self.written = True
        self._stream.write(text)


@contextmanager
def table_file(file: Path | None, header: str, inputs: Iterable[Path | None] = ()) -> Iterator[TableFile | None]:
    """A place for a table whose first line begins with ``header``; None for no file.

    Raises ``InputError`` for a file that is among ``inputs`` (or in one that is a folder), one that is there and is
    neither empty nor such a table, and one that cannot be written. A new file is gone again if nothing is written.
    """
    if file is None:
        yield None
        return
    _refuse_inputs(file, inputs)
    new = not file.exists()
    regular = new or file.is_file()
    if file.is_block_device():
        raise InputError(f"{file}: is a whole disk; name a file")
    try:
        # Whatever is there stays until the new table is.
        stream = file.open("a+" if regular else "w", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror}); name another file") from None
    with stream:
        if regular:
            stream.seek(0)
            begins = stream.read(len(header))
            if begins not in ("", header):
                raise InputError(f"{file}: is there and no table of this kind; name a new file, or remove this one")
        table = TableFile(stream, regular)
        try:
            yield table
        finally:
            if new and not table.written:
                os.unlink(file)


def _refuse_inputs(file: Path, inputs: Iterable[Path | None]) -> None:
    own = file.resolve()
    for given in inputs:
        if given is None:
            continue
        same = given.is_file() and file.exists() and file.samefile(given)
        if same or own == given.resolve() or (given.is_dir() and own.is_relative_to(given.resolve())):
            raise InputError(f"{file}: is read, or lies in a folder that is; name another file for the table")

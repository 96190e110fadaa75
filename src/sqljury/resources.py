"""What must end well: what is closed at the end of a ``with``, and files that are written whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self


def write_whole(file: Path, content: str | bytes) -> None:
    """Put ``content`` (text as UTF-8) in the place of ``file``: all of it, or what was there stays.

    It is written beside the file, brought to the disk and renamed. What UTF-8 has no bytes for becomes an escape.
    Raises ``OSError`` that names the file.
    """
    raw = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    target = Path(os.path.realpath(file))  # the file that a link leads to, not the link
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".part", dir=target.parent)
        with open(handle, "wb") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException as error:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(file)) from None
        raise


def _mode(file: Path) -> int:
    """The rights that the file has, or that a new one would get."""
    with contextlib.suppress(OSError):
        return file.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


class Closing:
    """For classes with a ``close``: ``with`` gives the object itself, and closes it whatever happens."""

    def close(self) -> None:
        """Release what is held; see the class that says so."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

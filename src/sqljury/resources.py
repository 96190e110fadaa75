"""Resources that must end well: objects closed by ``with``, files written whole, folders locked for one writer."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from sqljury.errors import DatasetError, SqljuryError

LOCK: Final = "run.lock"
"""The file in the folder of a run or a training that its writer holds locked."""


def write_whole(file: Path, content: str | bytes) -> None:
    """Replace ``file`` by ``content`` (text as UTF-8) atomically: it is written beside the file, synced and renamed.

    Characters that UTF-8 cannot encode become escapes. Raises ``OSError`` that names the file, also for a device or a
    pipe, which would become a regular file.
    """
    raw = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    target = Path(os.path.realpath(file))  # the file that a link leads to, not the link
    name = ""
    try:
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise OSError(errno.EINVAL, "it is a device or a pipe")
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


def would_change(file: Path, inputs: Iterable[Path]) -> bool:
    """Whether writing ``file`` would change an input: it is that file, by any path, or lies in that folder."""
    resolved = file.resolve()
    return any(
        resolved == given.resolve()
        or (given.is_file() and file.exists() and file.samefile(given))
        or (given.is_dir() and resolved.is_relative_to(given.resolve()))
        for given in inputs
    )


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file's content, in hex; raises ``OSError``."""
    import hashlib  # not at the start of every command

    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def must_write(path: Path, error: type[SqljuryError], advice: str = "") -> Iterator[None]:
    """Raise ``error``, with the path and what to do, where the block cannot write."""
    try:
        yield
    except OSError as caught:
        raise error(
            f"{path}: cannot be written ({caught.strerror or caught}){f'; {advice}' if advice else ''}"
        ) from None


def _mode(file: Path) -> int:
    """The permissions that the file has, or that a new one would get."""
    with contextlib.suppress(OSError):
        return file.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Make ``folder`` if it does not exist, and lock it against other programs that write runs or trainings.

    Raises ``DatasetError`` for a folder that cannot be written, and for one that another program is writing.
    """
    with must_write(folder, DatasetError, "give another folder with --out"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")
    with lock:
        if not _lock(lock):
            raise DatasetError(f"{folder}: another program is writing there; wait for it, or give another folder")
        yield


@contextlib.contextmanager
def locked_file(file: Path) -> Iterator[None]:
    """Lock ``file`` against other programs that write it, by a file beside it: its own may be replaced as a whole.

    Raises ``DatasetError`` where none can be written there, and for a file that another program is writing.
    """
    with must_write(file, DatasetError, "name another file with --out"):
        lock = file.with_name(f"{file.name}.lock").open("a")
    with lock:
        if not _lock(lock):
            raise DatasetError(f"{file}: another program is writing it; wait for it, or name another file")
        yield


def _lock(file: IO[str]) -> bool:
    """Take the lock, which the system releases when the program ends, however it ends."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
    return True


class Closing:
    """Base of classes with a ``close``: ``with`` gives the object itself, and closes it whatever happens."""

    def close(self) -> None:
        """Release what the object holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

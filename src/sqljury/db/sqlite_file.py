"""Looks at an SQLite file before SQLite does, and decides how to open it without leaving a trace."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.errors import DatabaseError, DatabaseNotFoundError, NotADatabaseError

_MAGIC: Final = b"SQLite format 3\x00"
_HEADER_BYTES: Final = 100
_WAL: Final = 2

Read = Callable[[str, int], bytes]


class Signature(NamedTuple):
    """Equal signatures mean the same, unchanged file."""

    device: int
    inode: int
    size: int
    modified_ns: int
    log_bytes: int | None


class Opening(NamedTuple):
    """How to open a file: the URI for SQLite, its size, and whether SQLite will take no lock on it."""

    uri: str
    file_bytes: int
    immutable: bool
    signature: Signature


def _read(path: str, count: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(count)


def inspect(path: str, read: Read = _read) -> Opening:
    """How to open the file at ``path``; raises what ``connect`` raises when it is no SQLite database.

    ``read`` returns the first bytes of a file: where the program may have it open itself, ``Worker.read`` is to.

    A database in WAL mode is opened as immutable while it has no log: SQLite would otherwise leave a
    ``-shm`` and a ``-wal`` file beside it. Nobody can be writing then; whether somebody started to is for the
    caller to see from the signature.
    """
    header = _header(path, read)
    log_bytes = size_or_none(path + "-wal")
    in_use = log_bytes is not None and size_or_none(path + "-shm") is not None
    immutable = header[18] == _WAL and not log_bytes and not in_use
    signature = _sign(path)
    if log_bytes is None:
        _refuse_truncated(path, header, signature.size)
    uri = Path(os.path.realpath(path)).as_uri() + "?mode=ro" + ("&immutable=1" if immutable else "")
    return Opening(uri, signature.size + (log_bytes or 0), immutable, signature)


def is_current(path: str, how: Opening) -> bool:
    """Whether a connection opened so still reads the file at ``path`` as it is."""
    try:
        if how.immutable:
            return _sign(path) == how.signature
        # SQLite's locks see to changes in the file, but not to another file put in its place.
        now = os.stat(path)
    except OSError:
        return False
    return now.st_ino == how.signature.inode and now.st_dev == how.signature.device


def _sign(path: str) -> Signature:
    status = os.stat(path)
    log_bytes = size_or_none(path + "-wal")
    return Signature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, log_bytes)


def size_or_none(path: str) -> int | None:
    """The size of the file in bytes, None when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _header(path: str, read: Read) -> bytes:
    """The first 100 bytes, once they are known to be SQLite's."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise NotADatabaseError(f"{path}: is a folder; give the database file in it")
        if not stat.S_ISREG(mode):
            raise NotADatabaseError(f"{path}: is not a regular file")
        header = read(path, _HEADER_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        raise DatabaseNotFoundError(f"{path or '(empty path)'}: no such file; check the path") from None
    except ValueError:
        raise DatabaseNotFoundError(f"{path!r}: is not a path; check it") from None
    except OSError as error:
        raise DatabaseError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    if not header:
        raise NotADatabaseError(f"{path}: is an empty file, not a database; check the path")
    if not header.startswith(_MAGIC):
        raise NotADatabaseError(f"{path}: is not an SQLite database (or an encrypted one); check the path")
    if len(header) < _HEADER_BYTES:
        raise NotADatabaseError(f"{path}: is cut off in its header; restore it from a copy")
    return header


def _refuse_truncated(path: str, header: bytes, size: int) -> None:
    """SQLite itself notices a missing page only when a query needs it."""
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    pages = int.from_bytes(header[28:32], "big")
    # SQLite's own rule for trusting the page count: otherwise it is that of an older writer.
    counted = header[24:28] == header[92:96] and page_size.bit_count() == 1
    if counted and size < pages * page_size:
        message = f"{path}: is cut off at {size} of {pages * page_size} bytes; restore it from a copy"
        raise NotADatabaseError(message)

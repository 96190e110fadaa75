"""Looks at a file before DuckDB does: whether it is DuckDB's, and whether it is still the same one."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Final, NamedTuple

from sqljury.errors import DatabaseError, DatabaseNotFoundError, NotADatabaseError

_MAGIC: Final = b"DUCK"
_MAGIC_AT: Final = 8  # behind the checksum of the first block
_HEADER_BYTES: Final = 3 * 4096  # the main header and the two that take turns
SQLITE_MAGIC: Final = b"SQLite format 3\x00"


class Identity(NamedTuple):
    """Equal identities mean that no other file was put in this one's place."""

    device: int
    inode: int


def _read(path: str, count: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(count)


def kind(path: str, read: Callable[[str, int], bytes] = _read) -> str:
    """What the first bytes say: ``duckdb``, ``sqlite``, or nothing where they say neither or cannot be read.

    ``read`` returns the first bytes of a file.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # reading a pipe would wait for its writer
            return ""
        head = read(path, _MAGIC_AT + len(_MAGIC) + 8)
    except (OSError, ValueError):
        return ""
    if head.startswith(SQLITE_MAGIC):
        return "sqlite"
    return "duckdb" if head[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] == _MAGIC else ""


def inspect(path: str) -> Identity:
    """The identity of the DuckDB file at ``path``; raises what ``connect`` raises when it is none."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise NotADatabaseError(f"{path}: is a folder; give the database file in it")
        if not stat.S_ISREG(status.st_mode):
            raise NotADatabaseError(f"{path}: is not a regular file")
        with open(path, "rb"):
            pass
    except (FileNotFoundError, NotADirectoryError):
        raise DatabaseNotFoundError(f"{path or '(empty path)'}: no such file; check the path") from None
    except ValueError:
        raise DatabaseNotFoundError(f"{path!r}: is not a path; check it") from None
    except OSError as error:
        raise DatabaseError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    if not status.st_size:
        raise NotADatabaseError(f"{path}: is an empty file, not a database; check the path")
    if kind(path) != "duckdb":
        raise NotADatabaseError(f"{path}: is not a DuckDB database; check the path")
    if status.st_size < _HEADER_BYTES:
        raise NotADatabaseError(f"{path}: is cut off in its header; restore it from a copy")
    return Identity(status.st_dev, status.st_ino)


def is_current(path: str, identity: Identity) -> bool:
    """Whether the file at ``path`` is still that one."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == identity

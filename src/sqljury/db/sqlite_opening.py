"""How an SQLite file is to be opened, and whether it is still the file that it was.

The header is read before SQLite opens the file, to decide how to do so without leaving a file beside it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.db.base import first_bytes, read_bytes
from sqljury.errors import NotADatabaseError

TICK_NS: Final = 50_000_000
"""A file that was changed more recently could be changed again without a later time; systems count 1 to 10 ms."""
COARSE_NS: Final = 2_000_000_000
"""The same where a file system notes whole seconds only."""

_MAGIC: Final = b"SQLite format 3\x00"
_HEADER_BYTES: Final = 100
_WAL: Final = 2

Read = Callable[[str, int], bytes]


class Stamp(NamedTuple):
    """What the system notes of a file; every write changes both times, in steps of the system's clock.

    ``modified_ns`` can be set back by programs, ``changed_ns`` cannot.
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        """The stamp of the file at ``path``; raises ``OSError``."""
        status = os.stat(path)
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    @property
    def settled(self) -> bool:
        """Whether a further change would show."""
        step = TICK_NS if self.changed_ns % 1_000_000_000 else COARSE_NS
        return not 0 <= time.time_ns() - self.changed_ns < step


class Signature(NamedTuple):
    """Equal signatures mean the same, unchanged file; ``log`` is the stamp of its -wal, None where there is none."""

    file: Stamp
    log: Stamp | None

    @property
    def place(self) -> tuple[Stamp, int | None]:
        """What SQLite itself may not notice: a change of the file in its place, or another log."""
        return self.file, None if self.log is None else self.log.inode

    @property
    def settled(self) -> bool:
        """Whether a further change would show."""
        return self.file.settled and (self.log is None or self.log.settled)


class Opening(NamedTuple):
    """How to open a file: the URI for SQLite, its size, and whether SQLite will take no lock on it.

    ``serial`` is another number for every opening, a higher one for a later one.
    """

    uri: str
    file_bytes: int
    immutable: bool
    signature: Signature
    serial: int


SERIALS: Final = count(1)
"""Numbers for openings."""


def inspect(path: str, read: Read = read_bytes) -> Opening:
    """How to open the file at ``path``; raises what ``connect`` raises when it is no SQLite database.

    ``read`` returns the first bytes of a file: where the program may have it open itself, ``Worker.read`` is to.

    A database in WAL mode is opened as immutable while it has no log: SQLite would otherwise leave a
    ``-shm`` and a ``-wal`` file beside it. Nobody can be writing then; whether somebody started to is for the
    caller to see from the signature.
    """
    header = _header(path, read)
    signature = sign(path)
    log_bytes = None if signature.log is None else signature.log.size
    in_use = log_bytes is not None and size_or_none(path + "-shm") is not None
    immutable = header[18] == _WAL and not log_bytes and not in_use
    if log_bytes is None:
        _refuse_truncated(path, header, signature.file.size)
    uri = Path(os.path.realpath(path)).as_uri() + "?mode=ro" + ("&immutable=1" if immutable else "")
    return Opening(uri, signature.file.size + (log_bytes or 0), immutable, signature, next(SERIALS))


def is_current(path: str, how: Opening) -> bool:
    """Whether a connection opened so still reads the file at ``path`` as it is."""
    try:
        if how.immutable:
            return sign(path) == how.signature
        # SQLite's locks see to changes in the file, but not to another file put in its place.
        now = os.stat(path)
    except OSError:
        return False
    return now.st_ino == how.signature.file.inode and now.st_dev == how.signature.file.device


def sign(path: str) -> Signature:
    """The signature of the file at ``path``; raises ``OSError``."""
    file = Stamp.of(path)
    try:
        log = Stamp.of(path + "-wal")
    except OSError:
        return Signature(file, None)
    # Run by root, SQLite sets the owner of a log whenever it opens it, which changes nothing but this time.
    return Signature(file, log._replace(changed_ns=log.modified_ns))


def is_settled(path: str) -> bool:
    """Whether nobody changed the file a moment ago; true for one that is not there."""
    try:
        return sign(path).settled
    except OSError:
        return True


def size_or_none(path: str) -> int | None:
    """The size of the file in bytes, None when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _header(path: str, read: Read) -> bytes:
    """The first 100 bytes, once they are known to be SQLite's."""
    header = first_bytes(path, _HEADER_BYTES, read)
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

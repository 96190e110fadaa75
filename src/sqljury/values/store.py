"""The file of a value index, and the versions of tables that it is valid for.

A file is a JSON header followed by arrays that are mapped into memory. It is replaced as a whole, so that readers see
the old file or the new one. A table's version is a text that changes with its values, determined without reading them.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from sqljury.db.base import Database
from sqljury.db.sqlite_workers import read_head
from sqljury.errors import SqljuryError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]


FORMAT: Final = 1
_MAGIC: Final = b"sqljury\0"
_ALIGN: Final = 64
_CHECKED_BYTES: Final = 32 << 20
"""Files up to this size are checked completely when opened, in about 10 ms; of larger files only the header is."""


class DamagedError(Exception):
    """The file is not an index of this format, or is incomplete."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The header and arrays of an index; arrays stay on disk until used."""

    header: dict[str, Any]
    arrays: Arrays


def write(path: Path, header: Mapping[str, Any], arrays: Arrays) -> Stored:
    """Write the index to ``path``, readable by its owner only, and open it; raises ``OSError``."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.name + ".", suffix=".tmp", dir=path.parent)
    try:
        with open(handle, "w+b") as file:
            _pack(file, header, arrays)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    return read(path)


def write_unnamed(header: Mapping[str, Any], arrays: Arrays) -> Stored:
    """The index in a temporary file that is deleted when the process ends."""
    with tempfile.TemporaryFile() as file:
        _pack(file, header, arrays)
        return _unpack(file)


def read(path: Path) -> Stored:
    """Open an index; raises ``FileNotFoundError``, ``OSError``, ``DamagedError``."""
    with open(path, "rb") as file:
        return _unpack(file)


def _pack(file: IO[bytes], header: Mapping[str, Any], arrays: Arrays) -> None:
    at, sections = 0, {}
    for name, array in arrays.items():
        sections[name] = (array.dtype.str, at, array.shape, zlib.crc32(array.data if array.size else b""))
        at += -(-array.nbytes // _ALIGN) * _ALIGN
    text = json.dumps({"format": FORMAT, **header, "bytes": at, "sections": sections}).encode()
    text += b" " * (-(len(text) + 20) % _ALIGN)
    file.write(_MAGIC + len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little") + text)
    for array in arrays.values():
        file.write(array.data if array.size else b"")
        file.write(bytes(-array.nbytes % _ALIGN))
    file.flush()


def _unpack(file: IO[bytes]) -> Stored:
    import numpy as np

    try:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if mapped[:8] != _MAGIC:
            raise DamagedError("is not a value index")
        length = int.from_bytes(mapped[8:16], "little")
        text = mapped[20 : 20 + length]
        if len(text) != length or zlib.crc32(text) != int.from_bytes(mapped[16:20], "little"):
            raise DamagedError("has a damaged header")
        header = json.loads(text)
        if header["format"] != FORMAT:
            raise DamagedError(f"has format {header['format']}, not {FORMAT}")
        if len(mapped) != 20 + length + header["bytes"]:
            raise DamagedError("is cut off")
        arrays = {}
        for name, (dtype, at, shape, check) in header.pop("sections").items():
            count = int(np.prod(shape))
            array = np.frombuffer(mapped, dtype, count, 20 + length + at).reshape(shape)
            if len(mapped) <= _CHECKED_BYTES and zlib.crc32(array.data if count else b"") != check:
                raise DamagedError(f"has damaged {name}")
            arrays[name] = array
        return Stored(header, arrays)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise DamagedError(f"cannot be read ({error})") from None


_SETTLED_NS: Final = 2_000_000_000
"""A file modified more recently than this could change again without a later modification time."""


def versions(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """The version of each table; None if the engine cannot tell."""
    read_versions = VERSION_READERS.get(db.dialect)
    return dict.fromkeys(tables) if read_versions is None else read_versions(db, tables)


def _files(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """One version for all tables: the files, their sizes and times, and SQLite's change counters.

    These engines keep no counter for a table; row counts and the highest rowid do not change with an UPDATE.
    """
    sources = tuple(getattr(db, "sources", ()))
    if not sources:
        return dict.fromkeys(tables)
    parts, newest = [], 0
    for source in sources:
        for name, begin, end in ((source, 24, 28), (source + "-wal", 0, 32), (source + ".wal", 0, 32)):
            try:
                status = os.stat(name)
                head = read_head(name, end)[begin:]
            except OSError:
                parts.append("none")
                continue
            newest = max(newest, status.st_mtime_ns)
            identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            parts.append(f"{'-'.join(map(str, identity))}-{head.hex()}")
    now = time.time_ns()
    if 0 <= now - newest < _SETTLED_NS:
        parts.append(f"unsettled at {now}")
    return dict.fromkeys(tables, " ".join(parts))


def _postgres(db: Database, tables: Sequence[str]) -> dict[str, str | None]:
    """The server's count of rows ever written, which may lag by a second, and the table's file.

    TRUNCATE is not counted but changes the file. A partitioned table has neither a count nor a file.
    """
    try:
        rows = db.catalog(
            "SELECT CASE WHEN schemaname = current_schema() THEN relname ELSE schemaname || '.' || relname END, "
            "relid || ' ' || n_tup_ins || ' ' || n_tup_upd || ' ' || n_tup_del || ' ' || pg_relation_filenode(relid) "
            "FROM pg_stat_user_tables WHERE pg_relation_filenode(relid) IS NOT NULL"
        )
    except SqljuryError:
        return dict.fromkeys(tables)
    known = {str(name): str(version) for name, version in rows}
    return {table: known.get(table) for table in tables}


VERSION_READERS: Final[dict[str, Callable[[Database, Sequence[str]], dict[str, str | None]]]] = {
    "sqlite": _files,
    "duckdb": _files,
    "postgres": _postgres,
}
"""By dialect, the function that reads the versions of tables."""

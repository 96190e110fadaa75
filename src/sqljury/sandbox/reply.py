"""Reads what came back from the sandbox, which any code may have written, and takes only what is plain.

In Arrow's format one stretch of bytes may be named many times: by all columns of a batch, by all fields of a schema, by
every entry of its metadata. Two MiB that came become gigabytes once each name is a value of its own. So the headers are
read before Arrow decodes anything, which takes no more than their length: flat types only, each buffer behind the one
before, bounded columns, rows and cells, no compression, no dictionaries.

The numbers of fields are those of the flatbuffers in Arrow's ``Message.fbs`` and ``Schema.fbs``; a union counts twice.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from sqljury.sandbox.values import Kind, SandboxLimits
from sqljury.sandbox.worker import HEAD, fitting_rows
from sqljury.types import Cell, QueryFailure, Result

if TYPE_CHECKING:
    import pyarrow as pa

_MESSAGE: Final = 500
_BATCHES: Final = 16
"""Honest code sends one; each costs the reader a little whatever is in it."""

_NAME: Final = 1_000
"""Characters of a column's name; UTF-8 takes four bytes for one at most."""

_ZONE: Final = 64
_CONTINUES: Final = 0xFFFFFFFF
_ALIGNED: Final = 8
_SCHEMA, _BATCH = 1, 3
_KINDS: Final = {_SCHEMA: "schema", 2: "dictionary", _BATCH: "record batch", 4: "tensor", 5: "sparse tensor"}
_TIMESTAMP: Final = 10
_BUFFERS: Final = {1: 0, 2: 2, 3: 2, 4: 3, 5: 3, 6: 2, 7: 2, 8: 2, 9: 2, _TIMESTAMP: 2, 19: 3, 20: 3}
"""Of each type that may be there, by its number in ``Type``, how many buffers a column has: null, integers, floats,
binary, text, booleans, decimals, dates, times, timestamps, large binary, large text."""


class ReplyError(Exception):
    """What came back is not a reply of honest code."""


def read(data: bytes | bytearray, limits: SandboxLimits) -> tuple[Kind, Result]:
    """How the run ended and its table or error; raises ``ReplyError`` for anything else."""
    if len(data) < HEAD.size:
        raise ReplyError("it is cut off")
    kind, size = HEAD.unpack_from(data)
    payload = memoryview(data)[HEAD.size :]
    if size != len(payload):
        raise ReplyError(f"it says {size} bytes and has {len(payload)}")
    if kind == b"R":
        return "ok", _table(bytes(payload), limits)
    name, _, message = bytes(payload[: 5 * _MESSAGE]).decode(errors="replace").partition("\n")
    if kind != b"E" or name not in ("code", "memory"):
        raise ReplyError("it is neither a table nor an error")
    return ("memory" if name == "memory" else "code"), Result(
        error=QueryFailure("code", one_line(message) or "it failed without a message")
    )


def one_line(text: str) -> str:
    """Printable text on one line, cut."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[:_MESSAGE]).split())


def _table(stream: bytes, limits: SandboxLimits) -> Result:
    """The rows of an Arrow stream, cut at ``limits.rows`` and ``limits.cells``.

    Raises ``ReplyError`` unless it is plain and whole.
    """
    import pyarrow as pa

    try:
        _check_headers(stream, limits)
        rows: list[tuple[Cell, ...]] = []
        with pa.ipc.open_stream(pa.py_buffer(stream)) as batches:
            _check_schema(batches.schema)
            for batch in batches:
                batch.validate(full=True)
                rows += _cells(batch)
            columns = tuple(one_line(name) for name in batches.schema.names)
    except ReplyError:
        raise
    except Exception as error:  # a made-up stream can make Arrow raise anything
        raise ReplyError(f"it is no Arrow stream: {one_line(str(error))}") from None
    most = fitting_rows(limits.rows, limits.cells, len(columns))
    return Result(columns, tuple(rows[:most]), truncated=len(rows) > most)


def _check_schema(schema: pa.Schema) -> None:
    for field in schema:
        _reader(field.type)
        if len(field.name) > _NAME:
            raise ReplyError("it has a column with an endless name")


def _reader(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """What makes a cell of ``types.Cell`` from Arrow's; None where it is one. Raises for what is not plain."""
    from pyarrow import types

    if isinstance(kind, types.lib.BaseExtensionType):
        raise ReplyError(f"it has a column of type {one_line(str(kind))}")
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind):
        return None
    if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return None
    if types.is_decimal(kind) and 0 <= kind.scale <= kind.precision:  # a scale below 0 means digits without end
        return _number
    if types.is_date(kind) or types.is_time(kind):
        return _text
    if types.is_timestamp(kind):
        return _text
    raise ReplyError(f"it has a column of type {one_line(str(kind))}")


def _number(cell: Decimal) -> int | float:
    return float(cell) if cell.as_tuple().exponent else int(cell)


def _text(cell: date | time | datetime) -> str:
    return cell.isoformat(" ") if isinstance(cell, datetime) else cell.isoformat()


def _cells(batch: pa.RecordBatch) -> Any:
    """Rows of plain cells; times go as far as microseconds, which is what Python's have."""
    import pyarrow as pa

    columns = []
    for column in batch.columns:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=column.type.unit != "ns")
        elif pa.types.is_time(column.type):
            column = column.cast(pa.time64("us"), safe=column.type.unit != "ns")
        reader = _reader(column.type)
        values = column.to_pylist()
        if reader:
            values = [None if value is None else reader(value) for value in values]
        columns.append(values)
    return zip(*columns, strict=True)


def _check_headers(stream: bytes, limits: SandboxLimits) -> None:
    """Raise ``ReplyError`` unless this is one flat schema and batches whose cells and bytes are within the limits.

    Afterwards all buffers together are no longer than the stream, and there are at most ``limits.cells`` cells and a
    row of them more, which says that there were more.
    """
    messages = _messages(stream)
    first = next(messages, None)
    if first is None:
        raise ReplyError("it has no schema")
    counts = _columns(*first, limits)
    remaining = fitting_rows(limits.rows, limits.cells, len(counts)) + 1
    for number, (header, size) in enumerate(messages):
        if number == _BATCHES:
            raise ReplyError("it has too many parts")
        remaining -= _rows(header, size, counts)
        if remaining < 0:
            raise ReplyError(f"it has more rows than {limits.rows}, or more cells than {limits.cells}")


class _Table:
    """A flatbuffers table within a message's header."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at
        self._entries = at - self._read("<i", at)
        self._size = self._read("<H", self._entries)

    def number(self, field: int, kind: str, default: int = 0) -> int:
        """A number of this ``struct`` format."""
        at = self._field(field)
        return self._read(kind, at) if at else default

    def table(self, field: int) -> _Table | None:
        """The table that a field leads to."""
        at = self._field(field)
        return _Table(self._data, self._follow(at)) if at else None

    def text(self, field: int) -> int:
        """How many bytes a text has; 0 without one."""
        at = self._field(field)
        return self._read("<I", self._follow(at)) if at else 0

    def vector(self, field: int, width: int) -> tuple[int, int]:
        """Where the entries of a vector lie, and how many there are; all of them are within the header."""
        at = self._field(field)
        if not at:
            return 0, 0
        start = self._follow(at)
        count = self._read("<I", start)
        if start + 4 + count * width > len(self._data):
            raise ReplyError("its header leads nowhere")
        return start + 4, count

    def tables(self, field: int) -> Iterator[_Table]:
        """The tables of a vector of them."""
        start, count = self.vector(field, 4)
        return (_Table(self._data, self._follow(start + 4 * number)) for number in range(count))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """The entries of a vector of structs that hold two 64-bit integers each."""
        start, count = self.vector(field, 16)
        return struct.iter_unpack("<qq", self._data[start : start + 16 * count])

    def _field(self, number: int) -> int:
        """Where a field lies, 0 when the table has none."""
        entry = 4 + 2 * number
        if entry + 2 > self._size:
            return 0
        inside = self._read("<H", self._entries + entry)
        return self._at + inside if inside else 0

    def _follow(self, at: int) -> int:
        return at + self._read("<I", at)

    def _read(self, kind: str, at: int) -> int:
        if at < 0:
            raise ReplyError("its header leads nowhere")
        try:
            return int(struct.unpack_from(kind, self._data, at)[0])
        except struct.error:
            raise ReplyError("its header leads nowhere") from None


def _messages(stream: bytes) -> Iterator[tuple[_Table, int]]:
    """Each message's header and the bytes of its body: a schema first, then batches, and nothing behind the end."""
    at, wanted = 0, _SCHEMA
    while at < len(stream):
        if at + 8 > len(stream):
            raise ReplyError("it is cut off")
        mark, size = struct.unpack_from("<II", stream, at)
        at += 8
        if mark != _CONTINUES or size % _ALIGNED or size > len(stream) - at:
            raise ReplyError("it is no Arrow stream")
        if not size:
            break
        message = _root(stream[at : at + size])
        kind, body = message.number(1, "<B"), message.number(3, "<q")
        at += size + body
        if kind != wanted:
            raise ReplyError(f"it has a message of type {_KINDS.get(kind, kind)}")
        header = message.table(2)
        if header is None or message.vector(4, 4)[1]:
            raise ReplyError("it has a message without a header, or with metadata")
        if body < 0 or body % _ALIGNED or at > len(stream):
            raise ReplyError("it has a message that does not end where it says")
        yield header, body
        wanted = _BATCH
    if at != len(stream):
        raise ReplyError("there is something behind its end")


def _root(header: bytes) -> _Table:
    return _Table(header, int(struct.unpack_from("<I", header)[0]))


def _columns(schema: _Table, body: int, limits: SandboxLimits) -> list[int]:
    """How many buffers each column has; raises ``ReplyError`` unless all are flat and carry no metadata."""
    count = schema.vector(1, 4)[1]
    if count > limits.columns:
        raise ReplyError(f"it has {count} columns; {limits.columns} are allowed")
    if body or schema.number(0, "<h") or schema.vector(2, 4)[1]:
        raise ReplyError("its schema has metadata, a body, or numbers of another machine")
    return [_buffers(field) for field in schema.tables(1)]


def _buffers(field: _Table) -> int:
    kind, about = field.number(2, "<B"), field.table(3)
    nested, described = field.vector(5, 4)[1], field.vector(6, 4)[1]
    if kind not in _BUFFERS or about is None or field.table(4) or nested or described:
        raise ReplyError(f"it has a column that is not flat and plain (type {kind})")
    if field.text(0) > 4 * _NAME:
        raise ReplyError("it has a column with an endless name")
    if kind == _TIMESTAMP and about.text(1) > _ZONE:
        raise ReplyError("it has a column with an endless time zone")
    return _BUFFERS[kind]


def _rows(batch: _Table, body: int, counts: list[int]) -> int:
    """The rows of a batch; raises ``ReplyError`` unless its buffers lie one behind the other in its body."""
    rows = batch.number(0, "<q")
    nodes, buffers = list(batch.pairs(1)), list(batch.pairs(2))
    if batch.table(3) or batch.vector(4, 8)[1]:
        raise ReplyError("it is compressed, or has views")
    if rows < 0 or len(nodes) != len(counts) or any(length != rows for length, _ in nodes):
        raise ReplyError("its columns are not all of one length")
    if len(buffers) != sum(counts):
        raise ReplyError("it has more or fewer buffers than its columns need")
    end = 0
    for offset, size in buffers:
        if offset < end or offset % _ALIGNED or size < 0:
            raise ReplyError("its buffers lie over each other")
        end = offset + size
    if end > body:
        raise ReplyError("its buffers do not lie in its body")
    return rows

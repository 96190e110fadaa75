"""Reads what came back from the sandbox, which any code may have written, and takes only what is plain.

Sizes and kinds are checked before Arrow decodes anything: no compression and no dictionaries (a few bytes could become
gigabytes), no nested or extension types, a bounded number of columns and rows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from sqljury.sandbox.values import Kind, SandboxLimits
from sqljury.sandbox.worker import HEAD
from sqljury.types import Result

if TYPE_CHECKING:
    import pyarrow as pa

_MESSAGES: Final = 100_000
_NAME: Final = 1_000
_MESSAGE: Final = 500
_CONTINUES: Final = 0xFFFFFFFF
_HEADER, _COMPRESSION = 2, 3
"""Places of fields in the flatbuffers ``Message`` and ``RecordBatch`` of Arrow's format (``Message.fbs``)."""


class ReplyError(Exception):
    """What came back is no reply that honest code leads to."""


def read(data: bytes, limits: SandboxLimits) -> tuple[Kind, Result]:
    """How the run ended and its table or error; raises ``ReplyError`` for anything else."""
    if len(data) < HEAD.size:
        raise ReplyError("it is cut off")
    kind, size = HEAD.unpack_from(data)
    payload = data[HEAD.size :]
    if size != len(payload):
        raise ReplyError(f"it says {size} bytes and has {len(payload)}")
    if kind == b"R":
        return "ok", table(payload, limits)
    name, _, message = payload.decode(errors="replace").partition("\n")
    if kind != b"E" or name not in ("code", "memory"):
        raise ReplyError("it is neither a table nor an error")
    return ("memory" if name == "memory" else "code"), Result(error=one_line(message) or "it failed without a message")


def one_line(text: str) -> str:
    """Printable text on one line, cut."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[:_MESSAGE]).split())


def table(stream: bytes, limits: SandboxLimits) -> Result:
    """The rows of an Arrow stream, cut at ``limits.rows``; raises ``ReplyError`` unless it is plain and whole."""
    import pyarrow as pa

    try:
        _look_at_messages(stream)
        with pa.ipc.open_stream(pa.py_buffer(stream)) as batches:
            _look_at_schema(batches.schema, limits)
            found = []
            count = 0
            for batch in batches:
                count += batch.num_rows
                if count > limits.rows + 1:
                    raise ReplyError(f"it has more than {limits.rows + 1} rows")
                batch.validate(full=True)
                found.append(batch)
            columns = tuple(one_line(name) for name in batches.schema.names)
        cells = [tuple(_cells(batch)) for batch in found]
    except ReplyError:
        raise
    except Exception as error:  # what a made-up stream leads to within Arrow is not for us to list
        raise ReplyError(f"it is no Arrow stream: {one_line(str(error))}") from None
    rows = tuple(row for batch in cells for row in batch)
    return Result(columns, rows[: limits.rows], truncated=len(rows) > limits.rows)


def _look_at_messages(stream: bytes) -> None:
    """One schema, then record batches as they are in memory, then the end; anything else is refused."""
    import pyarrow as pa

    messages = pa.ipc.MessageReader.open_stream(pa.py_buffer(stream))
    for place in range(_MESSAGES):
        try:
            message = messages.read_next_message()
        except StopIteration:
            if place:
                return
            raise ReplyError("it has no schema") from None
        if message.type != ("record batch" if place else "schema"):
            raise ReplyError(f"it has a message of type {message.type}")
        if place and _compressed(message.metadata.to_pybytes()):
            raise ReplyError("it is compressed")
    raise ReplyError("it has too many parts")


def _compressed(metadata: bytes) -> bool:
    """Whether a record batch's header says that its buffers are compressed; pyarrow does not tell."""
    header = _field(metadata, _offset(metadata, 0), _HEADER)
    if not header:
        raise ReplyError("it has a batch without a header")
    return bool(_field(metadata, _offset(metadata, header), _COMPRESSION))


def _offset(data: bytes, at: int) -> int:
    """Where the table lies that the four bytes at ``at`` lead to."""
    return at + int(struct.unpack_from("<I", data, at)[0])


def _field(data: bytes, table_at: int, place: int) -> int:
    """Where a table's field lies, 0 when it has none."""
    index = table_at - int(struct.unpack_from("<i", data, table_at)[0])
    if index < 0:
        raise ReplyError("its header leads nowhere")
    (size,) = struct.unpack_from("<H", data, index)
    entry = 4 + 2 * place
    if entry + 2 > size:
        return 0
    (inside,) = struct.unpack_from("<H", data, index + entry)
    return table_at + int(inside) if inside else 0


def _look_at_schema(schema: pa.Schema, limits: SandboxLimits) -> None:
    if len(schema) > limits.columns:
        raise ReplyError(f"it has {len(schema)} columns; {limits.columns} are allowed")
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

"""Reads what came back from the sandbox, which any code may have written, and takes only what is plain.

Sizes and kinds are checked before Arrow decodes anything (``layout``): no compression, no dictionaries, no bytes that
several columns share (a few could become gigabytes), no nested or extension types, bounded columns, rows and cells.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from sqljury.sandbox import layout
from sqljury.sandbox.layout import ReplyError
from sqljury.sandbox.values import Kind, SandboxLimits
from sqljury.sandbox.worker import HEAD, fitting_rows
from sqljury.types import Cell, QueryFailure, Result

if TYPE_CHECKING:
    import pyarrow as pa

_MESSAGE: Final = 500


def read(data: bytes | bytearray, limits: SandboxLimits) -> tuple[Kind, Result]:
    """How the run ended and its table or error; raises ``ReplyError`` for anything else."""
    if len(data) < HEAD.size:
        raise ReplyError("it is cut off")
    kind, size = HEAD.unpack_from(data)
    payload = memoryview(data)[HEAD.size :]
    if size != len(payload):
        raise ReplyError(f"it says {size} bytes and has {len(payload)}")
    if kind == b"R":
        return "ok", table(bytes(payload), limits)
    name, _, message = bytes(payload[: 5 * _MESSAGE]).decode(errors="replace").partition("\n")
    if kind != b"E" or name not in ("code", "memory"):
        raise ReplyError("it is neither a table nor an error")
    return ("memory" if name == "memory" else "code"), Result(
        error=QueryFailure("code", one_line(message) or "it failed without a message")
    )


def one_line(text: str) -> str:
    """Printable text on one line, cut."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[:_MESSAGE]).split())


def table(stream: bytes, limits: SandboxLimits) -> Result:
    """The rows of an Arrow stream, cut at ``limits.rows`` and ``limits.cells``.

    Raises ``ReplyError`` unless it is plain and whole.
    """
    import pyarrow as pa

    try:
        layout.check(stream, limits)
        rows: list[tuple[Cell, ...]] = []
        with pa.ipc.open_stream(pa.py_buffer(stream)) as batches:
            _look_at_schema(batches.schema)
            for batch in batches:
                batch.validate(full=True)
                rows += _cells(batch)
            columns = tuple(one_line(name) for name in batches.schema.names)
    except ReplyError:
        raise
    except Exception as error:  # what a made-up stream leads to within Arrow is not for us to list
        raise ReplyError(f"it is no Arrow stream: {one_line(str(error))}") from None
    most = fitting_rows(limits.rows, limits.cells, len(columns))
    return Result(columns, tuple(rows[:most]), truncated=len(rows) > most)


def _look_at_schema(schema: pa.Schema) -> None:
    for field in schema:
        _reader(field.type)
        if len(field.name) > layout.NAME:
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

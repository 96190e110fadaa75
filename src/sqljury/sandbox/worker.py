"""What runs in the child behind the walls: reads the job, runs its code, writes one reply.

Nothing here is relied on by anyone but honest code. Hostile code can change all of it, and can write whatever it likes
where the reply goes; who reads the reply knows that.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import struct
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqljury.sandbox.values import SandboxLimits

HEAD: Final = struct.Struct("=cQ")
"""What a reply begins with: ``R`` for a table as an Arrow stream or ``E`` for an error, and the bytes that follow."""

SIZE: Final = struct.Struct("=Q")
_FILE: Final = "<code>"
_MESSAGE: Final = 500
_SEED: Final = 0


class NoTableError(Exception):
    """``result`` is missing, or cannot be shown as a table of plain values."""


def pack(code: str, frames: dict[str, bytes], limits: SandboxLimits) -> bytes:
    """A job: what to run, Arrow streams by name, and how many rows and cells may come back."""
    sizes = [(name, len(data)) for name, data in frames.items()]
    order = {"code": code, "frames": sizes, "rows": limits.rows, "cells": limits.cells}
    head = json.dumps(order).encode()
    return b"".join((SIZE.pack(len(head)), head, *frames.values()))


def fitting_rows(rows: int, cells: int, columns: int) -> int:
    """How many of at most ``rows`` rows have no more than ``cells`` cells."""
    return min(rows, cells // max(columns, 1))


def serve(job: int, reply: int, printed: int) -> None:
    """Read the job from one descriptor, write the reply to another; what is printed goes to the third."""
    sys.stdout = sys.stderr = open(printed, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    try:
        kind, payload = b"R", _run(_read(job))
    except MemoryError:
        kind, payload = b"E", b"memory\nout of memory"
    except BaseException as error:  # SystemExit and whatever classes the code makes among them
        kind, payload = b"E", f"code\n{explain(error)}".encode(errors="replace")
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    payload = HEAD.pack(kind, len(payload)) + payload
    while payload:
        payload = payload[os.write(reply, payload) :]


def _read(job: int) -> bytes:
    parts = []
    while part := os.read(job, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _run(job: bytes) -> bytes:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    (size,) = SIZE.unpack_from(job)
    head = json.loads(job[SIZE.size : SIZE.size + size])
    at = SIZE.size + size
    tables: dict[str, Any] = {}
    for name, length in head["frames"]:
        with pa.ipc.open_stream(pa.py_buffer(job[at : at + length])) as stream:
            tables[name] = stream.read_all().to_pandas(use_threads=False)
        at += length
    random.seed(_SEED)
    np.random.seed(_SEED)
    names = {"__name__": "__main__", "pd": pd, "np": np, **tables, "tables": tables}
    exec(compile(head["code"], _FILE, "exec"), names)  # noqa: S102
    if "result" not in names:
        raise NoTableError("the code does not set `result`")
    return _stream(names["result"], head["rows"], head["cells"])


def _stream(value: Any, rows: int, cells: int) -> bytes:
    """One row more than fits, which says that there were more."""
    import pyarrow as pa

    frame = _frame(value)
    frame = frame.head(fitting_rows(rows, cells, len(frame.columns)) + 1)
    columns = [_array(frame.iloc[:, number], name) for number, name in enumerate(frame.columns)]
    return arrow_stream(pa.Table.from_arrays(columns, names=list(frame.columns)) if columns else pa.table({}))


def arrow_stream(table: Any) -> bytes:
    """A table as an Arrow stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def _frame(value: Any) -> Any:
    """A table of whatever ``result`` is; an index that has a name becomes columns, any other is dropped."""
    import pandas as pd

    if isinstance(value, pd.Series):
        value = value.to_frame(name=value.name if value.name is not None else "value")
    elif not isinstance(value, pd.DataFrame):
        alone = value is None or isinstance(value, str | bytes) or pd.api.types.is_scalar(value)
        value = pd.DataFrame({"value": [value]} if alone else value)
    named = [level for level, name in enumerate(value.index.names) if name is not None]
    levels = {str(value.index.names[level]): value.index.get_level_values(level).to_series() for level in named}
    frame = value.reset_index(drop=True)
    frame.columns = ["_".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
    if not levels:
        return frame
    return pd.concat([pd.DataFrame({name: level.array for name, level in levels.items()}), frame], axis=1)


def _array(column: Any, name: str) -> Any:
    """A column as Arrow; kinds that a database does not have become text."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if isinstance(column.dtype, pd.PeriodDtype | pd.IntervalDtype) or column.dtype.kind in "mc":
        column = column.astype("string")
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError) as error:
        raise NoTableError(f"column {name!r} of `result` is no column of plain values: {error}") from None
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def explain(error: BaseException) -> str:
    """An error in one line, with the line of the code where it arose."""
    line = _line(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename == _FILE:
        line = error.lineno or 0
        text = error.msg
    else:
        text = str(error)
    where = f"line {line}: " if line else ""
    return f"{where}{type(error).__name__}: {text}"[:_MESSAGE]


def _line(trace: TracebackType | None) -> int:
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line

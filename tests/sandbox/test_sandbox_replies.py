"""What comes back may have been written by anyone: only a plain, whole, small table is taken."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury.sandbox import Sandbox, SandboxLimits, reply
from sqljury.sandbox.worker import HEAD

LIMITS = SandboxLimits(rows=100, columns=5, reply=1024**2)


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def framed(payload: bytes, kind: bytes = b"R") -> bytes:
    return HEAD.pack(kind, len(payload)) + payload


def patched(old: bytes, new: bytes) -> bytes:
    """A stream with one text, and bytes in it that no writer would write."""
    whole = stream(pa.table({"t": ["abcdefg"]}))
    at = whole.rindex(old)
    return whole[:at] + new + whole[at + len(old) :]


PLAIN = pa.table(
    {
        "n": [1, None],
        "x": [0.5, -1.0],
        "t": ["a", "é"],
        "d": pa.array([Decimal("1.50"), Decimal("2.00")]),
        "b": [b"\0", None],
    }
)


def test_a_plain_table_is_read() -> None:
    kind, found = reply.read(framed(stream(PLAIN)), LIMITS)
    assert (kind, found.columns) == ("ok", ("n", "x", "t", "d", "b"))
    assert found.rows == ((1, 0.5, "a", 1.5, b"\0"), (None, -1.0, "é", 2.0, None))


def test_times_are_text() -> None:
    at = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns"))
    _, found = reply.read(framed(stream(pa.table({"at": at, "day": at.cast(pa.timestamp("s"), safe=False)}))), LIMITS)
    assert found.rows == (("2023-11-14 22:13:20.123456", "2023-11-14 22:13:20"),)


REFUSED = {
    "nothing": b"",
    "a piece of a head": b"R\0\0",
    "another kind": framed(b"x", b"P"),
    "an unknown error": framed(b"walls\nno", b"E"),
    "no stream": framed(b"garbage" * 10),
    "an empty stream": framed(b""),
    "cut off": framed(stream(PLAIN))[:-20],
    "something behind": framed(stream(PLAIN)) + b"x",
    "two replies": framed(stream(PLAIN)) * 2,
    "a wrong size": HEAD.pack(b"R", 2**63) + stream(PLAIN),
    "compressed": framed(stream(pa.table({"t": ["x" * 500_000]}), compression="zstd")),
    "dictionary": framed(stream(pa.table({"t": pa.array(["x", "y"]).dictionary_encode()}))),
    "nested": framed(stream(pa.table({"t": [[1], [2]]}))),
    "struct": framed(stream(pa.table({"t": [{"a": 1}]}))),
    "runs": framed(stream(pa.table({"t": pa.RunEndEncodedArray.from_arrays([1000], [1])}))),
    "extension": framed(
        stream(pa.table({"t": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))}))
    ),
    "too many rows": framed(stream(pa.table({"t": range(102)}))),
    "endless nothing": framed(stream(pa.table({"t": pa.nulls(10**9)}))),
    "too many columns": framed(stream(pa.table({f"c{n}": [1] for n in range(6)}))),
    "an endless name": framed(stream(pa.table({"c" * 2000: [1]}))),
    "digits without end": framed(stream(pa.table({"t": pa.array([Decimal("1E+30")], pa.decimal128(9, -30))}))),
    "a date beyond all": framed(stream(pa.table({"t": pa.array([2**62], pa.timestamp("s"))}))),
    "offsets beyond": framed(patched(struct.pack("2i", 0, 7), struct.pack("2i", 0, 9000))),
    "text that is none": framed(patched(b"abcdefg", b"abc\xff\xfeef")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(reply.ReplyError):
        reply.read(REFUSED[name], LIMITS)


WHOLE = stream(PLAIN)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_streams_are_read_or_refused(damage: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for at, value in damage:
        data[at] = value
    try:
        _, found = reply.read(framed(bytes(data)), LIMITS)
    except reply.ReplyError:
        return
    assert len(found.rows) <= LIMITS.rows
    assert all(cell is None or isinstance(cell, int | float | str | bytes) for row in found.rows for cell in row)


FAKES = {
    "garbage": "os.write(3, b'garbage' * 10); os._exit(0)",
    "a fake table, then the true one": "os.write(3, b'R' + bytes(8)); result = 1",
    "a size that is not true": "import struct; os.write(3, struct.pack('=cQ', b'R', 2 ** 62)); os._exit(0)",
    "an unknown kind": "import struct; os.write(3, struct.pack('=cQ', b'X', 1) + b'x'); os._exit(0)",
    "an error of another kind": "import struct; os.write(3, struct.pack('=cQ', b'E', 4) + b'ok\\nx'); os._exit(0)",
}


@pytest.mark.parametrize("name", FAKES)
def test_fake_replies_are_refused(sandbox: Sandbox, name: str) -> None:
    found = sandbox.run(f"import os\n{FAKES[name]}")
    assert (found.kind, found.result.rows) == ("reply", ())


def test_a_fake_error_stays_on_its_line(sandbox: Sandbox) -> None:
    found = sandbox.run(
        "import os, struct\nsaid = b'code\\n' + b'\\x1b[2Jone\\ntwo' * 1000\n"
        "os.write(3, struct.pack('=cQ', b'E', len(said)) + said); os._exit(0)"
    )
    assert found.kind == "code"
    error = found.result.error or ""
    assert error.isprintable()
    assert len(error) <= 500


def test_a_reply_counts_only_from_a_process_that_ends_well(sandbox: Sandbox) -> None:
    code = "import os, struct\nos.write(3, struct.pack('=cQ', b'E', 6) + b'code\\nx'); os._exit({})"
    assert sandbox.run(code.format(0)).kind == "code"
    assert sandbox.run(code.format(9)).kind == "crash"

"""What comes back may have been written by anyone: only a plain, whole, small table is taken."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury.sandbox import Sandbox, SandboxLimits, reply
from sqljury.sandbox.worker import HEAD

LIMITS = SandboxLimits(rows=100, columns=5, cells=400, reply=1024**2)


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


def parts(whole: bytes) -> tuple[int, int]:
    """Where the headers of the schema and of the first batch begin."""
    (size,) = struct.unpack_from("<4xI", whole)
    return 8, 8 + size + 8


def field(data: bytes, at: int, number: int) -> int:
    """Where a field of a flatbuffers table lies, or what it leads to is in ``leads``."""
    entries = at - int(struct.unpack_from("<i", data, at)[0])
    return at + int(struct.unpack_from("<H", data, entries + 4 + 2 * number)[0])


def leads(data: bytes, at: int) -> int:
    return at + int(struct.unpack_from("<I", data, at)[0])


def batch_of(whole: bytes) -> int:
    """Where the first batch's table lies in a stream."""
    return leads(whole, field(whole, leads(whole, parts(whole)[1]), 2))


def forged(table: pa.Table, change: Callable[[list[tuple[int, int]]], list[tuple[int, int]]], vector: int = 2) -> bytes:
    """A stream whose batch names other places: of its buffers (2), or other lengths of its columns (1)."""
    whole = bytearray(stream(table))
    at = leads(whole, field(whole, batch_of(whole), vector))
    (count,) = struct.unpack_from("<I", whole, at)
    found = [struct.unpack_from("<qq", whole, at + 4 + 16 * place) for place in range(count)]
    for place, pair in enumerate(change([(first, second) for first, second in found])):
        struct.pack_into("<qq", whole, at + 4 + 16 * place, *pair)
    return bytes(whole)


def batches(table: pa.Table, count: int) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        for _ in range(count):
            out.write_batch(pa.record_batch([column.combine_chunks() for column in table.columns], table.schema))
    return bytes(sink.getvalue().to_pybytes())


def nested(depth: int) -> pa.Table:
    kind = pa.int8()
    for _ in range(depth):
        kind = pa.struct([("a", kind), ("b", kind)])
    return pa.table({"t": pa.nulls(1, kind)})


TEXTS = pa.table({name: ["long " * 20] * 50 if name == "a" else [""] * 50 for name in "abcd"})


def shared(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Every column has the buffers of the first."""
    return places[:3] * (len(places) // 3)


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
    "columns that share their bytes": framed(forged(TEXTS, shared)),
    "columns that share offsets": framed(forged(TEXTS, lambda at: [*at[:4], at[1], *at[5:]])),
    "columns that share half of their bytes": framed(
        forged(TEXTS, lambda at: [*at[:5], (at[2][0] + 8, at[2][1] - 8), *at[6:]])
    ),
    "one buffer over all": framed(forged(TEXTS, lambda at: [*at[:-1], (0, at[-1][0] + at[-1][1])])),
    "buffers in another order": framed(forged(TEXTS, lambda at: [*at[3:6], *at[:3], *at[6:]])),
    "a buffer beyond the body": framed(forged(TEXTS, lambda at: [*at[:-1], (at[-1][0], 2**40)])),
    "a buffer before the body": framed(forged(TEXTS, lambda at: [(-8, 8), *at[1:]])),
    "a buffer of less than nothing": framed(forged(TEXTS, lambda at: [(8, -8), *at[1:]])),
    "a buffer between words": framed(forged(TEXTS, lambda at: [*at[:1], (at[1][0] + 4, at[1][1] - 4), *at[2:]])),
    "columns of other lengths": framed(forged(TEXTS, lambda nodes: [(49, 0), *nodes[1:]], vector=1)),
    "columns without end": framed(forged(TEXTS, lambda nodes: [(2**31, 0)] * len(nodes), vector=1)),
    "nothing in many columns": framed(stream(pa.table({f"c{n}": pa.nulls(82) for n in range(5)}))),
    "too many batches": framed(batches(pa.table({"t": [1]}), 17)),
    "too many empty batches": framed(batches(pa.table({"t": pa.array([], pa.int8())}), 17)),
    "too many rows in all": framed(batches(pa.table({"t": range(40)}), 3)),
    "another compression": framed(stream(pa.table({"t": ["x" * 500_000]}), compression="lz4")),
    "an older frame": framed(stream(PLAIN, use_legacy_format=True)),
    "metadata of the schema": framed(stream(PLAIN.replace_schema_metadata({"k": "v" * 1000}))),
    "metadata of a column": framed(stream(pa.table([[1]], pa.schema([pa.field("t", pa.int8(), metadata={"k": "v"})])))),
    "nested without end": framed(stream(nested(8))),
    "large lists": framed(stream(pa.table({"t": pa.array([[1]], pa.large_list(pa.int8()))}))),
    "lists of one length": framed(stream(pa.table({"t": pa.array([[1]], pa.list_(pa.int8(), 1))}))),
    "maps": framed(stream(pa.table({"t": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))}))),
    "views of texts": framed(stream(pa.table({"t": pa.array(["x" * 100] * 9, pa.string_view())}))),
    "views of bytes": framed(stream(pa.table({"t": pa.array([b"x" * 100] * 9, pa.binary_view())}))),
    "bytes of one length": framed(stream(pa.table({"t": pa.array([b"x" * 100], pa.binary(100))}))),
    "unions": framed(stream(pa.table({"t": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])}))),
    "durations": framed(stream(pa.table({"t": pa.array([1], pa.duration("s"))}))),
    "an endless time zone": framed(stream(pa.table({"t": pa.array([1], pa.timestamp("s", "x" * 70_000))}))),
    "something behind the end": framed(stream(PLAIN) + b"x" * 8),
    "a second stream behind the end": framed(stream(PLAIN) * 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(reply.ReplyError):
        reply.read(REFUSED[name], LIMITS)


WIDEST = SandboxLimits(rows=10_000, columns=500, cells=20_000, reply=4 * 1024**2)
BULKY = {
    "columns that share their bytes": forged(
        pa.table({f"c{n}": ["x" * 999 + "\U0001f600" if not n else ""] * 400 for n in range(50)}), shared
    ),
    "wide letters": stream(pa.table({"t": ["x" * 3999 + "\U0001f600"] * 500})),
    "wide letters in a name": stream(pa.table({"\U0001f600" + "x" * 999 + str(n): [1] for n in range(500)})),
    "large numbers": stream(pa.table({"t": pa.array([Decimal(10) ** 75 + n for n in range(9_000)])})),
    "small numbers": stream(pa.table({f"c{n}": pa.array(range(400), pa.int16()) for n in range(50)})),
    "nothing": stream(pa.table({f"c{n}": pa.nulls(9_000) for n in range(500)})),
    "empty texts": stream(pa.table({f"c{n}": [""] * 400 for n in range(50)})),
    "times": stream(pa.table({"t": pa.array(range(9_000), pa.timestamp("us", "UTC"))})),
}


@pytest.mark.parametrize("name", BULKY)
def test_a_reply_takes_no_more_than_a_few_times_its_length(name: str) -> None:
    data = framed(BULKY[name])
    tracemalloc.start()
    try:
        with contextlib.suppress(reply.ReplyError):
            reply.read(data, WIDEST)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 6 * len(data) + 400 * WIDEST.cells


def test_a_result_of_many_columns_is_cut_at_its_cells() -> None:
    limits = SandboxLimits(rows=100, columns=5, cells=40, reply=1024**2)
    whole = pa.table({name: range(9) for name in "abcde"})
    _, found = reply.read(framed(stream(whole)), limits)
    assert (len(found.rows), found.truncated) == (8, True)
    _, found = reply.read(framed(stream(whole.slice(0, 8))), limits)
    assert (len(found.rows), found.truncated) == (8, False)


def test_several_batches_are_one_table() -> None:
    _, found = reply.read(framed(batches(pa.table({"t": [1, 2]}), 3)), LIMITS)
    assert found.rows == ((1,), (2,)) * 3


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
    error = str(found.result.error or "")
    assert error.isprintable()
    assert len(error) <= 500


def test_a_reply_counts_only_from_a_process_that_ends_well(sandbox: Sandbox) -> None:
    code = "import os, struct\nos.write(3, struct.pack('=cQ', b'E', 6) + b'code\\nx'); os._exit({})"
    assert sandbox.run(code.format(0)).kind == "code"
    assert sandbox.run(code.format(9)).kind == "crash"

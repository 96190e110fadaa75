"""Makes a small database with a view for each file; runs in the process of ``duckdb_worker``."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import os
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from sqljury.db.duckdb_worker import Reply, explain, literal, restrict
from sqljury.db.files_names import FileError, Names, as_pattern
from sqljury.db.files_room import Copy, Room

if TYPE_CHECKING:
    import duckdb

_WHOLE_BYTES: Final = 64 * 1024**2
"""A file up to this size is read whole to find out its types, of a larger one the first rows."""

_CHECKED_BYTES: Final = 256 * 1024**2
"""How much of a file is looked at to tell UTF-8 from older encodings."""

_SAMPLE_ROWS: Final = 200_000
_PIECE: Final = 1 << 20
_BOMS: Final = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NOTHING: Final = "(empty)"
_DIALECT: Final = {
    "delim": "Delimiter",
    "quote": "Quote",
    "escape": "Escape",
    "new_line": "NewLineDelimiter",
    "comment": "Comment",
    "dateformat": "DateFormat",
    "timestampformat": "TimestampFormat",
}
"""From an option of read_csv to what sniff_csv calls it."""


def build(order: Reply) -> Reply:
    """Build the database that ``order`` describes; the reply names the files that its views read."""
    import duckdb

    readable: list[str] = []
    names = Names()
    room = Room(order["folder"], order["file_bytes"])
    copies = [os.path.join(order["folder"], f"copy_{number}") for number in range(len(order["sources"]))]
    with duckdb.connect(order["build"], config=order["config"]) as connection:
        own = [order["build"], f"{order['build']}.wal", *copies]
        readers = [as_pattern(path) for path in [*(source["path"] for source in order["sources"]), *copies]]
        restrict(connection, [*(source["path"] for source in order["sources"]), *own, *readers])
        for source, copy in zip(order["sources"], copies, strict=True):
            try:
                readable += _add(connection, source, names, copy, room)
            except FileError as error:
                return {"kind": "file", "message": str(error), "shown": source["shown"]}
            except Exception as error:
                return {**_refusal(error, source["kind"]), "shown": source["shown"]}
    return {"readable": readable}


def _refusal(error: Exception, kind: str) -> Reply:
    found = explain(error)
    if found["kind"] in ("missing", "memory", "interrupted"):
        return found
    return {"kind": "file", "message": f"cannot be read as {kind} ({found['message']})"}


def _add(connection: duckdb.DuckDBPyConnection, source: Reply, names: Names, copy: str, room: Room) -> list[str]:
    """Add the tables of one file; the paths that reading them needs."""
    path, kind = str(source["path"]), source["kind"]
    if kind == "xlsx":
        from sqljury.db.files_xlsx import add_workbook

        add_workbook(connection, path, source["stem"], names, copy, room)
        return []
    if kind == "csv":
        path = as_utf8(path, copy, room)
        query = csv_query(connection, path)
    elif kind == "json":
        query = f"FROM read_json({_source(path)}, sample_size={_samples(path)}, hive_partitioning=false)"
    else:
        query = f"FROM read_parquet({_source(path)}, hive_partitioning=false)"
    name = f'"{names.table(source["stem"])}"'
    connection.execute(f"CREATE VIEW {name} AS {query}")
    connection.execute(f"FROM {name} LIMIT 1").fetchall()
    return [path, as_pattern(path)]


def _source(path: str) -> str:
    """The file in a call of a reader. Folders in its path called ``year=2024`` are no columns."""
    return literal(as_pattern(path))


def _samples(path: str) -> int:
    """How many rows to look at for their types; -1 for all."""
    return -1 if os.path.getsize(path) <= _WHOLE_BYTES else _SAMPLE_ROWS


class _Sniffed(NamedTuple):
    """What DuckDB found out about a file of comma-separated values, and the options that it was told to use."""

    found: Reply
    options: tuple[str, ...]

    @property
    def texts(self) -> int:
        """How many columns are text."""
        return sum(column["type"] == "VARCHAR" for column in self.found["Columns"])


def csv_query(connection: duckdb.DuckDBPyConnection, path: str) -> str:
    """What reads this file, with everything that was found out about it written down."""
    known = [f"sample_size={_samples(path)}"]
    if _samples(path) > 0:
        known.append("quote='\"'")  # the rows looked at may have none
    best = _sniff(connection, path, known, ())
    with contextlib.suppress(Exception):  # where this fails, the plain way was right
        padded = _sniff(connection, path, known, ("null_padding=true", "strict_mode=false"))
        best = padded if _is_better(padded.found, best.found, path) else best
    if best.found["Delimiter"] != "," and best.texts:
        for extra in (("decimal_separator=','",), ("decimal_separator=','", "thousands='.'")):
            with contextlib.suppress(Exception):
                comma = _sniff(connection, path, known, best.options + extra)
                best = comma if comma.texts < best.texts else best
    return _spelled(path, best)


def _sniff(connection: duckdb.DuckDBPyConnection, path: str, known: list[str], options: tuple[str, ...]) -> _Sniffed:
    cursor = connection.execute(f"FROM sniff_csv({_source(path)}, {', '.join([*known, *options])})")
    names = [column[0] for column in cursor.description or ()]
    row: Any = cursor.fetchone()
    return _Sniffed(dict(zip(names, row, strict=True)), options)


def _is_better(padded: Reply, plain: Reply, path: str) -> bool:
    """Whether reading rows of unequal length loses less: DuckDB leaves out, or does not split, what does not fit."""
    if len(padded["Columns"]) > len(plain["Columns"]):
        return True
    if not plain["SkipRows"] or padded["SkipRows"] >= plain["SkipRows"]:
        return False
    with _open(path) as file:  # a line above the table, such as a title, is rightly left out
        return str(padded["Delimiter"]).encode() in file.readline(_PIECE)


def _spelled(path: str, sniffed: _Sniffed) -> str:
    """The call that reads the file so. DuckDB's own proposal leaves quotes in a path or a title as they are."""
    found = sniffed.found
    columns = ", ".join(f"{literal(column['name'])}: {literal(column['type'])}" for column in found["Columns"])
    options = [f"skip={int(found['SkipRows'])}", f"header={bool(found['HasHeader'])}", f"columns={{{columns}}}"]
    for option, key in _DIALECT.items():
        if found[key] is not None:
            options.append(f"{option}={literal('' if found[key] == _NOTHING else str(found[key]))}")
    fixed = "auto_detect=false, hive_partitioning=false"
    return f"FROM read_csv({_source(path)}, {fixed}, {', '.join([*options, *sniffed.options])})"


def as_utf8(path: str, copy: str, room: Room) -> str:
    """The path of the file in UTF-8: its own, or ``copy``, made where it is in UTF-16 or an older encoding."""
    with _open(path) as file:
        start = file.read(4)
        encoding = next((name for bom, name in _BOMS if start.startswith(bom)), None)
        if encoding is None:
            file.seek(0)
            if _is_utf8(file):
                return path
            encoding = "cp1252"
        file.seek(0)
        reader = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
        with Copy(copy, room) as target:
            while piece := reader.read(_PIECE):
                target.write(piece)
    return copy


def _is_utf8(file: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    seen = 0
    try:
        while seen < _CHECKED_BYTES and (piece := file.read(_PIECE)):
            seen += len(piece)
            decoder.decode(piece)
            if seen == len(piece) and not piece.strip(b"\xef\xbb\xbf \t\r\n"):
                raise FileError("is an empty file; there is nothing to ask about")
            if b"\x00" in piece:
                raise FileError("has zero bytes in it, so it is no text; check the file")
    except UnicodeDecodeError:
        return False
    return True


def _open(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]

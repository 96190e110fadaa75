"""Makes a small database with a view for each file, in a process of its own that ``duckdb_worker`` serves."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import os
import re
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from sqljury.db import duckdb_worker
from sqljury.db.duckdb_worker import Reply, explain, literal, restrict
from sqljury.db.files_names import Copy, FileError, Names, Room, as_pattern, is_header, quoted
from sqljury.db.files_xlsx import add_workbook

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
_LONGEST_LINE: Final = 16
_SEPARATOR_LINE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=([^\r\n\"])\"?\r?\n?", re.IGNORECASE)
_GROUPED: Final = re.compile(rb"\d,\d{3}(?!\d)")
_DOTTED_TIME: Final = re.compile(rb"\d\d\.\d\d\.\d{4} \d\d:\d\d")
_NUMBERS: Final = ("BIGINT", "DOUBLE", "HUGEINT", "INTEGER", "FLOAT")
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


def main() -> None:
    """Serve orders to build a database."""
    duckdb_worker.main(build)


def build(order: Reply) -> Reply:
    """Build the database that ``order`` describes; the reply names the files that its views read."""
    import duckdb

    readable: list[str] = []
    names = Names()
    room = Room(order["folder"], order["file_bytes"])
    copies = [os.path.join(order["folder"], f"copy_{number}") for number in range(len(order["sources"]))]
    with duckdb.connect(order["build"], config=order["config"]) as connection:
        built = [order["build"], f"{order['build']}.wal", *copies]
        readers = [as_pattern(path) for path in [*(source["path"] for source in order["sources"]), *copies]]
        restrict(connection, [*(source["path"] for source in order["sources"]), *built, *readers])
        for source, copy in zip(order["sources"], copies, strict=True):
            try:
                readable += _add(connection, source, names, copy, room)
            except FileError as error:
                return {"kind": "file", "message": str(error), "shown": source["shown"]}
            except Exception as error:
                return {**_refusal(error, source["kind"]), "shown": source["shown"]}
    return {"readable": readable}


def _refusal(error: Exception, kind: str) -> Reply:
    reply = explain(error)
    if reply["kind"] in ("missing", "memory", "interrupted"):
        return reply
    reason = reply["message"]
    if kind == "csv" and "sniffing" in reason:  # DuckDB lists all it tried, with a path that may be a copy's
        reason = "no separator makes columns of it; check that it is text with the same columns in every row"
    return {"kind": "file", "message": f"cannot be read as {kind} ({reason})"}


def _add(connection: duckdb.DuckDBPyConnection, source: Reply, names: Names, copy: str, room: Room) -> list[str]:
    """Add the tables of one file; the paths that reading them needs."""
    path, kind = str(source["path"]), source["kind"]
    if kind == "xlsx":
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
    connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {name} LIMIT 1").fetchall()  # noqa: S608  zoned times need pytz
    return [path, as_pattern(path)]


def _source(path: str) -> str:
    """The file in a call of a reader. Folders in its path called ``year=2024`` are not columns."""
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
    known = [f"sample_size={_samples(path)}", *_excel_line(path)]
    if _samples(path) > 0:
        known.append("quote='\"'")  # the rows looked at may have none
    best = _sniff(connection, path, known, ())
    if not best.found["HasHeader"] and _has_header(connection, path, best):
        known.append("header=true")
        best = _sniff(connection, path, known, ())
    with contextlib.suppress(Exception):  # where this fails, the plain way was right
        padded = _sniff(connection, path, known, ("null_padding=true", "strict_mode=false"))
        best = padded if _is_better(padded.found, best.found, path) else best
    for form in _times(path):
        with contextlib.suppress(Exception):
            timed = _sniff(connection, path, [*known, form], best.options)
            if timed.texts < best.texts:
                known.append(form)
                best = timed
                break
    for marks in _marks(path, best):
        with contextlib.suppress(Exception):
            marked = _sniff(connection, path, known, (*best.options, *marks.options))
            if marked.texts < best.texts and _so_spelled(connection, path, marked, marks):
                return _spelled(path, marked)
    return _spelled(path, best)


def _has_header(connection: duckdb.DuckDBPyConnection, path: str, sniffed: _Sniffed) -> bool:
    """Whether the first row, which DuckDB took for data, has years as titles; one of texts alone is data as it says."""
    rows = connection.execute(f"{_spelled(path, _as_texts(sniffed))} LIMIT 2").fetchall()
    cells = [[_number(cell) for cell in row] for row in rows]
    return len(cells) == 2 and any(isinstance(cell, int) for cell in cells[0]) and is_header(*cells)


def _number(cell: str | None) -> str | float | None:
    if cell is not None and cell.isdigit():
        return int(cell)
    try:
        return cell and float(cell)
    except ValueError:
        return cell


def _as_texts(sniffed: _Sniffed) -> _Sniffed:
    columns = [{**column, "type": "VARCHAR"} for column in sniffed.found["Columns"]]
    return _Sniffed({**sniffed.found, "Columns": columns}, sniffed.options)


def _excel_line(path: str) -> list[str]:
    """What the line ``sep=;`` says, with which Excel tells its separator: no title, and no data."""
    with _open(path) as file:
        match = _SEPARATOR_LINE.fullmatch(file.readline(_LONGEST_LINE))
    return ["skip=1", f"delim={literal(match[1].decode())}"] if match else []


def _times(path: str) -> list[str]:
    """Forms of a moment to try that DuckDB does not try by itself."""
    with _open(path) as file:
        dotted = _DOTTED_TIME.search(file.read(_PIECE))
    forms = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M") if dotted else ()
    return [f"timestampformat={literal(form)}" for form in forms]


class _Marks(NamedTuple):
    decimal: str
    thousands: str

    @property
    def options(self) -> tuple[str, ...]:
        """What read_csv is told of them."""
        thousands = (f"thousands={literal(self.thousands)}",) if self.thousands else ()
        return (f"decimal_separator={literal(self.decimal)}", *thousands)

    @property
    def pattern(self) -> str:
        """The pattern of numbers written so, with groups of three digits or without."""
        grouped = rf"|[1-9][0-9]{{0,2}}([{self.thousands}][0-9]{{3}})+" if self.thousands else ""
        return rf"\s*[-+]?([0-9]*{grouped})([{self.decimal}][0-9]*)?([eE][-+]?[0-9]+)?\s*"


def _marks(path: str, sniffed: _Sniffed) -> list[_Marks]:
    """Other ways to write numbers that this file may have; the first that makes numbers of texts is the right one.

    The decimal comma is left out where commas separate: "1,2" in quotes is as often a list.
    """
    if not sniffed.texts:
        return []
    with _open(path) as file:
        english = [_Marks(".", ",")] if _GROUPED.search(file.read(_PIECE)) else []
    return english if sniffed.found["Delimiter"] == "," else [_Marks(",", "."), *english, _Marks(",", "")]


def _so_spelled(connection: duckdb.DuckDBPyConnection, path: str, sniffed: _Sniffed, marks: _Marks) -> bool:
    """Whether all that becomes a number is spelled like one.

    DuckDB drops the mark for thousands wherever it stands: 1,234.50 would become 1.2345, and 10.0.0.1 a number.
    """
    numbers = [
        quoted(column["name"])
        for column in sniffed.found["Columns"]
        if column["type"] in _NUMBERS or column["type"].startswith("DECIMAL")
    ]
    source = _spelled(path, _as_texts(sniffed))
    rows = f"(SELECT * {source}{f' LIMIT {_SAMPLE_ROWS}' if _samples(path) > 0 else ''})"
    fits = " AND ".join(
        f"bool_and(regexp_full_match({name}, {literal(marks.pattern)})) IS NOT FALSE" for name in numbers
    )
    return connection.execute(f"SELECT {fits or 'true'} FROM {rows}").fetchone() == (True,)  # noqa: S608


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
    dialect = sniffed.found
    columns = ", ".join(f"{literal(column['name'])}: {literal(column['type'])}" for column in dialect["Columns"])
    options = [f"skip={int(dialect['SkipRows'])}", f"header={bool(dialect['HasHeader'])}", f"columns={{{columns}}}"]
    for option, key in _DIALECT.items():
        if dialect[key] is not None:
            options.append(f"{option}={literal('' if dialect[key] == _NOTHING else str(dialect[key]))}")
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
                raise FileError("has zero bytes in it, so it is not text; check the file")
    except UnicodeDecodeError:
        return False
    return True


def _open(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]

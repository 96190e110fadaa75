"""Sheets of a workbook as tables; runs in the process of ``duckdb_worker``."""

from __future__ import annotations

import datetime
import itertools
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqljury.db.duckdb_worker import literal
from sqljury.db.files_names import Copy, FileError, Names, Room, as_pattern, is_header, quoted

if TYPE_CHECKING:
    import duckdb

_OLE: Final = b"\xd0\xcf\x11\xe0"
"""How a workbook with a password, and one of Excel before 2007, begins."""

_ERRORS: Final = frozenset(["#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"])
"""What a failed formula shows; taken for no value."""

_TITLE_ROWS: Final = 5
"""More lines of one cell than this are not a title."""

_TYPES: Final = {
    frozenset({"bool"}): "BOOLEAN",
    frozenset({"int"}): "BIGINT",
    frozenset({"date"}): "DATE",
    frozenset({"float"}): "DOUBLE",
    frozenset({"int", "float"}): "DOUBLE",
    frozenset({"time"}): "TIME",
    frozenset({"datetime"}): "TIMESTAMP",
    frozenset({"date", "datetime"}): "TIMESTAMP",
    frozenset({"timedelta"}): "INTERVAL",
}
"""From the kinds of all values of a column to its type; any other mixture is text."""

_LONGEST: Final = datetime.timedelta(microseconds=2**63 - 1)
"""From about 2.5 billion hours on DuckDB reads no duration that is written in hours."""


def add_workbook(
    connection: duckdb.DuckDBPyConnection, path: str, stem: str, names: Names, copy: str, room: Room
) -> None:
    """A table for each sheet that has rows: named after the file, with the sheet's title where there are several."""
    import openpyxl

    with open(path, "rb") as file:
        if file.read(4) == _OLE:
            raise FileError("has a password or is of an old format; save it as .xlsx without a password")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise FileError(f"is not a workbook, or a broken one ({error})") from None
    try:
        sheets = [sheet for sheet in book.worksheets if any(_filled(row) for row in sheet.iter_rows(values_only=True))]
        if not sheets:
            raise FileError("has no sheet with rows in it; there is nothing to ask about")
        for sheet in sheets:
            name = names.table(stem if len(sheets) == 1 else f"{stem}_{sheet.title}")
            _load(connection, name, sheet.iter_rows(values_only=True), copy, room)
    finally:
        book.close()


def _filled(row: Sequence[Any]) -> int:
    """How many columns up to the last value in this row."""
    return max((at for at, cell in enumerate(row, 1) if _value(cell) is not None), default=0)


def _value(cell: Any) -> Any:
    return None if cell in _ERRORS or (isinstance(cell, str) and not cell.strip()) else cell


def _load(
    connection: duckdb.DuckDBPyConnection, name: str, rows: Iterable[Sequence[Any]], copy: str, room: Room
) -> None:
    """Write the sheet to ``copy`` as text, which shows the type of every column, and load that."""
    header: list[str] | None = None
    kinds: list[set[str]] = []
    with Copy(copy, room) as target:
        for row, below in _with_next(_without_title(rows)):
            width = _filled(row)
            if header is None:
                header, row = _header(row[:width], row, below)
            kinds += [set() for _ in range(width - len(kinds))]
            cells = [_value(cell) for cell in row[:width]]
            if not any(cell is not None for cell in cells):
                continue
            for at, cell in enumerate(cells):
                if cell is not None:
                    kinds[at].add(_kind(cell))
            # Without a first column that always has something, a row of one empty cell would be an empty line.
            target.write("1," + ",".join(_text(cell) for cell in cells) + "\n")
    types = [_TYPES.get(frozenset(kind), "VARCHAR") for kind in kinds]
    titles = Names()
    named = [
        titles.column(title)
        for title in [*(header or []), *(f"column{n}" for n in range(len(header or []), len(types)))]
    ]
    _create(connection, name, list(zip(named, types, strict=True)), copy)
    os.remove(copy)


def _without_title(rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """The rows that hold anything, without lines of one cell above a header: the title of a report."""
    above: list[Sequence[Any]] = []
    filled = (row for row in rows if _filled(row))
    for row in filled:
        wide = sum(_value(cell) is not None for cell in row) > 1
        if wide or len(above) == _TITLE_ROWS:
            after = next(filled, None)
            table = after is None or sum(_value(cell) is not None for cell in after) > 1
            if not (wide and table and is_header(row[: _filled(row)], after or ())):
                yield from above
            yield row
            if after is not None:
                yield after
            yield from filled
            return
        above.append(row)
    yield from above


def _with_next(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    return itertools.pairwise(itertools.chain(rows, [()]))


def _header(row: Sequence[Any], whole: Sequence[Any], below: Sequence[Any]) -> tuple[list[str], Sequence[Any]]:
    """The titles, and what of this row is data."""
    if is_header(row, below):
        titles = [str(cell).strip() if cell else f"column{at}" for at, cell in enumerate(row)]
        return titles, [None] * len(whole)
    return [f"column{at}" for at in range(len(row))], whole


def _kind(cell: Any) -> str:
    if isinstance(cell, bool):
        return "bool"
    if isinstance(cell, int):
        return "int" if abs(cell) < 2**63 else "float"
    if isinstance(cell, datetime.timedelta) and not abs(cell) < _LONGEST:
        return "text"
    if isinstance(cell, datetime.datetime):
        return "datetime" if cell.time() != datetime.time() else "date"
    return next(
        (kind.__name__ for kind in (float, datetime.date, datetime.time, datetime.timedelta) if isinstance(cell, kind)),
        "text",
    )


def _text(cell: Any) -> str:
    """One field of CSV; nothing at all for no value."""
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    if isinstance(cell, datetime.timedelta):
        cell = _hours(cell)
    text = cell.isoformat(" ") if isinstance(cell, datetime.datetime) else str(cell)
    return '"' + text.replace('"', '""') + '"'


def _hours(duration: datetime.timedelta) -> str:
    """Hours, minutes and seconds, as a sheet shows them: DuckDB does not read Python's ``1 day, 6:15:00``."""
    micros = abs(duration) // datetime.timedelta(microseconds=1)
    seconds, fraction = divmod(micros, 1_000_000)
    text = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}" + (f".{fraction:06}" if fraction else "")
    return f"-{text}" if duration < datetime.timedelta() else text


def _create(connection: duckdb.DuckDBPyConnection, name: str, columns: list[tuple[str, str]], copy: str) -> None:
    guard = Names()
    for title, _ in columns:
        guard.column(title)
    first = guard.column("row")
    struct = ", ".join(f"{literal(title)}: '{kind}'" for title, kind in [(first, "INTEGER"), *columns])
    options = "auto_detect=false, header=false, delim=',', quote='\"', escape='\"', nullstr='', parallel=false"
    loose = "hive_partitioning=false, allow_quoted_nulls=false, null_padding=true, max_line_size=16777216"
    source = f"read_csv({literal(as_pattern(copy))}, {options}, {loose}, columns={{{struct}}})"
    columns_only = f"SELECT * EXCLUDE ({quoted(first)})"
    connection.execute(f"CREATE TABLE {quoted(name)} AS {columns_only} FROM {source}")

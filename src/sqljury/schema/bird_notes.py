"""BIRD's ``database_description`` folder: a CSV file a table, a row a column, written by many hands."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sqljury.errors import NotesError
from sqljury.language.words import words
from sqljury.schema.describe import Item, Notes

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_FILES: Final = 5_000

_NAME: Final = "original_column_name"
_FIELDS: Final = (_NAME, "column_name", "column_description", "data_format", "value_description")
_CODE: Final = re.compile(r"[^\w+\-]*([\w+\-./]{1,30})[\"']?\s*[:=：]\s*(\S.*)")
_LABEL: Final = re.compile(r"\W*(commonsense|common sense)\s+(evidence|reasoning)\W*", re.IGNORECASE)
_NO_CODES: Final = frozenset(("note", "notes", "evidence", "http", "https", "e.g", "eg", "i.e", "example", "ps"))
_SWALLOWED: Final = 3
"""So many lines with a column's worth of commas inside one cell mean that a stray quote has swallowed them."""


def read(folder: str | os.PathLike[str]) -> Notes:
    """The notes of a folder of CSV files; all items are optional, and ``unmatched`` has the files of no use.

    Encodings, missing columns, stray quotes and blank rows are put up with. Raises ``NotesError`` for a folder
    without CSV files, or one with more than ``MAX_FILES``.
    """
    paths = sorted(path for path in Path(folder).iterdir() if _is_csv(path))
    if not paths or len(paths) > MAX_FILES:
        found = f"has {len(paths):,} CSV files" if paths else "has no CSV file"
        raise NotesError(f"notes {folder}: {found}; name the database_description folder of one database")
    items: list[Item] = []
    unmatched = []
    for path in paths:
        try:
            items += _items(path)
        except (OSError, csv.Error, NotesError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            unmatched.append(f"notes {path.name}: left out: {reason}")
    return Notes(items=tuple(items), unmatched=tuple(unmatched))


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv" and not path.name.startswith(".") and path.is_file()


def _items(path: Path) -> Iterator[Item]:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise NotesError(f"is larger than {MAX_BYTES // 1024 // 1024} MiB")
    header, *rows = _rows(_decoded(data)) or [[]]
    places = {re.sub(r"\W+", "_", name.strip().lower()).strip("_"): place for place, name in enumerate(header)}
    if _NAME not in places and "column_name" not in places:
        raise NotesError(f"its first line names no column called {_NAME}")
    for number, row in enumerate(rows, start=2):
        cells = {name: row[places[name]].strip() for name in _FIELDS if places.get(name, len(row)) < len(row)}
        if column := cells.get(_NAME) or cells.get("column_name", ""):
            yield _item(path, number, column, cells)


def _item(path: Path, number: int, column: str, cells: dict[str, str]) -> Item:
    full = cells.get("column_name", "")
    description = cells.get("column_description", "")
    if full and not set(words(full)) <= {*words(column), *words(description)}:
        description = f"{full}: {description}" if description else full
    return Item(
        table=path.stem.strip(),
        column=column,
        description=" ".join(description.split()),
        synonyms=(full,) if full and words(full) != words(column) else (),
        values=tuple(_values(cells.get("value_description", ""))),
        where=f"notes {path.name}: row {number}",
        optional=True,
    )


def _values(text: str) -> Iterator[tuple[str, str]]:
    """Lines such as ``F: female`` as code and meaning; the rest together as a meaning of values in general."""
    rest = []
    for line in text.splitlines():
        line = _LABEL.sub(" ", line).strip(" \t-•")
        match = _CODE.fullmatch(line)
        if match and match[1].lower().rstrip(".") not in _NO_CODES:
            yield match[1], match[2].strip()
        elif line:
            rest.append(line)
    if rest:
        yield "", " ".join(" ".join(rest).split())


def _decoded(data: bytes) -> str:
    for encoding in ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _rows(text: str) -> list[list[str]]:
    text = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    if rows and any(_has_swallowed(cell, len(rows[0])) for row in rows for cell in row):
        lines = csv.reader(io.StringIO(text), quoting=csv.QUOTE_NONE)
        rows = [[cell.strip().strip('"') for cell in row] for row in lines if any(cell.strip() for cell in row)]
    return rows


def _has_swallowed(cell: str, width: int) -> bool:
    lines = cell.splitlines()[1:]
    return sum(line.count(",") >= max(width - 1, 1) for line in lines) >= _SWALLOWED

"""Results as files: CSV for spreadsheets, and Parquet for programs that keep the types."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from sqljury.errors import MissingExtraError
from sqljury.sql.text import quote_name
from sqljury.types import Result
from sqljury.types.csv_lines import csv_line

PARQUET: Final = "application/vnd.apache.parquet"
_INTEGERS: Final = range(-(2**63), 2**63)


def csv(result: Result, name: str) -> Response:
    """All rows as CSV, defused for spreadsheets."""
    lines = (csv_line(row, defuse=True) for row in (result.columns, *result.rows))
    text = "".join(f"{line}\r\n" for line in lines).encode("utf-8", "replace")
    return _file(text, "text/csv; charset=utf-8", f"{name}.csv", result)


def parquet(result: Result, name: str) -> Response:
    """All rows as Parquet, written by DuckDB; raises ``MissingExtraError`` without it.

    A column is of integers, numbers, booleans or bytes where all its cells are, else of texts.
    """
    return _file(parquet_bytes(result.columns, result.rows), PARQUET, f"{name}.parquet", result)


FORMS: Final[dict[str, Callable[[Result, str], Response]]] = {"text/csv": csv, PARQUET: parquet}
"""How a result is written, by the type that the client accepts."""


def parquet_bytes(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """The content of a Parquet file; columns of the same name get a number."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "serve") from None
    cells = [[row[index] for row in rows] for index in range(len(columns))]
    kinds = [_kind(column) for column in cells]
    made = [list(map(to, column)) for column, (_, to) in zip(cells, kinds, strict=True)]
    names = _different(columns)
    lists = ", ".join(
        f"unnest($p{index}::{kind}[]) AS {quote_name(name, 'duckdb')}"
        for index, (name, (kind, _)) in enumerate(zip(names, kinds, strict=True))
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        duckdb.connect(":memory:", config={"threads": 1, "autoinstall_known_extensions": False}) as connection,
    ):
        file = Path(folder) / "rows.parquet"
        given = {f"p{index}": column for index, column in enumerate(made)}
        connection.execute(f"CREATE TABLE result AS SELECT {lists}", given)
        connection.execute(f"COPY result TO '{str(file).replace(chr(39), chr(39) * 2)}' (FORMAT parquet)")
        return file.read_bytes()


def _kind(cells: Sequence[Any]) -> tuple[str, Callable[[Any], Any]]:
    """DuckDB's type for a column, and what makes a cell of it."""
    known = {type(cell) for cell in cells if cell is not None}
    large = any(type(cell) is int and cell not in _INTEGERS for cell in cells)
    if known == {bool}:
        return "BOOLEAN", _same
    if known == {int} and not large:
        return "BIGINT", _same
    if known and known <= {int, float, Decimal} and not large:
        return "DOUBLE", lambda cell: None if cell is None else float(cell)
    if known == {bytes}:
        return "BLOB", _same
    return "VARCHAR", lambda cell: None if cell is None else _text(cell)


def _same(cell: Any) -> Any:
    return cell


def _text(cell: object) -> str:
    text = f"0x{cell.hex()}" if isinstance(cell, bytes) else str(cell)
    return text.encode("utf-8", "replace").decode()  # half surrogate pairs have no UTF-8


def _different(columns: Sequence[str]) -> list[str]:
    """The names, those that occur again (regardless of case, as DuckDB compares them) with a number."""
    taken: set[str] = set()
    names = []
    for column in columns:
        name, number = _text(column) or "column", 1
        while name.casefold() in taken:
            number += 1
            name = f"{column} {number}"
        taken.add(name.casefold())
        names.append(name)
    return names


def _file(content: bytes, kind: str, name: str, result: Result) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if result.truncated:
        headers["X-Truncated"] = "true"
    return Response(content, media_type=kind, headers=headers)

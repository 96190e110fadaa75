"""A small database as text for a model: rows as CSV, or the SQLite statements that make it (Li & Xie 2024, Figure 3).

Texts are quoted, so that 1 and "1" differ and content stays data; numbers and NULL are bare. Columns of text that hold
only numbers are shown as numbers (the paper's "Bug Report" in section 4.1): a model asked for the largest of '100' and
'90' could not know otherwise that numbers are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Final

from sqljury.recipes.parts import Shown
from sqljury.schema import forms
from sqljury.schema.meanings import are_numbers
from sqljury.sql.affinity import number_of
from sqljury.sql.compare import DECIMALS
from sqljury.sql.text import NAME_CHARS, cell_text, plain, table_name
from sqljury.types import Cell, Result, Row, Table, TestCase

CHARS: Final = 80
"""Of one cell; a longer one is cut, and recognised by ``known``."""

EMPTY: Final = "no rows"

Known = dict[str | int | float, Cell]


def show_case(case: TestCase, form: Shown) -> str:
    """The tables of the case with their rows, no blank line inside a table."""
    write = _csv if form == "csv" else _sqlite
    listed = zip(case.schema.tables, case.rows, strict=True)
    return "\n\n".join(write(table, _repaired(rows)) for table, rows in listed)


def show_result(result: Result) -> str:
    """The rows of a result as a model is to write them, or ``EMPTY``; fractions have two decimals at most."""
    rows = (tuple(_rounded(cell) for cell in row) for row in result.rows)
    return "\n".join(_line(row) for row in rows) or EMPTY


def known(case: TestCase) -> Known:
    """The cells of the case by the text or the number that the model is shown for them.

    A number that some column keeps as a number stays one, wherever else it is kept as text.
    """
    texts: Known = {}
    numbers: Known = {}
    for rows in case.rows:
        for row, seen in zip(rows, _repaired(rows), strict=True):
            for cell, shown in zip(row, seen, strict=True):
                if isinstance(shown, int | float) and isfinite(shown):
                    number = number_of(_number(shown))
                    assert number is not None
                    (texts if isinstance(cell, str) else numbers).setdefault(number, cell)
                elif shown is not None:
                    texts.setdefault(cell_text(shown, CHARS), cell)
    return texts | numbers


def _repaired(rows: Sequence[Row]) -> list[Row]:
    """The rows with numbers for texts in every column that holds only numbers as text."""
    columns = [_numbers(column) for column in zip(*rows, strict=True)]
    return list(zip(*columns, strict=True))


def _numbers(column: Sequence[Cell]) -> Sequence[Cell]:
    cells = [cell for cell in column if cell is not None]
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts or len(texts) < len(cells) or not are_numbers(texts):
        return column
    numbers = [number_of(cell) if isinstance(cell, str) else None for cell in column]
    finite = all(number is None or isfinite(number) for number in numbers)
    return numbers if finite else column


def _csv(table: Table, rows: Sequence[Row]) -> str:
    name = plain(table.name, NAME_CHARS)
    columns = ", ".join(plain(column.name, NAME_CHARS) for column in table.columns)
    count = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    return "\n".join((f"Table {name}, {count}", columns, *map(_line, rows)))


def _sqlite(table: Table, rows: Sequence[Row]) -> str:
    numbers = {index for index, cells in enumerate(zip(*rows, strict=True)) if _all_numbers(cells)}
    columns = tuple(
        replace(column, type="NUMERIC") if index in numbers and _is_text(column.type) else column
        for index, column in enumerate(table.columns)
    )
    lines = forms.ddl(replace(table, columns=columns), "sqlite", forms.Remarks())
    if rows:
        values = ",\n".join(f"  ({line})" for line in (_line(row, "'") for row in rows))
        lines += [f"INSERT INTO {table_name(table.name, table.schema, 'sqlite')} VALUES", f"{values};"]
    return "\n".join(lines)


def _all_numbers(column: Iterable[Cell]) -> bool:
    cells = [cell for cell in column if cell is not None]
    return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def _is_text(declared: str) -> bool:
    return any(part in declared.upper() for part in ("CHAR", "TEXT", "CLOB"))


def _line(row: Row, mark: str = '"') -> str:
    return ", ".join(_literal(cell, mark) for cell in row)


def _literal(cell: Cell, mark: str) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, int | float) and isfinite(cell):
        return _number(cell)
    return mark + cell_text(cell, CHARS).replace(mark, 2 * mark) + mark


def _number(cell: int | float) -> str:
    return f"{cell:.12g}" if isinstance(cell, float) else str(int(cell))


def _rounded(cell: Cell) -> Cell:
    return round(cell, DECIMALS) if isinstance(cell, float) and isfinite(cell) else cell

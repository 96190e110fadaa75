"""Rows as lines of CSV, for programs and for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any, Final

_FORMULA: Final = re.compile(r"[\s\ufeff\u200b-\u200f\u2060]*[=+@\-\t\r\n＝＋－＠−]|[\t\r\n]")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def csv_line(row: Sequence[Any], *, defuse: bool = False) -> str:
    """One row without its line end; NULL is empty, a blob is ``0x`` and its digits.

    With ``defuse``, texts that a spreadsheet would run as formulas are escaped, and every text is quoted: a program
    with another separator must not find a cell inside a text.
    """
    cells = ["" if cell is None else f"0x{cell.hex()}" if isinstance(cell, bytes) else cell for cell in row]
    line = io.StringIO()  # a csv writer quotes only the line ends that it knows
    if defuse:
        csv.writer(line, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC).writerow(map(_defused, cells))
    else:
        csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n")


def _defused(cell: Any) -> Any:
    """A cell with an apostrophe before it if a spreadsheet would run it as a formula, as OWASP advises."""
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}" if _FORMULA.match(cell) else cell

"""Reads the rows that a model says a query returns; what is no table is nothing, never a guess."""

from __future__ import annotations

import re
from math import isfinite
from typing import Final

from sqljury.metrics.affinity import number_of
from sqljury.testcases.shown import EMPTY, Known
from sqljury.types import Cell, Result, Row

ROWS: Final = 100
COLUMNS: Final = 30
CHARS: Final = 20_000
"""Of a reply; a longer one is no answer on a database of a few rows."""

_CELL: Final = re.compile(r'[ \t]*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^",]*))[ \t]*(?P<end>,|\Z)')
_FENCE: Final = re.compile(r"```\w*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_BLANK: Final = re.compile(r"\n[ \t]*\n")


class _UnreadableError(ValueError):
    """The reply holds something that is no cell."""


def read_rows(reply: str, known: Known) -> Result | None:
    """The rows of a reply, one a line, cells with commas between them; None where it is anything else.

    Texts stand in double quotes, doubled inside; bare words are texts only where ``known`` has them, so that prose is
    no row. Cells become what the database keeps (``shown.known``). All rows have the same number of cells. What
    follows a blank line is left out. The result's columns have no names.
    """
    if len(reply) > CHARS:
        return None
    fenced = _FENCE.match(reply.strip())
    text = _BLANK.split((fenced[1] if fenced else reply).strip(), maxsplit=1)[0]
    if text.strip().strip('"').lower() == EMPTY:
        return Result()
    lines = text.splitlines()
    if not text or len(lines) > ROWS:
        return None
    try:
        rows = tuple(_row(line, known) for line in lines)
    except _UnreadableError:
        return None
    width = len(rows[0])
    if width > COLUMNS or any(len(row) != width for row in rows):
        return None
    return Result(columns=("",) * width, rows=rows)


def _row(line: str, known: Known) -> Row:
    cells, at = list[Cell](), 0
    while True:
        match = _CELL.match(line, at)
        if match is None:
            raise _UnreadableError
        quoted = match["quoted"]
        cells.append(_bare(match["bare"].strip(), known) if quoted is None else _text(quoted.replace('""', '"'), known))
        at = match.end()
        if not match["end"]:
            return tuple(cells)


def _text(text: str, known: Known) -> Cell:
    """As the database keeps it; a number in quotes is one where the database has it as such only."""
    if text in known:
        return known[text]
    number = number_of(text)
    return known[number] if number is not None and number in known else text


def _bare(text: str, known: Known) -> Cell:
    if text.upper() == "NULL":
        return None
    number = number_of(text)
    if number is not None and isfinite(number):
        return known.get(number, number)
    if text in known:
        return known[text]
    raise _UnreadableError

"""Cells for people to read."""

from __future__ import annotations

from sqljury.cli import terminal
from sqljury.types import Cell

BLOB_BYTES = 16


def text(cell: Cell) -> str:
    """A cell for people to read: on one line, without control characters, a long blob cut."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return f"0x{cell[:BLOB_BYTES].hex()}{'...' if len(cell) > BLOB_BYTES else ''}"
    return terminal.clean(str(cell))

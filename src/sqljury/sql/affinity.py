"""What SQLite makes of a value that is stored in a column, or compared with it, by the column's declared type."""

from __future__ import annotations

from typing import Literal

from sqljury.types import Cell

Affinity = Literal["INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC"]


def affinity(declared: str) -> Affinity:
    """The affinity of a column of this declared type (SQLite's documentation, "Determination Of Column Affinity")."""
    name = declared.upper()
    if "INT" in name:
        return "INTEGER"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not name or "BLOB" in name:
        return "BLOB"
    return "REAL" if any(part in name for part in ("REAL", "FLOA", "DOUB")) else "NUMERIC"


def stored(value: Cell, into: Affinity) -> Cell:
    """The value that SQLite keeps when this one is written into such a column."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = float(value)  # as SQLite reads such a constant
    if value is None or isinstance(value, bytes) or into == "BLOB":
        return value
    if into == "TEXT":
        return value if isinstance(value, str) else f"{value:.15g}" if _fraction(value) else _whole(value)
    if isinstance(value, str):
        number = number_of(value)
        if number is None:
            return value
        value = number
    if into == "REAL":
        return float(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def number_of(text: str) -> int | float | None:
    """The number that SQLite reads the whole text as, which excludes Python's underscores and words for infinity."""
    plain = text.strip(" \t\n\r\f\v")
    if not plain or plain.strip("0123456789+-.eE"):
        return None
    try:
        whole = int(plain)
    except ValueError:
        try:
            return float(plain)
        except ValueError:
            return None
    return whole if abs(whole) < 2**63 else float(plain)


def _fraction(value: int | float) -> bool:
    return isinstance(value, float) and not (value.is_integer() and abs(value) < 1e15)


def _whole(value: int | float) -> str:
    return f"{int(value)}.0" if isinstance(value, float) else str(value)

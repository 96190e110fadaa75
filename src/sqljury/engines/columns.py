"""The type of a copied column: the type that SQLite declares, if all values fit it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqljury.sql.affinity import affinity
from sqljury.types import Cell

Kind = Literal["integer", "bigint", "decimal", "real", "text", "date", "timestamp", "bytes"]

NUMBERS: Final[frozenset[Kind]] = frozenset({"integer", "bigint", "decimal", "real"})
WHOLE: Final[frozenset[Kind]] = frozenset({"integer", "bigint"})

_DATE: Final = re.compile(r"[1-9]\d{3}-\d\d-\d\d")
_TIMESTAMP: Final = re.compile(r"[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d")
_LENGTH: Final = re.compile(r"CHAR[A-Z ]*\(\s*(\d{1,5})\s*\)")
_CANONICAL: Final = re.compile(r"0|-?[1-9]\d{0,17}")


@dataclass(frozen=True, slots=True)
class CopiedType:
    """A column's kind and, for texts of a declared length that holds them all, that length (0 for none).

    ``fits`` is False where the values did not fit what was declared, and the column is of another kind for that.
    """

    kind: Kind
    length: int = 0
    fits: bool = True


def type_of(declared: str, values: Iterable[Cell]) -> CopiedType:
    """The type for a column that SQLite declares so and that holds these values, NULLs left out."""
    listed = [value for value in values if value is not None]
    wanted = _declared(declared)
    if wanted is None:
        return CopiedType(_of_values(listed))
    if wanted == "text" and not any(isinstance(value, bytes) for value in listed):
        match = _LENGTH.search(declared.upper())
        length = int(match[1]) if match else 0
        longest = max((len(value) for value in listed if isinstance(value, str)), default=0)
        return CopiedType("text", length if longest <= length else 0, fits=longest <= length or not length)
    for kind in _WIDER[wanted]:
        if all(_FITS[kind](value) for value in listed):
            return CopiedType(kind, fits=kind == wanted or (kind, wanted) == ("bigint", "integer"))
    return CopiedType("text", fits=False)


def is_whole_text(value: Cell) -> bool:
    """Whether the value is a whole number, or the text that such a number is written as."""
    return isinstance(value, int) or (isinstance(value, str) and bool(_CANONICAL.fullmatch(value)))


def converted(value: Cell, kind: Kind) -> Cell:
    """The value as a column of this kind keeps it; the kind is one that all values fit, or text."""
    if value is None:
        return None
    if kind in WHOLE:
        return int(value)
    if kind == "real":
        return float(value)
    if kind == "bytes":
        return value
    if kind == "text":
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        return text.replace("\0", "").encode("utf-8", "replace").decode()
    return value


def _declared(declared: str) -> Kind | None:
    """The kind that a declaration asks for; None where it asks for none."""
    name = declared.upper()
    if "TIMESTAMP" in name or "DATETIME" in name:
        return "timestamp"
    if "DATE" in name:
        return "date"
    if any(word in name for word in ("DECIMAL", "NUMERIC", "MONEY")):
        return "decimal"
    if any(word in name for word in ("BOOL", "BIT", "YEAR")):
        return "integer"
    if "BLOB" in name:
        return "bytes"
    by_affinity: dict[str, Kind | None] = {"INTEGER": "integer", "TEXT": "text", "REAL": "real", "NUMERIC": "decimal"}
    return by_affinity.get(affinity(declared))


def _of_values(values: Sequence[Cell]) -> Kind:
    """The narrowest kind that holds the values of a column without a declared type."""
    candidates: tuple[Kind, ...] = ("integer", "bigint", "real", "bytes")
    return next((kind for kind in candidates if values and all(map(_FITS[kind], values))), "text")


def _is_time(value: Cell, shape: re.Pattern[str], parse: Callable[[str], object]) -> bool:
    if not isinstance(value, str) or not shape.fullmatch(value):
        return False
    try:
        parse(value)
    except ValueError:
        return False
    return True


_FITS: Final[dict[Kind, Callable[[Cell], bool]]] = {
    "integer": lambda value: isinstance(value, int) and -(2**31) <= value < 2**31,
    "bigint": lambda value: isinstance(value, int),
    "decimal": lambda value: isinstance(value, int | float),
    "real": lambda value: isinstance(value, int | float),
    "date": lambda value: _is_time(value, _DATE, datetime.date.fromisoformat),
    "timestamp": lambda value: _is_time(value, _TIMESTAMP, datetime.datetime.fromisoformat),
    "bytes": lambda value: isinstance(value, bytes),
}

_WIDER: Final[dict[Kind, tuple[Kind, ...]]] = {
    "integer": ("integer", "bigint", "real"),
    "decimal": ("decimal",),
    "real": ("real",),
    "date": ("date", "timestamp", "integer"),
    "timestamp": ("timestamp", "date", "integer"),
    "bytes": ("bytes",),
    "text": ("bytes",),
}
"""By the kind that is declared, the kinds that are tried for it, in order; what fits none is text."""

"""MySQL's values as plain cells: numbers as numbers, binary as bytes, everything else as the text MySQL writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqljury.db.numbers import number
from sqljury.types import Cell

_BINARY: Final = 63  # the character set that stands for none
_DECIMAL: Final = frozenset({0, 246})
_WHOLE: Final = frozenset({1, 2, 3, 8, 9, 13})
_FLOATING: Final = frozenset({4, 5})
_BIT: Final = 16
_GEOMETRY: Final = 255
_TEXTS: Final = frozenset({15, 249, 250, 251, 252, 253, 254})
_ENUM_OR_SET: Final = 0x0100 | 0x0800


def plain(column: Any) -> Callable[[bytes], Cell]:
    """What turns the bytes of this result column into a cell; dates and times stay text, odd ones too."""
    kind = column.type_code
    if kind in _WHOLE:
        return int
    if kind in _FLOATING:
        return float
    if kind in _DECIMAL:
        return _decimal
    if kind == _BIT:
        return _bits
    if kind == _GEOMETRY or (kind in _TEXTS and column.charsetnr == _BINARY and not column.flags & _ENUM_OR_SET):
        return bytes
    return _text


def _decimal(data: bytes) -> Cell:
    return number(data.decode("ascii"))


def _bits(data: bytes) -> Cell:
    return int.from_bytes(data, "big")


def _text(data: bytes) -> Cell:
    return data.decode("utf-8", "replace")

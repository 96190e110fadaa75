"""What running a query may use, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Cell = None | int | float | str | bytes
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one query: seconds of wall time, rows fetched, bytes of all fetched cells."""

    seconds: float = 30.0
    rows: int = 10_000
    bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Result:
    """What running a query gave: rows, or ``error`` and no rows.

    ``truncated`` says that the row limit cut the result; ``seconds`` is wall time.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    truncated: bool = False
    error: str | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """The query ran, whatever it returned."""
        return self.error is None

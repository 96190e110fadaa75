"""Whether a query's result is the expected one, written by a model: exactly, or relaxed as in Li & Xie 2024."""

from __future__ import annotations

from math import isfinite

from sqljury.errors import QueryLimitError
from sqljury.sql.affinity import number_of
from sqljury.sql.compare import same_but_for_columns, same_result
from sqljury.testing.show import DECIMALS
from sqljury.types import Cell, Result


def agree(expected: Result, actual: Result, *, ordered: bool) -> bool:
    """Whether the two are the same table, numbers to two decimals; a text that is a number equals the number.

    The model is asked for two decimals, and is shown numbers where the database keeps them as text. Results that
    cannot be compared, as they were cut or are too much alike, are not the same.
    """
    try:
        return same_result(_plain(expected), _plain(actual), ordered)
    except QueryLimitError:
        return False


def agree_relaxed(expected: Result, actual: Result, *, ordered: bool) -> bool:
    """The same but for columns that one side alone has (section 3, step 3): questions leave columns open."""
    try:
        return same_but_for_columns(_plain(expected), _plain(actual), ordered)
    except QueryLimitError:
        return False


def _plain(result: Result) -> Result:
    rows = tuple(tuple(map(_cell, row)) for row in result.rows)
    return Result(rows=rows, truncated=result.truncated, error=result.error)


def _cell(cell: Cell) -> Cell:
    number = number_of(cell) if isinstance(cell, str) else cell
    if isinstance(number, float) and isfinite(number):
        return round(number, DECIMALS)
    return cell if number is None or isinstance(number, float) else number

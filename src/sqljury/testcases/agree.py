"""Whether a query's result is the expected one, written by a model: exactly, or relaxed as in Li & Xie 2024."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, islice
from math import isfinite
from typing import Final

from sqljury.errors import QueryLimitError
from sqljury.metrics.affinity import number_of
from sqljury.metrics.results import same_result
from sqljury.testcases.shown import DECIMALS
from sqljury.types import Cell, Result

CHOICES: Final = 1_000
"""Ways to pick some of the columns that are tried."""


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
    """The same rows, and the columns of one among those of the other (section 3, step 3): few questions name them."""
    few, many = sorted((_plain(expected), _plain(actual)), key=_width)
    if not few.ok or not many.ok or _width(few) == _width(many) or len(few.rows) != len(many.rows):
        return agree(expected, actual, ordered=ordered)
    wanted = {_key(few, at) for at in range(_width(few))}
    fitting = [at for at in range(_width(many)) if _key(many, at) in wanted]
    picked = islice(combinations(fitting, _width(few)), CHOICES)
    return any(agree(few, _only(many, places), ordered=ordered) for places in picked)


def _width(result: Result) -> int:
    return len(result.rows[0]) if result.rows else 0


def _key(result: Result, at: int) -> frozenset[tuple[Cell, int]]:
    return frozenset(Counter(row[at] for row in result.rows).items())


def _only(result: Result, places: tuple[int, ...]) -> Result:
    return Result(rows=tuple(tuple(row[at] for at in places) for row in result.rows), truncated=result.truncated)


def _plain(result: Result) -> Result:
    rows = tuple(tuple(map(_cell, row)) for row in result.rows)
    return Result(rows=rows, truncated=result.truncated, error=result.error)


def _cell(cell: Cell) -> Cell:
    number = number_of(cell) if isinstance(cell, str) else cell
    if isinstance(number, float) and isfinite(number):
        return round(number, DECIMALS)
    return cell if number is None or isinstance(number, float) else number

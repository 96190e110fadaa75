"""Numbers in thousands, millions or billions that a query has with another number of zeros."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from sqljury.sql.meaning.base import Asked, Change, compared, held
from sqljury.sql.parse import exp

_SCALED: Final = re.compile(
    r"(?<![\w.,])(?P<number>\d{1,3}(?:[.,]\d{1,3})?)"
    r"(?:(?P<thousands>k)\b|[ -]?(?P<scale>thousand|million|mn|billion|bn)\b)",
    re.IGNORECASE,
)
_SCALES: Final = {"thousand": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9}
_THOUSANDS: Final = re.compile(r",(?=\d{3}$)")
_POINT_OR_THOUSANDS: Final = re.compile(r"\d+\.\d{3}")
"""1.500 is one and a half in English, and fifteen hundred elsewhere."""
_SMALL: Final = 100
"""A column whose greatest number is so many times smaller than the one that is said may hold thousands or millions."""


def scaled_numbers(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the number that the question says in words: 1500000 for "1.5 million", not 15000000.

    The question says one such number, the query does not have it, and compares one with the same digits. A column that
    holds no numbers of that size may have another unit, and is left.
    """
    found = list(_SCALED.finditer(asked.question.text))
    if len(found) != 1:
        return None
    scale = 3 if found[0]["thousands"] else _SCALES[found[0]["scale"].lower()]
    written = found[0]["number"]
    if _POINT_OR_THOUSANDS.fullmatch(written):
        return None
    said = Decimal(_THOUSANDS.sub("", written).replace(",", ".")).scaleb(scale)
    kinds = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ)
    numbers = [
        (column, node) for _, column, node in compared(tree, *kinds) if isinstance(node, exp.Literal) and node.is_number
    ]
    if any(Decimal(node.name) == said for _, node in numbers):
        return None
    wrong = [(column, node) for column, node in numbers if _digits(Decimal(node.name)) == _digits(said)]
    if len(wrong) != 1 or not _reaches(wrong[0][0], said, asked):
        return None
    meant = f"{said.normalize():f}"
    wrong[0][1].replace(exp.Literal.number(meant))
    return Change(f"the question says {meant}")


def _digits(number: Decimal) -> tuple[int, ...]:
    return number.normalize().as_tuple().digits


def _reaches(column: exp.Column, said: Decimal, asked: Asked) -> bool:
    """Whether a column holds numbers that may well be compared with the one that is said."""
    known = held(column, asked.schema)
    values = asked.data.values(known.table, known.column.name) if known is not None else ()
    numbers = [value for value in values if isinstance(value, int | float)]
    return bool(numbers) and max(map(abs, numbers)) * _SMALL > said

"""Numbers by which the question limits rows: whether they are included, in thousands, and in percent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from math import prod
from typing import Final, NamedTuple

from sqljury.language.wants import limits, percents
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, compared, derived, held, is_met, stripped
from sqljury.sql.meaning.division import division
from sqljury.sql.meaning.ratios import (
    PERCENT_WORDS,
    Ratio,
    defaults_to_zero,
    is_growth,
    is_number,
    kind_of_ratio,
    marks_rows,
    plain,
    ratio_of,
    unfactored,
    units,
)
from sqljury.sql.parse import exp
from sqljury.sql.terms import meant

_SIGNS: Final = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_FROM_THE_RIGHT: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_OTHER: Final = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
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
_CHANGE: Final = re.compile(
    r"(?:\bpercent|\bper cent|%) (?:more|less|fewer|above|below|over|under|off|\w+er) "
    r"|\bby (?:more than |less than |over |under |at least |at most |about )?[\w.]+ ?(?:percent\b|per cent\b|%)"
    r"|\b(?:increase|decrease|growth|grew|grow|grown|rise|rose|risen|fall|fell|fallen|drop|discount|markup)\w*",
    re.IGNORECASE,
)
"""Percents of a difference: "20 percent more than", "grew by 20 percent"."""
_PERCENT: Final = 100
_DEPTH: Final = 5


class _Comparison(NamedTuple):
    """``sign`` is that of the comparison with the number on the right."""

    node: exp.Binary
    sign: str
    number: float


def limit_included(tree: exp.Query, asked: Asked) -> Change | None:
    """Include the number that a question limits by, or leave it out, as its words say.

    Only where the query compares with that number once, in the direction of the question.
    """
    signs = limits(asked.question.text)
    comparisons = list(_comparisons(tree)) if signs else []
    changed = []
    for number, sign in signs.items():
        matches = [comparison for comparison in comparisons if comparison.number == number]
        if len(matches) == 1 and matches[0].sign == _OTHER[sign]:
            _replace(matches[0].node)
            changed.append(f"{sign} {number:g}")
    # "More than 100" is nothing where the largest number is 100.
    return Change(f"the question asks for {' and '.join(changed)}", may_empty=True) if changed else None


def _comparisons(tree: exp.Query) -> Iterator[_Comparison]:
    for node, side, number in _with_numbers(tree):
        sign = _SIGNS[node.key]
        yield _Comparison(node, sign if side is node.this else _FROM_THE_RIGHT[sign], float(number.name))


def _with_numbers(tree: exp.Query) -> Iterator[tuple[exp.Binary, exp.Expr, exp.Literal]]:
    """The comparisons with a constant number, with the other side and the number."""
    for node in tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE):
        for side, number in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(number, exp.Literal) and is_number(number):
                yield node, side, number


def _replace(node: exp.Binary) -> None:
    kinds = {"gt": exp.GTE, "gte": exp.GT, "lt": exp.LTE, "lte": exp.LT}
    node.replace(kinds[node.key](this=node.this, expression=node.expression))


def scaled_numbers(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare with the number that the question says in words: 1500000 for "1.5 million", not 15000000.

    The question says one such number, the query does not have it, and compares one with the same digits. A column that
    holds no numbers of that size may have another unit, and is left.
    """
    matches = list(_SCALED.finditer(asked.question.text))
    if len(matches) != 1:
        return None
    scale = 3 if matches[0]["thousands"] else _SCALES[matches[0]["scale"].lower()]
    written = matches[0]["number"]
    if _POINT_OR_THOUSANDS.fullmatch(written):
        return None
    number = Decimal(_THOUSANDS.sub("", written).replace(",", ".")).scaleb(scale)
    kinds = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ)
    numbers = [
        (column, node) for _, column, node in compared(tree, *kinds) if isinstance(node, exp.Literal) and node.is_number
    ]
    if any(Decimal(node.name) == number for _, node in numbers):
        return None
    wrong = [(column, node) for column, node in numbers if _digits(Decimal(node.name)) == _digits(number)]
    if len(wrong) != 1 or not _reaches(wrong[0][0], number, asked):
        return None
    meant = f"{number.normalize():f}"
    wrong[0][1].replace(exp.Literal.number(meant))
    return Change(f"the question says {meant}")


def _digits(number: Decimal) -> tuple[int, ...]:
    return number.normalize().as_tuple().digits


def _reaches(column: exp.Column, number: Decimal, asked: Asked) -> bool:
    """Whether a column holds numbers that may well be compared with the one that is said."""
    known = held(column, asked.schema)
    values = asked.data.values(known.table, known.column.name) if known is not None else ()
    numbers = [value for value in values if isinstance(value, int | float)]
    return bool(numbers) and max(map(abs, numbers)) * _SMALL > number


def percent_limits(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare a ratio with the percentage that the question gives in the scale that the ratio has.

    ``100.0 * SUM(...) / COUNT(*) < 0.8`` becomes ``< 80``, and without a factor of 100 ``> 20`` becomes ``> 0.2``, for
    a ratio of counts, of a part to its whole, or of like amounts.
    """
    given = percents(asked.question.whole)
    scales = set()
    for comparison, side, limit in list(_with_numbers(tree)) if given else ():
        number, scale = Decimal(limit.name), _scale(comparison, _value(side, tree, asked), asked)
        percent, otherwise = (100 * number, number) if scale == _PERCENT else (number, 100 * number)
        if scale is not None and percent in given and otherwise not in given:
            limit.replace(exp.Literal.number(f"{(percent if scale == _PERCENT else percent / 100).normalize():f}"))
            scales.add(scale)
    if not scales:
        return None
    division(tree, asked)  # a fraction that is cut to a whole number is below any limit
    compared = "percents with a fraction" if _PERCENT in scales else "a fraction with percents"
    return Change(f"the query compared {compared}", may_empty=True)


def _value(side: exp.Expr, tree: exp.Query, asked: Asked) -> exp.Expr:
    """What a name stands for: an output of the same SELECT, or of a subquery in FROM or a WITH query."""
    node = side
    for _ in range(_DEPTH):
        select = node.parent_select
        if not isinstance(node, exp.Column) or held(node, asked.schema) is not None or select is None:
            break
        output = meant(node, select)
        node = output if output is not node else derived(node, tree) or node
    return node


def _scale(comparison: exp.Expr, node: exp.Expr, asked: Asked) -> int | None:
    """1 for a ratio, 100 for one in percent; None for anything else, and for one that the percents are not of."""
    mean, factors = unfactored(stripped(node, defaults_to_zero))
    if isinstance(mean, exp.Avg) and marks_rows(mean.this, asked):
        factor = prod((Decimal(literal.name) for literal in factors), start=Decimal(1))
        return int(factor) if factor in (1, _PERCENT) else None
    ratio = ratio_of(node)
    if ratio is None or (_CHANGE.search(asked.question.whole) and not is_growth(ratio)):
        return None
    if ratio.factor == _PERCENT:
        return _PERCENT
    known = ratio.factor == 1 and (kind_of_ratio(ratio, asked) or _is_of_columns(ratio, comparison, asked))
    return 1 if known else None


def _is_of_columns(ratio: Ratio, comparison: exp.Expr, asked: Asked) -> bool:
    """Whether a condition of WHERE compares the ratio of two columns so that no row meets it, or all rows do."""
    top, bottom = (held(plain(node), asked.schema) for node in (ratio.top, ratio.bottom))
    if top is None or bottom is None or top.table is not bottom.table or units(ratio.top) != units(ratio.bottom):
        return False
    if any(PERCENT_WORDS & {*words(side.column.name)} for side in (top, bottom)):
        return False
    if not isinstance(comparison.find_ancestor(exp.Where, exp.Having, exp.Join, exp.Select), exp.Where):
        return False
    condition = comparison.copy()
    for column in condition.find_all(exp.Column):
        column.set("table", None)
    return False in (is_met(predicate, top.table, asked) for predicate in (condition, exp.Not(this=condition.copy())))

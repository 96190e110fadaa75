"""Percentages that a question limits by, where the query compares with them in the other scale: 0.8 for 80 percent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from math import prod
from typing import Final

from sqljury.language.wants import percents
from sqljury.language.words import words
from sqljury.sql.meaning.base import Asked, Change, derived, held, is_met, stripped
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

_CHANGE: Final = re.compile(
    r"(?:\bpercent|\bper cent|%) (?:more|less|fewer|above|below|over|under|off|\w+er) "
    r"|\bby (?:more than |less than |over |under |at least |at most |about )?[\w.]+ ?(?:percent\b|per cent\b|%)"
    r"|\b(?:increase|decrease|growth|grew|grow|grown|rise|rose|risen|fall|fell|fallen|drop|discount|markup)\w*",
    re.IGNORECASE,
)
"""Percents of a difference: "20 percent more than", "grew by 20 percent"."""
_PERCENT: Final = 100
_DEPTH: Final = 5


def percent_limits(tree: exp.Query, asked: Asked) -> Change | None:
    """Compare a ratio with the percentage that the question gives in the scale that the ratio has.

    ``100.0 * SUM(...) / COUNT(*) < 0.8`` becomes ``< 80``, and without a factor of 100 ``> 20`` becomes ``> 0.2``, for
    a ratio of counts, of a part to its whole, or of like amounts.
    """
    given = percents(asked.question.whole)
    scales = set()
    for comparison, side, limit in list(_comparisons(tree)) if given else ():
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


def _comparisons(tree: exp.Query) -> Iterator[tuple[exp.Expr, exp.Expr, exp.Literal]]:
    """The comparisons with a constant number, with the other side and the number."""
    for node in tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE):
        for side, limit in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(limit, exp.Literal) and is_number(limit):
                yield node, side, limit


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
        factor = prod((Decimal(each.name) for each in factors), start=Decimal(1))
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
    if any(PERCENT_WORDS & {*words(each.column.name)} for each in (top, bottom)):
        return False
    if not isinstance(comparison.find_ancestor(exp.Where, exp.Having, exp.Join, exp.Select), exp.Where):
        return False
    condition = comparison.copy()
    for column in condition.find_all(exp.Column):
        column.set("table", None)
    return False in (is_met(each, top.table, asked) for each in (condition, exp.Not(this=condition.copy())))

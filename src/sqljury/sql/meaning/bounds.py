"""Comparisons that include or leave out the number that a question limits by: ``> 10`` for "at least 10"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sqljury.language.wants import limits
from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp

_SIGNS: Final = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_FROM_THE_RIGHT: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_OTHER: Final = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}


class _Comparison(NamedTuple):
    """``sign`` is that of the comparison with the number on the right."""

    node: exp.Binary
    sign: str
    number: float


def limit_included(tree: exp.Query, asked: Asked) -> Change | None:
    """Include the number that a question limits by, or leave it out, as its words say.

    Only where the query compares with that number once, in the direction of the question.
    """
    said = limits(asked.question.text)
    comparisons = list(_comparisons(tree)) if said else []
    changed = []
    for number, sign in said.items():
        found = [comparison for comparison in comparisons if comparison.number == number]
        if len(found) == 1 and found[0].sign == _OTHER[sign]:
            _replace(found[0].node)
            changed.append(f"{sign} {number:g}")
    # "More than 100" is nothing where the largest number is 100.
    return Change(f"the question asks for {' and '.join(changed)}", may_empty=True) if changed else None


def _comparisons(tree: exp.Query) -> Iterator[_Comparison]:
    for node in tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE):
        sign = _SIGNS[node.key]
        for side, seen_from_there in ((node.expression, sign), (node.this, _FROM_THE_RIGHT[sign])):
            if isinstance(side, exp.Literal) and not side.is_string:
                yield _Comparison(node, seen_from_there, float(side.name))


def _replace(node: exp.Binary) -> None:
    kinds = {"gt": exp.GTE, "gte": exp.GT, "lt": exp.LTE, "lte": exp.LT}
    node.replace(kinds[node.key](this=node.this, expression=node.expression))

"""Comparisons that include or leave out the number that a question limits by: ``> 10`` for "at least 10"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sqljury.language.wants import limits
from sqljury.sql.meaning.base import Asked, Change
from sqljury.sql.parse import exp

_COMPARISONS: Final[tuple[type[exp.Binary], ...]] = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_OTHER: Final = {exp.GT: exp.GTE, exp.GTE: exp.GT, exp.LT: exp.LTE, exp.LTE: exp.LT}
_FROM_THE_RIGHT: Final = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE}
_AS_SAID: Final = {">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE}


class _Comparison(NamedTuple):
    """``kind`` is that of the comparison with the number on the right."""

    node: exp.Binary
    kind: type[exp.Binary]
    number: float


def limit_included(tree: exp.Query, asked: Asked) -> Change | None:
    """Include the number that a question limits by, or leave it out, as its words say.

    Only where the query compares with that number once, in the direction of the question.
    """
    said = limits(asked.question.text)
    changed = []
    if said:
        comparisons = list(_comparisons(tree))
        for number, sign in said.items():
            found = [comparison for comparison in comparisons if comparison.number == number]
            if len(found) == 1 and _OTHER[found[0].kind] is _AS_SAID[sign]:
                node = found[0].node
                node.replace(_OTHER[type(node)](this=node.this, expression=node.expression))
                changed.append(f"{sign} {number:g}")
    # "More than 100" is nothing where the largest number is 100.
    return Change(f"the question asks for {' and '.join(changed)}", may_empty=True) if changed else None


def _comparisons(tree: exp.Query) -> Iterator[_Comparison]:
    for node in tree.find_all(*_COMPARISONS):
        for side, kind in ((node.expression, type(node)), (node.this, _FROM_THE_RIGHT[type(node)])):
            if isinstance(side, exp.Literal) and not side.is_string:
                yield _Comparison(node, kind, float(side.name))

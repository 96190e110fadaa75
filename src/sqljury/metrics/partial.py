"""Partial match: precision, recall and F1 of each clause, as Spider's evaluation program tables them.

Each clause of each pair is right or wrong as a whole. Precision is the share of right ones among the predictions that
have the clause, recall among the gold queries that have it. What looks odd below is the published program's: two
queries without AND and OR agree on them and are counted, a disagreement about them is counted on the wrong side, and a
clause that is never right has F1 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqljury.metrics.esm import PUBLISHED, ComparedParts, ForeignKeys, keywords, prepared, same_structure
from sqljury.metrics.spider.structure import Query


class Part(NamedTuple):
    """How many units of a clause gold and the prediction have, and how many of them agree."""

    gold: int
    predicted: int
    agreeing: int

    @property
    def right(self) -> bool:
        """Whether the clause is the same as a whole; it is where neither has it."""
        return self.gold == self.predicted == self.agreeing


@dataclass(frozen=True, slots=True)
class Shares:
    """Of one clause over many pairs, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


Table = dict[str, dict[str, Shares]]
"""From clause to hardness level, ``all`` among them, to shares."""


def partial_match(
    gold: Query, predicted: Query, keys: ForeignKeys, compared: ComparedParts = PUBLISHED
) -> dict[str, Part]:
    """Each of ``CLAUSES`` of one pair; an unreadable prediction is the empty structure."""
    pair = prepared(gold, keys, compared), prepared(predicted, keys, compared)
    return {name: form(*pair) for name, form in CLAUSES.items()}


def table(parts: Sequence[tuple[str, dict[str, Part]]], levels: Sequence[str]) -> Table:
    """Shares by clause and level of pairs given as level and parts; ``levels`` without any pair are left out."""
    by_level = {level: [part for pair_level, part in parts if pair_level == level] for level in levels}
    by_level = {level: part for level, part in by_level.items() if part} | {"all": [part for _, part in parts]}
    return {
        clause: {level: _shares(pair[clause] for pair in listed) for level, listed in by_level.items()}
        for clause in CLAUSES
    }


def _shares(parts: Iterable[Part]) -> Shares:
    listed = list(parts)
    precision = _share(part.right for part in listed if part.predicted)
    recall = _share(part.right for part in listed if part.gold)
    f1 = 2 * precision * recall / (precision + recall) if precision or recall else 1.0
    return Shares(precision, recall, f1)


def _share(outcomes: Iterable[bool]) -> float:
    listed = list(outcomes)
    return sum(listed) / len(listed) if listed else 0.0


def _units(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> Part:
    """Units in any order, each of gold's agreeing with one of the prediction's."""
    agreeing = (Counter(gold) & Counter(predicted)).total()
    return Part(len(gold), len(predicted), agreeing)


def _whole(gold: bool, predicted: bool, same: bool) -> Part:
    return Part(int(gold), int(predicted), int(gold and predicted and same))


def _where_columns(gold: Query, predicted: Query) -> Part:
    return _units(
        *([getattr(unit, "left", unit) for unit in query.where[::2]] for query in (gold, predicted)),
    )


def _group_columns(gold: Query, predicted: Query) -> Part:
    """By the columns' names alone, without their tables."""
    return _units(*([unit.column.partition(".")[2] for unit in query.group_by] for query in (gold, predicted)))


def _group(gold: Query, predicted: Query) -> Part:
    columns = [[unit.column for unit in query.group_by] for query in (gold, predicted)]
    same = columns[0] == columns[1] and gold.having == predicted.having
    return _whole(bool(gold.group_by), bool(predicted.group_by), same)


def _order(gold: Query, predicted: Query) -> Part:
    same = (gold.order, gold.order_by, gold.limit is None) == (
        predicted.order,
        predicted.order_by,
        predicted.limit is None,
    )
    return _whole(bool(gold.order), bool(predicted.order), same)


def _connectives(gold: Query, predicted: Query) -> Part:
    ours, theirs = set(gold.where[1::2]), set(predicted.where[1::2])
    return Part(1, 1, 1) if ours == theirs else Part(len(theirs), len(ours), 0)


def _set_operators(gold: Query, predicted: Query) -> Part:
    same = (
        gold.other is not None
        and predicted.other is not None
        and gold.set_operator == predicted.set_operator
        and same_structure(gold.other, predicted.other)
    )
    return _whole(gold.other is not None, predicted.other is not None, same)


def _keywords(gold: Query, predicted: Query) -> Part:
    return _units(*(sorted(keywords(query)) for query in (gold, predicted)))


CLAUSES: Final[dict[str, Callable[[Query, Query], Part]]] = {
    "select": lambda gold, predicted: _units(gold.select, predicted.select),
    "select(no AGG)": lambda gold, predicted: _units(
        [unit.unit for unit in gold.select], [unit.unit for unit in predicted.select]
    ),
    "where": lambda gold, predicted: _units(gold.where[::2], predicted.where[::2]),
    "where(no OP)": _where_columns,
    "group(no Having)": _group_columns,
    "group": _group,
    "order": _order,
    "and/or": _connectives,
    "IUEN": _set_operators,
    "keywords": _keywords,
}
"""By the published program's names; ``IUEN`` is INTERSECT, UNION and EXCEPT."""

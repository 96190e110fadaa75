"""Whether two results are the same table: rows as a multiset or a sequence, columns in any order.

The semantics are those of test-suite evaluation (Zhong et al. 2020, "Semantic Evaluation for Text-to-SQL with
Distilled Test Suites", section 2), which Spider's leaderboard uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqljury.errors import QueryLimitError
from sqljury.types import Result, Row

MAX_WORK: Final = 10_000_000
"""Cells looked at in search of a column order, some seconds; hardly anything but a constructed result needs 1 %."""

Ids = tuple[int, ...]


def same_result(gold: Result, predicted: Result, ordered: bool) -> bool:
    """Whether some order of the columns, the same for all rows, makes the two results equal.

    Rows are compared as a sequence where ``ordered``, else as a multiset. Cells are compared as Python does:
    1 equals 1.0, not '1'; NULL equals NULL. Column names do not matter, and empty results are all the same.
    A failed result is the same as none. Raises ``QueryLimitError`` where a row limit cut away what decides,
    or the search takes more than ``MAX_WORK``.
    """
    if not (gold.ok and predicted.ok):
        return False
    if _lengths_differ(gold, predicted):
        return False
    if not gold.rows:
        return True
    if {len(row) for row in gold.rows} != {len(row) for row in predicted.rows}:
        return False
    ids: dict[Hashable, int] = {}
    left, right = _numbered(gold.rows, ids), _numbered(predicted.rows, ids)
    if not _same_sorted_rows(gold.rows, left, predicted.rows, right, ordered):
        return False
    if ordered:
        return Counter(zip(*left, strict=True)) == Counter(zip(*right, strict=True))
    return Counter(left) == Counter(right) or _Search(left, right).found()


def _lengths_differ(gold: Result, predicted: Result) -> bool:
    """A cut result has more rows than it holds; raises where that is not enough to tell."""
    for cut, whole in ((gold, predicted), (predicted, gold)):
        if cut.truncated and (whole.truncated or len(whole.rows) > len(cut.rows)):
            message = f"a result was cut at {len(cut.rows)} rows, so it cannot be compared; raise Limits.rows"
            raise QueryLimitError(message)
    return gold.truncated or predicted.truncated or len(gold.rows) != len(predicted.rows)


def _numbered(rows: Sequence[Row], ids: dict[Hashable, int]) -> list[Ids]:
    """Each cell as a number that equal cells share."""
    return [tuple([ids.setdefault(_hashable(cell), len(ids)) for cell in row]) for row in rows]


def _hashable(cell: Any) -> Hashable:
    if isinstance(cell, float) and cell != cell:
        return float  # every NaN is the same here, else a result would differ from itself
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell  # type: ignore[no-any-return]


def _same_sorted_rows(
    gold: Sequence[Row], left: list[Ids], predicted: Sequence[Row], right: list[Ids], ordered: bool
) -> bool:
    """Whether the rows agree once each row is sorted by the text and type of its cells.

    Meant as a quick way to say no. It says no a little too often: (1, 1.5) sorts otherwise than (1.0, 1.5), equal as
    they are. That is kept, for the published verdicts come from it.
    """
    ours, theirs = ([_sorted(row, ids) for row, ids in zip(*side, strict=True)] for side in ((gold, left), (predicted, right)))
    return ours == theirs if ordered else set(ours) == set(theirs)


def _sorted(row: Row, ids: Ids) -> Ids:
    if len(row) == 1:
        return ids
    keys = [f"{cell!s}{type(cell)}" for cell in row]
    return tuple([ids[at] for at in sorted(range(len(ids)), key=keys.__getitem__)])


class _Split(NamedTuple):
    """The rows of both sides sorted into classes by the columns paired so far."""

    left: Ids
    right: Ids


class _Search:
    """Pairs columns left and right so that the rows, restricted to paired columns, stay the same multiset.

    Only columns holding the same values equally often can be a pair, which mostly leaves one choice. As soon as the
    paired columns tell all rows apart, the rest is decided without any search. Deciding this in general is as hard
    as graph isomorphism, therefore the limit on work.
    """

    def __init__(self, left: list[Ids], right: list[Ids]) -> None:
        # Equal rows, and equal columns, are interchangeable: one of each stands for all, with their number.
        self._rows = [Counter(left), Counter(right)]
        self._columns = [Counter(zip(*rows, strict=True)) for rows in self._rows]
        self._kinds: list[dict[Hashable, list[Ids]]] = [self._by_kind(0), self._by_kind(1)]
        self._work = 0

    def found(self) -> bool:
        """Whether the columns can be paired; raises ``QueryLimitError`` past ``MAX_WORK``."""
        left, right = self._kinds
        if {kind: len(columns) for kind, columns in left.items()} != {k: len(columns) for k, columns in right.items()}:
            return False
        start = self._weights()
        if start is None:
            return False
        order = [(column, right[kind]) for kind in sorted(left, key=lambda kind: len(left[kind])) for column in left[kind]]
        return self._pair(order, start)

    def _by_kind(self, side: int) -> dict[Hashable, list[Ids]]:
        """The columns by how often each stands there and how often each value stands in it."""
        kinds: dict[Hashable, list[Ids]] = {}
        weights = tuple(self._rows[side].values())
        for column, copies in self._columns[side].items():
            counts: Counter[int] = Counter()
            for value, weight in zip(column, weights, strict=True):
                counts[value] += weight
            kinds.setdefault((copies, frozenset(counts.items())), []).append(column)
        return kinds

    def _weights(self) -> _Split | None:
        """The first classes: rows by how often they stand there."""
        left, right = (tuple(rows.values()) for rows in self._rows)
        return _Split(left, right) if sorted(left) == sorted(right) else None

    def _pair(self, order: list[tuple[Ids, list[Ids]]], start: _Split) -> bool:
        """Depth first without recursion: a result may have more columns than Python has stack."""
        levels: list[Iterator[tuple[Ids, _Split]]] = []
        taken: list[Ids] = []
        split = start
        while True:
            if len(set(split.left)) == len(split.left):
                if self._aligned(split):
                    return True
            elif len(levels) == len(order):
                return True
            else:
                levels.append(self._choices(*order[len(levels)], split, taken))
            while levels:
                choice = next(levels[-1], None)
                del taken[len(levels) - 1 :]
                if choice is not None:
                    break
                levels.pop()
            else:
                return False
            taken.append(choice[0])
            split = choice[1]

    def _choices(
        self, column: Ids, candidates: list[Ids], split: _Split, taken: list[Ids]
    ) -> Iterator[tuple[Ids, _Split]]:
        """The columns still free on the right that keep the rows equal, with the finer classes they give."""
        used = set(taken)
        for candidate in candidates:
            if candidate in used:
                continue
            self._work += len(column)
            if self._work > MAX_WORK:
                message = f"two results of {len(column)} rows and {sum(self._columns[0].values())} columns are too alike to compare"
                raise QueryLimitError(message)
            classes: dict[tuple[int, int], int] = {}
            left, right = (
                tuple([classes.setdefault(pair, len(classes)) for pair in zip(split[side], values, strict=True)])
                for side, values in ((0, column), (1, candidate))
            )
            if Counter(left) == Counter(right):
                yield candidate, _Split(left, right)

    def _aligned(self, split: _Split) -> bool:
        """Each row has a class of its own, which says which row on the right it is."""
        sides = []
        for side in (0, 1):
            rank = sorted(range(len(split[side])), key=split[side].__getitem__)
            columns = self._columns[side].items()
            sides.append(Counter({tuple([column[at] for at in rank]): copies for column, copies in columns}))
        return sides[0] == sides[1]

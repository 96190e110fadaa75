"""Whether two results are the same table: rows as a multiset or a sequence, columns in any order.

The semantics are those of test-suite evaluation (Zhong et al. 2020, "Semantic Evaluation for Text-to-SQL with
Distilled Test Suites", section 2), which Spider's leaderboard uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

from sqljury.errors import QueryLimitError
from sqljury.types import Result, Row

MAX_WORK: Final = 10_000_000
"""Cells looked at in search of a column order, some seconds; hardly anything but a constructed result needs 1 %."""

TOO_ALIKE: Final = "the results are too alike under too many orders of columns to be told apart"

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


def same_but_for_columns(one: Result, other: Result, ordered: bool) -> bool:
    """Whether the rows are the same once columns that only one of the results has are left out.

    Li & Xie 2024, section 3, step 3: questions do not always say which columns they want. Each column of the narrower
    result has another one of the wider for itself. All else is as ``same_result`` has it, errors too.
    """
    if not (one.ok and other.ok) or _lengths_differ(one, other):
        return False
    if not one.rows:
        return True
    if any(len({len(row) for row in result.rows}) > 1 for result in (one, other)):
        return False  # what a model wrote may be no table
    ids: dict[Hashable, int] = {}
    sides = (list(zip(*_numbered(result.rows, ids), strict=True)) for result in (one, other))
    narrow, wide = sorted(sides, key=len)
    return not Counter(narrow) - Counter(wide) if ordered else _found_in(narrow, wide)


def _found_in(narrow: list[Ids], wide: list[Ids]) -> bool:
    """Whether some of the wide columns, in some order, hold the rows of the narrow ones; depth first."""
    counts = [Counter(column) for column in wide]
    fitting = [[at for at, own in enumerate(counts) if own == Counter(column)] for column in narrow]
    order = sorted(range(len(narrow)), key=lambda number: len(fitting[number]))
    one_class = (0,) * len(narrow[0])
    stack: list[tuple[tuple[int, ...], _Split]] = [((), _Split(one_class, one_class))]
    work = 0
    while stack:
        paired, split = stack.pop()
        if len(paired) == len(order):
            return True
        number = order[len(paired)]
        # Equal columns are interchangeable, one of each is enough to try.
        for at in {wide[at]: at for at in fitting[number] if at not in paired}.values():
            work += len(one_class)
            if work > MAX_WORK:
                raise QueryLimitError(TOO_ALIKE)
            if (finer := _finer(split, narrow[number], wide[at])) is not None:
                stack.append(((*paired, at), finer))
    return False


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
    ours, theirs = (
        [_sorted(row, ids) for row, ids in zip(*side, strict=True)] for side in ((gold, left), (predicted, right))
    )
    return ours == theirs if ordered else set(ours) == set(theirs)


def _sorted(row: Row, ids: Ids) -> Ids:
    if len(row) == 1:
        return ids
    keys = [f"{cell!s}{type(cell)}" for cell in row]
    return tuple([ids[at] for at in sorted(range(len(ids)), key=keys.__getitem__)])


class _Split(NamedTuple):
    """The rows of each side in classes that the columns paired so far tell apart; the sides share the numbers."""

    left: Ids
    right: Ids


def _finer(split: _Split, left: Ids, right: Ids) -> _Split | None:
    """The classes once these two columns are paired too; None when the rows then differ."""
    classes: dict[tuple[int, int], int] = {}
    finer = _Split(
        *(
            tuple([classes.setdefault(pair, len(classes)) for pair in zip(numbers, values, strict=True)])
            for numbers, values in zip(split, (left, right), strict=True)
        )
    )
    return finer if Counter(finer.left) == Counter(finer.right) else None


class _Search:
    """Pairs columns left and right so that the rows, restricted to paired columns, stay the same multiset.

    Only columns holding the same values equally often can be a pair, which mostly leaves one choice. As soon as the
    paired columns tell all rows apart, the rest is decided without any search. Deciding this in general is as hard
    as graph isomorphism, therefore the limit on work.
    """

    def __init__(self, left: list[Ids], right: list[Ids]) -> None:
        # Equal rows, and equal columns, are interchangeable: one of each stands for all, with their number.
        self._rows = (Counter(left), Counter(right))
        self._columns = tuple(Counter(zip(*rows, strict=True)) for rows in self._rows)
        self._distinct = tuple(list(columns) for columns in self._columns)
        self._work = 0

    def found(self) -> bool:
        """Whether the columns can be paired; raises ``QueryLimitError`` past ``MAX_WORK``."""
        left, right = self._by_kind(0), self._by_kind(1)
        weights = _Split(*(tuple(rows.values()) for rows in self._rows))
        if {kind: len(left[kind]) for kind in left} != {kind: len(right[kind]) for kind in right}:
            return False
        if sorted(weights.left) != sorted(weights.right):
            return False
        fewest_first = sorted(left, key=lambda kind: len(left[kind]))
        return self._pair([(number, right[kind]) for kind in fewest_first for number in left[kind]], weights)

    def _by_kind(self, side: int) -> dict[Hashable, list[int]]:
        """Numbers of columns by how often each stands there and how often each value stands in it."""
        kinds: dict[Hashable, list[int]] = {}
        for number, (column, copies) in enumerate(self._columns[side].items()):
            counts: Counter[int] = Counter()
            for value, weight in zip(column, self._rows[side].values(), strict=True):
                counts[value] += weight
            kinds.setdefault((copies, frozenset(counts.items())), []).append(number)
        return kinds

    def _pair(self, order: list[tuple[int, list[int]]], start: _Split) -> bool:
        """Depth first, with what is to try on a stack: a result may have more columns than Python has frames."""
        stack: list[tuple[tuple[int, ...], _Split]] = [((), start)]
        while stack:
            paired, before = stack.pop()
            split = self._finer(before, order[len(paired) - 1][0], paired[-1]) if paired else before
            if split is None:
                continue
            if len(set(split.left)) == len(split.left):  # at the latest when all columns are paired
                if self._aligned(split):
                    return True
                continue
            candidates = order[len(paired)][1]
            self._spend(len(candidates))
            stack += [((*paired, number), split) for number in reversed(candidates) if number not in paired]
        return False

    def _finer(self, split: _Split, number: int, partner: int) -> _Split | None:
        """The classes once these two columns are paired too; None when the rows then differ."""
        self._spend(len(split.left))
        return _finer(split, self._distinct[0][number], self._distinct[1][partner])

    def _aligned(self, split: _Split) -> bool:
        """Each row has a class of its own, which says which row on the right it is."""
        self._spend(len(split.left) * len(self._columns[0]))
        ours, theirs = (
            Counter({tuple([column[row] for row in rank]): copies for column, copies in columns.items()})
            for columns, rank in (
                (columns, sorted(range(len(numbers)), key=numbers.__getitem__))
                for columns, numbers in zip(self._columns, split, strict=True)
            )
        )
        return ours == theirs

    def _spend(self, cells: int) -> None:
        self._work += cells
        if self._work > MAX_WORK:
            raise QueryLimitError(TOO_ALIKE)

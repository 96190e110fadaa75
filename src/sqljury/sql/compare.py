"""Whether two results are the same table, by policies with names.

All policies but BIRD's share the semantics of test-suite evaluation (Zhong et al. 2020, "Semantic Evaluation for
Text-to-SQL with Distilled Test Suites", section 2), which Spider's leaderboard uses: cells are compared as Python does
(1 equals 1.0, not '1'; NULL equals NULL), column names do not matter, and empty results are all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Final, Literal, NamedTuple

from sqljury.errors import QueryLimitError
from sqljury.sql.affinity import number_of
from sqljury.types import Result, Row

MAX_WORK: Final = 10_000_000
"""Cells looked at in search of a column order, some seconds; hardly anything but a constructed result needs 1 %."""

TOO_ALIKE: Final = "the results are too alike under too many orders of columns to be told apart"

DECIMALS: Final = 2
"""Of numbers in results that a model is asked for."""

_DIGITS: Final = 9
"""Significant digits in which numbers must agree: sums differ in the last ones with the order of addition."""

_WHOLE: Final = 2.0**53
"""Up to here a float holds whole numbers exactly, and a sum of them is the same with integers."""

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """What makes two results the same; whether the order of rows counts is told for each comparison.

    ``columns``: in ``any`` order, the same for all rows; as ``given``; or only those that are ``shared``: each column
    of the narrower result has another one of the wider for itself, and the rest is left out. ``cell`` gives the form
    in which a cell is compared. Results that a row limit cut are ``different``, or compared by the rows that are
    ``left``, or undecided where a missing row decides. ``undecided`` is the verdict then, and where the search for a
    column order takes more than ``MAX_WORK``; with None ``QueryLimitError`` is raised.
    """

    columns: Literal["any", "given", "shared"] = "any"
    rows: Literal["multiset", "set"] = "multiset"
    cell: Callable[[Any], Any] | None = None
    cut: Literal["undecided", "different", "left"] = "undecided"
    undecided: bool | None = None


def _nine_digits(cell: Any) -> Any:
    if not isinstance(cell, float) or not isfinite(cell):
        return cell
    if cell.is_integer() and abs(cell) < _WHOLE:
        return int(cell)
    return float(f"{cell:.{_DIGITS}g}")


def _nearly_whole(cell: Any) -> Any:
    """Nine digits, TRUE as 1, and a number whole that is nearly so: pandas adds up a column with NULLs in floats."""
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, float) and isfinite(cell):
        nearest = round(cell)
        return nearest if abs(cell - nearest) <= abs(cell) * 10**-_DIGITS else float(f"{cell:.{_DIGITS}g}")
    return cell


def _computed(cell: Any) -> Any:
    number = number_of(cell) if isinstance(cell, str) else None
    return _nearly_whole(cell if number is None else number)


def _two_decimals(cell: Any) -> Any:
    """Two decimals, and a text that is a number as that number."""
    number = number_of(cell) if isinstance(cell, str) else cell
    if isinstance(number, float) and isfinite(number):
        return round(number, DECIMALS)
    return cell if number is None or isinstance(number, float) else number


def _as_number(cell: Any) -> Any:
    try:
        return f"{float(cell):.{_DIGITS}g}"
    except (TypeError, ValueError):
        return cell


EXACT: Final = Policy()
"""Execution accuracy as Spider's leaderboard has it."""

BIRD: Final = Policy(columns="given", rows="set", cut="different")
"""Execution accuracy as BIRD has it (Li et al. 2023): neither the order nor the repetition of rows counts."""

VOTES: Final = Policy(cell=_nine_digits, cut="left", undecided=False)
"""Candidates that vote together: nothing that a reader of the answers could see tells them apart."""

TRIAL: Final = Policy(cell=_nearly_whole, cut="different", undecided=True)
"""Queries tried on a small database."""

EXPECTED: Final = Policy(cell=_two_decimals, undecided=False)
"""A result that a model wrote: it is asked for two decimals, and shown numbers where the database keeps text."""

RELAXED: Final = replace(EXPECTED, columns="shared")
"""The same as Li & Xie 2024 relax it (section 3, step 3): questions do not always say which columns they want."""

COMPUTED: Final = replace(TRIAL, cell=_computed)
"""A result that a program computed (TS-SQL): frames hold a text that is a number as one, in a key whose parent does."""

AUDIT: Final = Policy(columns="given", cell=_as_number)
"""Gold's result and that of a query that an audit changed: numbers in nine digits, those kept as text too."""


def same(expected: Result, actual: Result, policy: Policy, *, ordered: bool = False) -> bool:
    """Whether the results are the same table; rows are compared as a sequence where ``ordered``.

    A failed result is the same as none. Raises ``QueryLimitError`` as ``Policy.undecided`` says.
    """
    if not (expected.ok and actual.ok):
        return False
    try:
        return _same_lengths(expected, actual, policy) and _same_rows(expected, actual, policy, ordered)
    except QueryLimitError:
        if policy.undecided is None:
            raise
        return policy.undecided


def canonical(rows: Iterable[Row], policy: Policy) -> tuple[Row, ...]:
    """The rows with their cells in the form in which the policy compares them."""
    form = policy.cell
    return tuple(rows) if form is None else tuple(tuple(map(form, row)) for row in rows)


def distinct(rows: Sequence[Row]) -> dict[Hashable, Row]:
    """The rows by a key that equal rows share, each once, in their order."""
    try:
        return {row: row for row in rows}
    except TypeError:  # cells of other engines may be lists, which no set can hold
        return {repr(row): row for row in rows}


def cell_key(cell: Any) -> Hashable:
    """What equal cells share; every NaN is the same here, else a result would differ from itself."""
    if isinstance(cell, float) and cell != cell:
        return float
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell  # type: ignore[no-any-return]


def _same_lengths(expected: Result, actual: Result, policy: Policy) -> bool:
    """Raises ``QueryLimitError`` where rows that a limit cut away decide."""
    if policy.cut == "different" and (expected.truncated or actual.truncated):
        return False
    if policy.rows == "set":
        return True
    if policy.cut == "left":
        return (expected.truncated, len(expected.rows)) == (actual.truncated, len(actual.rows))
    for cut, whole in ((expected, actual), (actual, expected)):  # a cut result has more rows than it holds
        if cut.truncated and (whole.truncated or len(whole.rows) > len(cut.rows)):
            message = f"a result was cut at {len(cut.rows)} rows, so it cannot be compared; raise Limits.rows"
            raise QueryLimitError(message)
    return not (expected.truncated or actual.truncated) and len(expected.rows) == len(actual.rows)


def _same_rows(expected: Result, actual: Result, policy: Policy, ordered: bool) -> bool:
    ours, theirs = canonical(expected.rows, policy), canonical(actual.rows, policy)
    if policy.rows == "set":
        return distinct(ours).keys() == distinct(theirs).keys()
    if not ours:
        return True
    ids: dict[Hashable, int] = {}
    left, right = _numbered(ours, ids), _numbered(theirs, ids)
    if policy.columns == "given":
        return left == right if ordered else Counter(left) == Counter(right)
    widths = [{len(row) for row in rows} for rows in (ours, theirs)]
    if policy.columns == "shared":
        # what a model wrote may be no table
        return max(map(len, widths)) == 1 and _same_shared_columns(left, right, ordered)
    if widths[0] != widths[1] or not _same_sorted_rows(ours, left, theirs, right, ordered):
        return False
    if ordered:
        return Counter(zip(*left, strict=True)) == Counter(zip(*right, strict=True))
    return Counter(left) == Counter(right) or _Search(left, right).succeeds()


def _numbered(rows: Sequence[Row], ids: dict[Hashable, int]) -> list[Ids]:
    """Each cell as a number that equal cells share."""
    return [tuple([ids.setdefault(cell_key(cell), len(ids)) for cell in row]) for row in rows]


def _same_shared_columns(left: list[Ids], right: list[Ids], ordered: bool) -> bool:
    narrow, wide = sorted((list(zip(*rows, strict=True)) for rows in (left, right)), key=len)
    return not Counter(narrow) - Counter(wide) if ordered else _embeds(narrow, wide)


def _embeds(narrow: list[Ids], wide: list[Ids]) -> bool:
    """Whether some of the wide columns, in some order, hold the rows of the narrow ones; depth first."""
    counts = [Counter(column) for column in wide]
    fitting = [[at for at, values in enumerate(counts) if values == Counter(column)] for column in narrow]
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


def _same_sorted_rows(
    gold: Sequence[Row], left: list[Ids], predicted: Sequence[Row], right: list[Ids], ordered: bool
) -> bool:
    """Whether the rows agree once each row is sorted by the text and type of its cells.

    A quick test with a few false negatives: (1, 1.5) sorts otherwise than (1.0, 1.5), though they are equal. It is kept
    because the published verdicts come from it.
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

    def succeeds(self) -> bool:
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

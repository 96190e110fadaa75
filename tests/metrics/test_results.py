from __future__ import annotations

import itertools
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.errors import QueryLimitError
from sqljury.sql.compare import same_result
from sqljury.types import QueryFailure, Result, Row

CELLS = st.sampled_from([None, 0, 1, 2, 1.5, -0.5, "", "1", "a", b"a"])


def result(*rows: Row) -> Result:
    return Result(tuple("abcdefgh"), rows)


@st.composite
def tables(draw: st.DrawFn, cells: st.SearchStrategy[Any] = CELLS) -> list[Row]:
    width = draw(st.integers(1, 5))
    return draw(st.lists(st.tuples(*[cells] * width), max_size=8))


def by_definition(gold: list[Row], predicted: list[Row], ordered: bool) -> bool:
    """Every order of columns, one after the other."""
    if len(gold) != len(predicted) or not gold:
        return len(gold) == len(predicted)

    def comparable(rows: list[Row]) -> list[Row]:
        return rows if ordered else sorted(rows, key=repr)

    orders = itertools.permutations(range(len(predicted[0])))
    width_fits = len(gold[0]) == len(predicted[0])
    permuted = ([tuple(row[at] for at in order) for row in predicted] for order in orders)
    return width_fits and any(comparable(rows) == comparable(gold) for rows in permuted)


@given(tables(st.sampled_from([0, 1, "a"])), tables(st.sampled_from([0, 1, "a"])), st.booleans())
def test_it_agrees_with_trying_every_order_of_columns(gold: list[Row], predicted: list[Row], ordered: bool) -> None:
    assert same_result(result(*gold), result(*predicted), ordered) == by_definition(gold, predicted, ordered)


@given(tables(st.sampled_from([0, 1])), st.randoms(), st.booleans())
def test_one_changed_cell_is_judged_as_trying_every_order_does(
    gold: list[Row], chance: random.Random, ordered: bool
) -> None:
    predicted = [list(row) for row in shuffled_columns(gold, chance)]
    if predicted:
        row = chance.choice(predicted)
        row[chance.randrange(len(row))] ^= 1
    changed = [tuple(row) for row in predicted]
    assert same_result(result(*gold), result(*changed), ordered) == by_definition(gold, changed, ordered)


@given(tables(), st.booleans())
def test_a_result_is_the_same_as_itself(rows: list[Row], ordered: bool) -> None:
    assert same_result(result(*rows), result(*rows), ordered)


@given(tables(), tables(), st.booleans())
def test_it_is_symmetric(left: list[Row], right: list[Row], ordered: bool) -> None:
    assert same_result(result(*left), result(*right), ordered) == same_result(result(*right), result(*left), ordered)


def shuffled_columns(rows: list[Row], chance: random.Random) -> list[Row]:
    order = list(range(len(rows[0]) if rows else 0))
    chance.shuffle(order)
    return [tuple(row[at] for at in order) for row in rows]


@given(tables(), st.randoms())
def test_the_order_of_columns_never_matters(rows: list[Row], chance: random.Random) -> None:
    assert same_result(result(*rows), result(*shuffled_columns(rows, chance)), ordered=True)


@given(tables(), st.randoms())
def test_the_order_of_rows_matters_only_where_asked(rows: list[Row], chance: random.Random) -> None:
    moved = shuffled_columns(rows, chance)
    chance.shuffle(moved)
    assert same_result(result(*rows), result(*moved), ordered=False)
    assert same_result(result((1,), (2,)), result((2,), (1,)), ordered=False)
    assert not same_result(result((1,), (2,)), result((2,), (1,)), ordered=True)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ([(1,)], [(1.0,)], True),
        ([(1,)], [("1",)], False),
        ([(None,)], [(None,)], True),
        ([(None,)], [(0,)], False),
        ([("a",)], [(b"a",)], False),
        ([(float("nan"),)], [(float("nan"),)], True),
        ([([1],)], [([1],)], True),
        ([(1,), (1,)], [(1,)], False),
        ([(1,), (1,), (2,)], [(1,), (2,), (2,)], False),
        ([(1, 1)], [(1,)], False),
        ([(1, 2), (2, 1)], [(1, 2), (1, 2)], False),
        ([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], True),
        ([(1, 2), (3, 4)], [(1, 2), (4, 3)], False),
    ],
)
def test_cells_and_rows(left: list[Row], right: list[Row], same: bool) -> None:
    assert same_result(result(*left), result(*right), ordered=False) is same


def test_the_published_programs_early_no_is_kept() -> None:
    """Equal cells of other types sort a row differently, and the program compares sorted rows first."""
    assert not same_result(result((1, 1.5)), result((1.0, 1.5)), ordered=False)


def test_empty_results_are_the_same_whatever_their_columns() -> None:
    assert same_result(Result(("a",)), Result(("b", "c")), ordered=True)


def test_a_failed_result_is_the_same_as_none() -> None:
    failed = Result(error=QueryFailure("sql", "no such table: x"))
    assert not same_result(Result(), failed, ordered=False)
    assert not same_result(failed, failed, ordered=False)


def cut(*rows: Row) -> Result:
    return Result(("a",), rows, truncated=True)


def test_a_cut_result_differs_from_a_whole_one_that_is_not_longer() -> None:
    assert not same_result(cut((1,), (2,)), result((1,), (2,)), ordered=False)
    assert not same_result(result((1,)), cut((1,), (2,)), ordered=False)


@pytest.mark.parametrize(("left", "right"), [(cut((1,)), cut((1,))), (cut((1,)), result((1,), (2,)))])
def test_what_was_cut_away_is_not_guessed(left: Result, right: Result) -> None:
    for pair in ((left, right), (right, left)):
        with pytest.raises(QueryLimitError, match=r"Limits\.rows"):
            same_result(*pair, ordered=False)


@pytest.mark.parametrize(("width", "length"), [(30, 500), (300, 60), (2000, 20)])
def test_wide_results_without_telling_columns_are_quick(width: int, length: int) -> None:
    chance = random.Random(width)
    rows = [tuple(chance.randint(0, 1) for _ in range(width)) for _ in range(length)]
    moved = shuffled_columns(rows, chance)
    chance.shuffle(moved)
    start = time.monotonic()
    assert same_result(result(*rows), result(*moved), ordered=False)
    moved[0] = tuple(cell ^ 1 for cell in moved[0])
    assert not same_result(result(*rows), result(*moved), ordered=False)
    assert time.monotonic() - start < 5


def cycles(*lengths: int) -> list[Row]:
    """Edges of rings, a column for each corner: hard to tell apart, for every row and column looks the same."""
    edges, first = [], 0
    for length in lengths:
        edges += [(first + at, first + (at + 1) % length) for at in range(length)]
        first += length
    return [tuple(int(corner in edge) for corner in range(first)) for edge in edges]


def test_rings_of_other_lengths_are_told_apart() -> None:
    assert not same_result(result(*cycles(12)), result(*cycles(6, 6)), ordered=False)
    assert same_result(result(*cycles(4, 8)), result(*cycles(8, 4)), ordered=False)


def test_a_search_without_end_is_given_up() -> None:
    with pytest.raises(QueryLimitError, match="too alike"):
        same_result(result(*cycles(100)), result(*cycles(50, 50)), ordered=False)

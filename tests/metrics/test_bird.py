from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.metrics.execution import judge_as_set
from sqljury.types import QueryFailure, Result, Row


def result(*rows: Row) -> Result:
    return Result(("a", "b"), rows)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (result((1, "x"), (2, "y")), result((2, "y"), (1, "x"))),
        (result((1, "x")), result((1.0, "x"), (1, "x"))),
        (result(), result()),
        (result((None, b"x")), result((None, b"x"))),
    ],
)
def test_neither_order_nor_repetition_of_rows_counts(gold: Result, predicted: Result) -> None:
    assert judge_as_set(gold, predicted).correct


@pytest.mark.parametrize(
    ("gold", "predicted", "reason"),
    [
        (result((1, "x")), result(("x", 1)), "of 1 distinct rows 1 are missing, 1 are too many"),
        (result((1, "x")), result((1, "x", None)), "1 are missing"),
        (result((1, "x"), (2, "y")), result((1, "x")), "1 are missing, 0 are too many"),
        (result(), result((None, None)), "0 are missing, 1 are too many"),
        (result((1, "1")), result((1, 1)), "1 are missing"),
        (result(), Result(error=QueryFailure("sql", "no such table: x")), "no such table"),
        (result((1, "x")), Result(rows=((1, "x"),), truncated=True), "too many to compare"),
    ],
)
def test_columns_in_golds_order_and_no_row_more_or_less(gold: Result, predicted: Result, reason: str) -> None:
    outcome = judge_as_set(gold, predicted)
    assert not outcome.correct
    assert reason in outcome.reason


def test_cells_that_no_set_can_hold() -> None:
    assert judge_as_set(result(([1], 2)), result(([1], 2))).correct
    assert not judge_as_set(result(([1], 2)), result(([2], 2))).correct


ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=6)


@given(ROWS, ROWS)
def test_right_means_the_same_set(gold: list[Row], predicted: list[Row]) -> None:
    same = all(row in predicted for row in gold) and all(row in gold for row in predicted)
    assert judge_as_set(result(*gold), result(*predicted)).correct is same

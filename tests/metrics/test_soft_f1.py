from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.metrics.soft_f1 import soft_f1
from sqljury.types import QueryFailure, Result, Row


def result(*rows: Row) -> Result:
    return Result(("a",), rows)


@pytest.mark.parametrize(
    ("gold", "predicted", "score"),
    [
        # After the example on mini-dev's page: of 6 cells each, 5 are in both.
        (
            result(("Apple", 325), ("Orange", 5), ("Banana", 119)),
            result((325, "Apple"), (191, "Orange"), ("Banana", 119)),
            5 / 6,
        ),
        (result((1, 2)), result((2, 1)), 1.0),
        (result((1,), (2,)), result((2,), (1,)), 0.0),
        (result((1,), (1,), (2,)), result((1,), (2,)), 1.0),
        (result((1,), (2,)), result((1,)), 2 / 3),
        (result((1,)), result((1,), (2,), (3,)), 1 / 2),
        (result((1, 2)), result((1, 2, 3, 4)), 2 / 3),
        (result(), result(), 1.0),
        (result(), result((1,)), 0.0),
        (result((1,)), result(), 0.0),
        (result((1,)), Result(error=QueryFailure("sql", "no")), 0.0),
        (result((1,)), Result(rows=((1,),), truncated=True), 0.0),
        (result(([1], 2)), result(([1], 3)), 1 / 2),
    ],
)
def test_partial_credit(gold: Result, predicted: Result, score: float) -> None:
    assert soft_f1(gold, predicted) == pytest.approx(score)


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5)


@given(ROWS, ROWS)
def test_a_score_is_a_share_and_gold_has_all_of_it(gold: list[Row], predicted: list[Row]) -> None:
    assert 0.0 <= soft_f1(result(*gold), result(*predicted)) <= 1.0
    assert soft_f1(result(*gold), result(*gold)) == 1.0

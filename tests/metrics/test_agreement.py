from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.metrics.agreement import (
    Errors,
    Interval,
    Slice,
    bootstrap,
    compare,
    confusion,
    errors,
    mcnemar,
    mean,
    slices,
)


def test_confusion_names_the_queries() -> None:
    found = confusion([1, 1, 0, 0, None, 1], [1, 0, 1, 0, 1, None])
    assert found == ((0,), (1,), (2,), (3,))
    assert found.agreement == 0.5
    assert found.kappa == 0.0


def test_kappa_of_a_textbook() -> None:
    """Cohen's own kind of table: 20 both, 5 and 10 apart, 15 neither; kappa is 0.4."""
    first, second = [1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert confusion(first, second).kappa == pytest.approx(0.4)


def test_agreement_where_there_is_nothing_to_disagree_on() -> None:
    assert confusion([], []).agreement == 1.0
    assert confusion([], []).kappa is None
    for value in (0, 1):
        assert confusion([value, value], [value, value]).kappa is None
    assert confusion([0, 1], [0, 1]).kappa == 1.0


def test_errors_are_shares_of_all_queries() -> None:
    assert errors([1, 1, 0, 0], [1, 0, 1, 0]) == Errors(0.25, 0.25)
    assert errors([None], [1]) == Errors(0.0, 0.0)


@given(st.integers(0, 9), st.integers(0, 9))
def test_mcnemar_counts_the_throws_of_a_coin(wins: int, losses: int) -> None:
    tosses = wins + losses
    throws = [sum(throw) for throw in product((0, 1), repeat=min(tosses, 12))]
    if tosses <= 12:
        as_uneven = sum(abs(2 * heads - tosses) >= abs(wins - losses) for heads in throws)
        assert mcnemar(wins, losses) == pytest.approx(float(Fraction(as_uneven, len(throws))))
    assert mcnemar(wins, losses) == mcnemar(losses, wins)


def test_mcnemar_of_many_queries() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(10, 0) == pytest.approx(2 / 1024)
    assert 0 <= mcnemar(9000, 3000) < 1e-100


def test_two_files_side_by_side() -> None:
    first, second = [1, 0, 0, 1, None, 0.5], [1, 1, 1, 0, 1, 0.75]
    found = compare(first, second, ["a", "a", "b", "b", "b", "c"])
    assert (found.wins, found.losses, found.ties) == ((1, 2, 5), (3,), 1)
    assert (found.first, found.second) == (2.5 / 5, 3.75 / 5)
    assert found.difference == pytest.approx(1.25 / 5)
    assert found.interval.low <= found.difference <= found.interval.high
    assert found.p == mcnemar(3, 1)


def test_the_interval_is_of_databases_not_of_queries() -> None:
    """One database is always right, one always wrong: however many queries, that is but two draws."""
    scores, groups = [1.0] * 500 + [0.0] * 500, ["a"] * 500 + ["b"] * 500
    assert bootstrap(scores, groups) == Interval(0.0, 1.0)
    narrow = bootstrap(scores, list(range(1000)))
    assert 0.46 < narrow.low < 0.48
    assert 0.52 < narrow.high < 0.54


def test_one_database_is_resampled_by_query() -> None:
    scores = [1.0, 0.0] * 50
    assert bootstrap(scores, ["a"] * 100) == bootstrap(scores, list(range(100)))


SCORES = st.lists(st.tuples(st.one_of(st.none(), st.sampled_from([0.0, 1.0])), st.sampled_from("abc")), max_size=30)


@given(SCORES, st.integers())
def test_an_interval_is_in_range_and_the_same_again(scores: list[tuple[float | None, str]], seed: int) -> None:
    values, groups = [score for score, _ in scores], [group for _, group in scores]
    found = bootstrap(values, groups, seed=seed, resamples=50)
    assert 0.0 <= found.low <= found.high <= 1.0
    assert found == bootstrap(values, groups, seed=seed, resamples=50)


def test_slices_count_a_query_for_each_of_its_features() -> None:
    found = slices([1, 0, None, 1], [("WHERE", "JOIN"), ("WHERE",), ("WHERE",), ()])
    assert found == {"JOIN": Slice(1, 1.0), "WHERE": Slice(2, 0.5)}
    assert mean([None, None]) == 0.0

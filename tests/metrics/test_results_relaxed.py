"""Results that are the same once columns of one of them alone are left out."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.errors import QueryLimitError
from sqljury.sql import compare as results
from sqljury.sql.compare import same_but_for_columns, same_result
from sqljury.types import QueryFailure, Result, Row

CELLS = st.sampled_from([0, 1, None])


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    width = draw(st.integers(1, 4))
    return draw(st.lists(st.tuples(*[CELLS] * width), max_size=5))


def by_definition(one: list[Row], other: list[Row], ordered: bool) -> bool:
    """Every choice of columns in every order."""
    if len(one) != len(other) or not one:
        return len(one) == len(other)
    narrow, wide = sorted((one, other), key=lambda rows: len(rows[0]))

    def comparable(rows: list[Row]) -> list[Row]:
        return rows if ordered else sorted(rows, key=repr)

    picked = itertools.permutations(range(len(wide[0])), len(narrow[0]))
    return any(comparable([tuple(row[at] for at in places) for row in wide]) == comparable(narrow) for places in picked)


@given(tables(), tables(), st.booleans())
def test_it_agrees_with_trying_every_choice_of_columns(one: list[Row], other: list[Row], ordered: bool) -> None:
    found = same_but_for_columns(Result(rows=tuple(one)), Result(rows=tuple(other)), ordered)
    assert found == by_definition(one, other, ordered)


@given(tables(), st.randoms(), st.booleans(), st.booleans())
def test_some_columns_of_a_result_are_the_same_as_all(
    rows: list[Row], chance: random.Random, ordered: bool, turned: bool
) -> None:
    width = len(rows[0]) if rows else 1
    places = chance.sample(range(width), chance.randint(1, width))
    fewer = [tuple(row[at] for at in places) for row in rows]
    if not ordered:
        chance.shuffle(fewer)
    pair = (Result(rows=tuple(rows)), Result(rows=tuple(fewer)))
    assert same_but_for_columns(*(pair[::-1] if turned else pair), ordered)


@given(tables(), tables(), st.booleans())
def test_what_is_the_same_stays_the_same(one: list[Row], other: list[Row], ordered: bool) -> None:
    pair = (Result(rows=tuple(one)), Result(rows=tuple(other)))
    if same_result(*pair, ordered):
        assert same_but_for_columns(*pair, ordered)


def test_columns_belong_together_row_by_row() -> None:
    wide = Result(rows=((1, "a", 7), (2, "b", 7)))
    assert same_but_for_columns(wide, Result(rows=(("b", 2), ("a", 1))), ordered=False)
    assert not same_but_for_columns(wide, Result(rows=(("b", 1), ("a", 2))), ordered=False)
    assert not same_but_for_columns(wide, Result(rows=(("b",), ("a",))), ordered=True)


def test_what_is_no_table_or_no_result_is_the_same_as_nothing() -> None:
    one = Result(rows=((1, 2), (3, 4)))
    assert not same_but_for_columns(one, Result(rows=((1, 2), (3,))), ordered=False)
    assert not same_but_for_columns(one, Result(error=QueryFailure("sql", "no")), ordered=False)
    assert same_but_for_columns(Result(("a",)), Result(("b", "c")), ordered=True)


def test_a_search_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MAX_WORK", 50)
    chance = random.Random(3)
    columns = [chance.sample((0, 0, 0, 1, 1, 1), 6) for _ in range(9)]
    wide, narrow = tuple(zip(*columns, strict=True)), tuple(zip(*[one[::-1] for one in columns[:7]], strict=True))
    with pytest.raises(QueryLimitError, match="too alike"):
        same_but_for_columns(Result(rows=wide), Result(rows=narrow[1:] + narrow[:1]), ordered=False)

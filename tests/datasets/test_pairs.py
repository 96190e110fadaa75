from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.datasets.pairs import Gold, Prediction, pair, perfect
from sqljury.errors import DatasetError


def golds(*databases: str) -> list[Gold]:
    return [Gold(str(at), f"SELECT {at}", db, place=f"gold, line {at + 1}") for at, db in enumerate(databases)]


def predictions(*texts: str, ids: list[str] | None = None) -> list[Prediction]:
    return [Prediction(ids[at] if ids else None, text, place=f"pred, line {at + 1}") for at, text in enumerate(texts)]


def turns(*lengths: int) -> list[int]:
    return [number for number, length in enumerate(lengths) for _ in range(length)]


@given(st.integers(1, 30), st.randoms())
def test_ids_pair_whatever_the_order(size: int, chance: random.Random) -> None:
    ours = golds(*["db"] * size)
    theirs = perfect(ours)
    chance.shuffle(theirs)
    assert all(gold.sql == prediction.sql for gold, prediction in pair(ours, theirs))


def test_numbers_that_are_not_golds_ids_count_golds_entries() -> None:
    ours = [Gold("1471", "a", "db"), Gold("1472", "b", "db")]
    paired = pair(ours, predictions("B", "A", ids=["1", "0"]))
    assert [prediction.sql for _, prediction in paired] == ["A", "B"]


def test_numbers_that_are_golds_ids_in_another_order_are_ids() -> None:
    ours = [Gold("1", "a", "db"), Gold("0", "b", "db")]
    paired = pair(ours, predictions("A", "B", ids=["1", "0"]))
    assert [prediction.sql for _, prediction in paired] == ["A", "B"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["0", "2"], r"pred: has no prediction with the id '1' \(gold, line 2\)"),
        (["0", "1", "7"], r"pred, line 3: there is no gold query with the id '7'"),
        (["0", "1", "1"], r"pred, line 3: the id '1' was given before \(pred, line 2\)"),
    ],
)
def test_ids_that_do_not_fit(ids: list[str], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        pair(golds("db", "db"), predictions(*"abc"[: len(ids)], ids=ids))


def test_a_prediction_without_the_id_that_others_have() -> None:
    mixed = [Prediction("0", "a", place="pred, line 1"), Prediction(None, "b", place="pred, line 2")]
    with pytest.raises(DatasetError, match=r"pred, line 2: has no id"):
        pair(golds("db", "db"), mixed)


def test_gold_ids_must_differ() -> None:
    with pytest.raises(DatasetError, match=r"g, line 2: the id '0' was given before \(g, line 1\)"):
        pair([Gold("0", "a", "db", place="g, line 1"), Gold("0", "b", "db", place="g, line 2")], predictions("a", "b"))


def test_without_ids_the_place_pairs_and_blank_ends_are_dropped() -> None:
    paired = pair(golds("db", "db"), predictions("a", "", "", ""))
    assert [prediction.sql for _, prediction in paired] == ["a", ""]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("a",), r"1 predictions for 2 gold queries: none is left for gold, line 2"),
        (("a", "b", "c"), r"3 predictions for 2 gold queries: pred, line 3 is one too many"),
    ],
)
def test_a_wrong_count_names_the_line(texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        pair(golds("db", "db"), predictions(*texts))


def test_a_wrong_count_says_where_the_shift_begins() -> None:
    given_dbs = ["one", "two", "three"]
    theirs = [Prediction(None, "x", db, place=f"pred, line {at + 1}") for at, db in enumerate(given_dbs)]
    with pytest.raises(DatasetError, match=r"from pred, line 2 on they are for other databases"):
        pair(golds("one", "one", "two", "three"), theirs)


def test_another_database_is_a_misalignment() -> None:
    theirs = [Prediction(None, "x", "cats", place="pred, line 1")]
    with pytest.raises(DatasetError, match=r"pred, line 1: is for the database 'cats'.*gold, line 1.*'dogs'"):
        pair(golds("dogs"), theirs)


@pytest.mark.parametrize(
    ("given_turns", "message"),
    [
        ((2, 3), r"p2: interaction 2 has 3 turns, gold's 2 \(g2\)"),
        ((3, 1), r"p0: interaction 1 has 3 turns, gold's 2 \(g0\)"),
        ((2,), r"1 interactions are predicted of 2: none is left for g2"),
        ((2, 2, 1), r"p4: starts interaction 3, and gold has 2"),
    ],
)
def test_interactions_must_have_the_same_turns(given_turns: tuple[int, ...], message: str) -> None:
    ours = [Gold(str(at), "g", "db", number, f"g{at}") for at, number in enumerate(turns(2, 2))]
    theirs = [Prediction(None, "p", None, number, f"p{at}") for at, number in enumerate(turns(*given_turns))]
    with pytest.raises(DatasetError, match=message):
        pair(ours, theirs)


def test_nothing_to_pair() -> None:
    with pytest.raises(DatasetError, match="no gold queries"):
        pair([], [])
    with pytest.raises(DatasetError, match="0 predictions for 1"):
        pair(golds("db"), [])

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.metrics.execution import MAX_VARIANTS, plugged


@pytest.mark.parametrize(
    ("gold", "predicted", "variants"),
    [
        ("x = 'a'", "x = 'value'", ["x = 'a'"]),
        ('x = "a b"', "x=1", ['x="a b"']),
        ("x > 3 LIMIT 5", "x > 1", ["x > 3", "x > 5"]),
        ("x = 1", "a = 'p' AND b = 2.5 LIMIT 7", ["a = 1 AND b = 1 LIMIT 1"]),
        ("x = 1 AND y = 1", "x = 9", ["x = 1"]),
        ("x > -5", "x > 2", ["x > -5"]),
        ("x BETWEEN -5 AND .5", "x > -2", ["x > -5", "x > .5"]),
        ("x = 4", "a - 1 > b1 - 2", ["a - 4 > b1 - 4"]),
        ("x = 4", "t1.c2 = `3` AND [4] = 5", ["t1.c2 = `3` AND [4] = 4"]),
        ("x = 'it''s'", "x = 'p''q'", ["x = 'it''s'"]),
        ("x = y", "x = 1", []),
        ("x = 1", "x = y", ["x = y"]),
        ("x = 1", "count(T1.*) > 0", ["count(*) > 1"]),
    ],
)
def test_every_choice_of_golds_values(gold: str, predicted: str, variants: list[str]) -> None:
    assert list(plugged(gold, predicted)) == [predicted, *variants]


def test_there_is_an_end_to_the_variants() -> None:
    gold, predicted = (" ".join(f"c = {number} AND" for number in range(30)) for _ in range(2))
    assert sum(1 for _ in plugged(gold, predicted)) == MAX_VARIANTS + 1


@given(st.text(alphabet="ab'\"`[]-1. (=,;", max_size=30))
def test_golds_own_values_give_gold_back(sql: str) -> None:
    variants = list(plugged(sql, sql))
    assert variants[0] == sql
    if len(variants) <= MAX_VARIANTS:
        assert sql in variants[1:]

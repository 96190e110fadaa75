from __future__ import annotations

import gc
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.metrics.execution import LIMITS
from sqljury.metrics.ves import Effort, measure, r_ves, reward, time_pair, ves
from sqljury.types import Limits, Result


@pytest.mark.parametrize(
    ("ratio", "worth"),
    [(0.0, 0.0), (0.1, 0.25), (0.25, 0.5), (0.49, 0.5), (0.5, 0.75), (0.999, 0.75), (1.0, 1.0), (1.99, 1.0), (2, 1.25)],
)
def test_rewards_are_the_published_steps(ratio: float, worth: float) -> None:
    assert reward(ratio) == worth
    assert r_ves(ratio) == worth**0.5


def test_ves_is_the_root_of_the_ratio() -> None:
    assert ves(4.0) == 2.0
    assert ves(0.0) == 0.0


class Clock:
    """Takes what it is told; the first run of each query is slow, and every fifth has a hiccup."""

    def __init__(self, gold: float, predicted: float) -> None:
        self.times = {"gold": gold, "predicted": predicted}
        self.asked: list[str] = []

    def __call__(self, sql: str) -> float:
        self.asked.append(sql)
        runs = self.asked.count(sql)
        return self.times[sql] + (100.0 if runs == 1 else 50.0 if runs % 5 == 0 else 0.0)


@given(st.floats(0.001, 1000), st.floats(0.001, 1000))
def test_neither_warming_up_nor_hiccups_change_the_ratio(gold: float, predicted: float) -> None:
    clock = Clock(gold, predicted)
    timing = measure(clock, "gold", "predicted", Effort(repeats=9))
    assert (timing.gold, timing.predicted, timing.repeats) == (gold, predicted, 9)
    assert timing.ratio == pytest.approx(gold / predicted)


def test_runs_take_turns() -> None:
    clock = Clock(1, 1)
    measure(clock, "gold", "predicted", Effort(repeats=3))
    assert clock.asked == ["predicted", "gold", "gold", "predicted", "predicted", "gold", "gold", "predicted"]
    assert gc.isenabled()


def test_a_long_pair_is_cut_short_after_three_runs() -> None:
    assert measure(Clock(1, 1), "gold", "predicted", Effort(repeats=31, seconds=-1.0)).repeats == 3


def test_quick_queries_are_run_more_often() -> None:
    assert measure(Clock(1, 1), "gold", "predicted", Effort(repeats=4, least=60.0)).repeats == 40
    assert measure(Clock(1, 1), "gold", "predicted", Effort(repeats=4, least=0.0)).repeats == 4


@pytest.mark.parametrize("again", ["SELECT max(x) FROM n", " SELECT max(x) FROM n ;\n"])
def test_noise_does_not_decide_on_gold_beside_itself(again: str) -> None:
    def never(_: str, __: Limits) -> Result:
        raise AssertionError("one query needs no clock")

    assert r_ves(time_pair(never, "SELECT max(x) FROM n", again, Effort(), LIMITS).ratio) == 1.0
    with pytest.raises(AssertionError, match="needs no clock"):
        time_pair(never, "SELECT max(x) FROM n", "SELECT max(x) FROM n WHERE x = ' ;'", Effort(), LIMITS)


def test_a_failure_has_no_ratio() -> None:
    timing = measure(lambda sql: "no such table" if sql == "predicted" else 1.0, "gold", "predicted", Effort())
    assert timing.error == "no such table"
    assert timing.ratio == 0.0


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "numbers.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE n (x INTEGER)")
        connection.executemany("INSERT INTO n VALUES (?)", ((number,) for number in range(3000)))
    with connect(path) as opened:
        yield opened


def test_a_slow_query_shows(database: Database) -> None:
    quick, slow = "SELECT max(x) FROM n", "SELECT max(a.x) FROM n a, n b WHERE b.x < 100"
    assert time_pair(database.execute, quick, slow, Effort(repeats=5), LIMITS).ratio < 0.2
    assert time_pair(database.execute, slow, quick, Effort(repeats=5), LIMITS).ratio > 5
    same = time_pair(database.execute, slow, slow.replace("max", "min"), Effort(repeats=9), LIMITS).ratio
    assert 0.5 < same < 2


def test_what_is_timed_is_the_query_not_its_parsing(database: Database) -> None:
    bare = "SELECT 1 FROM n WHERE x = 7"
    wordy = bare + " AND x IN (7" + ", 7" * 400 + ")"
    timing = time_pair(database.execute, bare, wordy, Effort(repeats=9), LIMITS)
    assert timing.predicted < 0.003, "parsing such a list takes several milliseconds, running it does not"

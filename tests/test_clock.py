from __future__ import annotations

import time
from math import inf

import pytest

from sqljury.budget import Allowance, Clock
from sqljury.types import Cost


def clock(seconds: float = inf, tokens: float = inf, started: float | None = None) -> Clock:
    return Clock(Allowance(seconds, tokens), time.perf_counter() if started is None else started)


def test_steps_of_one_name_are_added_up() -> None:
    watch = clock()
    watch.spend("write", Cost(calls=1, prompt_tokens=10))
    watch.spend("fix", Cost(calls=1, completion_tokens=3))
    watch.spend("write", Cost(calls=2, prompt_tokens=5))
    watch.spend("select", Cost())
    assert watch.steps == [
        ("write", Cost(calls=3, prompt_tokens=15)),
        ("fix", Cost(calls=1, completion_tokens=3)),
    ]
    assert (watch.total().calls, watch.total().prompt_tokens) == (4, 15)


def test_known_tokens_are_not_counted() -> None:
    watch = clock(tokens=100)
    watch.spend("write", Cost(prompt_tokens=1000, cached_tokens=940, completion_tokens=39))
    assert not watch.over()
    watch.spend("write", Cost(completion_tokens=1))
    assert watch.over()


def test_calls_of_a_step_under_way_count_before_it_is_put_down() -> None:
    watch = clock(tokens=10)
    watch.run(Cost(calls=1, prompt_tokens=6))
    watch.run(Cost(calls=1, completion_tokens=3))
    assert not watch.over()
    watch.run(Cost(completion_tokens=1))
    assert watch.over()
    watch.spend("select", Cost(calls=3, prompt_tokens=6, completion_tokens=3))  # all of it, once
    assert not watch.over()
    assert watch.total().computed_tokens == 9


@pytest.mark.parametrize(("ago", "over"), [(1.0, False), (9.0, True)])
def test_seconds_are_those_of_the_wall(ago: float, over: bool) -> None:
    assert clock(seconds=5.0, started=time.perf_counter() - ago).over() is over


def test_nothing_is_limited_by_default() -> None:
    watch = clock()
    watch.spend("write", Cost(prompt_tokens=10**9, seconds=10**9))
    assert not watch.over()

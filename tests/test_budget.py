from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from math import inf

import pytest

from sqljury.budget import Allowance, Budget
from sqljury.types import Cost


def budget(seconds: float = inf, tokens: float = inf) -> Budget:
    return Budget(Allowance(seconds, tokens))


def spend(spent: Budget, step: str, cost: Cost) -> None:
    with spent.step(step):
        spent.charge(cost)


def test_steps_of_one_name_are_added_up() -> None:
    spent = budget()
    spend(spent, "write", Cost(calls=1, prompt_tokens=10))
    spend(spent, "fix", Cost(calls=1, completion_tokens=3))
    spend(spent, "write", Cost(calls=2, prompt_tokens=5))
    with spent.step("select"):
        pass  # a step that asks no model is not listed
    assert spent.steps == (
        ("write", Cost(calls=3, prompt_tokens=15)),
        ("fix", Cost(calls=1, completion_tokens=3)),
    )
    assert (spent.total().calls, spent.total().prompt_tokens) == (4, 15)


def test_known_tokens_are_not_counted() -> None:
    spent = budget(tokens=100)
    spend(spent, "write", Cost(prompt_tokens=1000, cached_tokens=940, completion_tokens=39))
    assert not spent.exhausted()
    spend(spent, "write", Cost(completion_tokens=1))
    assert spent.exhausted()


def test_calls_of_a_step_under_way_count_at_once_and_once() -> None:
    spent = budget(tokens=10)
    with spent.step("select"):
        spent.charge(Cost(calls=1, prompt_tokens=6))
        spent.charge(Cost(calls=1, completion_tokens=3))
        assert not spent.exhausted()
        spent.charge(Cost(calls=1, completion_tokens=1))
        assert spent.exhausted()
    assert dict(spent.steps)["select"].calls == 3
    assert spent.total().computed_tokens == 10


def test_a_step_within_a_step_is_charged_alone() -> None:
    spent = budget()
    with spent.step("select"):
        spend(spent, "tests", Cost(calls=1))
        spent.charge(Cost(calls=2))
    assert {step: cost.calls for step, cost in spent.steps} == {"tests": 1, "select": 2}


def test_a_step_may_have_a_time_of_its_own() -> None:
    spent = budget()
    with spent.step("fix", seconds=0.0):
        assert spent.exhausted()
        with spent.step("inner", seconds=60.0):
            assert spent.exhausted()
    assert not spent.exhausted()
    with pytest.raises(KeyError), spent.step("fix", seconds=0.0):
        raise KeyError
    assert not spent.exhausted()


def test_threads_lose_no_charge() -> None:
    spent = budget()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: spent.charge(Cost(calls=1)), range(400)))
    assert spent.total().calls == 400


@pytest.mark.parametrize(("seconds", "over"), [(60.0, False), (0.01, True)])
def test_seconds_are_those_of_the_wall(seconds: float, over: bool) -> None:
    spent = budget(seconds=seconds)
    time.sleep(0.02)
    assert spent.exhausted() is over


def test_nothing_is_limited_by_default() -> None:
    spent = budget()
    spend(spent, "write", Cost(prompt_tokens=10**9, seconds=10**9))
    assert not spent.exhausted()


def test_the_clock_is_ahead_by_what_kept_replies_took() -> None:
    spent = budget(seconds=100)
    with spent.step("write", seconds=50):
        spent.charge(Cost(calls=1, seconds=40), ahead=40)
        assert 0 < spent.left <= 10
        spent.charge(Cost(calls=1, seconds=11), ahead=11)
        assert spent.exhausted()  # the step is, the question is not
    assert not spent.exhausted()
    assert 51 <= spent.total().seconds < 100
    spent.charge(Cost(seconds=1))  # which passed
    assert spent.left > 0


def test_no_call_begins_that_would_not_end_in_time_by_those_before_it() -> None:
    spent = budget(seconds=60)
    with spent.step("fix"):
        assert not spent.exhausted()  # nothing is known of its calls
        spent.charge(Cost(calls=2, seconds=100))
        assert not spent.exhausted()
        spent.charge(Cost(calls=1, seconds=100))
        assert spent.exhausted()
        with spent.step("tests"):
            assert not spent.exhausted()  # another step's calls tell nothing
    assert not spent.exhausted()
    spent = budget()
    with spent.step("fix"):
        spent.charge(Cost(calls=1, seconds=1e9))
        assert not spent.exhausted()

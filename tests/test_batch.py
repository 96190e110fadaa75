from __future__ import annotations

import threading

import pytest

from sqljury.batch import map_threads


def test_order_is_kept() -> None:
    assert map_threads(lambda number: number * 2, range(20)) == list(range(0, 40, 2))


def test_nothing_gives_nothing() -> None:
    assert map_threads(str, []) == []


def test_an_error_stops_the_others_and_is_raised() -> None:
    cancel = threading.Event()
    stopped: list[bool] = []

    def work(number: int) -> None:
        if number == 0:
            raise ValueError("first")
        stopped.append(cancel.wait(5))

    with pytest.raises(ValueError, match="first"):
        map_threads(work, range(3), cancel)
    assert all(stopped)
    assert not cancel.is_set()  # the caller did not want to stop, and asks this event whether it did


def test_the_callers_own_wish_to_stop_stays() -> None:
    cancel = threading.Event()

    def work(number: int) -> None:
        cancel.set()
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        map_threads(work, range(3), cancel)
    assert cancel.is_set()


def test_ctrl_c_stops_the_others() -> None:
    cancel = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            raise KeyboardInterrupt
        cancel.wait(5)

    with pytest.raises(KeyboardInterrupt):
        map_threads(work, range(3), cancel)
    assert cancel.is_set()

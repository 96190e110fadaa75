from __future__ import annotations

import threading

import pytest

from sqljury.parallel.threads import Within, map_threads


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


def test_one_worker_is_the_caller() -> None:
    assert map_threads(lambda _: threading.current_thread(), range(3), workers=1) == [threading.current_thread()] * 3


def test_as_many_work_at_once_as_there_are_workers() -> None:
    together = threading.Barrier(6)
    assert sorted(map_threads(lambda _: together.wait(30), range(6), workers=6)) == list(range(6))


def test_an_event_within_another_ends_with_it_and_not_the_other_way_round() -> None:
    outer = threading.Event()
    one, two = Within(outer), Within(outer)
    one.set()
    assert (one.is_set(), two.is_set(), outer.is_set()) == (True, False, False)
    assert not two.wait(0)
    one.clear()
    threading.Timer(0.1, outer.set).start()
    assert two.wait(30)
    assert one.is_set()


def test_ctrl_c_stops_the_others() -> None:
    cancel = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            raise KeyboardInterrupt
        cancel.wait(5)

    with pytest.raises(KeyboardInterrupt):
        map_threads(work, range(3), cancel)
    assert cancel.is_set()

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sqljury.parallel.threads import Within, map_threads


def test_order_is_kept() -> None:
    assert map_threads(lambda number, _: number * 2, range(20)) == list(range(0, 40, 2))


def test_nothing_gives_nothing() -> None:
    assert map_threads(lambda item, _: item, []) == []


def test_an_error_stops_the_others_and_is_raised() -> None:
    cancel = threading.Event()
    stopped: list[bool] = []

    def work(number: int, stop: threading.Event) -> None:
        if number == 0:
            raise ValueError("first")
        stopped.append(stop.wait(30))

    with pytest.raises(ValueError, match="first"):
        map_threads(work, range(3), cancel)
    assert stopped == [True, True]
    assert not cancel.is_set()


def test_an_error_of_a_later_item_stops_earlier_ones_and_is_the_one_raised() -> None:
    begun = threading.Barrier(3)

    def work(number: int, stop: threading.Event) -> None:
        begun.wait(30)
        if number == 2:
            raise ValueError("later")
        if stop.wait(30):
            raise RuntimeError("stopped")

    with pytest.raises(ValueError, match="later"):
        map_threads(work, range(3))


def test_an_error_keeps_the_waiting_items_from_starting() -> None:
    begun: list[int] = []

    def work(number: int, stop: threading.Event) -> None:
        begun.append(number)
        if number == 0:
            raise ValueError("first")
        stop.wait(30)

    with pytest.raises(ValueError, match="first"):
        map_threads(work, range(100), workers=2)
    assert len(begun) < 5


def test_the_caller_stops_the_work() -> None:
    cancel = threading.Event()

    def work(number: int, stop: threading.Event) -> int:
        if number == 0:
            cancel.set()
        assert stop.wait(30)
        return number

    assert map_threads(work, range(3), cancel) == [0, 1, 2]
    assert cancel.is_set()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_callers_event_is_never_touched(workers: int) -> None:
    class Watched(threading.Event):
        def set(self) -> None:
            raise AssertionError("set")

        clear = set

    def work(number: int, stop: threading.Event) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        map_threads(work, range(3), Watched(), workers)


def test_two_maps_that_share_an_event_do_not_stop_each_other() -> None:
    cancel, failed = threading.Event(), threading.Event()

    def broken(number: int, stop: threading.Event) -> None:
        raise ValueError("broken")

    def long(number: int, stop: threading.Event) -> bool:
        failed.wait(30)
        return stop.wait(0.2) or cancel.is_set()

    with ThreadPoolExecutor() as pool:
        other = pool.submit(map_threads, long, range(3), cancel)
        with pytest.raises(ValueError, match="broken"):
            map_threads(broken, range(3), cancel)
        failed.set()
        assert other.result() == [False] * 3


def test_one_worker_is_the_caller() -> None:
    assert map_threads(lambda *_: threading.current_thread(), range(3), workers=1) == [threading.current_thread()] * 3


def test_as_many_work_at_once_as_there_are_workers() -> None:
    together = threading.Barrier(6)
    assert sorted(map_threads(lambda *_: together.wait(30), range(6), workers=6)) == list(range(6))


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
    stopped: list[bool] = []

    def work(number: int, stop: threading.Event) -> None:
        if number == 0:
            raise KeyboardInterrupt
        stopped.append(stop.wait(30))

    with pytest.raises(KeyboardInterrupt):
        map_threads(work, range(3), cancel)
    assert stopped == [True, True]
    assert not cancel.is_set()

from __future__ import annotations

import threading

import pytest

from sqljury.batch import map_threads


def test_order_is_kept() -> None:
    assert map_threads(lambda number: number * 2, range(20)) == list(range(0, 40, 2))


def test_nothing_gives_nothing() -> None:
    assert map_threads(str, []) == []


def test_an_error_sets_cancel_and_is_raised() -> None:
    cancel = threading.Event()

    def work(number: int) -> bool:
        if number == 0:
            raise ValueError("first")
        return cancel.wait(5)

    with pytest.raises(ValueError, match="first"):
        map_threads(work, range(3), cancel)
    assert cancel.is_set()

"""Map a function over items in threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import copy_context
from math import inf
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

WORKERS = 4

_POLL_SECONDS = 0.05


class Within(threading.Event):
    """An event that is also set while ``outer`` is."""

    def __init__(self, outer: threading.Event) -> None:
        super().__init__()
        self._outer = outer

    def is_set(self) -> bool:
        """Whether this event or the outer one is set."""
        return super().is_set() or self._outer.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """As ``threading.Event`` has it; the outer one is polled every 0.05 s."""
        end = inf if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            left = end - time.monotonic()
            if left <= 0:
                return False
            super().wait(min(left, _POLL_SECONDS))
        return True


def map_threads(
    function: Callable[[T, threading.Event], R],
    items: Iterable[T],
    cancel: threading.Event | None = None,
    workers: int = WORKERS,
) -> list[R]:
    """``function(item, stop)`` of each item, in the items' order, ``workers`` at a time; one worker is the caller.

    ``stop`` is set once ``cancel`` is, or an item failed, or Ctrl-C was pressed, so that running work can end early;
    ``cancel`` is only read. Raises the first exception, after the running work has ended.
    """
    stop = threading.Event() if cancel is None else Within(cancel)
    items = list(items)
    if len(items) < 2 or workers == 1:
        return [function(item, stop) for item in items]
    failures: list[BaseException] = []

    def run(item: T) -> R:
        if failures:
            raise failures[0]
        try:
            return function(item, stop)
        except BaseException as error:
            failures.append(error)
            stop.set()
            raise

    with ThreadPoolExecutor(max_workers=min(workers, len(items)), thread_name_prefix="sqljury") as pool:
        futures = [pool.submit(copy_context().run, run, item) for item in items]  # spans know what they are part of
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        except BaseException:
            stop.set()
            raise
        finally:
            for future in futures:
                future.cancel()
    if failures:
        raise failures[0]
    return [future.result() for future in futures]

"""Map a function over items: the one place where work fans out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

WORKERS = 4

_LOOK_SECONDS = 0.05


class Within(threading.Event):
    """An event that is also set while ``outer`` is.

    For one of several pieces of work that Ctrl-C stops together: ``map_threads`` inside one of them sets and clears its
    event, which must not stop the others.
    """

    def __init__(self, outer: threading.Event) -> None:
        super().__init__()
        self._outer = outer

    def is_set(self) -> bool:
        """Whether this event or the outer one is set."""
        return super().is_set() or self._outer.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """As ``threading.Event`` has it; the outer one is looked at every now and then."""
        end = inf if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            left = end - time.monotonic()
            if left <= 0:
                return False
            super().wait(min(left, _LOOK_SECONDS))
        return True


def map_threads(
    function: Callable[[T], R], items: Iterable[T], cancel: threading.Event | None = None, workers: int = WORKERS
) -> list[R]:
    """``function`` of each item, in the items' order, ``workers`` at a time in threads; in the caller's for one.

    The first exception is raised; on any exception, Ctrl-C among them, ``cancel`` is set first so that running
    work can stop early. Once it has stopped, ``cancel`` is cleared again if an error set it: to the caller it says
    that the user wants to stop.
    """
    listed = list(items)
    if len(listed) < 2 or workers == 1:
        return [function(item) for item in listed]
    failed = False
    try:
        with ThreadPoolExecutor(max_workers=min(workers, len(listed)), thread_name_prefix="sqljury") as pool:
            futures = [pool.submit(function, item) for item in listed]
            try:
                return [future.result() for future in futures]
            except BaseException as error:
                if cancel is not None:
                    failed = isinstance(error, Exception) and not cancel.is_set()
                    cancel.set()
                for future in futures:
                    future.cancel()
                raise
    finally:
        if failed and cancel is not None:
            cancel.clear()

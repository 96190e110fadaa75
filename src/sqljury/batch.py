"""Map a function over items: the one place where work fans out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

WORKERS = 4


def map_threads(function: Callable[[T], R], items: Iterable[T], cancel: threading.Event | None = None) -> list[R]:
    """``function`` of each item, in the items' order, a few at a time in threads.

    The first exception is raised; on any exception, Ctrl-C among them, ``cancel`` is set first so that running
    work can stop early. Once it has stopped, ``cancel`` is cleared again if an error set it: to the caller it says
    that the user wants to stop.
    """
    listed = list(items)
    if len(listed) < 2:
        return [function(item) for item in listed]
    failed = False
    try:
        with ThreadPoolExecutor(max_workers=min(WORKERS, len(listed)), thread_name_prefix="sqljury") as pool:
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

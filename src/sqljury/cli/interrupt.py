"""Ctrl-C that ends the work at hand, wherever it is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, so that threads and running queries stop; leaves with ``KeyboardInterrupt`` then.

    The exception alone is not enough: threads never see it, and SQLite swallows it while it calls back into Python.
    """
    cancel = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    pressed = False

    def stop(_: int, __: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        cancel.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield cancel
    except Exception:
        if pressed:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt

"""When to try again, and how long to wait before."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqljury.errors import CancelledError


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential backoff with jitter: waits of ``first`` seconds, doubled up to ``longest``.

    At most ``attempts`` requests are sent, and none later than ``total`` seconds after the first. ``sleep`` and
    ``jitter`` (a number between 0 and 1) are for tests.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 30.0
    total: float = 180.0
    sleep: Callable[[float], None] | None = None
    jitter: Callable[[], float] = random.random

    def wait(self, failed: int, elapsed: float, asked: float | None = None) -> float | None:
        """Seconds to wait after ``failed`` attempts, None to give up; ``asked`` is what Retry-After says."""
        if failed >= self.attempts:
            return None
        backoff = min(self.longest, self.first * 2 ** (failed - 1)) * (0.5 + self.jitter() / 2)
        seconds = max(backoff, asked or 0.0)
        return seconds if elapsed + seconds <= self.total else None

    def pause(self, seconds: float, cancel: threading.Event | None) -> None:
        """Wait; raises ``CancelledError`` as soon as ``cancel`` is set."""
        if self.sleep:
            self.sleep(seconds)
        elif cancel:
            cancel.wait(seconds)
        else:
            time.sleep(seconds)
        if cancel and cancel.is_set():
            raise CancelledError("The call was cancelled.")

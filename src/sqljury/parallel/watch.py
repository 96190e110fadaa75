"""Watches one running query: its time, its cancellation, and what it takes from the machine."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from typing import Final, Literal

from sqljury.types import Limits

MEMORY_BYTES: Final = 2 * 1024**3
TEMP_BYTES: Final = 1024**3
_PROBE_SECONDS: Final = 0.02
_NOTED_SECONDS: Final = 0.1


class Watch:
    """Called by the engine every so often while it works; from the first breach on it answers "stop".

    ``kind`` and ``reason`` say why it stopped, both None until then. Memory (growth of the process) and
    temporary files (bytes written by this thread) are seen on Linux only; ``follow`` names another process to look at.
    """

    def __init__(self, limits: Limits, cancel: threading.Event | None = None) -> None:
        self.limits = limits
        self.start = time.monotonic()
        self.kind: Literal["cancelled", "limit"] | None = None
        self.reason: str | None = None
        self._cancel = cancel
        self._deadline = self.start + limits.seconds
        self._probe_at = self.start + _PROBE_SECONDS  # a quick query never pays for it
        self._before: tuple[int, int] | None = None
        self._pid: int | None = None

    def follow(self, pid: int) -> None:
        """From now on look at the memory and the writes of this process, which works for the query."""
        self._pid, self._before = pid, None

    @property
    def seconds(self) -> float:
        """Wall seconds since the start."""
        return time.monotonic() - self.start

    @property
    def left(self) -> Limits:
        """The limits with what is left of the time, for who begins to count anew; as they are in the first 0.1 s."""
        if self.seconds <= _NOTED_SECONDS:
            return self.limits
        return replace(self.limits, seconds=round(max(self.limits.seconds - self.seconds, 0.0), 2))

    def stop(self) -> bool:
        """Whether the query must end now."""
        if self.kind is not None:
            return True
        now = time.monotonic()
        if self._cancel is not None and self._cancel.is_set():
            self._breach("cancelled", "stopped on request")
        elif now >= self._deadline:
            self._breach("limit", f"stopped after {self.limits.seconds:g} s; ask for less")
        elif now >= self._probe_at:
            self._probe_at = now + _PROBE_SECONDS
            self._probe()
        return self.kind is not None

    def _breach(self, kind: Literal["cancelled", "limit"], reason: str) -> None:
        self.kind, self.reason = kind, reason

    def _probe(self) -> None:
        memory, written = private_memory(self._pid), thread_written(self._pid)
        if self._before is None:
            self._before = memory, written
        elif memory - self._before[0] > MEMORY_BYTES:
            self._breach("limit", f"used more than {MEMORY_BYTES // 1024**2} MiB of memory; ask for less")
        elif written - self._before[1] > TEMP_BYTES:
            self._breach("limit", f"needed more than {TEMP_BYTES // 1024**2} MiB of temporary files")


def private_memory(pid: int | None = None) -> int:
    """Bytes of memory of this process, or of ``pid``, not shared with others; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid or 'self'}/statm", "rb") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def thread_written(pid: int | None = None) -> int:
    """Bytes that this thread, or the process ``pid``, has handed to write calls; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid or 'thread-self'}/io", "rb") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(b"wchar:"))
    except (OSError, ValueError, StopIteration):
        return 0

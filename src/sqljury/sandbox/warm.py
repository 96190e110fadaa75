"""One sandbox for many runs: opened when first needed, closed when nobody needs it any more."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from sqljury.sandbox.run import Sandbox


class Warm:
    """Holds at most one ``Sandbox``; calling it opens it, from any thread.

    The sandbox is closed with ``close``, else when this holder goes or the program ends. A closed holder opens anew
    if it is called again. A copy in another process has a sandbox of its own.
    """

    def __init__(self, *, allow_unisolated: bool = False) -> None:
        self._unisolated = allow_unisolated
        self._lock = threading.Lock()
        self._opened: list[Sandbox] = []
        self._end = weakref.finalize(self, _close, self._opened)

    def __call__(self) -> Sandbox:
        """The sandbox; raises what ``Sandbox`` raises, each time."""
        with self._lock:
            if not self._opened:
                self._opened.append(Sandbox(allow_unisolated=self._unisolated))
            return self._opened[0]

    def close(self) -> None:
        """End the warm process, if there is one."""
        with self._lock:
            _close(self._opened)

    def __reduce__(self) -> tuple[Any, ...]:
        return _anew, (self._unisolated,)


def _anew(unisolated: bool) -> Warm:
    return Warm(allow_unisolated=unisolated)


def _close(opened: list[Sandbox]) -> None:
    while opened:
        opened.pop().close()

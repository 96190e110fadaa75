"""Who uses a loaded model's slots: calls that begin with the same state together, all others in turn."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Final

from sqljury.errors import CancelledError

LOOK_SECONDS: Final = 0.1
"""How often a call that waits looks at whether it was cancelled."""


PATIENCE_SECONDS: Final = 10.0
"""How long others go before a call with the state that the slots are in."""


@dataclass(frozen=True, eq=False)
class _Waiting:
    state: Hashable
    since: float


class Together:
    """The order of calls to one engine.

    At most ``most`` calls run at once, and only those that want the slots in the same state. Such a call goes before
    one that waits for another state, because a change of state is expensive, until that one has waited for
    ``PATIENCE_SECONDS`` and the slots have been in their state for as long. Otherwise calls run in the order in which
    they came.
    """

    def __init__(self, most: int = 1) -> None:
        self.most = most
        self._changed = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._state: Hashable = None
        self._since = time.monotonic()  # the slots have been in this state since then
        self._free = list(range(most))
        self._ready = False

    @contextlib.contextmanager
    def taken(
        self, state: Hashable, prepare: Callable[[], object], cancel: threading.Event | None = None
    ) -> Iterator[int]:
        """A turn with the slots in ``state``, which ``prepare`` brings about; nothing else runs while it does.

        The number that it yields is below ``most``, and no other turn has it at the same time.

        Raises ``CancelledError`` once ``cancel`` is set while the call waits, and what ``prepare`` raises.
        """
        number = self._enter(state, cancel)
        try:
            if not self._ready:
                prepare()
                with self._changed:
                    if state != self._state:
                        self._state, self._since = state, time.monotonic()
                    self._ready = True
                    self._changed.notify_all()
            yield number
        finally:
            with self._changed:
                self._free.append(number)
                self._ready = self._ready and self._running
                self._changed.notify_all()

    def _enter(self, state: Hashable, cancel: threading.Event | None) -> int:
        waiting = _Waiting(state, time.monotonic())
        with self._changed:
            self._waiting.append(waiting)
            try:
                while not self._may(waiting):
                    if cancel is not None and cancel.is_set():
                        raise CancelledError("cancelled while another call to the model was running")
                    self._changed.wait(LOOK_SECONDS)
                return self._free.pop()
            finally:
                self._waiting.remove(waiting)
                self._changed.notify_all()

    @property
    def _running(self) -> bool:
        return len(self._free) < self.most

    def _may(self, call: _Waiting) -> bool:
        """Whether it is this call's turn."""
        first = self._waiting[0]
        if self._running and not (self._ready and self._free and call.state == self._state):
            return False
        # where many wait, all of them have waited long: counted from the call alone, none would share a state
        if time.monotonic() - max(first.since, self._since) > PATIENCE_SECONDS:
            return call is first
        return call is next((waiting for waiting in self._waiting if waiting.state == self._state), first)

"""The questions that each client has asked, the latest ones; in memory only, and without rows."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from typing import Any, Final

CLIENTS: Final = 1_000


class History:
    """At most ``size`` entries for each of the latest ``CLIENTS`` clients; no client sees those of another."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[str, deque[dict[str, Any]]] = OrderedDict()

    def add(self, client: str, **entry: Any) -> None:
        """Note something that a client asked, with the time."""
        own = self._entries.setdefault(client, deque(maxlen=self._size))
        self._entries.move_to_end(client)
        own.appendleft({"time": round(time.time(), 3), **entry})
        while len(self._entries) > CLIENTS:
            self._entries.popitem(last=False)

    def of(self, client: str, limit: int) -> list[dict[str, Any]]:
        """The client's own entries, the latest first."""
        return list(self._entries.get(client, ()))[:limit]

    def find(self, client: str, id: str) -> dict[str, Any] | None:
        """The client's own entry of this id, to be added to; None for one that it has not, or not any more."""
        return next((entry for entry in self._entries.get(client, ()) if entry["id"] == id), None)

    def clear(self, client: str) -> None:
        """Forget what the client asked."""
        self._entries.pop(client, None)

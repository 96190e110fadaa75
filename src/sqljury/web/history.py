"""The questions that each client has asked, the latest ones, and the latest answers; in memory only."""

from __future__ import annotations

import json
import time
import zlib
from collections import OrderedDict, deque
from typing import Any, Final

CLIENTS: Final = 1_000
ANSWER_BYTES: Final = 1024 * 1024
"""Of JSON; a longer answer is not kept."""
KEPT_BYTES: Final = 64 * 1024 * 1024
"""Of all clients' answers, compressed."""


class History:
    """At most ``size`` entries for each of the latest ``CLIENTS`` clients; no client sees those of another.

    Entries are without rows. Answers are kept beside them until they take more than ``kept_bytes`` together, when the
    oldest are dropped.
    """

    def __init__(self, size: int, kept_bytes: int = KEPT_BYTES) -> None:
        self._size, self._most = size, kept_bytes
        self._entries: OrderedDict[str, deque[dict[str, Any]]] = OrderedDict()
        self._answers: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._bytes = 0

    def add(self, client: str, **entry: Any) -> None:
        """Note something that a client asked, with the time."""
        entries = self._entries.setdefault(client, deque())
        self._entries.move_to_end(client)
        entries.appendleft({"time": round(time.time(), 3), **entry})
        while len(entries) > self._size:
            self._drop(client, entries.pop()["id"])
        while len(self._entries) > CLIENTS:
            self.clear(next(iter(self._entries)))

    def keep(self, client: str, id: str, answer: dict[str, Any]) -> None:
        """Keep the answer of an entry of the client's, unless it is long or there is no such entry."""
        text = json.dumps(answer).encode("ascii")
        if self.find(client, id) is None or len(text) > ANSWER_BYTES:
            return
        self._drop(client, id)
        self._answers[client, id] = packed = zlib.compress(text, 1)
        self._bytes += len(packed)
        while self._bytes > self._most:
            self._drop(*next(iter(self._answers)))

    def answer(self, client: str, id: str) -> dict[str, Any] | None:
        """The kept answer of an entry of the client's; None if it is not kept, or not any more."""
        packed = self._answers.get((client, id))
        unpacked: dict[str, Any] | None = None if packed is None else json.loads(zlib.decompress(packed))
        return unpacked

    def of(self, client: str, limit: int) -> list[dict[str, Any]]:
        """The client's own entries, the latest first; ``kept`` says of a question whether its answer is still there."""
        latest = list(self._entries.get(client, ()))[:limit]
        return [
            {**entry, "kept": (client, entry["id"]) in self._answers} if entry["kind"] == "ask" else entry
            for entry in latest
        ]

    def find(self, client: str, id: str) -> dict[str, Any] | None:
        """The client's own entry of this id, to be added to; None for one that it has not, or not any more."""
        return next((entry for entry in self._entries.get(client, ()) if entry["id"] == id), None)

    def clear(self, client: str) -> None:
        """Forget what the client asked, and the answers."""
        for entry in self._entries.pop(client, ()):
            self._drop(client, entry["id"])

    def _drop(self, client: str, id: str) -> None:
        self._bytes -= len(self._answers.pop((client, id), b""))

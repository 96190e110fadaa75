"""A bounded queue in which clients take turns, so that one with many questions does not keep the others waiting."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque


class BusyError(Exception):
    """As many questions wait as may wait."""


class Turns:
    """``running`` pieces of work at once, ``waiting`` in the queue, of these ``share`` of one client.

    Clients are served one after another, each with its oldest piece. For one event loop; not for threads.
    """

    def __init__(self, running: int, waiting: int, share: int | None = None) -> None:
        self._free = running
        self._limit = waiting
        self._share = waiting if share is None else share
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many pieces of work wait."""
        return sum(map(len, self._queues.values()))

    def enter(self, client: str) -> asyncio.Future[None]:
        """A future that is done when it is the client's turn; raises ``BusyError`` where no more may wait.

        Whoever has had a turn gives it back with ``leave``; who no longer wants one calls ``forgo``.
        """
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._free:
            self._free -= 1
            turn.set_result(None)
            return turn
        queue = self._queues.get(client, ())
        if self.waiting >= self._limit or len(queue) >= self._share:
            raise BusyError
        self._queues.setdefault(client, deque()).append(turn)
        return turn

    def leave(self) -> None:
        """Hand the turn to the client whose last one is longest ago."""
        while self._queues:
            client, queue = self._queues.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._queues[client] = queue  # behind the others
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def forgo(self, turn: asyncio.Future[None]) -> None:
        """Give up a turn, whether or not it has come."""
        if turn.done() and not turn.cancelled():
            self.leave()
            return
        turn.cancel()
        for client, queue in list(self._queues.items()):
            if turn in queue:
                queue.remove(turn)
                if not queue:
                    del self._queues[client]

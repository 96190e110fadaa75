"""Work of the synchronous core in threads: in turn, followed while it runs, and stopped when nobody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqljury.parallel.turns import BusyError, Turns

T = TypeVar("T")
Report = Callable[[Any], None]
"""Takes what the work tells of itself, such as ``sqljury.context.Progress``."""

LOG = logging.getLogger("sqljury.jobs")


class OverdueError(Exception):
    """The work was given up after the time that it may take."""


class EndingError(Exception):
    """The server is shutting down."""


@dataclass(frozen=True, slots=True)
class Following:
    """What a piece of work tells and listens to, as ``Session.following`` takes it."""

    progress: Report
    cancel: threading.Event = field(default_factory=threading.Event)


Work = Callable[[Following], T]


class Jobs:
    """Runs work for clients: ``workers`` at once, ``queue`` waiting, each for ``seconds`` at most, waiting included.

    A thread that does not stop when it is cancelled keeps its place until it ends, so there are never more threads.
    """

    def __init__(self, workers: int, queue: int, seconds: float, *, shared: bool) -> None:
        self.turns = Turns(workers, queue, max(1, queue // 2) if shared else None)
        self.running = 0
        self._workers, self._seconds = workers, seconds
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="sqljury-job")
        self._cancels: set[threading.Event] = set()
        self._unseen: set[asyncio.Future[None]] = set()
        self._ended = False
        self._mean = 1.0

    @property
    def retry_after(self) -> int:
        """Seconds after which the queue has likely moved on."""
        return max(1, min(60, round(self._mean * (self.turns.waiting + 1) / self._workers)))

    def start(self, client: str, work: Work[T], report: Report | None = None) -> asyncio.Task[T]:
        """A task that waits for the client's turn and gives what ``work`` gives; cancelling it stops the work.

        ``report`` is called in the event loop. Raises ``BusyError`` at once where the queue is full and ``EndingError``
        while the server ends; the task raises what the work raises, and ``OverdueError``.
        """
        if self._ended:
            raise EndingError
        turn = self.turns.enter(client)
        task = asyncio.create_task(self._run(turn, work, report))
        self._unseen.add(turn)
        task.add_done_callback(lambda _: self._never_ran(turn))
        return task

    def _never_ran(self, turn: asyncio.Future[None]) -> None:
        """A task that is cancelled before its first step runs none of its code, and gives nothing back."""
        if turn in self._unseen:
            self._unseen.discard(turn)
            self.turns.forgo(turn)

    async def _run(self, turn: asyncio.Future[None], work: Work[T], report: Report | None) -> T:
        self._unseen.discard(turn)
        ends = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(ends):
                await turn
            if self._ended:
                raise EndingError
        except BaseException as error:
            self.turns.forgo(turn)
            if isinstance(error, TimeoutError):
                raise OverdueError from None
            raise
        following = Following(_in_loop(report))
        running = self._in_thread(work, following)
        try:
            async with asyncio.timeout_at(ends):
                return await asyncio.shield(running)
        except TimeoutError:
            if running.done():
                raise  # the work itself ran out of some time
            raise OverdueError from None
        finally:
            following.cancel.set()

    def _in_thread(self, work: Work[T], following: Following) -> asyncio.Future[T]:
        began = time.monotonic()
        self.running += 1
        self._cancels.add(following.cancel)
        running = asyncio.get_running_loop().run_in_executor(self._pool, work, following)

        def ended(done: asyncio.Future[T]) -> None:
            self.running -= 1
            self._cancels.discard(following.cancel)
            self._mean += 0.2 * (time.monotonic() - began - self._mean)
            self.turns.leave()
            if not done.cancelled():
                done.exception()  # whoever waited has it; nobody may have waited

        running.add_done_callback(ended)
        return running

    async def end(self, grace: float = 5.0) -> None:
        """Stop all work, and wait ``grace`` seconds for its threads."""
        self._ended = True
        for cancel in list(self._cancels):
            cancel.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while self.running:
                    await asyncio.sleep(0.02)
        if self.running:
            LOG.warning("%d questions did not stop; their threads are left behind", self.running)
        self._pool.shutdown(wait=False, cancel_futures=True)


def _in_loop(report: Report | None) -> Report:
    """``report`` as threads may call it."""
    if report is None:
        return lambda _: None
    loop = asyncio.get_running_loop()

    def tell(progress: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(report, progress)

    return tell


__all__ = ["BusyError", "EndingError", "Following", "Jobs", "OverdueError", "Report", "Work"]

"""Which worker runs what: one for each running query, kept for the next one, whichever database that is on.

There is one set of them in a program, for a test suite has hundreds of databases, and ``connect`` has none to be given.
Once the last database is closed, no worker is left.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import threading
from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Final

from sqljury.db.sqlite_client import Worker, WorkerLostError, reap
from sqljury.errors import DatabaseError
from sqljury.parallel.watch import Watch
from sqljury.types import Limits

MAX_IDLE: Final = 16
"""Workers kept for the next query: as many as a server has questions at work, for a new one takes 13 ms to start."""

MAX_OPENED: Final = 256
"""Databases that one worker has open; ``sqljury eval`` goes through up to 200 of a test suite for each query."""

REST_SECONDS: Final = 2.0
"""How long a worker outlives the last database in memory; test cases make one after the other."""

_END_SECONDS: Final = 2.0
_CLOSE_LIMITS: Final = Limits(seconds=5.0)
_READ_LIMITS: Final = Limits(seconds=10.0)


class _Loan:
    def __init__(self, workers: _Workers, number: int) -> None:
        self._workers = workers
        self._number = number

    def __enter__(self) -> Worker:
        self._worker = self._workers.take(self._number)
        return self._worker

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is WorkerLostError:
            self._workers.replace()
        self._workers.put_back(self._worker)


class _Workers:
    def __init__(self) -> None:
        self._numbers = count(1)
        self._databases: set[int] = set()
        self._files: set[int] = set()
        self._abandoned: deque[int] = deque()
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        """Have no worker; called in a forked process too, whatever its parent was doing."""
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._looking = threading.Lock()
        self._lookout: Worker | None = None

    def register(self, *, file: bool) -> int:
        """The number of a database that is open from now on, a file's or one in memory."""
        number = next(self._numbers)
        with self._lock:
            self._databases.add(number)
            if file:
                self._files.add(number)
        return number

    def abandon(self, number: int) -> None:
        """Release the database later, when it is known that nobody holds the lock; for the garbage collector."""
        self._abandoned.append(number)

    def release(self, number: int) -> None:
        """Close the database in every worker.

        After the last file all workers end, for a database in memory can be made anew; after the last of those one of
        them stays for a while.
        """
        with self._lock:
            if number not in self._databases:
                return
            last = self._files == {number} or self._databases == {number}
            in_memory = number not in self._files
            self._databases.remove(number)
            self._files.discard(number)
            leaving = [worker for worker in self._idle if last or number in worker.opened]
            self._idle = [worker for worker in self._idle if worker not in leaving]
        self._leave_lookout(number, last=last)
        if not last:
            for worker in leaving:
                self.put_back(worker)
            return
        if in_memory and leaving:
            self._rest(leaving.pop())
        for worker in leaving:
            worker.kill()
        reap(_END_SECONDS)

    def lend(self, number: int) -> _Loan:
        """For a ``with``: a worker for this thread, one that has the database open if there is one."""
        return _Loan(self, number)

    @contextlib.contextmanager
    def lookout(self) -> Iterator[Worker]:
        """The worker that does nothing but see whether files have changed, for one thread at a time.

        SQLite counts changes for each connection by itself, so that the same one has to be asked. Raises
        ``DatabaseError`` where no worker can be started.
        """
        with self._looking:
            if self._lookout is None or self._lookout.lost:
                self._lookout = Worker()
            yield self._lookout
            while not self._lookout.lost and len(self._lookout.opened) > MAX_OPENED:
                _close(self._lookout, next(iter(self._lookout.opened)))

    def _leave_lookout(self, number: int, *, last: bool) -> None:
        """Close the database there too; with the last one it is not needed any more."""
        with self._looking:
            if self._lookout is not None and last:
                self._lookout.kill()
                self._lookout = None
            elif self._lookout is not None and number in self._lookout.opened:
                _close(self._lookout, number)

    def idle(self, number: int) -> list[Worker]:
        """The workers that wait with this database open."""
        with self._lock:
            return [worker for worker in self._idle if number in worker.opened]

    def shut(self) -> None:
        """End the workers that wait; for the end of the program."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in (*idle, *filter(None, (self._lookout,))):
            worker.kill()
        reap(_END_SECONDS)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Meanwhile workers are kept though no database is open."""
        number = self.register(file=True)
        try:
            yield
        finally:
            self.release(number)

    def take(self, number: int) -> Worker:
        """A worker that nobody else has."""
        reap()
        while self._abandoned:
            self.release(self._abandoned.popleft())
        with self._lock:
            for index in range(len(self._idle) - 1, -1, -1):
                if number in self._idle[index].opened:
                    return self._idle.pop(index)
            if self._idle:
                return self._idle.pop()
        return Worker()

    def replace(self) -> None:
        """Start a worker for one that was lost, so that the next query finds it started, or starting."""
        if self._databases:
            with contextlib.suppress(DatabaseError):
                self.put_back(Worker())

    def put_back(self, worker: Worker) -> None:
        """Keep it, without the databases that were closed meanwhile."""
        while not worker.lost:
            with self._lock:
                keep = bool(self._databases) and len(self._idle) < MAX_IDLE
                stale = worker.opened.keys() - self._databases
                if keep and not stale and len(worker.opened) <= MAX_OPENED:
                    self._idle.append(worker)
                    return
            if not keep:
                worker.kill()
                return
            for number in stale or list(worker.opened)[:1]:
                _close(worker, number)

    def _rest(self, worker: Worker) -> None:
        """Have it end by itself unless it is needed again soon."""
        with contextlib.suppress(WorkerLostError):
            worker.ask(("rest", REST_SECONDS), Watch(_CLOSE_LIMITS))
            worker.opened.clear()
            with self._lock:
                self._idle.append(worker)


def _close(worker: Worker, number: int) -> None:
    worker.opened.pop(number, None)
    with contextlib.suppress(WorkerLostError):
        worker.ask(("close", number), Watch(_CLOSE_LIMITS))


WORKERS: Final = _Workers()


def read_head(path: str, count: int, watch: Watch | None = None) -> bytes:
    """The first bytes of a file, read by a worker for the reason that ``Worker.read`` gives.

    Raises ``OSError``, also once ``watch`` says stop, ``DatabaseError`` where no worker can be started.
    """
    number = WORKERS.register(file=True)
    try:
        for _ in range(2):
            with contextlib.suppress(WorkerLostError), WORKERS.lend(number) as worker:
                return worker.read(path, count, watch or Watch(_READ_LIMITS))
    finally:
        WORKERS.release(number)
    raise TimeoutError(errno.ETIMEDOUT, f"is not read within {(watch.limits if watch else _READ_LIMITS).seconds:g} s")


atexit.register(WORKERS.shut)

"""Map a function over items in other processes, which can be killed when one hangs."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Hashable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeVar

from sqljury.parallel.crew import Crew, Message, Start, Tell, Work, Worker, share

__all__ = ["Processes", "Tell", "Work", "map_processes"]

T = TypeVar("T")
R = TypeVar("R")

MEMORY_BYTES: Final = 6 * 1024**3
"""What a process may take beyond what it started with, where the system can limit it."""

_ORPHAN_CHECK_SECONDS: Final = 2.0
_LISTEN_SECONDS: Final = 3600.0  # the system's waits take no endless time


def map_processes(
    start: Start[T, R],
    items: Sequence[T],
    lost: Callable[[T, str, Any], R],
    *,
    silence: float,
    processes: int = 1,
    kind: Callable[[T], Hashable] = lambda _: None,
    on_result: Callable[[R], None] = lambda _: None,
) -> list[R]:
    """The work's result for each item, in the items' order; ``start`` makes the work function in each process.

    An item whose process hangs or dies is not tried again; see ``crew.share``. ``on_result`` gets each result as it
    comes, in no certain order. Ctrl-C ends all processes.
    """
    crew: Crew = Processes(processes)
    results: dict[int, R] = {}
    with contextlib.closing(share(start, items, crew, lost, silence=silence, kind=kind)) as shared:  # type: ignore[type-var]
        for number, result in shared:
            results[number] = result
            on_result(result)
    return [results[number] for number in range(len(items))]


class Processes:
    """A crew of processes beside this one, which work on an item at a time."""

    slots = 1

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def begin(self, start: Start[Any, Any]) -> Worker:
        """A new process."""
        return _Process(start)

    def heard(self, pool: Sequence[Worker], seconds: float) -> list[tuple[Worker, list[Message] | str]]:
        """What processes say, and which have died."""
        known = {worker.connection: worker for worker in pool if isinstance(worker, _Process)}
        ready = wait(list(known), timeout=min(seconds, _LISTEN_SECONDS))
        return [(worker, worker.said()) for connection, worker in known.items() if connection in ready]


class _Process:
    def __init__(self, start: Start[Any, Any]) -> None:
        # Forking is quick and needs no importable main module, but only safe while there is one thread.
        alone = sys.platform == "linux" and threading.active_count() == 1
        context = multiprocessing.get_context("fork" if alone else "spawn")
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(start, theirs), daemon=True)  # type: ignore[attr-defined]
        self._process.start()
        theirs.close()

    def give(self, number: int, item: Any) -> None:
        """Send an item."""
        with contextlib.suppress(OSError):  # it has died; that shows when it is listened to
            self.connection.send((number, item))

    def said(self) -> list[Message] | str:
        """The next message, or how the process died."""
        try:
            return [Message(*self.connection.recv())]
        except (EOFError, OSError):
            self._process.join(timeout=1.0)
            return f"its process died ({_cause(self._process.exitcode)})"

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _serve(start: Start[Any, Any], connection: Connection) -> None:
    """The other process: one item after another, until it is killed or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    parent = os.getppid()
    _limit_memory()
    work: Work[Any, Any] | None = None
    while True:
        while not connection.poll(_ORPHAN_CHECK_SECONDS):
            if os.getppid() != parent:  # it is gone
                return
        try:
            number, item = connection.recv()
        except EOFError:
            return
        try:
            work = work or start()
            answer = (number, "done", work(item, _teller(connection, number)))
        except Exception as error:
            answer = (number, "failed", error)
        connection.send(answer)


def _teller(connection: Connection, number: int) -> Tell:
    return lambda progress: connection.send((number, "progress", progress))


def _limit_memory() -> None:
    """Running out of memory becomes an error in this process, before the system picks one to kill."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm", "rb") as file:
            taken = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))

"""Map a function over items in other processes, which can be killed when one hangs: here, or on a cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeVar

from sqljury.errors import ClusterError
from sqljury.parallel.crew import ATTEMPTS, Crew, Message, Start, Tell, Work, Worker, hung, share

__all__ = ["Processes", "Tell", "Work", "map_processes"]

T = TypeVar("T")
R = TypeVar("R")

MEMORY_BYTES: Final = 6 * 1024**3
"""What a process may take beyond what it started with, where the system can limit it."""

_ORPHAN_CHECK_SECONDS: Final = 2.0
_LISTEN_SECONDS: Final = 3600.0  # the system's waits take no endless time
_START_SECONDS: Final = 120.0  # a process that imports all anew, on a busy machine


def map_processes(
    start: Start[T, R],
    items: Sequence[T],
    lost: Callable[[T, str, Any], R],
    *,
    silence: float,
    processes: int | Crew = 1,
    kind: Callable[[T], Hashable] = lambda _: None,
    on_result: Callable[[R], None] = lambda _: None,
    files: Iterable[str | os.PathLike[str]] = (),
) -> list[R]:
    """The work's result for each item, in the items' order; ``start`` makes the work function in each process.

    ``processes`` says how many of this machine work, or is a crew of workers elsewhere, which must have the ``files``
    that the work reads; each of them has one process for the work. An item whose process hangs or dies is not tried
    again, one whose worker is gone is; see ``crew.share``. ``on_result`` gets each result as it comes, in no certain
    order. Ctrl-C ends all processes. Raises ``ClusterError`` for a worker with another version or without the files.
    """
    if isinstance(processes, int):
        shared = share(start, items, Processes(processes), lost, silence=silence, kind=kind)
    else:
        elsewhere = Elsewhere(start, lost, silence, _sizes(files), version("sqljury"))
        shared = share(elsewhere.begin, items, processes, lost, kind=kind, attempts=ATTEMPTS)
    results: dict[int, R] = {}
    with contextlib.closing(shared):  # type: ignore[type-var]
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


def _sizes(files: Iterable[str | os.PathLike[str]]) -> dict[str, int]:
    """The sizes of those that are files here, by path; what is missing here is the work's to notice."""
    paths = dict.fromkeys(os.path.abspath(file) for file in files)
    return {path: os.path.getsize(path) for path in paths if os.path.isfile(path)}


@dataclass(frozen=True)
class Elsewhere:
    """The work on items on another machine, in a process that is killed when it hangs, and begun anew.

    So a query that kills its process is known from a machine that is gone. ``sizes`` are those of the files that the
    work reads, by path, ``version`` is the driver's of sqljury.
    """

    start: Start[Any, Any]
    lost: Callable[[Any, str, Any], Any]
    silence: float
    sizes: Mapping[str, int]
    version: str

    def begin(self) -> Work[Any, Any]:
        """Called once in each worker; raises ``ClusterError`` where its files or its version are not the driver's."""
        host, local = socket.gethostname(), version("sqljury")
        if local != self.version:
            raise ClusterError(f"the worker on {host} has sqljury {local}, not {self.version}; install the same on all")
        for path, size in self.sizes.items():
            if not os.path.isfile(path):
                raise ClusterError(
                    f"{path}: is not there on the worker on {host}; copy it to the same path on all nodes, or share it"
                )
            if (actual := os.path.getsize(path)) != size:
                raise ClusterError(
                    f"{path}: has {actual:,} bytes on the worker on {host}, here {size:,}; copy it to all nodes again"
                )
        return _Apart(self.start, self.lost, self.silence)


class _Apart:
    """The work on one item after the other in a process, with what ``lost`` says of an item that kills it."""

    def __init__(self, start: Start[Any, Any], lost: Callable[[Any, str, Any], Any], silence: float) -> None:
        self._start, self._lost, self._silence = start, lost, silence
        self._process: _Process | None = None
        self._one = threading.Lock()

    def __call__(self, item: Any, _: Tell) -> Any:
        with self._one:  # a second item waits here, so that the process need not wait for one
            if self._process is None:
                self._process = _Process(self._start)
                self._process.connection.poll(_START_SECONDS)
            self._process.give(0, item)
            return self._result(self._process, item)

    def _result(self, process: _Process, item: Any) -> Any:
        progress, heard_at = None, time.monotonic()
        while (left := heard_at + self._silence - time.monotonic()) > 0:
            if not process.connection.poll(min(left, _LISTEN_SECONDS)):
                continue
            heard_at, report = time.monotonic(), process.said()
            if isinstance(report, str):
                return self._killed(item, report, progress)
            for message in report:
                if message.kind == "failed":
                    raise message.payload
                if message.kind == "done":
                    return message.payload
                progress = progress if message.number < 0 else message.payload
        return self._killed(item, hung(self._silence), progress)

    def _killed(self, item: Any, why: str, progress: Any) -> Any:
        self.close()
        return self._lost(item, why, progress)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None


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
    with contextlib.suppress(OSError):
        connection.send((-1, "progress", None))
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

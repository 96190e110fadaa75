"""Map a function over items in other processes, which can be killed when one hangs."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Generic, Literal, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Tell = Callable[[Any], None]
"""Reports how far the work on an item has come: a sign of life, and what ``lost`` gets when none follows."""

Work = Callable[[T, Tell], R]

BLOCK: Final = 16
"""Neighbouring items of one kind that go to the same process, for the sake of what it has cached."""

MEMORY_BYTES: Final = 6 * 1024**3
"""What a process may take beyond what it started with, where the system can limit it."""

_ORPHAN_CHECK_SECONDS: Final = 2.0


@dataclass
class _Worker(Generic[T]):
    process: BaseProcess
    connection: Connection
    block: deque[tuple[int, T]]
    heard_at: float = field(default_factory=time.monotonic)
    progress: Any = None


def map_processes(
    start: Callable[[], Work[T, R]],
    items: Sequence[T],
    lost: Callable[[T, str, Any], R],
    *,
    silence: float,
    processes: int = 1,
    kind: Callable[[T], Hashable] = lambda _: None,
    on_result: Callable[[R], None] = lambda _: None,
) -> list[R]:
    """The work's result for each item, in the items' order; ``start`` makes the work function in each process.

    A process that shows no sign of life for ``silence`` seconds, or dies, is replaced; the item it worked on gets
    ``lost(item, why, progress)``, with the last progress reported or None. Neighbours of one ``kind`` stay together.
    ``on_result`` gets each result as it comes, in no certain order.
    An exception in the work is raised here and ends all processes; so does Ctrl-C.
    """
    blocks = deque(_blocks(items, kind))
    results: dict[int, R] = {}
    pool: list[_Worker[T]] = []
    try:
        while len(results) < len(items):
            while blocks and len(pool) < max(1, processes):
                pool.append(_begin(start, blocks.popleft()))
            for worker in _heard(pool, silence):
                message, payload = _receive(worker)
                if message == "progress":
                    worker.progress = payload
                    continue
                if message == "failed":
                    raise payload
                number, item = worker.block.popleft()
                results[number] = payload if message == "done" else lost(item, payload, worker.progress)
                on_result(results[number])
                _go_on(worker, pool, blocks, alive=message != "lost")
    finally:
        for worker in pool:
            _end(worker)
    return [results[number] for number in range(len(items))]


def _go_on(worker: _Worker[T], pool: list[_Worker[T]], blocks: deque[deque[tuple[int, T]]], *, alive: bool) -> None:
    """Give the worker its next item; without one, or where it died, end it and put its block back."""
    if not worker.block and blocks:
        worker.block = blocks.popleft()
    if alive and worker.block:
        _give(worker)
        return
    _end(worker)
    pool.remove(worker)
    if worker.block:
        blocks.appendleft(worker.block)


def _blocks(items: Sequence[T], kind: Callable[[T], Hashable]) -> Iterator[deque[tuple[int, T]]]:
    for _, group in groupby(enumerate(items), key=lambda numbered: kind(numbered[1])):
        listed = list(group)
        yield from (deque(listed[at : at + BLOCK]) for at in range(0, len(listed), BLOCK))


def _begin(start: Callable[[], Work[T, R]], block: deque[tuple[int, T]]) -> _Worker[T]:
    # Forking is quick and needs no importable main module, but only safe while there is one thread.
    alone = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if alone else "spawn")
    ours, theirs = context.Pipe()
    process: BaseProcess = context.Process(target=_serve, args=(start, theirs), daemon=True)  # type: ignore[attr-defined]
    process.start()
    theirs.close()
    worker = _Worker(process, ours, block)
    _give(worker)
    return worker


def _give(worker: _Worker[T]) -> None:
    worker.progress, worker.heard_at = None, time.monotonic()
    with contextlib.suppress(OSError):  # it has died; that shows when it is listened to
        worker.connection.send(worker.block[0][1])


def _heard(pool: Sequence[_Worker[T]], silence: float) -> list[_Worker[T]]:
    """Those with something to read, or without a sign of life for too long."""
    earliest = min(worker.heard_at for worker in pool) + silence
    ready = wait([worker.connection for worker in pool], timeout=max(0.0, earliest - time.monotonic()))
    late = time.monotonic() - silence
    return [worker for worker in pool if worker.connection in ready or worker.heard_at < late]


def _receive(worker: _Worker[T]) -> tuple[Literal["progress", "done", "failed", "lost"], Any]:
    silent = time.monotonic() - worker.heard_at
    if not worker.connection.poll():
        return "lost", f"did not end within {silent:.0f} s and was killed"
    worker.heard_at = time.monotonic()
    try:
        message: tuple[Literal["progress", "done", "failed"], Any] = worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join(timeout=1.0)
        return "lost", f"its process died ({_cause(worker.process.exitcode)})"
    return message


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _end(worker: _Worker[T]) -> None:
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def _serve(start: Callable[[], Work[T, R]], connection: Connection) -> None:
    """The other process: one item after another, until it is killed or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    parent = os.getppid()
    _limit_memory()
    work: Work[T, R] | None = None
    while True:
        while not connection.poll(_ORPHAN_CHECK_SECONDS):
            if os.getppid() != parent:  # it is gone
                return
        try:
            item = connection.recv()
            if work is None:
                work = start()
            answer: tuple[str, Any] = ("done", work(item, lambda progress: connection.send(("progress", progress))))
        except EOFError:
            return
        except Exception as error:
            answer = ("failed", error)
        connection.send(answer)


def _limit_memory() -> None:
    """Running out of memory becomes an error in this process, before the system picks one to kill."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm", "rb") as file:
            taken = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))

"""Share items among workers, wherever these are: threads here, processes beside this one, actors of a cluster.

A ``Crew`` knows how to begin workers and how to listen to them; ``share`` decides who works on what. Items of one kind,
such as questions on one database, go to the same worker, for the sake of what it has read of it; a worker without work
takes half of what the busiest one has left. A worker holds a bounded number of items at once, and whatever it held when
it died is given to others.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Tell = Callable[[Any], None]
"""Reports how far the work on an item has come: a sign of life, and what ``lost`` gets when none follows."""

Work = Callable[[T, Tell], R]
"""The work on an item; where it has a ``close``, a worker in threads calls that at its end."""

Start = Callable[[], Work[T, R]]
"""Makes a worker's work function, where the worker is."""

ATTEMPTS: Final = 3
"""How often an item is begun whose worker is gone, where that says nothing of the item."""

BLOCK: Final = 16
"""A rest of fewer items of one kind is not split, where items are quick."""


class Message(NamedTuple):
    """What a worker says of an item: ``progress``, that it is ``done``, the error that it ``failed`` with.

    The number is -1 for a sign of life that concerns no item.
    """

    number: int
    kind: Literal["progress", "done", "failed"]
    payload: Any


class Worker(Protocol):
    """Works on items, several at once if its crew says so."""

    def give(self, number: int, item: Any) -> None:
        """Begin the work on an item; a worker that has died says so when it is listened to."""

    def end(self) -> None:
        """Stop at once, whatever it is doing."""


class Crew(Protocol):
    """Begins workers, at most ``workers`` of them, each with room for ``slots`` items at once."""

    @property
    def workers(self) -> int: ...

    @property
    def slots(self) -> int: ...

    def begin(self, start: Start[Any, Any]) -> Worker:
        """A new worker, which calls ``start`` before its first item."""
        ...

    def heard(self, pool: Sequence[Worker], seconds: float) -> list[tuple[Worker, list[Message] | str]]:
        """The messages of workers, after at most ``seconds`` without any; a text in their place says how one died."""
        ...


@dataclass
class _Place(Generic[T]):
    """A worker with the items that wait for it and those that it works on."""

    worker: Worker
    queue: deque[tuple[int, T]]
    held: dict[int, T] = field(default_factory=dict)
    progress: dict[int, Any] = field(default_factory=dict)
    heard_at: float = field(default_factory=time.monotonic)


def share(
    start: Start[T, R],
    items: Sequence[T],
    crew: Crew,
    lost: Callable[[T, str, Any], R],
    *,
    silence: float = inf,
    kind: Callable[[T], Hashable] = lambda _: None,
    attempts: int = 1,
    split: int = BLOCK,
    on_progress: Callable[[Any], None] = lambda _: None,
    halt: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[int, R]]:
    """The place of each item with the work's result, as they come.

    A worker that shows no sign of life for ``silence`` seconds, or dies, is replaced. An item that it worked on is
    given to another one, until it was begun ``attempts`` times; then its result is ``lost(item, why, progress)``, with
    the last progress reported or None. Neighbours of one ``kind`` stay together, but for rests of ``split`` items and
    more. Once ``halt`` says so, no further item is begun. An exception in the work is raised here; it, and closing the
    iterator, end all workers.
    """
    return _Sharing(start, crew, lost, silence, attempts, split, on_progress, halt).run(items, kind)


@dataclass
class _Sharing(Generic[T, R]):
    start: Start[T, R]
    crew: Crew
    lost: Callable[[T, str, Any], R]
    silence: float
    attempts: int
    split: int
    on_progress: Callable[[Any], None]
    halt: Callable[[], bool]
    groups: deque[deque[tuple[int, T]]] = field(default_factory=deque)
    pool: list[_Place[T]] = field(default_factory=list)
    begun: Counter[int] = field(default_factory=Counter)

    def run(self, items: Sequence[T], kind: Callable[[T], Hashable]) -> Iterator[tuple[int, R]]:
        numbered = groupby(enumerate(items), key=lambda numbered_item: kind(numbered_item[1]))
        self.groups.extend(deque(group) for _, group in numbered)
        left = len(items)
        try:
            while left:
                if not self.halt():
                    self._fill()
                elif not any(member.held for member in self.pool):
                    return
                for number, result in self._listen():
                    left -= 1
                    self.begun.pop(number, None)
                    yield number, result
        finally:
            for member in self.pool:
                member.worker.end()

    def _fill(self) -> None:
        """Give every free slot an item, beginning workers as long as there is work for them."""
        while len(self.pool) < max(1, self.crew.workers) and (work := self._more()):
            self.pool.append(_Place(self.crew.begin(self.start), work))
        for member in list(self.pool):
            while len(member.held) < self.crew.slots and (member.queue or self._supplied(member)):
                number, item = member.queue.popleft()
                if not member.held:
                    member.heard_at = time.monotonic()
                self.begun[number] += 1
                member.held[number] = item
                member.worker.give(number, item)
            if not member.held:
                self._dismiss(member)

    def _supplied(self, member: _Place[T]) -> bool:
        member.queue = self._more()
        return bool(member.queue)

    def _more(self) -> deque[tuple[int, T]]:
        """Further items: a kind that nobody has begun, or half of the longest rest of another; empty for none."""
        if self.groups:
            return self.groups.popleft()
        longest = max((member.queue for member in self.pool), key=len, default=deque[tuple[int, T]]())
        if len(longest) < self.split:
            return deque()
        return deque(reversed([longest.pop() for _ in range(len(longest) // 2)]))

    def _dismiss(self, member: _Place[T]) -> None:
        self.pool.remove(member)
        member.worker.end()

    def _listen(self) -> Iterator[tuple[int, R]]:
        earliest = min(member.heard_at for member in self.pool) + self.silence
        members = {id(member.worker): member for member in self.pool}
        failures: list[BaseException] = []
        for worker, report in self.crew.heard(
            [member.worker for member in self.pool], max(0.0, earliest - time.monotonic())
        ):
            member = members.pop(id(worker))
            if isinstance(report, str):
                yield from self._gone(member, report)
                continue
            member.heard_at = time.monotonic()
            for message in report:
                if message.kind == "failed":  # raised at the end: what others have done and told is not lost
                    failures.append(message.payload)
                else:
                    yield from self._take(member, message)
        if failures:
            raise failures[0]
        for member in members.values():
            silent = time.monotonic() - member.heard_at
            if silent > self.silence:
                yield from self._gone(member, hung(silent))

    def _take(self, member: _Place[T], message: Message) -> Iterator[tuple[int, R]]:
        if message.kind == "done":
            del member.held[message.number]
            member.progress.pop(message.number, None)
            yield message.number, message.payload
        elif message.number in member.held:
            member.progress[message.number] = message.payload
            self.on_progress(message.payload)

    def _gone(self, member: _Place[T], why: str) -> Iterator[tuple[int, R]]:
        """Give back the items of a worker that is gone; those begun ``attempts`` times are lost."""
        self._dismiss(member)
        again = [entry for entry in member.held.items() if self.begun[entry[0]] < self.attempts]
        if returned := deque([*again, *member.queue]):
            self.groups.appendleft(returned)
        for number, item in member.held.items():
            if self.begun[number] >= self.attempts:
                yield number, self.lost(item, why, member.progress.get(number))


def hung(seconds: float) -> str:
    """Why a worker was killed that has shown no sign of life for so long."""
    return f"did not end within {seconds:.0f} s and was killed"


class Threads:
    """A crew of one worker in this process, which works on ``slots`` items at once in threads."""

    workers = 1

    def __init__(self, slots: int, stop: threading.Event) -> None:
        self.slots = slots
        self._stop = stop

    def begin(self, start: Start[Any, Any]) -> Worker:
        """The worker; ``stop`` is set when it is to end, and it ends when its threads have seen that."""
        return Threaded(start, self.slots, self._stop)

    def heard(self, pool: Sequence[Worker], seconds: float) -> list[tuple[Worker, list[Message] | str]]:
        """What the threads have said."""
        (worker,) = pool
        assert isinstance(worker, Threaded)
        messages = worker.told(min(seconds, _LISTEN_SECONDS))
        return [(worker, messages)] if messages else []


_LISTEN_SECONDS: Final = 0.2  # an interrupt is seen between two waits


class Threaded:
    """Works on items in threads and keeps what they say until it is asked for."""

    def __init__(self, start: Start[Any, Any], slots: int, stop: threading.Event | None = None) -> None:
        self._start, self._stop = start, stop
        self._lock = threading.Lock()
        self._work: Work[Any, Any] | None = None
        self._said: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="sqljury")

    def give(self, number: int, item: Any) -> None:
        """Begin the work on an item in a thread."""
        self._pool.submit(self._run, number, item)

    def told(self, seconds: float) -> list[Message]:
        """What was said since the last time; waits up to ``seconds`` for something."""
        messages: list[Message] = []
        try:
            messages.append(self._said.get(timeout=seconds))
            while True:
                messages.append(self._said.get_nowait())
        except queue.Empty:
            return messages

    def end(self) -> None:
        """Set ``stop`` and wait for the threads."""
        if self._stop is not None:
            self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        close = getattr(self._work, "close", None)
        if close is not None:
            close()

    def _run(self, number: int, item: Any) -> None:
        try:
            with self._lock:
                work = self._work = self._work or self._start()
            result = work(item, lambda progress: self._said.put(Message(number, "progress", progress)))
        except BaseException as error:
            self._said.put(Message(number, "failed", error))
        else:
            self._said.put(Message(number, "done", result))

"""How many machines a load needs, by simulation with the service times of a run.

A run says how long each question held a model, call by call, and how long it held a processor and its database. Two
simulations use that. ``run_seconds`` plays a run with other numbers of workers, through the scheduler of real runs;
it can be compared with a measured run. ``simulated`` plays questions that arrive by chance at a rate, at a number of
models and processors; ``sized`` looks for the fewest models with which answers are hardly slower than without a queue.
Questions are drawn with replacement, so they are as alike as those of the run, and as often the first on a database.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from html import escape
from math import ceil, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NoReturn

from sqljury.bench.calls import calls
from sqljury.bench.costs import attempts
from sqljury.bench.workers import SPLIT
from sqljury.errors import DatasetError, InputError
from sqljury.evaluation import svg
from sqljury.evaluation.run_folder import records
from sqljury.experiments.report.page import document, table
from sqljury.parallel.crew import Message, Start, Worker, share

SLOWER: Final = 1.2
"""How much slower answers may be than without a queue, the median and the 95th percentile."""

BUSY: Final = 0.6
"""The share of their time that processors work: they are cheap beside models, and never wait for."""

BEGINS: Final = '<!doctype html>\n<meta name="generator" content="sqljury scale">'
"""The first lines of every page of sizes, by which an earlier one is known."""

LEAST: Final = 4_000
"""Questions that a simulation counts, and at least twice those that are in it at once; before, it fills."""

_MARGINS: Final = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Models beyond the load, in square roots of it: what a pool needs against chance grows with the root of its size."""

MOST: Final = 300_000
"""Questions that come while the longest is answered, in a simulated system that is full: more take minutes."""

LOADS: Final = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0)


Curves = Mapping[str, Sequence[tuple[float, "Outcome"]]]
"""By the name of a system: its load, as a share of what it can do, and what came of it."""


@dataclass(frozen=True, slots=True)
class Service:
    """What one question took: the seconds of each call of a model, and all others."""

    db_id: str
    calls: tuple[float, ...]
    other: float

    @property
    def seconds(self) -> float:
        """All of it, one after the other."""
        return sum(self.calls) + self.other


@dataclass(frozen=True, slots=True)
class Load:
    """What comes in: questions a second, and the ``repeated`` share of them whose replies are in the cache."""

    rate: float
    repeated: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a simulation saw: seconds from question to answer, and how busy its models were, from 0 to 1."""

    mean: float
    p50: float
    p95: float
    p99: float
    busy: float
    models: int
    processors: int


def measured(folder: Path) -> list[Service]:
    """The service times of a run's answered questions; raises ``DatasetError`` for a run that has none."""
    answered = records(folder)
    by_question: dict[str, list[float]] = {}
    for call in attempts(calls(folder), answered)[0]:
        by_question.setdefault(call.id, []).append(call.cost.seconds)
    services = []
    for record in answered:
        seconds = by_question.get(record["id"]) or [step["seconds"] for step in record.get("steps", {}).values()]
        services.append(Service(record["db_id"], tuple(seconds), max(0.0, record["cost"]["seconds"] - sum(seconds))))
    if not services:
        raise DatasetError(f"{folder} has no answers yet; continue it with `sqljury bench run`")
    return services


def run_seconds(services: Sequence[Service], workers: int, overhead: float = 0.0, slots: int = 1) -> float:
    """The seconds that a run over these questions takes, each with ``overhead`` for handing it over and writing it."""
    crew = _Virtual(workers, slots, overhead)
    items = [(service.db_id, service.seconds) for service in services]
    with closing(share(_nothing, items, crew, _never, kind=lambda item: item[0], split=SPLIT)) as shared:  # type: ignore[type-var]
        for _ in shared:
            pass
    return crew.now


class _Virtual:
    """A crew whose workers take the seconds that an item says, on a clock of its own."""

    def __init__(self, workers: int, slots: int, overhead: float) -> None:
        self.workers, self.slots, self.now = workers, slots, 0.0
        self._overhead = overhead
        self._ends: list[tuple[float, int, int]] = []
        self._all: list[_VirtualWorker] = []

    def begin(self, _: Start[Any, Any]) -> Worker:
        """A worker without work."""
        self._all.append(_VirtualWorker(self, len(self._all)))
        return self._all[-1]

    def work(self, worker: int, number: int, seconds: float) -> None:
        """Let an item end after so many seconds."""
        heapq.heappush(self._ends, (self.now + seconds + self._overhead, worker, number))

    def heard(self, _: Sequence[Worker], __: float) -> list[tuple[Worker, list[Message] | str]]:
        """The item that ends next; the clock is then there."""
        self.now, worker, number = heapq.heappop(self._ends)
        return [(self._all[worker], [Message(number, "done", None)])]


@dataclass(frozen=True)
class _VirtualWorker:
    crew: _Virtual
    place: int

    def give(self, number: int, item: tuple[str, float]) -> None:
        """Begin an item."""
        self.crew.work(self.place, number, item[1])

    def end(self) -> None:
        """Nothing is held."""


def _nothing() -> Callable[..., None]:
    return lambda *_: None


def _never(*_: object) -> NoReturn:
    raise AssertionError("workers of a simulation do not die")


def simulated(services: Sequence[Service], load: Load, models: int, processors: int, seed: int = 0) -> Outcome:
    """Questions that come by chance (Poisson) at a rate, first come, first served at models and at processors.

    A question holds a processor for half of its other seconds, then a model for each call, then a processor again.
    """
    draw = random.Random(seed)  # noqa: S311
    seconds = [service.seconds for service in services]
    filling = ceil(load.rate * max(seconds))
    count = filling + max(LEAST, ceil(2 * load.rate * fmean(seconds)))
    queue = _Stations((processors, models))
    begun = [0.0] * count
    ended: list[tuple[float, float]] = []
    clock = 0.0
    for number in range(count):
        clock += draw.expovariate(load.rate)
        begun[number] = clock
        service = draw.choice(services)
        made = () if draw.random() < load.repeated else service.calls
        half = (0, service.other / 2)
        queue.arrive(clock, number, (half, *((1, seconds) for seconds in made), half))
    first, last = begun[filling], begun[-1]
    for moment, number in queue.run(first, last):
        ended.append((begun[number], moment - begun[number]))
    waits = sorted(wait for start, wait in ended if start >= first)
    p50, p95, p99 = (waits[min(len(waits) - 1, int(share * len(waits)))] for share in (0.5, 0.95, 0.99))
    return Outcome(fmean(waits), p50, p95, p99, queue.busy(1), models, processors)


class _Stations:
    """Stations with so many servers each, and what comes to them in the order of time."""

    def __init__(self, servers: Sequence[int]) -> None:
        self._servers = servers
        self._free = list(servers)
        self._waiting: list[deque[tuple[int, float]]] = [deque() for _ in servers]
        self._events: list[tuple[float, int, int]] = []
        self._paths: dict[int, Iterator[tuple[int, float]]] = {}
        self._worked = [0.0 for _ in servers]
        self._between = (0.0, 0.0)

    def arrive(self, moment: float, number: int, path: Sequence[tuple[int, float]]) -> None:
        """Let a question come at a moment; its path is stations with seconds."""
        self._paths[number] = iter(path)
        heapq.heappush(self._events, (moment, number, -1))

    def run(self, first: float, last: float) -> Iterator[tuple[float, int]]:
        """The moment at which each question leaves; what servers work is counted between two moments."""
        self._between = first, last
        while self._events:
            moment, number, station = heapq.heappop(self._events)
            if station >= 0:
                self._release(station, moment)
            step = next(self._paths[number], None)
            if step is None:
                del self._paths[number]
                yield moment, number
            elif self._free[step[0]]:
                self._free[step[0]] -= 1
                self._serve(moment, number, *step)
            else:
                self._waiting[step[0]].append((number, step[1]))

    def busy(self, station: int) -> float:
        """The share of a station's time in which its servers worked."""
        first, last = self._between
        return self._worked[station] / (self._servers[station] * (last - first)) if last > first else 0.0

    def _release(self, station: int, moment: float) -> None:
        if self._waiting[station]:
            number, seconds = self._waiting[station].popleft()
            self._serve(moment, number, station, seconds)
        else:
            self._free[station] += 1

    def _serve(self, moment: float, number: int, station: int, seconds: float) -> None:
        first, last = self._between
        self._worked[station] += max(0.0, min(moment + seconds, last) - max(moment, first))
        heapq.heappush(self._events, (moment + seconds, number, station))


def sized(services: Sequence[Service], load: Load, slower: float = SLOWER, seed: int = 0) -> Outcome:
    """The fewest models, of a few numbers, with which answers take at most ``slower`` times what they take alone.

    Both the median and the 95th percentile do. Raises ``InputError`` for a rate or a limit that makes no sense.
    """
    if slower <= 1 or load.rate <= 0 or not 0 <= load.repeated < 1:
        raise InputError("give a rate above 0, a share of repeated questions below 1, and a limit above 1")
    processors = ceil(load.rate * fmean(service.other for service in services) / BUSY) + 1
    alone = _alone(services, load)
    busy = load.rate * (1 - load.repeated) * fmean(sum(service.calls) for service in services)
    tried = sorted({max(1, ceil(busy + margin * sqrt(busy))) for margin in _MARGINS})
    low, high = 0, len(tried) - 1
    size = simulated(services, load, tried[high], processors, seed)
    while low < high:
        middle = (low + high) // 2
        outcome = simulated(services, load, tried[middle], processors, seed)
        if outcome.p50 <= slower * alone[0] and outcome.p95 <= slower * alone[1]:
            high, size = middle, outcome
        else:
            low = middle + 1
    return size


def _alone(services: Sequence[Service], load: Load) -> tuple[float, float]:
    """The median and the 95th percentile of seconds without a queue."""
    outcome = simulated(services, replace(load, rate=1e-6), 1, 1)
    return outcome.p50, outcome.p95


def saturation(services: Sequence[Service], size: Outcome, load: Load, seed: int = 0) -> list[tuple[float, Outcome]]:
    """How answers slow down as the load of a system of this size grows: by the share of what it can take at most.

    Empty where questions hardly need a model, as those of a run with cached replies: no load that can be simulated
    would fill one.
    """
    held = (1 - load.repeated) * fmean(sum(service.calls) for service in services)
    if size.models * max(service.seconds for service in services) > MOST * held:
        return []
    most = size.models / held
    points = []
    for part in LOADS:
        processors = ceil(part * most * fmean(service.other for service in services) / BUSY) + 1
        points.append((part, simulated(services, replace(load, rate=part * most), size.models, processors, seed)))
    return points


def page(title: str, services: Sequence[Service], rows: Sequence[Sequence[str]], curves: Curves) -> str:
    """The sizes as a table, and how answers slow down near saturation as a chart: one HTML page."""
    head, *body = rows
    lines = {name: [(100 * part, outcome.mean) for part, outcome in points] for name, points in curves.items()}
    axes = ("load, % of what all models can do", "mean, s")
    chart = svg.curves(lines, "Seconds by load", axes, dots=True) if lines else "Models are hardly needed."
    mean = fmean(service.seconds for service in services)
    parts = [
        f"<header><h1>{escape(title)}</h1></header><main><section><h2>Sizes</h2>{table(head, body)}",
        f'<p class="dim">Service times of {len(services)} questions, {mean:.2f} s in the mean.</p></section>',
        f"<section><h2>Saturation</h2><figure>{chart}</figure></section></main>",
    ]
    return document("sqljury: scale", parts, begins=BEGINS)

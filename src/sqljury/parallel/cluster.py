"""Map a function over items on Ray: in actors on this machine or on a cluster, each with one item at a time."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Generic, TypeVar

from sqljury.errors import CancelledError, InputError, MissingExtraError

T = TypeVar("T")
R = TypeVar("R")

BLOCK: Final = 16
"""Neighbouring items of one kind that go to the same actor, for the sake of what it has cached."""

RETRIES: Final = 3
"""How often an item is tried again whose actor died: what kills an actor each time is not tried for ever."""

_POLL_SECONDS: Final = 0.5
_LOCAL: Final = "local"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where work is done: ``local`` starts Ray on this machine, ``auto`` joins the one here, or a ``ray://`` address.

    ``workers`` are the actors; 0 for one a CPU of the cluster.
    """

    address: str = _LOCAL
    workers: int = 0

    def __post_init__(self) -> None:
        if self.address not in (_LOCAL, "auto") and not self.address.startswith("ray://"):
            raise InputError(
                f"{self.address!r} is no cluster; give local, auto, or an address such as ray://HOST:10001"
            )


@dataclass
class _Worker(Generic[T]):
    actor: Any
    block: deque[tuple[int, T]]
    call: Any = None


def map_cluster(
    start: Callable[[], Callable[[T], R]],
    items: Sequence[T],
    lost: Callable[[T, str], R],
    cluster: Cluster,
    *,
    kind: Callable[[T], Hashable] = lambda _: None,
    on_result: Callable[[R], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> list[R]:
    """The result for each item, in the items' order; ``start`` makes the function in each actor, once.

    Each actor has one item at a time, so an actor that dies costs that item alone: another actor gets it, and after
    ``RETRIES`` such deaths it gets ``lost(item, why)``. Neighbours of one ``kind`` go to the same actor. ``on_result``
    gets each result as it comes. An exception in the function is raised here and ends all actors; ``CancelledError``
    once ``cancel`` is set. Raises ``MissingExtraError`` without the extra ``ray``.
    """
    ray = _ray()
    blocks, results, deaths = deque(_blocks(items, kind)), dict[int, R](), dict[int, int]()
    with _joined(ray, cluster) as count:
        pool: list[_Worker[T]] = []
        try:
            while len(results) < len(items):
                while blocks and len(pool) < count:
                    pool.append(_begin(ray, start, blocks.popleft()))
                if cancel is not None and cancel.is_set():
                    raise CancelledError("stopped; the same command goes on with the run")
                ready, _ = ray.wait([worker.call for worker in pool], timeout=_POLL_SECONDS)
                for worker in [one for one in pool if one.call in ready]:
                    number, item = worker.block[0]
                    try:
                        results[number] = ray.get(worker.call)
                    except (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError) as error:
                        pool.remove(worker)
                        deaths[number] = deaths.get(number, 0) + 1
                        if deaths[number] <= RETRIES:
                            blocks.appendleft(worker.block)
                            continue
                        results[number] = lost(item, f"its actor died {deaths[number]} times ({type(error).__name__})")
                    except ray.exceptions.RayTaskError as error:
                        raise error.cause from None
                    on_result(results[number])
                    worker.block.popleft()
                    _go_on(worker, pool, blocks)
        finally:
            for worker in pool:
                ray.kill(worker.actor)
    return [results[number] for number in range(len(items))]


def _go_on(worker: _Worker[T], pool: list[_Worker[T]], blocks: deque[deque[tuple[int, T]]]) -> None:
    """Give the worker its next item, or the rest of its block back where its actor is gone."""
    if worker not in pool:
        if worker.block:
            blocks.appendleft(worker.block)
        return
    if not worker.block and blocks:
        worker.block = blocks.popleft()
    if worker.block:
        worker.call = worker.actor.do.remote(worker.block[0][1])
    else:
        pool.remove(worker)


def _begin(ray: Any, start: Callable[[], Callable[[T], R]], block: deque[tuple[int, T]]) -> _Worker[T]:
    actor = ray.remote(num_cpus=1)(_Actor).remote(start)
    return _Worker(actor, block, actor.do.remote(block[0][1]))


class _Actor:
    """Holds what ``start`` makes, such as a pipeline with its model, for as long as it lives."""

    def __init__(self, start: Callable[[], Callable[[Any], Any]]) -> None:
        self._start = start
        self._function: Callable[[Any], Any] | None = None

    def do(self, item: Any) -> Any:
        """The function's result for an item."""
        if self._function is None:
            self._function = self._start()
        return self._function(item)


def _blocks(items: Sequence[T], kind: Callable[[T], Hashable]) -> Iterator[deque[tuple[int, T]]]:
    for _, group in groupby(enumerate(items), key=lambda numbered: kind(numbered[1])):
        listed = list(group)
        yield from (deque(listed[at : at + BLOCK]) for at in range(0, len(listed), BLOCK))


@contextlib.contextmanager
def _joined(ray: Any, cluster: Cluster) -> Iterator[int]:
    """The number of actors to use on the cluster, which is left at the end, and ended if it was started here."""
    if ray.is_initialized():
        raise InputError("this program already uses a Ray cluster; end that first with ray.shutdown()")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if cluster.address == _LOCAL:
        options |= {"num_cpus": cluster.workers or os.cpu_count() or 1, "include_dashboard": False}
        options["_node_ip_address"] = "127.0.0.1"  # Ray asks nobody for a password: it is kept on this machine
    else:
        options["address"] = cluster.address
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputError(f"{cluster.address}: no Ray cluster answers there ({error}); check the address") from None
    try:
        yield cluster.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray reports its use to its makers otherwise
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray") from None
    return ray

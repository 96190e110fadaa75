"""A crew of actors on a Ray cluster, or on a Ray that is started on this machine.

An actor works on its items in threads and keeps what they say until the driver asks; so an item costs two small
messages, and what an actor had not said when it died is done again. Whoever can reach a Ray cluster can run code on it,
with the rights of its workers: use one that nobody else can reach.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqljury.errors import ClusterError, InputError, MissingExtraError
from sqljury.parallel.crew import Message, Start, Threaded, Work, Worker

LOCAL: Final = "local"
AUTO: Final = "auto"

_STORE_BYTES: Final = 80 * 1024**2  # the least that Ray takes: only small messages pass through its store
_LISTEN_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 5.0
_START_SECONDS: Final = 120  # on a busy machine Ray's own 30 seconds are not enough
_STARTS: Final = 3  # Ray ends itself if one of its processes takes 30 seconds; the next time they are quicker
_RETRIES: Final = 3
"""Workers that die one after the other before one of them has said anything, until the crew gives up."""


class Needs(NamedTuple):
    """What Ray sets aside for each worker: processors and GPUs, which may be fractions."""

    cpus: float = 1.0
    gpus: float = 0.0


class Cluster:
    """The crew; close it. Where ``workers`` are not given, there is one on each node, or GPU, that can hold one.

    ``address`` is ``local``, which starts Ray here until the crew is closed, ``auto`` for the cluster that this machine
    belongs to, or ``ray://HOST:PORT``. Raises ``InputError`` for another one, ``MissingExtraError`` without the extra
    ``cluster``, and ``ClusterError`` where there is no cluster.
    """

    def __init__(self, address: str, workers: int | None = None, slots: int = 1, needs: Needs = Needs()) -> None:  # noqa: B008
        if address not in (LOCAL, AUTO) and not address.startswith("ray://"):
            raise InputError(f"--cluster {address!r} is no cluster; give local, auto or ray://HOST:PORT")
        self.slots = slots
        self._needs = needs
        self._ray = _connected(address, workers or 1)
        self.workers = workers or max(1, self._room())
        self._dead = 0

    def begin(self, start: Start[Any, Any]) -> Worker:
        """An actor, wherever the cluster has room for it; it may have to wait for that."""
        return _Actor(self._ray, _InFolder(start, os.getcwd()), self.slots, self._needs)

    def heard(self, pool: Sequence[Worker], seconds: float) -> list[tuple[Worker, list[Message] | str]]:
        """What actors say; raises ``ClusterError`` where workers die one after the other and none has said a thing."""
        known = {worker.asked: worker for worker in pool if isinstance(worker, _Actor)}
        ready, _ = self._ray.wait(list(known), num_returns=1, timeout=min(seconds, _LISTEN_SECONDS), fetch_local=False)
        reports: list[tuple[Worker, list[Message] | str]] = []
        for asked in ready:
            report = known[asked].said()
            self._dead = self._dead + 1 if isinstance(report, str) else 0
            if self._dead > _RETRIES * max(1, len(pool)):
                raise ClusterError(f"the cluster's workers die one after the other: {report}; see Ray's logs")
            if report:
                reports.append((known[asked], report))
        return reports

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self._ray.shutdown()

    def _room(self) -> int:
        """The GPUs for workers that need some, else the nodes: a model fills the memory of either."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        cpus, gpus = self._needs
        able = [node for node in nodes if node.get("CPU", 0) >= cpus and node.get("GPU", 0) >= gpus]
        return sum(int(node["GPU"] / gpus) if gpus else 1 for node in able)


def _connected(address: str, workers: int) -> Any:
    """Ray, connected; what it says on the terminal is not wanted there."""
    # Ray reports usage to its makers by default.
    for name, value in {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_raylet_start_wait_time_s": str(_START_SECONDS),
        "RAY_agent_register_timeout_ms": str(_START_SECONDS * 1000),
    }.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "cluster") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address == LOCAL:
        cpus = max(workers, os.cpu_count() or 1)  # workers wait for models more than they compute
        quiet |= {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": _STORE_BYTES}
        quiet |= {"_node_ip_address": "127.0.0.1"}
    if ray.is_initialized():
        raise ClusterError("this program is connected to a Ray cluster already; disconnect first")
    starts = _STARTS if address == LOCAL else 1
    for start in range(1, starts + 1):
        try:
            ray.init(address, **quiet)  # Ray too calls it local, and without it takes a cluster that it finds
            break
        except Exception as error:  # Ray raises no kind of its own where it does not start
            ray.shutdown()
            if start == starts:
                cause = str(error).strip().partition("\n")[0]
                raise ClusterError(f"--cluster {address}: Ray cannot be reached or started: {cause}") from None
    return ray


@dataclass(frozen=True)
class _InFolder:
    """``start`` in the driver's folder, if the actor's machine has it too, so that relative paths hold."""

    start: Start[Any, Any]
    folder: str

    def __call__(self) -> Work[Any, Any]:
        with suppress(OSError):
            os.chdir(self.folder)
        return self.start()


class _Actor:
    """The driver's side of an actor: ``asked`` is the promise of what it says next."""

    def __init__(self, ray: Any, start: Start[Any, Any], slots: int, needs: Needs) -> None:
        self._ray = ray
        # Two calls at once: one gives an item while the other waits for what is said.
        options = {"num_cpus": needs.cpus, "num_gpus": needs.gpus, "max_concurrency": 2}
        remote = ray.remote(Threaded).options(**options, scheduling_strategy="SPREAD", max_restarts=0)
        self._actor = remote.remote(start, slots)
        self.asked = self._actor.told.remote(_ANSWER_SECONDS)

    def give(self, number: int, item: Any) -> None:
        """Send an item."""
        self._actor.give.remote(number, item)

    def said(self) -> list[Message] | str:
        """What was said, empty for a sign of life alone, or how the actor died."""
        try:
            messages: list[Message] = self._ray.get(self.asked)
        except self._ray.exceptions.RayError as error:
            why = " ".join(str(error).split())
            if isinstance(error, self._ray.exceptions.RayActorError) and not error.actor_init_failed:
                return f"its worker died ({why[:300]})"
            raise ClusterError(f"a worker cannot work, is sqljury installed there? {why[-300:]}") from None
        self.asked = self._actor.told.remote(_ANSWER_SECONDS)
        return [Message(*message) for message in messages] or [Message(-1, "progress", None)]

    def end(self) -> None:
        """Kill the actor."""
        with suppress(Exception):  # it may be dead, or the cluster gone
            self._ray.kill(self._actor)

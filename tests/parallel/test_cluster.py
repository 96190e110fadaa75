"""Work on Ray, started on this machine: order, locality, an actor that is killed, errors."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sqljury.errors import CancelledError, InputError
from sqljury.parallel.cluster import RETRIES, Cluster, map_cluster

TWO = Cluster("local", 2)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "300")


def squares(log: Path) -> Callable[[], Callable[[int], int]]:
    """Work that notes what it does; 5 kills its process the first time, 7 each time, and 9 fails."""

    def start() -> Callable[[int], int]:
        def work(item: int) -> int:
            with (log / "items").open("a") as stream:
                stream.write(f"{item} {os.getpid()}\n")
            if item == 7 or (item == 5 and not (log / "killed").exists()):
                (log / "killed").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if item == 9:
                raise InputError("nine")
            return item * item

        return work

    return start


def test_a_killed_actor_costs_the_item_it_had(tmp_path: Path) -> None:
    items, heard = [*range(7), 10, 11], list[int]()
    found = map_cluster(
        squares(tmp_path), items, lambda item, why: -1, TWO, kind=lambda item: item // 4, on_result=heard.append
    )
    assert found == [item * item for item in items]
    assert sorted(heard) == sorted(found)
    done = [line.split() for line in (tmp_path / "items").read_text().splitlines()]
    assert sorted(int(item) for item, _ in done) == sorted([*items, 5])  # nothing else was done twice
    assert len({pid for item, pid in done if int(item) < 4}) == 1  # neighbours of a kind stay together


def test_what_kills_every_actor_is_given_up_and_errors_end_the_work(tmp_path: Path) -> None:
    found = map_cluster(squares(tmp_path), [6, 7, 8], lambda item, why: -item, TWO)
    assert found == [36, -7, 64]
    items = [line.split()[0] for line in (tmp_path / "items").read_text().splitlines()]
    assert items.count("7") == 1 + RETRIES
    with pytest.raises(InputError, match="nine"):
        map_cluster(squares(tmp_path), [8, 9, 10], lambda item, why: -item, TWO)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        map_cluster(squares(tmp_path), [1], lambda item, why: -item, TWO, cancel=cancel)


def test_a_cluster_that_is_none() -> None:
    with pytest.raises(InputError, match="'example' is no cluster"):
        Cluster("example")

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from sqljury.errors import ClusterError, DatasetError
from sqljury.parallel.crew import Start, Threads, Worker
from sqljury.parallel.processes import Elsewhere, Tell, Work, map_processes


def elsewhere() -> Threads:
    """A crew as on another machine: each of its workers has a process for the work."""
    return Threads(2, threading.Event())


def lost(item: int, why: str, told: object) -> str:
    return f"{item}: {why}, {told}"


def squares() -> Work[int, str]:
    return lambda item, tell: str(item * item)


@pytest.mark.parametrize("processes", [1, 2, 5, elsewhere()])
def test_order_is_kept(processes: int | Threads) -> None:
    found = map_processes(squares, range(70), lost, silence=30, processes=processes)
    assert found == [str(number * number) for number in range(70)]


def test_each_result_is_told_as_it_comes() -> None:
    heard: list[str] = []
    found = map_processes(squares, range(40), lost, silence=30, processes=2, on_result=heard.append)
    assert sorted(heard) == sorted(found)


def test_nothing_gives_nothing() -> None:
    assert map_processes(squares, [], lost, silence=30) == []


def hanging() -> Work[int, str]:
    def work(item: int, tell: Tell) -> str:
        if item == 3:
            tell("half way")
            time.sleep(600)
        return "done"

    return work


@pytest.mark.parametrize("processes", [1, 2, elsewhere()])
def test_one_that_hangs_is_one_item_lost(processes: int | Threads) -> None:
    start = time.monotonic()
    found = map_processes(hanging, range(20), lost, silence=3, processes=processes)
    assert found[3] == "3: did not end within 3 s and was killed, half way"
    assert found[:3] + found[4:] == ["done"] * 19
    assert time.monotonic() - start < 60


def slow_but_alive() -> Work[int, str]:
    def work(item: int, tell: Tell) -> str:
        for _ in range(6):
            time.sleep(0.7)
            tell("still there")
        return "done"

    return work


@pytest.mark.parametrize("processes", [1, elsewhere()])
def test_a_sign_of_life_gives_more_time(processes: int | Threads) -> None:
    assert map_processes(slow_but_alive, [1], lost, silence=3, processes=processes) == ["done"]


def dying() -> Work[int, str]:
    def work(item: int, tell: Tell) -> str:
        if item % 4 == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    return work


@pytest.mark.parametrize("processes", [2, elsewhere()])
def test_a_process_that_dies_is_one_item_lost(processes: int | Threads) -> None:
    found = map_processes(dying, range(8), lost, silence=30, processes=processes)
    assert found == [
        f"{number}: its process died (SIGKILL), None" if number % 4 == 1 else "done" for number in range(8)
    ]


def greedy() -> Work[int, str]:
    def work(item: int, tell: Tell) -> str:
        try:
            return str(len(bytearray(40 * 1024**3)))
        except MemoryError:
            return "out of memory"

    return work


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_memory_is_limited() -> None:
    assert map_processes(greedy, [1], lost, silence=30) == ["out of memory"]


def failing() -> Work[int, str]:
    def work(item: int, tell: Tell) -> str:
        raise DatasetError(f"item {item}")

    return work


@pytest.mark.parametrize("processes", [2, elsewhere()])
def test_an_error_in_the_work_is_raised(processes: int | Threads) -> None:
    with pytest.raises(DatasetError, match="item 5"):
        map_processes(failing, [5, 6], lost, silence=30, processes=processes)


class Changing:
    """A crew whose machine has not the driver's file."""

    workers, slots = 1, 1

    def __init__(self, file: Path, content: str | None) -> None:
        self._file, self._content, self._crew = file, content, elsewhere()
        self.heard = self._crew.heard

    def begin(self, start: Start[int, str]) -> Worker:
        if self._content is None:
            self._file.unlink()
        else:
            self._file.write_text(self._content)
        return self._crew.begin(start)


@pytest.mark.parametrize(("content", "why"), [(None, "is not there"), ("longer", "has 6 bytes .*, here 3")])
def test_a_worker_without_the_files_is_refused(tmp_path: Path, content: str | None, why: str) -> None:
    file = tmp_path / "some.sqlite"
    file.write_text("all")
    files: list[str | Path] = [
        file,
        tmp_path / "nowhere.sqlite",
        "postgresql://host/name",
    ]  # the work notices
    assert map_processes(squares, [2], lost, silence=30, processes=elsewhere(), files=files) == ["4"]
    with pytest.raises(ClusterError, match=f"some.sqlite: {why}"):
        map_processes(squares, [2], lost, silence=30, processes=Changing(file, content), files=files)


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(ClusterError, match=r"has sqljury .*, not 0\.0; install"):
        Elsewhere(squares, lost, 30, {}, "0.0").begin()


def pids() -> Work[int, int]:
    """For a new process, which can be handed no lambda where threads forbid to fork."""
    return own_pid


def own_pid(item: int, tell: Tell) -> int:
    return os.getpid()


def test_neighbours_of_a_kind_share_a_process() -> None:
    found = map_processes(
        pids,
        range(32),
        lambda item, why, told: 0,
        silence=30,
        processes=2,
        kind=lambda item: item // 8,
    )
    assert all(len(set(found[at : at + 8])) == 1 for at in range(0, 32, 8))
    assert os.getpid() not in found


PROGRAM = """
    import sys, threading, time
    from sqljury.parallel.processes import map_processes
    sys.path.insert(0, {tests!r})
    from test_processes import squares, lost

    if __name__ == "__main__":
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        print(map_processes(squares, range(3), lost, silence=60))
"""


def test_beside_other_threads_it_spawns(tmp_path: object) -> None:
    file = f"{tmp_path}/program.py"
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(textwrap.dedent(PROGRAM).format(tests=os.path.dirname(__file__)))
    done = subprocess.run([sys.executable, "-W", "error", file], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['0', '1', '4']", done.stderr


ORPHAN = """
    import os, time
    from sqljury.parallel.processes import map_processes

    def start():
        def work(item, tell):
            print(os.getpid(), flush=True)
            os.kill(os.getppid(), 9)
            return item
        return work

    map_processes(start, [1, 2], lambda *_: None, silence=60)
"""


def test_a_worker_does_not_outlive_its_parent(tmp_path: object) -> None:
    done = subprocess.Popen([sys.executable, "-c", textwrap.dedent(ORPHAN)], stdout=subprocess.PIPE, text=True)
    assert done.stdout is not None
    worker = int(done.stdout.readline())
    done.wait(timeout=30)
    done.stdout.close()
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        with open(f"/proc/{worker}/stat", encoding="utf-8") as file:
            if file.read().rpartition(")")[2].split()[0] == "Z":
                return  # ended; whoever inherited it has not yet asked
        time.sleep(0.1)
    pytest.fail("the worker is still there")

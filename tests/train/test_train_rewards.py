"""What queries are worth, on a small SQLite file, and that the processes which run them end and are replaced."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqljury.resources import sha256_of
from sqljury.train import rewards
from sqljury.train.rewards import FAILED, RIGHT, WRONG, GoldQuery, RewardProcesses, rewards_of

GOLD = "SELECT name FROM pet WHERE age > 3 ORDER BY name"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    file = tmp_path / "pets.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE pet (name TEXT, age INTEGER);"
            "INSERT INTO pet VALUES ('Ace', 9), ('Ben', 2), ('Tom', 5), ('Zoe', NULL);"
        )
    connection.close()
    return file


@pytest.fixture
def processes() -> Iterator[RewardProcesses]:
    processes = RewardProcesses(2)
    yield processes
    processes.close()


def test_right_wrong_and_failing_queries(database: Path) -> None:
    """The order of rows counts where gold has one, and a query that is written twice has its reward twice."""
    queries = {
        GOLD: RIGHT,
        "SELECT name FROM pet WHERE age >= 5 ORDER BY age * -0, name": RIGHT,
        "SELECT name FROM pet WHERE age > 3 ORDER BY name DESC": WRONG,
        "SELECT name FROM pet": WRONG,
        "SELECT nothing FROM nowhere": FAILED,
        "who knows": FAILED,
        "": FAILED,
        " \n": FAILED,
    }
    found = rewards_of(GoldQuery(str(database), GOLD), [*queries, GOLD])
    assert found == [*queries.values(), RIGHT]
    unordered = GoldQuery(str(database), "SELECT name FROM pet WHERE age > 3")
    assert rewards_of(unordered, ["SELECT name FROM pet WHERE age > 3 ORDER BY name DESC"]) == [RIGHT]


def test_a_query_that_takes_too_long_fails(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewards, "LIMITS", rewards.Limits(seconds=0.3, rows=20_000))
    assert rewards_of(GoldQuery(str(database), GOLD), [ENDLESS, GOLD]) == [FAILED, RIGHT]
    assert rewards_of(GoldQuery(str(database), ENDLESS), [ENDLESS]) == [WRONG]


@pytest.mark.parametrize(
    "gold",
    [
        "SELECT name FROM pet WHERE age > 100",
        "SELECT count(*) FROM pet WHERE age > 100",
        "SELECT max(age) FROM pet WHERE age > 100",
        "SELECT nothing FROM pet",
        "DELETE FROM pet",
        "",
    ],
)
def test_gold_that_says_nothing_decides_nothing(gold: str, database: Path) -> None:
    queries = [gold, "SELECT name FROM pet WHERE 0", "SELECT nothing", ""]
    assert rewards_of(GoldQuery(str(database), gold), queries) == [WRONG] * 4


def test_a_database_that_cannot_be_opened_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("this is no database")
    for name in ("text", "missing"):
        assert rewards_of(GoldQuery(str(tmp_path / f"{name}.sqlite"), "SELECT 1"), ["SELECT 1"]) == [WRONG]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM pet",
        "INSERT INTO pet VALUES ('Eve', 1)",
        "DROP TABLE pet",
        f"DELETE FROM pet; {GOLD}",
        f"{GOLD}; DELETE FROM pet",
        "UPDATE pet SET age = 0 RETURNING name",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = WAL",
        "VACUUM",
        "ATTACH DATABASE 'other.sqlite' AS other",
        "CREATE TEMP TABLE mine (a)",
    ],
)
def test_a_query_that_writes_fails_and_leaves_the_file_as_it_is(query: str, database: Path) -> None:
    before, stamp = sha256_of(database), database.stat().st_mtime_ns
    assert rewards_of(GoldQuery(str(database), GOLD), [query, GOLD]) == [FAILED, RIGHT]
    assert sha256_of(database) == before
    assert database.stat().st_mtime_ns == stamp
    assert [file.name for file in database.parent.iterdir()] == [database.name]


class Deadly:
    """What ends the process that receives it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (3,)


def test_processes_that_end_cost_their_own_question_alone(processes: RewardProcesses, database: Path) -> None:
    gold = GoldQuery(str(database), GOLD)
    asked: list[Any] = [(gold, [GOLD, f"SELECT {number}", "SELECT"]) for number in range(8)]
    expected = [[RIGHT, WRONG, FAILED]] * 8
    assert processes.rewards(asked) == expected
    deadly: Any = (Deadly(), ["SELECT 1", "SELECT 2"])
    assert processes.rewards([*asked[:3], deadly, *asked[3:], deadly]) == [
        *expected[:3],
        [WRONG, WRONG],
        *expected[3:],
        [WRONG, WRONG],
    ]
    assert processes.rewards(asked) == expected
    assert processes.rewards([]) == []


def test_processes_that_were_killed_are_replaced(processes: RewardProcesses, database: Path) -> None:
    """Between two steps, as by the system when memory is short, or while they run queries."""
    gold = GoldQuery(str(database), GOLD)
    assert processes.rewards([(gold, [GOLD])] * 2) == [[RIGHT]] * 2

    def kill() -> None:
        for process in list(processes._pool._processes.values()):
            os.kill(process.pid, signal.SIGKILL)

    kill()
    time.sleep(0.2)
    assert processes.rewards([(gold, [GOLD])]) == [[RIGHT]]
    killer = threading.Timer(1.0, kill)
    killer.start()
    assert processes.rewards([(gold, [GOLD, ENDLESS]), (gold, [GOLD])]) == [[RIGHT, FAILED], [RIGHT]]
    killer.join()


def children(of: int) -> set[int]:
    """The processes that a process has started, and those that they have."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): int(parent) for pid, parent in map(str.split, listed.splitlines())}
    found = {of}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {of}


def gone(processes: set[int], seconds: float = 10.0) -> bool:
    """Whether all of them end within ``seconds``."""
    until = time.monotonic() + seconds
    while left := {pid for pid in processes if _runs(pid)}:
        if time.monotonic() > until:
            return not left
        time.sleep(0.1)
    return True


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


WAITING = """
import signal, sys, time
from sqljury.train.rewards import RewardProcesses, GoldQuery
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    processes = RewardProcesses(1)
    try:
        gold = GoldQuery(sys.argv[1], "SELECT name FROM pet")
        processes.rewards([(gold, ["SELECT 1"])])
        print("ready", flush=True)
        time.sleep(60)
    finally:
        processes.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_the_training(how: signal.Signals, database: Path, tmp_path: Path) -> None:
    """Whether it is killed or stopped with Ctrl-C, which the processes hear too and say nothing about."""
    (tmp_path / "waiting.py").write_text(WAITING)
    command = [sys.executable, str(tmp_path / "waiting.py"), str(database)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as training:
        assert training.stdout is not None
        assert training.stdout.readline() == "ready\n"
        started = children(training.pid)
        assert len(started) > 1
        if how == signal.SIGKILL:
            training.kill()
        else:
            os.killpg(training.pid, how)
        said = training.communicate(timeout=20)[1]
    assert gone(started)
    assert said.count("Traceback") == (how == signal.SIGINT)

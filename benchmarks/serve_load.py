"""Load on ``sqljury serve``: answers a second, waiting times and memory, with clients that ask without a pause.

    python benchmarks/serve_load.py scripted [--clients 64] [--seconds 60] [--delay 0.05] [--workers 16] [--distinct]
    python benchmarks/serve_load.py embedded [--clients 4] [--seconds 120]

``scripted`` answers by a model that takes ``--delay`` seconds a call; with ``--distinct`` no question and no query
comes twice, so that what is kept of earlier ones does not help. ``embedded`` answers by the embedded model, first for
one client, then for several, each with questions of its own. The server is a process of its own on loopback; its
clients run beside it on the same processors, and the processor time of all three is printed. Statuses other than 200
are counted, and 429 is asked again after what Retry-After says.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqljury.llm.fake import Call

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = (
    "How many customers are there?",
    "What is the most expensive product?",
    "How many suppliers are there?",
    "List the names of all employees.",
    "How many orders are there?",
    "What is the average price of products?",
    "Which products cost more than 20?",
    "How many products are there?",
)
DISTINCT = (
    ("How many customers have an id below {}?", "SELECT COUNT(*) FROM customer WHERE id < {}"),
    ("Which products cost less than {}?", "SELECT name FROM product WHERE list_price < {} ORDER BY name"),
    (
        "How many orders did each customer with an id below {} make?",
        "SELECT c.id, COUNT(*) FROM customer AS c JOIN orders AS o ON o.customer_id = c.id "
        "WHERE c.id < {} GROUP BY c.id",
    ),
    (
        "What is the average pay of employees with less than {} florins?",
        "SELECT AVG(monthly_pay) FROM employee WHERE monthly_pay < {}",
    ),
)
"""Questions and their queries, to be filled with a number of eight digits that was not used before."""
FIRST = 10_000_000


def scripted(call: Call) -> str:
    """The query for a question of ``DISTINCT``, which the prompt ends with."""
    number = int(re.findall(r"\d{8}", call.prompt)[-1])
    return DISTINCT[number % len(DISTINCT)][1].format(number)


@dataclass
class Load:
    """What the clients of one run got: seconds of each answer by client, and how often each status came."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)

    def __str__(self) -> str:
        waits = sorted(second for own in self.seconds.values() for second in own)
        if not waits:
            return f"no answer; statuses {dict(self.statuses)}"
        most = waits[min(len(waits) - 1, int(0.99 * len(waits)))]
        counts = [len(own) for own in self.seconds.values()]
        return (
            f"{len(waits)} answers, median {statistics.median(waits):.2f} s, p99 {most:.2f}, longest {waits[-1]:.2f}; "
            f"answers a client {min(counts)} to {max(counts)}; statuses {dict(self.statuses)}"
        )


def serve(folder: Path, kind: str, delay: float, workers: int, *, distinct: bool) -> None:
    """The server's process: prints its port, and ends with its parent's pipe."""
    from sqljury import FakeModel, Session, connect
    from sqljury.llm.open import open_model
    from sqljury.web.app import create
    from sqljury.web.databases import Databases, Served
    from sqljury.web.running import WebServer, listen
    from sqljury.web.settings import Settings

    database = connect(str(folder / "shop.db"))
    if kind == "embedded":
        model = open_model("+sqljury-writer", cache=False, together=workers)
    else:
        model = FakeModel(scripted if distinct else "SELECT count(*) FROM customer", delay=delay)
        model.calls = deque(maxlen=8)  # type: ignore[assignment]  # the server's memory, not the script's record
    settings = Settings(port=0, workers=workers)
    session = Session(database, recipe="fast", model=model, cache=False, together=workers)
    with listen(settings) as listening:
        print(listening.getsockname()[1], flush=True)
        WebServer(create(Databases(session, {"shop": Served(database)}), settings)).run([listening])


async def ask(port: int, question: str) -> int:
    """The status of one question, on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"database": "shop", "question": question}).encode()
    head = f"POST /v1/ask HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    answer = await reader.read()
    writer.close()
    status = int(answer.split(maxsplit=2)[1])
    if status == 429:
        wait = next(line for line in answer.split(b"\r\n") if line.lower().startswith(b"retry-after"))
        await asyncio.sleep(min(5.0, float(wait.split(b":")[1])))
    return status


async def clients(port: int, count: int, seconds: float, numbers: Iterator[int] | None = None) -> Load:
    """So many clients, each of which asks the next question when its last one is answered.

    With ``numbers`` the questions are those of ``DISTINCT``.
    """
    load, ends = Load({number: [] for number in range(count)}), time.monotonic() + seconds

    async def client(number: int) -> None:
        asked = 0
        while time.monotonic() < ends:
            question = QUESTIONS[(number * 3 + asked) % len(QUESTIONS)]
            if numbers is not None:
                new = next(numbers)
                question = DISTINCT[new % len(DISTINCT)][0].format(new)
            began, asked = time.monotonic(), asked + 1
            status = await ask(port, question)
            load.statuses[status] += 1
            if status == 200:
                load.seconds[number].append(time.monotonic() - began)

    await asyncio.gather(*(client(number) for number in range(count)))
    return load


def memory(process: int) -> float:
    """Megabytes that the process holds now."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def computed(process: int) -> float:
    """Seconds of processor time that a process and its threads have used."""
    parts = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def workers_of(process: int) -> list[int]:
    """The processes that the server has started: those that run SQLite."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for children in lists for child in children.read_text().split()]


def processor(server: int) -> tuple[float, float, float]:
    """Seconds of processor time of the server, of its SQLite workers that still run, and of the clients."""
    return computed(server), sum(map(computed, workers_of(server))), computed(os.getpid())


def measured(port: int, process: int, count: int, seconds: float, numbers: Iterator[int] | None = None) -> float:
    """Answers a second of so many clients, printed with the rest."""
    before, used, began = memory(process), processor(process), time.monotonic()
    load = asyncio.run(clients(port, count, seconds, numbers))
    took, answers = time.monotonic() - began, sum(map(len, load.seconds.values()))
    parts = [after - earlier for earlier, after in zip(used, processor(process), strict=True)]
    each = [1000 * part / max(1, answers) for part in parts]
    print(f"{count} clients: {answers / took:.2f} answers a second; {load}")
    told = "server {:.1f}, its SQLite workers {:.1f}, clients {:.1f}".format(*each)
    print(f"  ms of processor time an answer: {told}; together {sum(parts) / took:.2f} processors")
    print(f"  memory {before:.0f} MB before, {memory(process):.0f} after; load {os.getloadavg()[0]:.1f}", flush=True)
    return answers / took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["scripted", "embedded", "server"])
    parser.add_argument("--clients", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--model", default="scripted")
    given = parser.parse_args()
    if given.kind == "server":
        serve(given.folder, given.model, given.delay, given.workers, distinct=given.distinct)
        return
    embedded = given.kind == "embedded"
    count = given.clients or (4 if embedded else 64)
    workers, seconds = given.workers or (4 if embedded else 16), given.seconds or (120.0 if embedded else 60.0)
    with tempfile.TemporaryDirectory() as name:
        build = [sys.executable, ROOT / "examples/shop/build.py", Path(name) / "shop.db"]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        command = [sys.executable, __file__, "server", "--folder", name, "--model", given.kind]
        command += ["--delay", str(given.delay), "--workers", str(workers)]
        command += ["--distinct"] if given.distinct else []
        numbers = itertools.count(FIRST) if given.distinct else None
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                port = int(server.stdout.readline())
                asyncio.run(
                    clients(port, 1, 30.0 if embedded else 2.0, numbers)
                )  # loads the weights and reads the schema
                one = measured(port, server.pid, 1, seconds) if embedded else 0.0
                several = measured(port, server.pid, count, seconds, numbers)
                if embedded:
                    print(f"{several / one:.2f} times one client's answers")
            finally:
                server.terminate()


if __name__ == "__main__":
    main()

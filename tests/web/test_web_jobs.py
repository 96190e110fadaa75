"""Turns, full queues, clients that go away, models that hang, and the end of a server."""

from __future__ import annotations

import asyncio
import http.client
import json
import resource
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from web_servers import TALL, Serve, running, token_file, until

from sqljury.parallel.jobs import EndingError, Following, Jobs, OverdueError
from sqljury.parallel.turns import BusyError, Turns
from sqljury.web.walls import Walls

ASK = json.dumps({"database": "people", "question": "Who is tall?"})
JSON = {"Content-Type": "application/json"}


def test_clients_take_turns() -> None:
    async def order() -> list[str]:
        turns, begun = Turns(1, 10), list[str]()
        turns.enter("first")
        for name in ("a", "a", "a", "b", "c", "b"):
            turns.enter(name).add_done_callback(lambda _, name=name: begun.append(name))  # type: ignore[misc]
        for _ in range(6):
            turns.leave()
            await asyncio.sleep(0)
        return begun

    assert asyncio.run(order()) == ["a", "b", "c", "a", "b", "a"]


def test_a_full_queue_and_a_greedy_client() -> None:
    async def enter() -> None:
        turns = Turns(1, 4, share=2)
        turns.enter("a")
        turns.enter("a")
        turns.enter("a")
        with pytest.raises(BusyError):
            turns.enter("a")
        turns.enter("b")
        turn = turns.enter("c")
        with pytest.raises(BusyError):
            turns.enter("d")
        turns.forgo(turn)
        turns.enter("d")
        assert turns.waiting == 4

    asyncio.run(enter())


def test_a_turn_that_nobody_waits_for_is_handed_on() -> None:
    async def go() -> None:
        jobs = Jobs(1, 10, 60, shared=False)
        release = threading.Event()
        first = jobs.start("a", lambda _: release.wait(30))
        never = jobs.start("a", lambda _: "never")
        never.cancel()  # before its first step
        late = jobs.start("a", lambda _: "late")
        await asyncio.sleep(0)
        late.cancel()  # after it
        last = jobs.start("b", lambda _: "last")
        release.set()
        assert await first
        assert await asyncio.wait_for(last, 30) == "last"
        assert jobs.turns.waiting == 0

    asyncio.run(go())


def test_work_that_takes_too_long_is_cancelled_and_given_up() -> None:
    stopped = threading.Event()

    def hang(following: Following) -> None:
        if following.cancel.wait(30):
            stopped.set()

    async def go() -> None:
        jobs = Jobs(1, 10, 0.2, shared=False)
        with pytest.raises(OverdueError):
            await jobs.start("a", hang)
        await jobs.end()
        with pytest.raises(EndingError):
            jobs.start("a", hang)

    asyncio.run(go())
    assert stopped.is_set()


def test_the_end_stops_what_runs() -> None:
    stopped = threading.Event()

    def work(following: Following) -> str:
        if following.cancel.wait(30):
            stopped.set()
        return "stopped"

    async def go() -> str:
        jobs = Jobs(1, 10, 60, shared=False)
        task = jobs.start("a", work)
        while not jobs.running:
            await asyncio.sleep(0.01)
        await jobs.end()
        return await task

    assert asyncio.run(go()) == "stopped"
    assert stopped.is_set()


def test_a_model_that_hangs_is_504(serve: Serve) -> None:
    client = serve(TALL, delay=60, seconds=0.5)
    response = client.post("/v1/ask", content=ASK, headers=JSON)
    assert (response.status_code, response.json()["code"]) == (504, "took-too-long")


class Gate:
    """A model's script that waits, and counts who waits."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.entered = 0

    def __call__(self, _: object) -> str:
        self.entered += 1
        self.opened.wait(60)
        return TALL


def post(url: str, body: str = ASK, **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("POST", "/v1/ask", body, {**JSON, **headers})
    response = connection.getresponse()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read().decode()


def metric(url: str, name: str, **headers: str) -> float:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("GET", "/metrics", headers=headers)
    text = connection.getresponse().read().decode()
    return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(f"{name} ")), 0.0)


def test_a_full_queue_is_429_and_says_when_to_come_back(live: Callable[..., str]) -> None:
    gate = Gate()
    url = live(gate, workers=1, queue=1)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(post, url)
        until(lambda: gate.entered == 1)
        second = pool.submit(post, url)
        until(lambda: metric(url, "sqljury_questions_waiting") == 1)
        status, headers, text = post(url)
        streamed, _, _ = post(url, Accept="text/event-stream")
        gate.opened.set()
        assert (status, json.loads(text)["code"]) == (429, "queue-full")
        assert int(headers["retry-after"]) >= 1
        assert streamed == 429
        assert first.result()[0] == second.result()[0] == 200


def test_one_client_does_not_fill_the_queue_for_others(live: Callable[..., str]) -> None:
    gate = Gate()
    file, headers = token_file(greedy="", modest="")
    greedy, modest = headers["greedy"], headers["modest"]
    url = live(gate, workers=1, queue=2, tokens=file)
    with ThreadPoolExecutor(3) as pool:
        running = pool.submit(post, url, **greedy)
        until(lambda: gate.entered == 1)
        waiting = pool.submit(post, url, **greedy)
        until(lambda: metric(url, "sqljury_questions_waiting", **greedy) == 1)
        assert post(url, **greedy)[0] == 429
        other = pool.submit(post, url, **modest)
        until(lambda: metric(url, "sqljury_questions_waiting", **greedy) == 2)
        gate.opened.set()
        assert {running.result()[0], waiting.result()[0], other.result()[0]} == {200}


def test_connections_beyond_the_limit_are_503_and_the_server_goes_on(live: Callable[..., str]) -> None:
    url = live(connections=20)
    place = urlsplit(url)
    assert place.hostname is not None
    with ExitStack() as stack:
        for _ in range(40):
            connection = socket.create_connection((place.hostname, place.port or 80), 60)
            stack.enter_context(connection)
        refused = [post(url)[0] for _ in range(3)]
    assert refused == [503, 503, 503]
    until(lambda: post(url)[0] == 200)


@pytest.fixture
def many_files() -> Iterator[None]:
    """Both ends of thousands of connections are open files of this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 8_192, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_two_thousand_connections_at_once_get_documented_statuses(live: Callable[..., str], many_files: None) -> None:
    url = live()
    place = urlsplit(url)
    assert place.hostname is not None
    statuses: Counter[bytes] = Counter()
    with ExitStack() as stack:
        opened = []
        for _ in range(2_000):
            connection = socket.create_connection((place.hostname, place.port or 80), 60)
            opened.append(stack.enter_context(connection))
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for connection in opened:
            statuses[connection.recv(12)] += 1
    assert statuses.keys() <= {b"HTTP/1.1 200", b"HTTP/1.1 503"}, statuses
    assert statuses[b"HTTP/1.1 200"] >= 100
    assert statuses[b"HTTP/1.1 503"] >= 1_000  # at most 1,000 connections are served at once
    until(lambda: post(url)[0] == 200)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_client_that_goes_away_stops_its_question(live: Callable[..., str], accept: str) -> None:
    url = live(TALL, delay=60, workers=1)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("POST", "/v1/ask", ASK, {**JSON, "Accept": accept})
    until(lambda: metric(url, "sqljury_questions_running") == 1)
    assert connection.sock is not None
    connection.sock.close()
    connection.close()
    until(lambda: metric(url, "sqljury_questions_running") == 0)


def test_a_server_that_ends_stops_its_questions(make: Callable[..., Walls]) -> None:
    with ThreadPoolExecutor(1) as pool:
        with running(make(TALL, delay=60)) as url:
            asked = pool.submit(lambda: post(url)[0])
            until(lambda: metric(url, "sqljury_questions_running") == 1)
        assert asked.result(30) == 503

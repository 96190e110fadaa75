"""Helpers of the tests of the web: a real server, waiting, files of tokens, and events."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.testclient import TestClient

from sqljury.llm.fake import Call
from sqljury.web.running import WebServer
from sqljury.web.tokens import entry, new_token
from sqljury.web.walls import Walls

if TYPE_CHECKING:
    from playwright.sync_api import Page

TALL = "SELECT name FROM person WHERE height > 180"
ALL = "SELECT name FROM person"
VOTES_OF_EIGHT = str(Path(__file__).parents[1] / "eight.toml")

Serve = Callable[..., TestClient]
Open = Callable[..., "Page"]
EIGHT = [TALL, TALL, TALL, TALL, TALL, ALL, ALL, "SELECT nothing FROM nowhere"]


@contextlib.contextmanager
def running(application: Walls) -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = WebServer(application)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)


def until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something is true; fails after so many seconds."""
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not become true"
        time.sleep(0.01)


def token_file(**clients: str) -> tuple[str, dict[str, dict[str, str]]]:
    """A file of tokens, with the headers of each client; the texts are further lines of their entries."""
    lines, headers = [], {}
    for name, more in clients.items():
        token = new_token()
        databases = [] if "databases" in more else ["people"]
        text = entry(name, token, databases)
        lines.append(f"{text.rpartition(chr(10))[0] if 'databases' in more else text}\n{more}\n")
        headers[name] = {"Authorization": f"Bearer {token}"}
    return "\n".join(lines), headers


def events(text: str) -> list[tuple[str, str]]:
    """Kind and data of each server-sent event."""
    pieces = [piece.split("\n") for piece in text.strip().split("\n\n") if piece.startswith("event: ")]
    return [(first.removeprefix("event: "), second.removeprefix("data: ")) for first, second in pieces]


def dealt(call: Call) -> list[str]:
    return EIGHT[1:] if call.n == 7 else EIGHT[:1]


def ask(page: Page, question: str = "Who is tall?") -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def cells(page: Page, column: int = 1) -> list[str]:
    return page.locator(f"[aria-label=Result] tbody td:nth-child({column})").all_inner_texts()

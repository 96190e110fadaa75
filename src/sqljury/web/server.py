"""What the routes of one server share, and how they find out who asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from sqljury.parallel.jobs import Jobs, Work
from sqljury.web.databases import Databases
from sqljury.web.history import History
from sqljury.web.metrics import Metrics
from sqljury.web.problems import ProblemError, Problems
from sqljury.web.settings import Settings
from sqljury.web.tokens import LOCAL, Client, Tokens

T = TypeVar("T")

COOKIE: Final = "sqljury_login"
EXACT: Final = 2**53
"""Integers beyond are texts in JSON: JavaScript would round them."""
KEEP_ALIVE_SECONDS: Final = 10.0
"""A stream says something at least so often, so that nothing on the way takes it for dead."""


@dataclass(frozen=True)
class Server:
    """One server: its databases and limits, and what it keeps while it runs; ``tokens`` is None for open loopback."""

    settings: Settings
    databases: Databases
    tokens: Tokens | None
    jobs: Jobs
    history: History
    metrics: Metrics
    problems: Problems

    async def work(self, client: Client, database: str, work: Work[T], receive: Receive) -> T:
        """What ``work`` on a database gives, in the client's turn; raises ``ProblemError`` for all that goes wrong."""
        try:
            return await unless_gone(self.jobs.start(client.name, work), receive)
        except Exception as error:
            raise self.problems.of(error, database, self.jobs.retry_after) from None


class Json(JSONResponse):
    """JSON in ASCII, which holds half surrogate pairs too: content of databases may have them."""

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return in_json(content).encode("ascii")


def in_json(content: Any) -> str:
    """What clients read: ASCII, in which an integer that JavaScript cannot hold is a text, wherever it stands."""
    return json.dumps(_exact(content), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _exact(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _exact(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_exact(value) for value in content]
    return str(content) if isinstance(content, int) and abs(content) > EXACT else content


class EventStream(StreamingResponse):
    """Server-sent events of a task, which is cancelled when the client goes away."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[str], task: asyncio.Task[Any]) -> None:
        super().__init__(events, headers={"X-Accel-Buffering": "no"})
        self._task = task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; their generator may never have begun, so that it is not left to it to stop the work."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._task.cancel()


def event(kind: str, data: Mapping[str, Any]) -> str:
    """One server-sent event."""
    return f"event: {kind}\ndata: {in_json(data)}\n\n"


async def the_server(request: Request) -> Server:
    """The server that a request is for; a coroutine, for FastAPI would have a thread call a function."""
    return server_of(request)


async def the_client(request: Request) -> Client:
    """Who asks, by token or by the cookie of the page; raises ``ProblemError`` for nobody known."""
    client = known_client(request)
    if client is None:
        detail = "send a token: Authorization: Bearer TOKEN"
        raise ProblemError(401, "no-token", detail, {"WWW-Authenticate": "Bearer"})
    return client


def server_of(request: Request) -> Server:
    """The server that a request is for."""
    server: Server = request.app.state.server
    return server


def known_client(request: Request) -> Client | None:
    """Who asks, None for nobody known."""
    tokens = server_of(request).tokens
    if tokens is None:
        return LOCAL
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        return tokens.client(token.strip()) if scheme.lower() == "bearer" else None
    return tokens.logged_in(request.cookies.get(COOKIE, ""))


async def json_only(request: Request) -> None:
    """Raise ``ProblemError`` for a body of another type: forms of other sites can send those without asking."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(415, "not-json", "send JSON, with Content-Type: application/json")


async def unless_gone(task: asyncio.Task[T], receive: Receive) -> T:
    """What the task gives; it is cancelled when the client goes away, or whoever waits here is cancelled."""
    gone = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ProblemError(499, "client-gone", "the client has closed the request")
        return task.result()
    finally:
        gone.cancel()
        task.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


TheServer = Annotated[Server, Depends(the_server)]
TheClient = Annotated[Client, Depends(the_client)]

"""Runs a server until it is told to end: questions under way get some time, then they are stopped and say so."""

from __future__ import annotations

import asyncio
import os
import socket

import uvicorn

from sqljury.errors import InputError
from sqljury.web.settings import Settings
from sqljury.web.walls import Walls


def listen(settings: Settings) -> socket.socket:
    """A socket that listens where the settings say; raises ``InputError`` where it cannot."""
    host, port = settings.host, settings.port
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=settings.connections)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error.strerror)
        raise InputError(f"cannot listen on {host} port {port} ({reason}); give another --port or --host") from None


class WebServer(uvicorn.Server):
    """uvicorn, which by itself would cut questions off in place of answering 503."""

    def __init__(self, app: Walls) -> None:
        self._jobs, self._grace = app.server.jobs, app.server.settings.grace
        settings = app.server.settings
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            limit_concurrency=settings.connections,
            timeout_graceful_shutdown=settings.grace + 10,
            timeout_keep_alive=30,
        )
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more requests, wait for those under way, and stop them after the grace."""
        ending = asyncio.create_task(self._end())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    async def _end(self) -> None:
        await asyncio.sleep(self._grace)
        await self._jobs.end()

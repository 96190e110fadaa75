"""Runs a server until it is told to end: questions under way get some time, then they are stopped and say so."""

from __future__ import annotations

import asyncio
import socket

import uvicorn

from sqljury.web.walls import Walls


class WebServer(uvicorn.Server):
    """uvicorn, which by itself would cut questions off in place of answering 503."""

    def __init__(self, app: Walls) -> None:
        self._jobs, self._grace = app.server.jobs, app.server.settings.grace
        settings = app.server.settings
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
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

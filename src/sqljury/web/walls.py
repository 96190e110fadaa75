"""What every request passes before the application: its id, Host, Origin and size; and headers of every response."""

from __future__ import annotations

import json
import re
import secrets
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sqljury.web.problems import ProblemError
from sqljury.web.server import Server

SECURITY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send forms with the Origin null
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_WORKING: Final = ("/v1", "/metrics")
"""Addresses where even a GET takes work: no page of another site may cause it, as by a picture with this address."""
_ID: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)


class Walls:
    """The application behind checks that no route can forget.

    A page on another site can make a browser send requests to a server on this machine: under that site's name, which
    ``Host`` shows (DNS rebinding), or across sites, which ``Origin`` and ``Sec-Fetch-Site`` show.
    """

    def __init__(self, app: ASGIApp, server: Server) -> None:
        self.server = server
        self._app, self._settings, self._metrics = app, server.settings, server.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._counted(scope, message["status"])
                out = MutableHeaders(scope=message)
                out["X-Request-ID"] = request_id
                for name, value in SECURITY.items():
                    out[name] = value
                out.setdefault("Cache-Control", "no-store")
            await send(message)

        problem = self._refused(headers, scope["method"], scope["path"])
        if problem is not None:
            await _send(problem, request_id, answer)
            return
        await self._app(scope, self._bounded(receive), answer)

    def _counted(self, scope: Scope, status: int) -> None:
        route = getattr(scope.get("route"), "path", "(none)")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "DELETE") else "other"
        self._metrics.request(method, route, status)

    def _refused(self, headers: Headers, method: str, path: str) -> ProblemError | None:
        if _name(headers.get("host", "")) not in self._settings.names or len(headers.getlist("host")) != 1:
            detail = "this server does not go by that Host; its operator can add the name with --allow-host"
            return ProblemError(421, "foreign-host", detail)
        origin = headers.get("origin")
        same_origin = origin is None or _netloc(origin) == headers["host"].lower()
        works = method not in ("GET", "HEAD") or path.startswith(_WORKING)
        if not same_origin or (works and headers.get("sec-fetch-site") in ("cross-site", "same-site")):
            return ProblemError(403, "foreign-origin", "pages of other sites may not use this server")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self._settings.body_bytes:
            return _too_large(self._settings.body_bytes)
        return None

    def _bounded(self, receive: Receive) -> Receive:
        """``receive`` for a body that does not say its length, too."""
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._settings.body_bytes:
                raise HTTPException(413, _too_large(self._settings.body_bytes).detail)
            return message

        return bounded


def _name(host: str) -> str:
    """The name in a ``Host`` header, without the port; empty for what is not one."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    return "" if parts.username is not None or parts.path else (parts.hostname or "")


def _netloc(origin: str) -> str:
    """The host and port in an ``Origin`` header; empty for what is not one, such as ``null``."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _too_large(size: int) -> ProblemError:
    return ProblemError(413, "too-large", f"a request may have {size:,} bytes; send less")


async def _send(problem: ProblemError, request_id: str, send: Send) -> None:
    body = json.dumps(problem.to_dict(request_id)).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

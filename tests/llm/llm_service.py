"""A small HTTP service that answers as it is told."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

SECRET = "sk-test-0123456789abcdef"


class Asked(NamedTuple):
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Said:
    """A reply: an object sent as JSON, a list sent as events, or a text sent as it is."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    """Waited for before the last event of a list, or before anything else is sent."""
    broken: bool = False
    """The connection is dropped in the middle."""


class Service:
    """Gives ``answers`` in turn, the last one for ever; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: list[Said] = []
        self.get: dict[str, Said] = {}
        self.hung_up = threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length) or b"{}")
                service.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                answer = service.answers.pop(0) if len(service.answers) > 1 else service.answers[0]
                service.send(self, answer)

            def do_GET(self) -> None:
                service.send(self, service.get.get(self.path, Said({"error": {"message": "no such page"}}, 404)))

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up on purpose
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def send(self, handler: BaseHTTPRequestHandler, said: Said) -> None:
        if said.broken:
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        handler.send_response(said.status)
        for name, value in said.headers.items():
            handler.send_header(name, value)
        if isinstance(said.body, list):
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Connection", "close")
            handler.end_headers()
            self._stream(handler, said)
            return
        if said.hold:
            said.hold.wait(20)
        raw = said.body.encode() if isinstance(said.body, str) else json.dumps(said.body).encode()
        handler.send_header("Content-Type", "text/html" if isinstance(said.body, str) else "application/json")
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)

    def _stream(self, handler: BaseHTTPRequestHandler, said: Said) -> None:
        handler.close_connection = True
        for number, event in enumerate(said.body):
            if said.hold and number == len(said.body) - 1:
                said.hold.wait(20)
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event)
            try:
                handler.wfile.write(f"{name}data: {data}\n\n".encode())
                handler.wfile.flush()
            except OSError:
                self.hung_up.set()
                return

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

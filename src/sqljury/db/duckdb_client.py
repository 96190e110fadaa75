"""Talks to the process that runs DuckDB, and ends it when it does not answer in time."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from importlib.util import find_spec
from typing import IO, Any, Final

from sqljury.db import duckdb_worker
from sqljury.db.worker_process import environment
from sqljury.errors import MissingExtraError
from sqljury.parallel.watch import Watch

ENGINE_BYTES: Final = 1024**3
"""What DuckDB's own account of its memory may come to; beyond it, sorts and joins go to temporary files."""

PROCESS_BYTES: Final = 2 * 1024**3 + 512 * 1024**2
"""What its process may take in all, where the system can limit it: DuckDB does not count every value."""

TEMP_BYTES: Final = 1024**3

_GRACE_SECONDS: Final = 0.2
"""How long an interrupted query may take to end by itself before its process is ended."""

_TICK_SECONDS: Final = 0.02

Reply = Mapping[str, Any]


class WorkerLostError(Exception):
    """The process ended, or was ended."""


class Worker:
    """A process with DuckDB in it, for one order at a time."""

    def __init__(self, folder: str, module: str = "duckdb_worker") -> None:
        """Start ``module`` of ``db`` in ``folder``; raises ``MissingExtraError`` where DuckDB is not installed."""
        if find_spec("duckdb") is None:
            raise MissingExtraError("duckdb", "duckdb")
        paths = [os.path.abspath(path) for path in sys.path]
        self._process = subprocess.Popen(  # noqa: S603
            duckdb_worker.arguments(paths, module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=folder,
        )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        # Neither the thread nor what ends the process may hold the worker, which could then never be dropped.
        threading.Thread(target=_listen, args=(self._process.stdout, self._replies), daemon=True).start()
        weakref.finalize(self, _end, self._process)

    def ask(self, order: Reply, watch: Watch) -> Reply:
        """The reply to ``order``; once ``watch`` says stop, an interruption, and then the end of the process.

        Raises ``WorkerLostError`` when no reply came. After any exception, Ctrl-C among them, the process is ended: its
        reply may still be to come, and the next order would get it.
        """
        try:
            return self._exchange(order, watch)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process at once."""
        _end(self._process)

    def _exchange(self, order: Reply, watch: Watch) -> Reply:
        self._send(order)
        while not watch.stop():
            with contextlib.suppress(queue.Empty):
                return _reply(self._replies.get(timeout=_TICK_SECONDS))
        self._send({"interrupt": True})
        try:
            return _reply(self._replies.get(timeout=_GRACE_SECONDS))
        except queue.Empty:
            raise WorkerLostError("stopped") from None

    def _send(self, order: Reply) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise WorkerLostError("its process is gone") from None


def _listen(lines: IO[bytes], replies: queue.SimpleQueue[bytes]) -> None:
    with lines:
        for line in lines:
            replies.put(line)
    replies.put(b"")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with contextlib.suppress(OSError):
        if process.stdin:
            process.stdin.close()
    process.wait()


def _reply(line: bytes) -> Reply:
    if not line.endswith(b"\n"):
        raise WorkerLostError("its process ended")
    try:
        reply = json.loads(line, object_hook=_decode)
    except (ValueError, TypeError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise WorkerLostError("its process answered nonsense")
    return reply


def _decode(value: dict[str, Any]) -> Any:
    return bytes.fromhex(value["bytes"]) if value.keys() == {"bytes"} else value

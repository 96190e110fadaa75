"""Starts the process that runs SQLite."""

from __future__ import annotations

import contextlib
import os
import resource  # noqa: F401 - a forked process may be unable to import it
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Final, NoReturn, Protocol

from sqljury.db import sqlite_worker
from sqljury.db.worker_process import environment
from sqljury.errors import DatabaseError

_FOLDERS: Final = ("SQLITE_TMPDIR", "TMPDIR")
_PACKAGE: Final = str(Path(sqlite_worker.__file__).resolve().parents[1])
_POLL_SECONDS: Final = 0.001


class Process(Protocol):
    """What is done with a process once it runs; ``subprocess.Popen`` is one."""

    pid: int

    def kill(self) -> None:
        """End it at once."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises ``subprocess.TimeoutExpired``."""


def start(orders: socket.socket, life: int) -> Process:
    """A new process that reads orders from the socket, and ends when nobody has the other end of ``life`` open.

    Raises ``DatabaseError`` where the system does not let it be started.
    """
    command = [sys.executable, "-I", "-S", "-c", sqlite_worker.COMMAND, _PACKAGE]
    names = environment(*_FOLDERS)
    try:
        return subprocess.Popen(  # noqa: S603
            command, stdin=life, stdout=orders.fileno(), stderr=subprocess.DEVNULL, env=names, cwd="/"
        )
    except OSError as error:
        # A process that has given up its rights may be unable to start the very program that it is. Forking is only
        # safe while there is one thread.
        if isinstance(error, PermissionError | FileNotFoundError) and threading.active_count() == 1:
            return _fork(orders, life)
        raise DatabaseError(f"the process that runs SQLite cannot be started ({error})") from None


class _Forked:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def kill(self) -> None:
        if self._status is None:  # until it is waited for, nobody else gets its number
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        end = time.monotonic() + (timeout or 0.0)
        while self._status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if not pid:
                    if timeout is not None and time.monotonic() >= end:
                        raise subprocess.TimeoutExpired("fork", timeout)
                    time.sleep(_POLL_SECONDS)
                    continue
                self._status = status
                break
            self._status = 0
        return self._status


def _fork(orders: socket.socket, life: int) -> Process:
    pid = os.fork()
    return _Forked(pid) if pid else _serve(orders, life)


def _serve(orders: socket.socket, life: int) -> NoReturn:
    """Become the worker, with nothing open that the other process has."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for number, descriptor in enumerate((life, orders.fileno(), nothing)):
            os.dup2(descriptor, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.chdir("/")
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        sqlite_worker.main(_data_bytes())
    finally:
        os._exit(1)


def _data_bytes() -> int:
    """What this process has taken of what the system limits for a worker."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0

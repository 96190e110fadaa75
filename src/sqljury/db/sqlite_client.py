"""Starts a process that runs SQLite, talks to it, and ends it when it does not answer in time."""

from __future__ import annotations

import contextlib
import marshal
import os
import resource  # noqa: F401 - a forked process may be unable to import it
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, NoReturn, Protocol

from sqljury.db import sqlite_worker
from sqljury.db.base import failed
from sqljury.db.sqlite_walls import MayRead
from sqljury.db.sqlite_worker import HEADER_BYTES, MARSHAL_VERSION, SPIN_SECONDS
from sqljury.db.worker_process import environment
from sqljury.errors import DatabaseError
from sqljury.parallel.bare import PACKAGE
from sqljury.parallel.watch import Watch, private_memory
from sqljury.types import Limits, Result

HELD_BYTES: Final = 640 * 1024**2
"""What the rows of a result may take in this process: the worker counts it, and here what it sends is counted."""

KEPT_BYTES: Final = 256 * 1024**2
"""A worker that still has more memory than this after a query is ended rather than kept."""

_TICK: Final = struct.pack("ll", 0, 10_000)
"""Every so often, 10 ms as the system's ``struct timeval``, a wait is interrupted to look at the clock."""

_LONG_SECONDS: Final = 0.1
_RECEIVE_BYTES: Final = 64 * 1024
_LARGE_BYTES: Final = 1024**2
_KINDS: Final = ("done", "failed", "rows", "ask")
_FOLDERS: Final = ("SQLITE_TMPDIR", "TMPDIR")
_POLL_SECONDS: Final = 0.001

Reply = tuple[Any, ...]


class WorkerLostError(Exception):
    """The process ended, or was ended; ``again`` says that it may have been gone before it got the order."""

    def __init__(self, *, again: bool = False) -> None:
        super().__init__()
        self.again = again


class Worker:
    """A process with SQLite in it, for one order at a time.

    ``opened`` holds what callers know of each database that the process has open, by its number.
    """

    def __init__(self) -> None:
        """Start it; raises ``DatabaseError`` where the system does not let it."""
        self.opened: OrderedDict[int, Any] = OrderedDict()
        self.lost = False
        self._answered = False
        self._pending = b""
        self._socket, theirs = socket.socketpair()
        for end in (self._socket, theirs):
            end.settimeout(None)  # whatever the program has set for its own
        ending, life = os.pipe()
        self._life = open(life, "wb", buffering=0)  # noqa: SIM115 - the worker ends when this end is closed
        try:
            self._process = start(theirs, ending)
        except BaseException:
            self.abandon()
            raise
        finally:
            os.close(ending)
            theirs.close()
        # The system waits, not Python, which would ask it twice: first whether there is something, then for it.
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, _TICK)
        _workers.add(self)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, order: Sequence[Any], watch: Watch, may_read: MayRead | None = None) -> Reply:
        """The reply to ``order``; rows that came in pieces are put together. ``may_read`` answers for columns.

        Raises ``WorkerLostError`` when none came or ``watch`` said stop; then the worker is of no further use.
        """
        watch.follow(self.pid)
        try:
            reply = self._exchange(order, watch, may_read)
        except BaseException:
            self.kill()
            raise
        self._answered = True
        grown = watch.seconds > _LONG_SECONDS and private_memory(self.pid) > KEPT_BYTES
        if grown or reply[3:] == sqlite_worker.OUT_OF_MEMORY:
            self.kill()
        return reply

    def query(
        self,
        number: int,
        sql: str,
        parameters: Sequence[str],
        watch: Watch,
        *,
        trusted: bool = False,
        may_read: MayRead | None = None,
    ) -> Reply:
        """The reply to one query on the database of this number, within the limits of ``watch``."""
        limits = watch.limits.rows, watch.limits.bytes, held_bytes(watch.limits)
        order = ("query", number, str(sql), tuple(parameters), limits, trusted, may_read is not None)
        return self.ask(order, watch, may_read)

    def read(self, path: str, count: int, watch: Watch) -> bytes:
        """The first bytes of a file; raises ``OSError``.

        Closing a file here would drop the locks on it that connections of the program's own to SQLite hold.
        """
        _, head, code, words = self.ask(("read", os.fsencode(os.path.abspath(path)), count), watch)
        if not isinstance(head, bytes):
            raise OSError(code, words)
        return head

    def kill(self) -> None:
        """End the process at once, without waiting until the system has taken it down."""
        if not self.lost:
            self.abandon()
            self._process.kill()
            _ending.append(self._process)

    def abandon(self) -> None:
        """Let go of the process, which ends when all who held it have."""
        self.lost = True
        self._socket.close()
        self._life.close()

    def _exchange(self, order: Sequence[Any], watch: Watch, may_read: MayRead | None) -> Reply:
        if self._pending:  # more than the reply to the order before
            raise WorkerLostError
        self._send(order, watch)
        rows: list[Any] = []
        remaining = held_bytes(watch.limits)
        while True:
            body = self._receive(watch, remaining)
            remaining -= len(body)
            reply = _decoded(body)
            if reply[0] == "rows":
                rows += reply[1]
                if watch.stop():
                    raise WorkerLostError
            elif reply[0] == "ask":
                self._send(_allows(may_read, reply[1:]), watch)
            elif rows and reply[0] == "done":
                return ("done", reply[1], rows + reply[2], *reply[3:])
            else:
                return reply

    def _send(self, message: Any, watch: Watch) -> None:
        body = marshal.dumps(message, MARSHAL_VERSION)
        unsent = memoryview(len(body).to_bytes(HEADER_BYTES, "little") + body)
        while unsent:
            try:
                unsent = unsent[self._socket.send(unsent) :]
            except BlockingIOError:
                if watch.stop():
                    raise WorkerLostError from None
            except OSError:
                raise WorkerLostError(again=self._answered) from None

    def _receive(self, watch: Watch, most: int) -> memoryview:
        """The next message, which may have so many bytes."""
        data = self._pending or self._some(watch)
        while len(data) < HEADER_BYTES:
            data += self._some(watch)
        size = int.from_bytes(data[:HEADER_BYTES], "little")
        if size > most:
            raise WorkerLostError
        self._pending = data[HEADER_BYTES + size :]
        body = memoryview(data)[HEADER_BYTES : HEADER_BYTES + size]
        if len(body) == size:
            return body
        return self._rest(body, size, watch)

    def _rest(self, begun: memoryview, size: int, watch: Watch) -> memoryview:
        whole = memoryview(bytearray(size))
        whole[: len(begun)] = begun
        received = len(begun)
        while received < size:
            part = self._some(watch, min(_LARGE_BYTES, size - received))
            whole[received : received + len(part)] = part
            received += len(part)
            if watch.stop():
                raise WorkerLostError
        return whole

    def _some(self, watch: Watch, most: int = _RECEIVE_BYTES) -> bytes:
        patience = time.perf_counter() + SPIN_SECONDS
        while True:
            spinning = time.perf_counter() < patience
            try:
                data = self._socket.recv(most, socket.MSG_DONTWAIT if spinning else 0)
            except BlockingIOError:
                if spinning:
                    os.sched_yield()
                elif watch.stop():
                    raise WorkerLostError from None
                continue
            except OSError:
                data = b""
            if not data:
                raise WorkerLostError(again=self._answered)
            return data


def held_bytes(limits: Limits) -> int:
    """What the rows of a result may take here; room for the cells that the limits allow, however they are held."""
    return max(HELD_BYTES, 5 * limits.bytes)


def _decoded(body: memoryview) -> Reply:
    try:
        reply = marshal.loads(body)  # noqa: S302 - holds values only, and of a process that runs our code
    except (EOFError, ValueError, TypeError):
        raise WorkerLostError from None
    if not isinstance(reply, tuple) or not reply or reply[0] not in _KINDS:
        raise WorkerLostError
    return reply


def _allows(may_read: MayRead | None, column: Reply) -> bool:
    """What the worker is told of a column: no, unless somebody says yes."""
    try:
        return may_read is not None and may_read(*column) is True
    except Exception:
        return False


def result_of(reply: Reply, watch: Watch) -> Result:
    """The result that a reply to a query stands for."""
    if reply[0] == "failed":
        return failed(reply[3], reply[4], watch)
    return Result(reply[1], tuple(reply[2]), reply[3], seconds=watch.seconds)


_workers: Final[weakref.WeakSet[Worker]] = weakref.WeakSet()
_ending: Final[list[Process]] = []


def reap(seconds: float = 0.0) -> None:
    """Take note of processes that have ended; wait so long for those that have not yet."""
    ending = _ending[:]
    for process in ending:
        with contextlib.suppress(subprocess.TimeoutExpired, ValueError):  # another thread took note of it first
            process.wait(seconds)
            _ending.remove(process)


def _forget() -> None:
    """In a forked process, let go of the workers, which are the other's."""
    _ending.clear()
    for worker in list(_workers):
        worker.abandon()
    _workers.clear()


os.register_at_fork(after_in_child=_forget)


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
    command = [sys.executable, "-I", "-S", "-c", sqlite_worker.COMMAND, PACKAGE]
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

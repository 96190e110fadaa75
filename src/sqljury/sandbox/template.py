"""The process that children are forked from: pandas is loaded, no written code has ever run in it.

Orders come on a socket, each with the four descriptors of one run: the job, the reply, what is printed, and the leash.
On the leash the status goes back when the child has ended; a byte on it, or its end, ends the child.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from sqljury.parallel.bare import BARE, PACKAGE
from sqljury.sandbox.lockdown import isolate, limit

ORDER: Final = struct.Struct("=QQ")
"""Processor seconds and bytes of memory of one run."""

STATUS: Final = struct.Struct("=i")
"""How the child ended, as ``waitpid`` has it."""

DESCRIPTORS: Final = 4
_TRIAL_MEMORY: Final = 256 * 1024**2


def arguments(control: int, unisolated: bool, paths: Sequence[str]) -> list[str]:
    """The command line that starts this module in a Python without the user's start-up files."""
    code = (
        f"import json, sys; sys.path[:] = json.loads(sys.argv[3]); {BARE}; "
        "from sqljury.sandbox.template import main; main(int(sys.argv[1]), sys.argv[2] == '1')"
    )
    words = [str(control), "1" if unisolated else "0", json.dumps(list(paths)), PACKAGE]
    return [sys.executable, "-I", "-c", code, *words]


def main(control: int, unisolated: bool) -> None:
    """Say whether the walls hold here, then serve until the socket ends, as it does with who started this."""
    with socket.socket(fileno=control) as orders:
        walls: Sequence[str] = ()
        reason = ""
        try:
            from sqljury.sandbox import preload, worker  # noqa: F401

            kept = preload.load()
            walls = _trial()
        except (OSError, ImportError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        orders.sendall(json.dumps({"walls": walls, "reason": reason}).encode() + b"\n")
        if not walls and not unisolated:
            return
        _Template(orders, isolated=bool(walls)).serve()
        del kept


def _trial() -> list[str]:
    """Have a child put up the walls; their names. Raises ``OSError`` with its reason when they do not stand."""
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if not pid:
        os.write(writer, json.dumps(_attempt(parent)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    walls, reason = json.loads(text) if text else ([], "the process that tried it ended")
    if not walls:
        raise OSError(reason)
    return list(walls)


def _attempt(parent: int) -> tuple[Sequence[str], str]:
    try:
        limit(1, _TRIAL_MEMORY)
        return isolate(parent), ""
    except Exception as error:  # whatever it is, it is a reason not to run anything
        return (), getattr(error, "strerror", None) or str(error)


@dataclass(slots=True)
class _Template:
    orders: socket.socket
    isolated: bool
    children: dict[int, int] = field(default_factory=dict)
    """The leash of each running child, by its number."""

    def serve(self) -> None:
        """Until the socket ends; then every child is ended, too."""
        ended, wake = socket.socketpair()
        for end in (ended, wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        with selectors.DefaultSelector() as ready:
            ready.register(self.orders, selectors.EVENT_READ)
            ready.register(ended, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fileobj is self.orders:
                        if not self._start(ready):
                            return self._end_all()
                    elif key.fileobj is ended:
                        with contextlib.suppress(BlockingIOError):
                            ended.recv(4096)
                        self._reap(ready)
                    elif key.data in self.children:
                        os.kill(key.data, signal.SIGKILL)
                        ready.unregister(key.fileobj)

    def _start(self, ready: selectors.BaseSelector) -> bool:
        """Fork a child for the next order; False when no more will come."""
        order, given, _, _ = socket.recv_fds(self.orders, ORDER.size, DESCRIPTORS)
        if len(order) != ORDER.size or len(given) != DESCRIPTORS:
            return False
        *ends, leash = given
        parent = os.getpid()
        with contextlib.suppress(OSError):  # no process can be started: the leash ends without a status
            pid = os.fork()
            if not pid:
                cpu_seconds, memory = ORDER.unpack(order)
                _child(ends, cpu_seconds, memory, parent if self.isolated else None)
            self.children[pid] = leash
            ready.register(leash, selectors.EVENT_READ, pid)
            leash = -1
        for end in (*ends, leash):
            if end >= 0:
                os.close(end)
        return True

    def _reap(self, ready: selectors.BaseSelector) -> None:
        while self.children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            leash = self.children.pop(pid)
            with contextlib.suppress(KeyError, ValueError):
                ready.unregister(leash)
            with contextlib.suppress(OSError):
                os.write(leash, STATUS.pack(status))
            os.close(leash)

    def _end_all(self) -> None:
        for pid in self.children:
            os.kill(pid, signal.SIGKILL)


def _child(ends: Sequence[int], cpu_seconds: int, memory: int, parent: int | None) -> NoReturn:
    """In the new process: keep its own descriptors alone, put up the walls, serve one job, end."""
    code = 1
    try:
        from sqljury.sandbox import worker

        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        job, reply, printed = _only(ends)
        limit(cpu_seconds, memory)
        if parent is not None:
            isolate(parent)
        worker.serve(job, reply, printed)
        code = 0
    finally:
        os._exit(code)


def _only(ends: Sequence[int]) -> tuple[int, int, int]:
    """Close every descriptor but these three, which become 0, 3 and 1 (and 2, errors being printed too)."""
    high = [os.dup2(end, 100 + number, inheritable=False) for number, end in enumerate(ends)]
    for end, at in zip(high, (0, 3, 1), strict=True):
        os.dup2(end, at)
    os.dup2(1, 2)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    return 0, 3, 1

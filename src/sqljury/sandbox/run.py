"""Runs written code behind walls, each run in a process of its own that is forked from a warm one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from sqljury.errors import MissingExtraError, SandboxError
from sqljury.resources import Closing
from sqljury.sandbox import reply, template, worker
from sqljury.sandbox.values import Kind, SandboxLimits, SandboxResult
from sqljury.types import QueryFailure, Result

if TYPE_CHECKING:
    import pyarrow as pa

_START_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 2.0
"""How long the template may take to end a child before it is ended itself, and all its children with it."""

_CHUNK: Final = 1 << 16
_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH",)
_ENVIRONMENT: Final = {
    "TZ": "UTC",
    "LANG": "C.UTF-8",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
"""No threads, which the walls would stop; one clock for all; memory taken from the system as it is needed."""


class UnisolatedWarning(UserWarning):
    """Written code runs with all that the user may do."""


class Sandbox(Closing):
    """A warm process from which every run is forked; use it as a context, from as many threads as wanted.

    Raises ``SandboxError`` where written code cannot be isolated, unless ``allow_unisolated``: then it runs in a
    process of its own and nothing more, and an ``UnisolatedWarning`` says so.
    Raises ``MissingExtraError`` without the extra.
    """

    def __init__(self, *, allow_unisolated: bool = False) -> None:
        for library in ("pandas", "pyarrow"):
            if find_spec(library) is None:
                raise MissingExtraError(library, "sandbox")
        if not hasattr(os, "fork"):
            raise SandboxError(f"{sys.platform} cannot run written code, isolated or not; use Linux")
        self._unisolated = allow_unisolated
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="sqljury-sandbox-")
        self._walls: tuple[str, ...] = ()
        try:
            self._start()
        except BaseException:
            self._folder.cleanup()
            raise

    @property
    def walls(self) -> tuple[str, ...]:
        """What isolates the runs; empty when nothing does."""
        return self._walls

    def run(
        self, code: str, frames: Mapping[str, pa.Table] | None = None, limits: SandboxLimits | None = None
    ) -> SandboxResult:
        """What ``code`` leaves in ``result``; frames are there by their names, and all in ``tables``.

        Never raises for what the code does. Raises ``SandboxError`` when no process can be started.
        """
        limits = limits or SandboxLimits()
        started = time.monotonic()
        job = worker.pack(code, {name: worker.arrow_stream(table) for name, table in (frames or {}).items()}, limits)
        with contextlib.ExitStack() as held:
            run = self._order(job, limits, held)
            process = self._process
            run.watch(started + limits.seconds)
            if run.status is None and not run.end(_GRACE_SECONDS):
                self._replace(process)
        outcome = run.outcome()
        return replace(outcome, result=replace(outcome.result, seconds=time.monotonic() - started))

    def close(self) -> None:
        """End the warm process, and every run with it."""
        with self._lock:
            self._stop()
            self._folder.cleanup()

    def _start(self) -> None:
        environment = _ENVIRONMENT | {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        paths = [os.path.abspath(path) for path in sys.path]
        self._orders, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                template.arguments(theirs.fileno(), self._unisolated, paths),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=self._folder.name,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        try:
            self._orders.settimeout(_START_SECONDS)
            with self._orders.makefile("rb") as lines:
                answer = json.loads(lines.readline() or b"null")
            self._orders.settimeout(None)
        except (OSError, ValueError):
            answer = None
        if answer is None:
            self._stop()
            raise SandboxError("the process that runs written code did not start; are pandas and pyarrow intact?")
        self._walls = tuple(answer["walls"])
        if not self._walls:
            self._without_walls(answer["reason"])

    def _without_walls(self, reason: str) -> None:
        if not self._unisolated:
            self._stop()
            raise SandboxError(
                f"written code cannot be isolated here ({reason}), so it is not run; "
                "use Linux with seccomp, or allow_unisolated=True if whoever wrote it may do all that you may"
            )
        message = f"written code runs WITHOUT isolation ({reason}): it may read, change and send all that you may"
        warnings.warn(message, UnisolatedWarning, stacklevel=4)

    def _stop(self) -> None:
        self._orders.close()
        self._process.kill()
        self._process.wait()

    def _replace(self, silent: subprocess.Popen[bytes]) -> None:
        """Start anew, because this process no longer answers; another thread may have done so already."""
        with self._lock:
            if self._process is silent:
                self._stop()
                self._start()

    def _send(self, order: bytes, ends: list[int]) -> None:
        """Give an order to the warm process, to a new one if it is gone."""
        with self._lock:
            try:
                socket.send_fds(self._orders, [order], ends)
            except (BrokenPipeError, ConnectionResetError):
                self._stop()
                self._start()
                socket.send_fds(self._orders, [order], ends)

    def _order(self, job: bytes, limits: SandboxLimits, held: contextlib.ExitStack) -> _Run:
        """Have a child forked for this job; ``held`` closes what it is reached by."""
        ours: list[io.FileIO] = []  # closed once each, for another thread may get the number next
        theirs: list[int] = []
        try:
            for writes in (True, False, False):
                reader, writer = os.pipe()
                theirs.append(reader if writes else writer)
                ours.append(held.enter_context(io.FileIO(writer, "w") if writes else io.FileIO(reader)))
            leash, child_end = socket.socketpair()
            held.callback(leash.close)
            theirs.append(child_end.detach())
            self._send(template.ORDER.pack(limits.cpu_seconds, limits.memory), theirs)
        except OSError as error:
            raise SandboxError(f"no process for written code: {error.strerror or error}; try again") from None
        finally:
            for end in theirs:
                os.close(end)
        for end_of_ours in ours:
            os.set_blocking(end_of_ours.fileno(), False)
        job_end, reply_end, printed_end = ours
        return _Run(limits, memoryview(job), job_end, reply_end, printed_end, leash)


class Warm:
    """Holds at most one ``Sandbox``; calling it opens it, from any thread.

    The sandbox is closed with ``close``, else when this holder goes or the program ends. A closed holder opens anew
    if it is called again. A copy in another process has a sandbox of its own.
    """

    def __init__(self, *, allow_unisolated: bool = False) -> None:
        self._unisolated = allow_unisolated
        self._lock = threading.Lock()
        self._opened: list[Sandbox] = []
        self._end = weakref.finalize(self, _close, self._opened)

    def __call__(self) -> Sandbox:
        """The sandbox; raises what ``Sandbox`` raises, each time."""
        with self._lock:
            if not self._opened:
                self._opened.append(Sandbox(allow_unisolated=self._unisolated))
            return self._opened[0]

    def close(self) -> None:
        """End the warm process, if there is one."""
        with self._lock:
            _close(self._opened)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Warm, allow_unisolated=self._unisolated), ()


def _close(opened: list[Sandbox]) -> None:
    while opened:
        opened.pop().close()


def run(code: str, frames: Mapping[str, pa.Table] | None = None, limits: SandboxLimits | None = None) -> SandboxResult:
    """One run in a sandbox of its own, which takes a second or two to start; for more, keep a ``Sandbox``."""
    with Sandbox() as sandbox:
        return sandbox.run(code, frames, limits)


@dataclass(slots=True, eq=False)
class _Run:
    """One run as its watcher sees it: what is still to be sent, what came, and why it was ended."""

    limits: SandboxLimits
    job: memoryview
    job_end: io.FileIO
    reply_end: io.FileIO
    printed_end: io.FileIO
    leash: socket.socket
    replied: bytearray = field(default_factory=bytearray)
    printed: bytearray = field(default_factory=bytearray)
    printed_size: int = 0
    status: int | None = None
    stopped: Kind | None = None

    def watch(self, deadline: float) -> None:
        """Send the job and take what comes, until all is closed, a limit is passed or ``deadline`` (monotonic)."""
        with selectors.DefaultSelector() as ready:
            ready.register(self.job_end, selectors.EVENT_WRITE, self._send)
            ready.register(self.reply_end, selectors.EVENT_READ, self._take_reply)
            ready.register(self.printed_end, selectors.EVENT_READ, self._take_printed)
            ready.register(self.leash, selectors.EVENT_READ, self._take_status)
            while ready.get_map() and self.stopped is None:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    self.stopped = "time"
                    return
                for key, _ in ready.select(remaining):
                    if not key.data():
                        ready.unregister(key.fileobj)
                        if key.fileobj is self.job_end:
                            self.job_end.close()  # the child reads until then

    def _send(self) -> bool:
        try:
            self.job = self.job[os.write(self.job_end.fileno(), self.job[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:  # it ended without reading to the end; its status will say why
            self.job = self.job[:0]
        return bool(self.job)

    def _take_reply(self) -> bool:
        part = os.read(self.reply_end.fileno(), _CHUNK)
        self.replied += part
        if len(self.replied) > self.limits.reply + worker.HEAD.size:
            self.stopped = "output"
        return bool(part)

    def _take_printed(self) -> bool:
        part = os.read(self.printed_end.fileno(), _CHUNK)
        self.printed_size += len(part)
        room = 4 * self.limits.printed - len(self.printed)  # a character takes at most four bytes
        self.printed += part[: max(0, room)]
        if self.printed_size > self.limits.output:
            self.stopped = "output"
        return bool(part)

    def _take_status(self) -> bool:
        try:
            packed = self.leash.recv(template.STATUS.size)
        except OSError:
            packed = b""
        if len(packed) == template.STATUS.size:
            (self.status,) = template.STATUS.unpack(packed)
        return False

    def end(self, seconds: float) -> bool:
        """Have the child ended; False without a confirmation within ``seconds``."""
        with contextlib.suppress(OSError):
            self.leash.sendall(b"K")
        self.leash.settimeout(seconds)
        self._take_status()
        return self.status is not None

    def outcome(self) -> SandboxResult:
        """What it comes to."""
        stdout = self.printed.decode(errors="replace")[: self.limits.printed]
        kind, result = self._judge()
        return SandboxResult(kind, result, stdout)

    def _judge(self) -> tuple[Kind, Result]:
        if self.stopped == "time":
            return "time", _failed(f"it took longer than {self.limits.seconds:g} s")
        if self.stopped is not None:
            return "output", _failed("it printed or returned too much; return fewer rows or columns")
        if self.status is None:
            return "crash", _failed("no process could be started for it")
        if os.WIFSIGNALED(self.status):
            return self._judge_signal(os.WTERMSIG(self.status))
        if code := os.waitstatus_to_exitcode(self.status):
            return "crash", _failed(f"its process ended with exit code {code} before it gave a result")
        if not self.replied:
            return "crash", _failed("its process ended before it gave a result")
        try:
            return reply.read(self.replied, self.limits)
        except reply.ReplyError as error:
            return "reply", _failed(f"what it sent is no valid reply: {error}")

    def _judge_signal(self, number: int) -> tuple[Kind, Result]:
        if number == getattr(signal, "SIGXCPU", None) or number == signal.SIGKILL:
            return "time", _failed(f"it took more than {self.limits.cpu_seconds} s of processor time, or was killed")
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        return "crash", _failed(f"its process was ended by {name}")


def _failed(message: str) -> Result:
    return Result(error=QueryFailure("code", message))

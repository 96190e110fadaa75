"""llama.cpp in this process: loading, one streamed call, and the state of its slots."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import secrets
import shutil
import signal
import socket
import stat
import tempfile
import threading
import warnings
import weakref
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqljury.errors import CancelledError, ModelError, WeightsError

T = TypeVar("T")

PROMPT_BATCH = 256
"""Prompt tokens read between two looks at whether the call was cancelled."""

PATIENCE_SECONDS = 0.3
"""How long a call that was given up is waited for."""

UNFINISHED = ".tmp"
"""How the name of a state ends while it is written."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to load the weights; ``states`` is the folder to keep prompt states in, if it is a private one.

    ``adapters`` are loaded with them, and are off until a request turns one on.
    """

    weights: Path
    slots: int
    context: int
    threads: int
    states: Path
    adapters: tuple[Path, ...] = ()


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def library() -> Any:
    """The llama.cpp binding; slim systems lack the OpenMP library that it is linked to."""
    try:
        import xllamacpp
    except ImportError as error:
        package = "; install the package libgomp1 (libgomp on Red Hat)" if "libgomp" in str(error) else ""
        raise ModelError(f"the embedded model's library xllamacpp cannot be loaded: {error}{package}") from error
    return xllamacpp


def version() -> str:
    """The version of the llama.cpp binding, which kept states depend on."""
    from importlib.metadata import version as installed

    return installed("xllamacpp")


class Engine:
    """Loaded weights.

    llama.cpp's own server answers on a Unix socket in a folder that only this user can enter, so no port is opened;
    where Python has no Unix sockets it listens on loopback. Either way it wants a random key. ``states`` is where
    prompt states are kept: the folder that was asked for, or one that ends with the engine, with a warning.
    """

    def __init__(self, options: Options) -> None:
        # Threads that wait by spinning, as libgomp's do for milliseconds, starve whatever else runs on the machine and
        # with it this process; those that sleep at once wake too slowly for a token. So they spin, but briefly.
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
        xllamacpp = library()
        self._folder = Path(tempfile.mkdtemp(prefix="sqljury-"))
        self._cleanup = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._key = secrets.token_urlsafe(32)
        self.options = options
        self.states = _states(options.states, self._folder)
        params = xllamacpp.CommonParams()
        params.model.path = str(options.weights)
        params.lora_adapters = [_adapter(file) for file in options.adapters]
        params.n_parallel = options.slots
        params.n_ctx = options.context
        params.kv_unified = True
        params.n_batch = PROMPT_BATCH
        params.cpuparams.n_threads = options.threads
        params.cpuparams_batch.n_threads = options.threads
        params.cache_ram_mib = 0
        params.slot_save_path = f"{self.states}{os.sep}"
        params.warmup = False
        params.ui = False
        params.verbosity = -1
        params.api_keys = [self._key]
        unix = hasattr(socket, "AF_UNIX")
        params.hostnames = [str(self._folder / "llama.sock") if unix else "127.0.0.1"]
        try:
            self._server = _started(params)
        except Exception as error:
            self._cleanup()
            files = " with ".join(map(str, (options.weights, *options.adapters)))
            raise WeightsError(f"llama.cpp could not load {files}: {error}") from error

    def stream(self, body: dict[str, Any], cancel: threading.Event | None) -> Generator[dict[str, Any], None, None]:
        """The chunks of one chat completion; closing the iterator, or setting ``cancel``, ends the work."""
        chunks: queue.SimpleQueue[dict[str, Any] | BaseException | None] = queue.SimpleQueue()
        stop = threading.Event()

        def receive(chunk: dict[str, Any]) -> bool:
            chunks.put(chunk)
            return stop.is_set()

        def work() -> None:
            try:
                self._server.handle_chat_completions(request, receive)
                chunks.put(None)
            except BaseException as error:
                chunks.put(error)

        request = {**body, "stream": True, "return_progress": True, "stream_options": {"include_usage": True}}
        worker = threading.Thread(target=work, name="llama.cpp", daemon=True)
        worker.start()
        try:
            while (chunk := _next(chunks, cancel)) is not None:
                if isinstance(chunk, BaseException):
                    raise ModelError(f"llama.cpp failed: {chunk}") from chunk
                yield chunk
        finally:
            stop.set()
            worker.join(PATIENCE_SECONDS)  # a later call waits for the slot, if this one is still reading its prompt

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One request to llama.cpp's own server; raises ``ModelError`` unless it succeeds."""
        status, reply = self._request(path, body)
        if status != http.HTTPStatus.OK:
            raise ModelError(f"llama.cpp answered {path} with status {status}: {reply.get('error', reply)}")
        return reply

    def save(self, slot: int, file: Path) -> None:
        """Keep the state of ``slot`` as ``file`` in the folder of states; raises ``ModelError`` or ``OSError``."""
        unfinished = file.with_suffix(f".{secrets.token_hex(8)}{UNFINISHED}")  # others may be saving the same
        try:
            self.post(f"/slots/{slot}?action=save", {"filename": unfinished.name})
            os.replace(unfinished, file)
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise

    def restore(self, slot: int, file: Path) -> bool:
        """Load the state of ``slot`` from ``file``; False when llama.cpp does not accept it."""
        status, _ = self._request(f"/slots/{slot}?action=restore", {"filename": file.name})
        return status == http.HTTPStatus.OK

    def forget(self) -> None:
        """Clear every slot."""
        for slot in range(self.options.slots):
            self.post(f"/slots/{slot}?action=erase", {})

    def close(self) -> None:
        """Free the weights and remove the private folder."""
        del self._server
        self._cleanup()

    def _request(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        connection = _connection(self._server.listening_address)
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, ValueError) as error:
            raise ModelError(f"llama.cpp did not answer {path}: {error}") from error
        finally:
            connection.close()


def _adapter(file: Path) -> Any:
    xllamacpp = library()
    info = xllamacpp.CommonAdapterLoraInfo()
    info.path, info.scale = str(file), 0.0
    return info


def _started(params: Any) -> Any:
    """llama.cpp's server, loaded and running.

    It starts in a thread of its own, with Ctrl-C blocked there and in all threads that it starts: loading takes
    seconds, and a signal that interrupts one of its system calls can leave it waiting for ever.
    """
    xllamacpp = library()
    outcome: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def start() -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            outcome.put(xllamacpp.Server(params))
        except BaseException as error:
            outcome.put(error)

    threading.Thread(target=start, name="llama.cpp", daemon=True).start()
    server = _next(outcome, None)
    if isinstance(server, BaseException):
        raise server
    return server


def _next(chunks: queue.SimpleQueue[T], cancel: threading.Event | None) -> T:
    while True:
        if cancel is not None and cancel.is_set():
            raise CancelledError("stopped while the model was writing")
        try:
            return chunks.get(timeout=0.1)
        except queue.Empty:
            continue


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


def _connection(address: str) -> http.client.HTTPConnection:
    scheme, _, rest = address.partition("://")
    return _UnixConnection(rest) if scheme == "unix" else http.client.HTTPConnection(rest)


def _states(wanted: Path, private: Path) -> Path:
    """``wanted`` where nobody else can enter it, else a folder within ``private``.

    States hold what the prompts held, and one that somebody else has put there would be loaded.
    """
    reason = _unfit(wanted)
    if reason is None:
        return wanted
    warnings.warn(f"known schemas are not kept in {wanted}: {reason}", RuntimeWarning, stacklevel=2)
    instead = private / "states"
    instead.mkdir(mode=0o700)
    return instead


def _unfit(folder: Path) -> str | None:
    """Why states cannot be kept in ``folder``, which is made if need be; None when they can."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.stat()
    except OSError as error:
        return error.strerror
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return "it belongs to another user"
    if os.name == "posix" and status.st_mode & 0o077:
        return f"others can enter it; run: chmod 700 {folder}"
    return None if os.access(folder, os.W_OK | os.X_OK) else "it cannot be written"

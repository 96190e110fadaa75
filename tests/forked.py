"""The program in processes forked from one that has imported it, which start in a tenth of the time.

``serve`` waits at a Unix socket. ``SHIM``, as an executable in the place of the program, hands over its arguments,
environment, folder, input and outputs; a fork runs the command with them. Signals, the exit code and the end of the
shim are passed on. ``python forked.py SOCKET`` serves ``sqljury``, and ``told``: the same with a first argument that
is all its model says.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

SHIM = """#!{python} -IS
import json, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
line.connect({socket!r})
given = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(line, [given], [0, 1, 2])
process = int(line.recv(32))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: os.kill(process, number))
sys.exit(int(line.recv(32)))
"""
ROOT = Path(__file__).resolve().parents[1]
LATER = (
    "numpy",
    "rapidfuzz.fuzz",
    "rich.console",
    "rich.markup",
    "rich.table",
    "sqlglot.dialects",
    "sqlglot.optimizer",
)
"""What commands import only once they need it."""

Run = Callable[[str, list[str]], None]
"""Runs the program of this name with these arguments, and may exit."""


class Programs:
    """``script`` at work, which calls ``serve``; ``folder`` gets an executable for each of its programs."""

    def __init__(self, folder: Path, place: Path, script: str, names: Sequence[str]) -> None:
        self.folder = folder
        folder.mkdir()
        for name in names:
            file = folder / name
            file.write_text(SHIM.format(python=sys.executable, socket=str(place)))
            file.chmod(0o755)
        paths = (ROOT / "src", ROOT / "tests", Path(script).parent)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, script, str(place)], env=environment, stdin=pipe, stdout=pipe, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def preload() -> None:
    """Import here, once, what every fork would import."""
    import sqljury
    from sqljury.cli import _command, app

    for module in pkgutil.walk_packages(sqljury.__path__, "sqljury."):
        if not re.search(r"\.train\.|__main__|vllm|anthropic|openai|gemini", module.name):
            importlib.import_module(module.name)
    for name in LATER:
        importlib.import_module(name)
    for known in (*app.registered_commands, *app.registered_groups):
        _command(known.name)  # reads their signatures
    gc.freeze()


def serve(place: str, run: Run) -> None:
    """Have ``run`` called in a fork for each shim, until standard input ends, as it does with who started this."""
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    waiting.bind(place)
    waiting.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while 0 not in select.select([waiting, 0], [], [])[0]:
        line, _ = waiting.accept()
        if os.fork() == 0:
            waiting.close()
            _answer(line, run)
        line.close()


def _answer(line: socket.socket, run: Run) -> None:
    """Run what is asked, in a further fork, and say how it ended; it ends with the shim."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked, handed, *_ = socket.recv_fds(line, 1 << 20, 3)
    (program, *arguments), folder, environment = json.loads(asked)
    process = os.fork()
    if process:
        for descriptor in handed:
            os.close(descriptor)
        line.send(str(process).encode())
        ended = os.pidfd_open(process)
        if ended not in select.select([ended, line], [], [])[0]:
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        with contextlib.suppress(OSError):
            line.send(str(os.waitstatus_to_exitcode(status) % 256).encode())
        os._exit(0)
    line.close()
    for number, descriptor in enumerate(handed):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    run(os.path.basename(program), arguments)
    sys.exit(0)


def _sqljury(program: str, arguments: list[str]) -> None:
    from sqljury import FakeModel
    from sqljury.cli import main
    from sqljury.llm import open as opening

    if program == "told":
        model = FakeModel(arguments.pop(0))
        opening._bare = lambda name, _together: model
    sys.argv = ["sqljury", *arguments]
    main()


if __name__ == "__main__":
    preload()
    serve(sys.argv[1], _sqljury)

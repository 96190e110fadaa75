"""Run the program for the commands of the documentation, each in a process of its own, importing it once.

``python docs_program.py SOCKET`` waits at a Unix socket. ``SHIM``, as an executable ``sqljury`` or ``python`` on the
path of a shell, hands over its arguments, environment, folder, input and outputs; a fork runs the command with them.
Models, whatever their names, answer as ``docs_world`` says; nothing else is replaced.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import signal
import socket
import sys

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


def main() -> None:
    from docs_world import model

    import sqljury
    from sqljury.llm import open as opening
    from sqljury.llm.base import NoModel

    for module in pkgutil.walk_packages(sqljury.__path__, "sqljury."):
        if not re.search(r"\.train\.|__main__|vllm|anthropic|openai|gemini", module.name):
            importlib.import_module(module.name)  # here once, and in no fork
    gc.freeze()
    opening._bare = lambda spec, _together: NoModel() if spec == NoModel.name else model(spec)
    opening._look_for = lambda spec: None  # weights
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    waiting.bind(sys.argv[1])
    waiting.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        line, _ = waiting.accept()
        if os.fork() == 0:
            waiting.close()
            answer(line)
        line.close()


def answer(line: socket.socket) -> None:
    """Run what is asked, in a further fork, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked, handed, *_ = socket.recv_fds(line, 1 << 20, 3)
    (program, *arguments), folder, environment = json.loads(asked)
    process = os.fork()
    if process:
        line.send(str(process).encode())
        _, status = os.waitpid(process, 0)
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
    from sqljury.cli import main as run

    if os.path.basename(program) == "sqljury":
        sys.argv = ["sqljury", *arguments]
        run()
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    sys.exit(0)


if __name__ == "__main__":
    main()

"""The command line as a process: how tests begin it, and what it ended with."""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import forked

Start = Callable[..., "subprocess.Popen[str]"]
"""What the fixture ``start`` returns."""

PATIENCE: Final = 600
"""Seconds after which a command hangs; a slow machine needs minutes for what takes seconds elsewhere."""

ALONE: Final = """
import sys
from sqljury import FakeModel
from sqljury.cli import main
from sqljury.llm import open as opening
model = FakeModel(sys.argv[1])
opening._bare = lambda name, _together: model
sys.argv = ["sqljury", *sys.argv[2:]]
main()
"""
"""``told`` in a Python of its own."""


def sqljury(*arguments: object) -> list[str]:
    """The words that begin the program, in a process that need not import it first."""
    begin = [str(_programs() / "sqljury")] if _forks() else [sys.executable, "-m", "sqljury"]
    return [*begin, *map(str, arguments)]


def told(says: str, *arguments: object) -> list[str]:
    """The same, on a model that always answers ``says``."""
    begin = [str(_programs() / "told")] if _forks() else [sys.executable, "-c", ALONE]
    return [*begin, says, *map(str, arguments)]


def _forks() -> bool:
    return sys.platform == "linux"


@cache
def _programs() -> Path:
    """The folder of the programs, which are there until this process ends."""
    folder = tempfile.TemporaryDirectory()  # a socket's path must be short
    running = forked.Programs(
        Path(folder.name, "bin"), Path(folder.name, "socket"), forked.__file__, ("sqljury", "told")
    )
    atexit.register(folder.cleanup)
    atexit.register(running.close)
    return running.folder


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote to stdout and to stderr."""
    out, error = process.communicate(timeout=PATIENCE)
    return process.returncode, out, error

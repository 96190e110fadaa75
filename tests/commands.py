"""The command line as a process: how tests begin it, and what it ended with."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Final

Start = Callable[..., "subprocess.Popen[str]"]
"""What the fixture ``start`` returns."""

PATIENCE: Final = 600
"""Seconds after which a command hangs; a slow machine needs minutes for what takes seconds elsewhere."""


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote to stdout and to stderr."""
    out, error = process.communicate(timeout=PATIENCE)
    return process.returncode, out, error

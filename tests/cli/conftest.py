"""The command line as a process, with the real model or with one that says what it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Start

PROGRAM = """
import sys
from sqljury import FakeModel
from sqljury.cli import main
from sqljury.llm import open as opening
model = FakeModel(sys.argv[1])
opening._bare = lambda name, _together: model
sys.argv = ["sqljury", *sys.argv[2:]]
main()
"""


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Begin ``sqljury`` with these arguments, on a model that always answers ``says``."""

    def begin(says: str, *arguments: str, **options: object) -> subprocess.Popen[str]:
        environment = {**os.environ, "SQLJURY_CACHE": str(tmp_path / "cache"), **options.pop("env", {})}  # type: ignore[dict-item]
        defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
        command = [sys.executable, "-c", PROGRAM, says, *arguments]
        return subprocess.Popen(command, **{**defaults, **options})  # type: ignore[call-overload, no-any-return]

    return begin


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """A database with content that would like to steer terminals."""
    import sqlite3

    path = tmp_path / "zoo.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE animal (id INTEGER PRIMARY KEY, name TEXT, photo BLOB)")
        rows = [(1, "ant", None), (2, "be\x1b[31mar\n\t[/x] :dog:", bytes(range(40))), (3, "żuk\r", None)]
        connection.executemany("INSERT INTO animal VALUES (?, ?, ?)", rows)
    connection.close()
    return path

"""The command line as a process, with the real model or with one that says what it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import ALONE, Start, told


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Begin ``sqljury`` with these arguments, on a model that always answers ``says``."""
    return _begins(tmp_path, told)


@pytest.fixture
def start_alone(tmp_path: Path) -> Start:
    """The same in a Python of its own, for what depends on how one starts and ends."""
    return _begins(tmp_path, lambda *words: [sys.executable, "-c", ALONE, *words])


def _begins(folder: Path, words: Callable[..., list[str]]) -> Start:
    def begin(says: str, *arguments: str, **options: object) -> subprocess.Popen[str]:
        environment = {**os.environ, "SQLJURY_CACHE": str(folder / "cache"), **options.pop("env", {})}  # type: ignore[dict-item]
        defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
        return subprocess.Popen(words(says, *arguments), **{**defaults, **options})  # type: ignore[call-overload, no-any-return]

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

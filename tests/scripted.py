"""A SQLite file made by a script."""

from __future__ import annotations

import sqlite3
from pathlib import Path


def database(file: Path, script: str) -> Path:
    """The file, written and closed."""
    with sqlite3.connect(file) as connection:
        connection.executescript(script)
    connection.close()
    return file

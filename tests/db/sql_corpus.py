"""The files of statements beside the tests."""

from __future__ import annotations

from pathlib import Path


def statements(name: str) -> list[str]:
    """The statements of a corpus file: one a line, ``⏎`` for a line break in it, ``-- `` before a heading."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line and ("⏎" in line or not line.startswith("-- "))]

"""A cache for each test."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for each test."""
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "values"

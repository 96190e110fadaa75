"""The documentation builds as a site without a warning, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_site(tmp_path: Path) -> None:
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr  # with --quiet, --strict counts no warnings
    pages = {
        path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")
    }
    assert "--min-confidence" in pages["reference/cli.html"]
    assert "sqljury train export" in pages["reference/cli.html"]
    assert "A database, a recipe and its models" in pages["reference/python.html"]
    assert "PrivacyError" in pages["reference/python.html"]
    loaded = [
        (name, url)
        for name, page in pages.items()
        for url in re.findall(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="((?:https?:)?//[^"]+)"', page)
        if 'rel="canonical"' not in url
    ]
    assert loaded == []

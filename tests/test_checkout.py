"""What happens on machines that are not this one: a bare checkout, a Python without venv, a demo that is stopped."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MARKED = """
import pytest

@pytest.mark.shared
def test_shared():
    raise AssertionError

@pytest.mark.weights
def test_weights():
    raise AssertionError

@pytest.mark.train
def test_train():
    raise AssertionError
"""
WITHOUT_TRAINING = "import sys\nsys.modules['torch'] = None\n"


@pytest.mark.parametrize(("ci", "outcome"), [("true", "2 failed, 1 skipped"), ("", "3 skipped")])
def test_a_bare_checkout_skips_shared_always_and_the_rest_at_home(tmp_path: Path, ci: str, outcome: str) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "tests").mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", checkout)
    for name in ("conftest.py", "servers.py"):
        shutil.copy(ROOT / "tests" / name, checkout / "tests")
    (checkout / "tests" / "test_marked.py").write_text(MARKED)
    (checkout / "conftest.py").write_text(WITHOUT_TRAINING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=checkout,
        env={**os.environ, "CI": ci, "SQLJURY_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in done.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_adapters_of_the_package_are_kept_and_weights_are_not(tmp_path: Path) -> None:
    """What git ignores is left out of the package too."""
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    asked = ["git", "check-ignore", "model.gguf", "src/sqljury/adapters/own.gguf", "src/sqljury/own.gguf"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["model.gguf", "src/sqljury/own.gguf"]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_a_python_without_venv_leaves_nothing_broken(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\nmkdir -p .venv/bin && touch .venv/bin/python && exit 1\n')
    python.chmod(0o755)
    make = ["make", "-f", str(ROOT / "Makefile"), ".venv/bin/python", f"PYTHON={python}"]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "apt install python3-venv" in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_ctrl_c_in_the_demo_is_left_to_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    found = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    assert found is not None
    assert found.loader is not None
    demo = importlib.util.module_from_spec(found)
    found.loader.exec_module(demo)
    stopped = "import os, signal, sys, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(1); sys.exit(130)"
    assert demo.run([sys.executable, "-c", stopped]) == 130
    assert capfd.readouterr().err == ""

"""`benchmarks/runner.py`: the runs that it starts, kills and compares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "runner.py"


def runner(*options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *map(str, options)], capture_output=True, text=True, check=False)


def test_a_run_that_was_killed_has_the_answers_of_one_that_was_not(data: Path) -> None:
    ended = runner("kills", "--data", data, "--limit", 3, "--kills", 1, "--recipe", "fast")
    assert ended.returncode == 0, ended.stderr
    assert "1 kills; the last start ended with 0" in ended.stdout
    assert "results 3, of different questions 3" in ended.stdout
    assert "the same answers as a run that nobody stopped: yes" in ended.stdout


def test_a_run_that_fails_is_said(tmp_path: Path) -> None:
    ended = runner("kills", "--data", tmp_path / "nosuch", "--limit", 3, "--kills", 1)
    assert ended.returncode == 1
    assert "the run that nobody stops ended with exit code" in ended.stderr

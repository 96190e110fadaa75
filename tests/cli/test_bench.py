"""`sqljury bench` and `sqljury eval` as processes, on the smallest real model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SQLJURY = Path(sys.executable).with_name("sqljury")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "spider"


def sqljury(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SQLJURY_CACHE": str(cache)}
    return subprocess.run(
        [str(SQLJURY), *arguments], capture_output=True, text=True, env=environment, timeout=300, check=False
    )


@pytest.mark.weights
@pytest.mark.shared
def test_a_run_is_made_continued_and_judged(cached_weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench = ("bench", "spider", "--data", str(SHARED), "--out", str(out), "--recipe", "fast", "--seed", "7")
    bench = (*bench, "--model", "smollm2-135m", "--limit", "2")
    done = sqljury(*bench, cache=cached_weights)
    assert done.returncode == 0, done.stderr
    assert "2/2" in done.stderr
    again = sqljury(*bench, cache=cached_weights)
    assert "has 2 of 2 answers; going on" in again.stderr
    per_query = tmp_path / "lines.tsv"
    judged = sqljury("eval", str(out), "--output", "json", "--per-query", str(per_query), cache=cached_weights)
    figures = json.loads(judged.stdout)
    assert figures["questions"] == 2
    assert figures["run"]["recipe"]["name"] == "fast"
    header, *lines = per_query.read_text().splitlines()
    assert header.split("\t") == ["id", "db_id", "hardness", "ex", "exe", "seconds", "reason"]
    assert len(lines) == 2
    table = sqljury("eval", str(out), cache=cached_weights)
    assert "EX, DISTINCT dropped" in table.stdout


def test_eval_of_nothing(tmp_path: Path) -> None:
    done = sqljury("eval", str(tmp_path), cache=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sqljury: ")
    assert "is no run" in done.stderr


def test_bench_without_data(tmp_path: Path) -> None:
    done = sqljury("bench", "spider", "--data", str(tmp_path), "--out", str(tmp_path / "run"), cache=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sqljury: ")
    assert not (tmp_path / "run").exists()

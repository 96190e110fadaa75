"""`sqljury bench` and `sqljury eval` as processes, on the smallest real model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[str]"]
SQLJURY = Path(sys.executable).with_name("sqljury")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "spider"


def sqljury(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SQLJURY_CACHE": str(cache)}
    return subprocess.run(
        [str(SQLJURY), *arguments], capture_output=True, text=True, env=environment, timeout=300, check=False
    )


@pytest.fixture
def spider(zoo: Path, tmp_path: Path) -> Path:
    """A benchmark of one question."""
    data = tmp_path / "data"
    (data / "database" / "zoo").mkdir(parents=True)
    zoo.rename(data / "database" / "zoo" / "zoo.sqlite")
    entry = {"question": "How many animals?", "query": "SELECT count(*) FROM animal", "db_id": "zoo"}
    (data / "dev.json").write_text(json.dumps([entry]))
    return data


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=60)
    return process.returncode, out, error


def test_names_are_no_markup_and_steer_nothing(start: Start, spider: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "[red]x[dim]\x1b[31m.toml"
    recipe.write_text('summary = "mine"')
    out = str(tmp_path / "run")
    bench = ("bench", "spider", "--data", str(spider), "--out", out, "--recipe", str(recipe))
    code, _, error = ended(start("SELECT count(*), '\x1b[31m' FROM animal", *bench))
    assert code == 0, error
    assert "\x1b" not in error
    (tmp_path / "run" / "run.json").write_text((tmp_path / "run" / "run.json").read_text().replace("[dim]", "[/dim]"))
    code, report, error = ended(start("", "eval", out))
    assert code == 0, error
    assert "recipe [red]x[/dim] [31m, model fake" in report
    assert "\x1b" not in report


def test_places_that_cannot_be_written(start: Start, spider: Path, tmp_path: Path) -> None:
    bench = ("bench", "spider", "--data", str(spider), "--recipe", "fast")
    code, _, error = ended(start("SELECT 3", *bench, "--out", "/dev/null/x"))
    assert (code, error.count("\n")) == (2, 1)
    assert "/dev/null/x: a run cannot be kept there" in error
    out = str(tmp_path / "run")
    assert ended(start("SELECT 3", *bench, "--out", out))[0] == 0
    code, _, error = ended(start("", "eval", out, "--per-query", "/dev/null/x.tsv"))
    assert (code, error.count("\n")) == (2, 1)
    assert "/dev/null/x.tsv: cannot be written" in error


def test_runs_that_are_none(start: Start, spider: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    bench = ("bench", "spider", "--data", str(spider), "--recipe", "fast", "--out", str(run))
    assert ended(start("SELECT 3", *bench))[0] == 0
    record, settings = run / "answers.jsonl", run / "run.json"
    for file, text in ((record, "{}\n"), (record, ""), (settings, "[]")):
        file.write_text(text)
        code, out, error = ended(start("", "eval", str(run)))
        assert (code, out, error.count("\n")) == (2, "", 1), error
        assert error.startswith("sqljury: ")


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

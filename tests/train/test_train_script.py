"""`benchmarks/train_gpu.sh` on a small benchmark: all four adapters, once, and the recipes that carry them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sqljury import recipes

ROOT = Path(__file__).resolve().parents[2]
MODEL = "smollm2-135m"
OPTIONS = {
    "BASE": MODEL,
    "SET_OPTIONS": "--limit 4",
    "JUDGED_OPTIONS": "",
    "TRAIN_OPTIONS": "--steps 1 --batch 1 --micro 1 --rank 4 --attention --held-out 0",
    "EXPORT_OPTIONS": "--check 0",
}


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.timeout(900)
def test_all_four_adapters_in_one_command(
    cached_weights: Path, benchmark_folder: Path, train_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "a folder"
    command = [ROOT / "benchmarks" / "train_gpu.sh", benchmark_folder, out, train_run]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, **OPTIONS, "PATH": path}

    def started() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    done = started()
    assert done.returncode == 0, done.stderr
    parts = ("generator", "linker", "critic", "pairwise")
    made = {part: (out / f"{part}.gguf").stat().st_mtime_ns for part in parts}
    for name in ("mscsql", "mscsql_votes"):
        recipe = recipes.load(str(out / f"{name}.toml"))
        assert recipe.link.model == f"{MODEL}+{out}/linker.gguf"
        assert {one.model for one in recipe.generate} == {f"{MODEL}+{out}/generator.gguf"}
        assert recipe.select.judge == (f"{MODEL}+{out}/critic.gguf" if name == "mscsql" else "")
    assert f"--recipe '{out}/mscsql.toml'" in done.stdout

    (out / "pairwise.gguf").unlink()  # as if it had been killed then
    done = started()
    assert done.returncode == 0, done.stderr
    assert "has ended its training" in done.stderr
    assert made.pop("pairwise") != (out / "pairwise.gguf").stat().st_mtime_ns
    assert made == {part: (out / f"{part}.gguf").stat().st_mtime_ns for part in made}

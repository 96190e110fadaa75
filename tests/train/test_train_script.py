"""`benchmarks/train_gpu.sh`: all four adapters, the recipes that carry them, and what it does when a part fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sqljury import recipes

STUB = """#!/bin/sh
echo "$@" >>"$STUB/calls"
[ "$1 $2 $3" != "train data ${REFUSED:-}" ] || exit 2
for word; do
    [ "${before:-}" = --out ] && out=$word
    before=$word
done
case "$1 $2" in
"bench spider") # refused while another one writes, as by sqljury's own lock; a request to end takes a while
    mkdir "$STUB/lock" || exit 2
    trap 'sleep 0.3; rmdir "$STUB/lock"; exit 130' TERM
    mkdir -p "$out" && echo $$ >"$STUB/writer"
    [ "$WRITER" = endless ] && while :; do sleep 0.1; done
    rmdir "$STUB/lock"
    echo "the writer has ended" && exit "$WRITER"
    ;;
"train generator")
    while [ ! -s "$STUB/writer" ]; do sleep 0.1; done
    [ "$WRITER" = endless ] || while [ -d "$STUB/lock" ]; do sleep 0.1; done
    sleep 0.3
    exit "$GENERATOR"
    ;;
"train data" | "train export") echo >"$out" ;;
esac
"""
"""Stands in for ``sqljury``, which would take minutes: $WRITER and $GENERATOR are how candidates and training end."""

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("generator", "linker", "critic", "pairwise")
MODEL = "smollm2-135m"
OPTIONS = {
    "SERVED": MODEL,
    "SET_OPTIONS": "--limit 4",
    "JUDGED_OPTIONS": "",
    "TRAIN_OPTIONS": "--max-steps 1 --batch-size 1 --lora-r 4 --held-out 0 --target-modules attention",
    "EXPORT_OPTIONS": "--check 0",
}


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    file = tmp_path / "bin" / "sqljury"
    file.parent.mkdir()
    file.write_text(STUB)
    file.chmod(0o755)
    return file


def started(stub: Path, *given: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script with a stub, whose ``calls``, ``lock`` and ``writer`` stand beside the stub's folder."""
    root = stub.parents[1]
    (root / "spider").mkdir(exist_ok=True)
    path = os.pathsep.join((str(stub.parent), os.environ["PATH"]))
    variables = {**os.environ, "PATH": path, "STUB": str(root), "GENERATOR": "0", "WRITER": "0", **environment}
    command = [str(ROOT / "benchmarks" / "train_gpu.sh"), str(root / "spider"), *map(str, given)]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_failure_leaves_no_writer_behind_and_the_next_start_goes_on(stub: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    failed = started(stub, out, GENERATOR="5", WRITER="endless")
    assert failed.returncode == 5, failed.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "writer").read_text()), 0)
    (tmp_path / "writer").unlink()
    done = started(stub, out)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in out.glob("*.gguf")} == {f"{part}.gguf" for part in PARTS}
    assert f"\n'{stub}' bench spider --data" in done.stdout, "what is printed runs without the script's PATH"


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_next_start_exports_what_is_missing_and_makes_no_set_again(stub: Path, tmp_path: Path) -> None:
    out, calls = tmp_path / "out", tmp_path / "calls"
    assert started(stub, out).returncode == 0
    (out / "pairwise.gguf").unlink()  # as if it had been killed then
    calls.unlink()
    done = started(stub, out)
    assert done.returncode == 0, done.stderr
    called = [line.split(" --")[0] for line in calls.read_text().splitlines()]
    assert [line for line in called if line.startswith("train export")] == [f"train export {out}/pairwise"]
    assert not any(line.startswith("train data") for line in called)
    assert (out / "pairwise.gguf").exists()


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_writer_that_failed_is_noticed_after_the_first_training(stub: Path, tmp_path: Path) -> None:
    failed = started(stub, tmp_path / "out", WRITER="3")
    assert failed.returncode == 1
    assert failed.stderr.endswith("the writer has ended\n")
    assert "train linker" not in (tmp_path / "calls").read_text()


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_wrong_inputs_are_refused_before_anything_runs(stub: Path, tmp_path: Path) -> None:
    no_run = started(stub, tmp_path / "out", tmp_path)
    folder = started(stub, tmp_path / "out", BASE=str(tmp_path))
    assert (no_run.returncode, folder.returncode) == (2, 2)
    assert "is not a run" in no_run.stderr
    assert "with SERVED" in folder.stderr
    assert not (tmp_path / "calls").exists()


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_run_that_may_not_be_learned_from_ends_it_before_any_training(stub: Path, tmp_path: Path) -> None:
    run = tmp_path / "a run"
    run.mkdir()
    (run / "run.json").touch()
    refused = started(stub, tmp_path / "out", run, REFUSED="critic")
    assert refused.returncode == 2, refused.stderr
    called = (tmp_path / "calls").read_text()
    assert f"train data critic --data {tmp_path / 'spider'} --run {run}" in called
    assert not any(line.startswith(f"train {part}") for line in called.splitlines() for part in PARTS)
    (tmp_path / "writer").write_text("none is needed")
    assert started(stub, tmp_path / "out", run).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_set_made_from_something_else_is_not_taken(stub: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    (other / "run.json").touch()
    assert started(stub, out, SET_OPTIONS="--limit 24").returncode == 0
    called = (tmp_path / "calls").read_text()
    for given, changed in (((), {"SET_OPTIONS": ""}), ((other,), {}), ((), {"JUDGED_OPTIONS": ""})):
        refused = started(stub, out, *given, **{"SET_OPTIONS": "--limit 24", **changed})
        assert refused.returncode == 2
        assert "was made from something else than" in refused.stderr
    assert (tmp_path / "calls").read_text() == called
    assert started(stub, out, SET_OPTIONS="--limit 24").returncode == 0


@pytest.mark.train
@pytest.mark.weights
@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.timeout(900)
def test_all_four_adapters_in_one_command(
    small_folder: Path, benchmark_folder: Path, train_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "a folder"
    command = [ROOT / "benchmarks" / "train_gpu.sh", benchmark_folder, out, train_run]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, **OPTIONS, "BASE": str(small_folder), "PATH": path}

    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("mscsql", "mscsql_votes"):
        recipe = recipes.load(str(out / f"{name}.toml"))
        assert recipe.link.model == f"{MODEL}+{out}/linker.gguf"
        assert {one.model for one in recipe.generate} == {f"{MODEL}+{out}/generator.gguf"}
        assert recipe.select.judge == (f"{MODEL}+{out}/critic.gguf" if name == "mscsql" else "")
    assert f"--recipe '{out}/mscsql.toml'" in done.stdout

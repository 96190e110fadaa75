"""A run on a cluster is the run of one process, in another order; a worker that is killed costs its question."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import calls, clustered, costs, run
from sqljury.datasets import spider
from sqljury.evaluation import run_folder as folder
from sqljury.llm.fake import Call
from sqljury.parallel.cluster import Cluster
from sqljury.recipes import GeneratePart, Recipe


def building(mark: Path | None = None) -> Callable[[], Pipeline]:
    """What makes the pipeline in each worker; its model kills the worker once, at the question on old cats."""

    def build() -> Pipeline:
        def says(call: Call) -> str:
            if mark is not None and "old cats" in call.prompt and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return "SELECT count(*) FROM dog" if "dogs" in call.prompt else "SELECT count(*) FROM cat"

        parts = GeneratePart(), GeneratePart(samples=2, temperature=1.0)
        return Pipeline(Recipe("test", generate=parts), FakeModel(says))

    return build


def bare(out: Path) -> dict[str, Any]:
    left_out = ("cost", "steps")
    return {one["id"]: {key: one[key] for key in one if key not in left_out} for one in folder.records(out)}


def test_a_run_on_two_workers_of_which_one_is_killed(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "300")
    examples, alone, out, mark = spider.load(data, "dev"), tmp_path / "alone", tmp_path / "run", tmp_path / "killed"
    pipeline = building()()
    settled = run.settings(pipeline, {"name": "spider"}, 0)
    run.run(examples, pipeline, alone, settled)
    clustered.run(Cluster("local", 2), examples, building(mark), out, settled)
    assert mark.exists()
    assert bare(out) == bare(alone)
    assert len(folder.records(out)) == len(examples)
    assert [call.number for call in calls.calls(out)] == [1, 2] * len(examples)
    assert costs.costs(out).broken_off.calls == 0
    run.run(examples, pipeline, out, settled)  # finished: one process goes on with it, and asks nothing
    assert len(calls.calls(out)) == 2 * len(examples)

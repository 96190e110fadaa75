from __future__ import annotations

from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import run
from sqljury.datasets import spider
from sqljury.engines.databases import Databases
from sqljury.evaluation import report
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.findings import to_json
from sqljury.evaluation.report import Share
from sqljury.recipes import GeneratePart, Recipe

REPLIES = {
    # the first query is wrong, the votes are right
    "How many cats": ["SELECT 7", "SELECT count(*) FROM cat", "SELECT count(id) FROM cat"],
    # the majority's query needs its names bound
    "old cats": ["SELECT nme FROM cat WHERE agee > 5", "SELECT name FROM cat", "SELECT nme FROM cat WHERE age > 5"],
    # right rows in the wrong order
    "by age": ["SELECT name FROM cat ORDER BY age DESC"] * 3,
    # repaired by the model
    "How many dogs": ["SELECT zzz FROM dog"] * 3,
    "refused that query": "SELECT count(*) FROM dog",
}
SCRIPT = {key: REPLIES[key] for key in ("refused that query", *[key for key in REPLIES if "refused" not in key])}


@pytest.fixture
def verdicts(data: Path, tmp_path: Path) -> list[report.Verdict]:
    pipeline = Pipeline(Recipe("test", generate=(GeneratePart(samples=3, temperature=1.0),)), FakeModel(SCRIPT))
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", run.settings(pipeline, {}, 0))
    return report.judge_run(folder.records(tmp_path / "run"), Databases(data))


def test_each_step_is_judged(verdicts: list[report.Verdict]) -> None:
    steps = [[verdict.steps[step] for step in report.STEPS] for verdict in verdicts]
    assert steps == [
        # first, bound, votes, votes bound, answer, one of them
        [False, False, True, True, True, True],
        [False, True, False, True, True, True],
        [False, False, False, False, False, False],
        [False, False, False, False, True, True],
    ]


def test_hardness_runs_and_reasons(verdicts: list[report.Verdict]) -> None:
    assert [verdict.hardness for verdict in verdicts] == ["easy", "easy", "easy", "easy"]
    assert [verdict.runs for verdict in verdicts] == [3, 1, 3, 0]
    assert "order" in verdicts[2].reason
    assert verdicts[0].reason == ""


def test_the_summary_counts(verdicts: list[report.Verdict]) -> None:
    figures = to_json(report.summary(verdicts))
    assert (figures["ex"]["right"], figures["ex"]["total"], figures["ex"]["percent"]) == (3, 4, 75.0)
    assert figures["executable"]["total"] == 12
    assert figures["executable"]["right"] == 7
    assert figures["steps"]["first candidate"]["right"] == 0
    assert figures["hardness"]["extra"]["total"] == 0


def test_wilsons_interval() -> None:
    low, high = Share(85, 100).interval()
    assert (round(low, 1), round(high, 1)) == (76.7, 90.7)  # Wilson 1927, computed by hand
    assert Share(0, 0).interval() == (0.0, 100.0)
    assert Share(0, 0).percent == 0.0

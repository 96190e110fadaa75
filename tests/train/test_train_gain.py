from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import run as bench
from sqljury.cli import _guarded
from sqljury.datasets import spider
from sqljury.llm.fake import Call
from sqljury.recipes import FixPart, GeneratePart, Recipe


@pytest.fixture(scope="module")
def trained_run(train_run: Path, benchmark_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a model that knows how to count and nothing else, on all questions but the last."""
    folder = tmp_path_factory.mktemp("runs") / "trained"

    def reply(call: Call) -> list[str]:
        kind = call.prompt.partition("many pets are a ")[2][:3]
        right = f"SELECT count(*) FROM pet WHERE kind = '{kind}'"
        return [right if kind else "SELECT city FROM shop", right, "SELECT 1", "SELECT nothing FROM nowhere"]

    recipe = Recipe("four", generate=(GeneratePart(samples=4, temperature=0.8),), fix=FixPart(attempts=0))
    pipeline = Pipeline(recipe, FakeModel(reply))
    named = {"name": "spider", "data": str(benchmark_folder), "split": "train", "limit": None}
    bench.run(spider.load(benchmark_folder, "train")[:-1], pipeline, folder, bench.settings(pipeline, named, 0))
    return folder


def test_what_was_gained_question_by_question(
    train_run: Path, trained_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _guarded(["train", "gain", str(train_run), str(trained_run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    measures = found["measures"]
    assert found["questions"] == 17
    # before: counting and owners wrong, averages right; after: counting right, all else wrong
    assert measures["first candidate"]["wins"] == 6
    assert measures["first candidate"]["losses"] == 6
    assert measures["votes"]["first"] == pytest.approx(6 / 17)
    assert measures["votes"]["second"] == pytest.approx(6 / 17)
    assert measures["at least one"]["first"] == pytest.approx(12 / 17)
    assert measures["at least one"]["difference"] == pytest.approx(-6 / 17)
    assert measures["at least one"]["interval"][0] <= -6 / 17 <= measures["at least one"]["interval"][1]
    assert measures["runs as written"]["second"] == pytest.approx(3 / 4)
    assert _guarded(["train", "gain", str(train_run), str(trained_run)]) == 0
    said, noted = capsys.readouterr()
    assert "17 questions in both runs" in said
    assert "-35.3" in said
    assert "1 questions of" in noted


def test_runs_without_common_questions_are_refused(
    train_run: Path, trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, field in (("question", "Who?"), ("gold", "SELECT 1")):
        other = tmp_path / name
        other.mkdir()
        (other / "run.json").write_text((train_run / "run.json").read_text())
        record = json.loads((train_run / "answers.jsonl").read_text().splitlines()[0])
        (other / "answers.jsonl").write_text(json.dumps({**record, name: field}) + "\n")
    assert _guarded(["train", "gain", str(trained_run), str(tmp_path / "question")]) == 2
    assert "share no question; run both on the same ones" in capsys.readouterr().err
    assert _guarded(["train", "gain", str(trained_run), str(tmp_path / "gold")]) == 2
    assert "have different gold queries for 'train-0000'" in capsys.readouterr().err


def test_a_question_that_a_dataset_has_twice_counts_twice(
    train_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = tmp_path / "twice"
    shutil.copytree(train_run, twice)
    lines = (twice / "answers.jsonl").read_text().splitlines()
    lines.append(json.dumps({**json.loads(lines[0]), "id": "train-9999"}))
    (twice / "answers.jsonl").write_text("\n".join((*lines, "")))
    asked = []
    for first in (train_run, twice):
        assert _guarded(["train", "gain", str(first), str(twice), "--json"]) == 0
        asked.append(json.loads(capsys.readouterr().out)["questions"])
    assert asked[1] == asked[0] + 1

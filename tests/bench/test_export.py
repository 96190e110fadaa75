"""Prediction files of runs, as the official programs read them, and as this project reads them back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import run
from sqljury.bench.export import NOTHING, export
from sqljury.datasets import benchmarks
from sqljury.datasets.formats import read_predictions
from sqljury.datasets.pairs import Known
from sqljury.datasets.spider import sample
from sqljury.errors import DatasetError, InputError
from sqljury.recipes import GeneratePart, Recipe

RECIPE = Recipe("test", generate=(GeneratePart(),))
SAYS = {
    "How many cats": "SELECT\tcount(*)\nFROM cat",
    "old cats": "SELECT name FROM cat WHERE age >= 7",
    "by age": "No idea.",
    "How many dogs": "SELECT count(*) FROM dog",
}


def finished(data: Path, out: Path, limit: int | None = None) -> Path:
    found = benchmarks.load(data)
    pipeline = Pipeline(RECIPE, FakeModel(SAYS))
    settled = run.settings(pipeline, found.settings | {"count": len(found.examples)}, 0)
    run.run(sample(found.examples, limit, 0), pipeline, out, settled)
    return out


def test_spiders_lines_are_in_the_order_of_the_dataset(data: Path, tmp_path: Path) -> None:
    entries = json.loads((data / "dev.json").read_text())
    (data / "dev.json").write_text(json.dumps([entries[0], entries[3], *entries[1:3]]))
    lines = export(finished(data, tmp_path / "run"), "spider").splitlines()
    assert lines == ["SELECT count(*) FROM cat", SAYS["How many dogs"], SAYS["old cats"], NOTHING]


def test_birds_file_has_positions_and_databases(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "predict_dev.json"
    file.write_text(export(finished(data, tmp_path / "run"), "bird"))
    assert json.loads(file.read_text())["3"] == f"{SAYS['How many dogs']}\t----- bird -----\tmore"
    assert [one.db_id for one in read_predictions(file)] == ["pets", "pets", "pets", "more"]


def test_dialogues_are_parted_by_empty_lines(data: Path, tmp_path: Path) -> None:
    turns = [{"utterance": "How many cats?", "query": "SELECT count(*) FROM cat"}]
    turns.append({"utterance": "And the old cats?", "query": "SELECT name FROM cat"})
    dogs = [{"utterance": "How many dogs?", "query": "SELECT count(*) FROM dog"}]
    dialogues = [{"database_id": "pets", "interaction": turns}, {"database_id": "more", "interaction": dogs}]
    (data / "dev.json").unlink()
    (data / "cosql_dev.json").write_text(json.dumps(dialogues))
    text = export(finished(data, tmp_path / "run"), "spider")
    assert [bool(line) for line in text.splitlines()] == [True, True, False, True]
    file = tmp_path / "predictions.txt"
    file.write_text(text)
    assert [one.interaction for one in read_predictions(file, known=Known(interactions=True))] == [0, 0, 1]


def test_an_unfinished_run_has_no_predictions(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="has 2 of 4 answers; finish it first"):
        export(finished(data, tmp_path / "run", 2), "spider")
    with pytest.raises(InputError, match="no format 'csv'"):
        export(tmp_path / "run", "csv")

"""Prediction files of runs, as the official programs read them, and as this project reads them back."""

from __future__ import annotations

import json
import sqlite3
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
from sqljury.evaluation.run_folder import ANSWERS, SETTINGS, records
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


NOTES = ["x\ty", "a\nb", "a\r\nb", "cat\u00a0fish", "it's\tso", "\n", "a -- b\t'"]
WRITTEN = [
    "SELECT id\n  FROM note -- the notes\n WHERE text = 'cat\u00a0fish'",
    "SELECT id FROM note WHERE text = 'x\ty'",
    "SELECT id FROM note WHERE text IN ('a\nb', 'x\ty') /* one\nand another */ ORDER BY id",
    "SELECT id FROM note WHERE text = 'a\r\nb'",
    "SELECT id FROM note WHERE text LIKE '%''s\tso' OR text = '\n'",
    'SELECT id FROM note WHERE text = "x\ty"',
    "SELECT id FROM note WHERE text = 'a -- b\t'''",
    'SELECT n."te\txt" AS \'the\ttext\' FROM (SELECT text AS "te\txt" FROM note) AS n',
    "SELECT\tcount(*)\r\nFROM/* all */note--",
]


def test_a_query_of_several_lines_keeps_its_result(tmp_path: Path) -> None:
    file = tmp_path / "database" / "notes" / "notes.sqlite"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
        db.executemany("INSERT INTO note (text) VALUES (?)", [(one,) for one in NOTES])
    entries = [
        {"db_id": "notes", "question": f"Question {number}?", "query": sql} for number, sql in enumerate(WRITTEN)
    ]
    (tmp_path / "dev.json").write_text(json.dumps(entries))
    found = benchmarks.load(tmp_path)
    pipeline = Pipeline(RECIPE, FakeModel({f"Question {number}?": sql for number, sql in enumerate(WRITTEN)}))
    settled = run.settings(pipeline, found.settings | {"count": len(WRITTEN)}, 0)
    run.run(found.examples, pipeline, tmp_path / "run", settled)
    stored = [record["sql"] for record in records(tmp_path / "run")]
    for form in ("spider", "bird"):
        (tmp_path / form).write_text(export(tmp_path / "run", form))
        exported = [one.sql for one in read_predictions(tmp_path / form)]
        assert [db.execute(sql).fetchall() for sql in exported] == [db.execute(sql).fetchall() for sql in stored]
        assert form == "spider" or exported == stored
    lines = (tmp_path / "spider").read_bytes()
    assert (lines.count(b"\n"), lines.count(b"\t"), lines.count(b"\r")) == (len(WRITTEN), 0, 0)
    assert all(db.execute(sql).fetchall() for sql in stored)
    db.close()


def test_a_run_with_answers_to_other_questions_has_no_predictions(data: Path, tmp_path: Path) -> None:
    out = finished(data, tmp_path / "run")
    settled = json.loads((out / SETTINGS).read_text())
    settled["dataset"]["count"] = 2
    (out / SETTINGS).write_text(json.dumps(settled))
    with pytest.raises(DatasetError, match="has 4 of 2 answers; begin it anew"):
        export(out, "spider")


def test_a_run_without_the_places_of_its_questions_has_no_predictions(data: Path, tmp_path: Path) -> None:
    out = finished(data, tmp_path / "run")
    lines = [{key: one[key] for key in one if key != "number"} for one in records(out)]
    (out / ANSWERS).write_text("".join(json.dumps(one) + "\n" for one in lines))
    with pytest.raises(DatasetError, match="does not say which of its questions comes first"):
        export(out, "spider")


def test_a_run_that_does_not_say_how_many_it_asks_has_no_predictions(data: Path, tmp_path: Path) -> None:
    out = finished(data, tmp_path / "run")
    settled = json.loads((out / SETTINGS).read_text())
    del settled["dataset"]["count"]
    (out / SETTINGS).write_text(json.dumps(settled))
    with pytest.raises(DatasetError, match="does not say how many questions it asks"):
        export(out, "spider")


def test_a_run_with_gaps_has_no_predictions(data: Path, tmp_path: Path) -> None:
    out = finished(data, tmp_path / "run")
    lines = [{**one, "number": 2 * one["number"]} for one in records(out)]
    (out / ANSWERS).write_text("".join(json.dumps(one) + "\n" for one in lines))
    with pytest.raises(DatasetError, match="answers other questions than it asks"):
        export(out, "spider")


@pytest.mark.parametrize(
    ("draw", "whole"), [({"limit": 4}, False), ({"databases": "pets"}, False), ({"limit": 9}, True)]
)
def test_birds_file_names_no_positions_of_other_questions(
    data: Path, tmp_path: Path, draw: dict[str, object], whole: bool
) -> None:
    out = finished(data, tmp_path / "run")
    settled = json.loads((out / SETTINGS).read_text())
    settled["dataset"] |= draw
    (out / SETTINGS).write_text(json.dumps(settled))
    assert len(export(out, "spider").splitlines()) == 4
    if whole:
        assert len(json.loads(export(out, "bird"))) == 4
    else:
        with pytest.raises(DatasetError, match="asks some of its dataset's questions"):
            export(out, "bird")

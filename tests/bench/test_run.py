from __future__ import annotations

import json
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question
from sqljury.bench import run, stored, workers
from sqljury.bench.versions import data_versions
from sqljury.datasets import spider
from sqljury.errors import (
    BudgetExceededError,
    CancelledError,
    ContextLengthError,
    DatabaseError,
    DatasetError,
    ModelUnavailableError,
    QuestionError,
    SqljuryError,
    WeightsError,
)
from sqljury.evaluation import run_folder as folder
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SelectPart
from sqljury.stages.select.light import Weights
from sqljury.stages.weights import save

RECIPE = Recipe("test", generate=(GeneratePart(samples=2, temperature=1.0),))
RIGHT = {
    "How many cats": "SELECT count(*) FROM cat",
    "old cats": "SELECT name FROM cat WHERE age >= 7",
    "by age": "SELECT name FROM cat ORDER BY age DESC",
    "How many dogs": "I do not know any dogs.",
}


def start(data: Path, out: Path, model: FakeModel, seed: int = 0) -> None:
    pipeline = Pipeline(RECIPE, model)
    run.run(spider.load(data, "dev"), pipeline, out, run.settings(pipeline, {"name": "spider"}, seed))


def test_a_line_a_question_with_all_candidates(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel(RIGHT))
    records = folder.records(tmp_path / "run")
    assert [record["db_id"] for record in records] == ["pets", "pets", "pets", "more"]
    assert records[0]["sql"] == "SELECT count(*) FROM cat"
    assert records[0]["agreement"] == 1.0
    assert [candidate["group"] for candidate in records[0]["candidates"]] == [0, 0]
    assert records[3]["sql"] == ""
    assert "prose" in records[3]["error"]
    assert len(records[3]["candidates"]) == 2
    assert folder.described(tmp_path / "run")["recipe"]["name"] == "test"


def test_a_broken_off_run_goes_on_where_it_stopped(data: Path, tmp_path: Path) -> None:
    answers = ["SELECT count(*) FROM cat", "SELECT name FROM cat", ModelUnavailableError("gone")]
    with pytest.raises(ModelUnavailableError):
        start(data, tmp_path / "run", FakeModel(answers))
    file = tmp_path / "run" / folder.ANSWERS
    with file.open("a") as stream:
        stream.write('{"id": "dev-0002", "sq')  # killed in the middle of a line
    model = FakeModel(RIGHT)
    start(data, tmp_path / "run", model)
    assert [record["id"] for record in folder.records(tmp_path / "run")] == [e.id for e in spider.load(data, "dev")]
    assert not any("How many cats" in call.prompt for call in model.calls)


def test_resuming_changes_nothing(data: Path, tmp_path: Path) -> None:
    def bare(out: Path) -> list[dict[str, object]]:
        return [
            {key: value for key, value in record.items() if key not in ("cost", "steps")}
            for record in folder.records(out)
        ]

    start(data, tmp_path / "whole", FakeModel(RIGHT))
    with pytest.raises(ModelUnavailableError):
        start(data, tmp_path / "parts", FakeModel([RIGHT["How many cats"], ModelUnavailableError("gone")]))
    start(data, tmp_path / "parts", FakeModel(RIGHT))
    assert bare(tmp_path / "whole") == bare(tmp_path / "parts")


def test_another_run_is_not_mixed_in(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel(RIGHT))
    with pytest.raises(DatasetError, match=r"\(seed differ\)"):
        start(data, tmp_path / "run", FakeModel(RIGHT), seed=1)


def test_a_run_goes_on_where_its_dataset_has_moved_to(data: Path, tmp_path: Path) -> None:
    pipeline = Pipeline(Recipe("test"), FakeModel(RIGHT))
    asked = spider.load(data, "dev")
    here = run.settings(pipeline, {"name": "spider", "data": "/here", "limit": None}, 0)
    run.run(asked[:1], pipeline, tmp_path / "run", here)
    there = {**here, "dataset": {**here["dataset"], "data": "/there"}}
    run.run(asked, pipeline, tmp_path / "run", there)
    assert folder.described(tmp_path / "run")["dataset"]["data"] == "/there"
    assert run.is_finished(asked, tmp_path / "run", {"dataset": {**here["dataset"], "data": "/elsewhere"}})
    strange = [replace(asked[0], question=Question("Another one?", id=asked[0].id))]
    with pytest.raises(DatasetError, match="answers another question 'dev-0000', of another dataset"):
        run.run(strange, pipeline, tmp_path / "run", {**here, "dataset": {**here["dataset"], "data": "/strange"}})
    assert folder.described(tmp_path / "run")["dataset"]["data"] == "/there"
    other = {**there, "dataset": {**there["dataset"], "limit": 1}, "recipe": {**there["recipe"], "stop": {"least": 9}}}
    stop = r"recipe\.stop\.confidence, recipe\.stop\.least, recipe\.stop\.share"
    with pytest.raises(DatasetError, match=rf"\(dataset\.limit, {stop} differ\)"):
        run.run(asked, pipeline, tmp_path / "run", other)


def test_what_a_recipe_names_is_not_mixed_with_what_has_the_name_later(data: Path, tmp_path: Path) -> None:
    """An adapter that was trained again, and weights that were, have the name that the recipe knows them by."""
    recipe = Recipe("test", generate=(GeneratePart(model="+own"),))
    for label in ("base+own@11111111", "base+own@22222222"):
        pipeline = Pipeline(recipe, FakeModel(RIGHT), models={"+own": FakeModel(RIGHT, name=label)})
        settled = run.settings(pipeline, {"name": "spider"}, 0)
        if label.endswith("1"):
            run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", settled)
            continue
        with pytest.raises(DatasetError, match=r"other settings \(others differ\)"):
            run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", settled)

    weights, digests = tmp_path / "light.json", set()
    for votes in (1.0, 2.0):
        save(Weights({"votes_log": votes}, {}), weights)
        light = Recipe("test", select=SelectPart("light", weights=str(weights)))
        digests.add(run.settings(Pipeline(light, FakeModel(RIGHT)), {"name": "spider"}, 0)["weights"])
    assert len(digests) == 2


def test_a_damaged_line_is_named(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel(RIGHT))
    file = tmp_path / "run" / folder.ANSWERS
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[0] + "nonsense\n" + lines[2])
    with pytest.raises(DatasetError, match="line 2"):
        folder.records(tmp_path / "run")


def test_no_run_at_all(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is no run"):
        folder.described(tmp_path)
    assert folder.records(tmp_path) == []


def test_lines_are_json_objects(data: Path, tmp_path: Path) -> None:
    start(data, tmp_path / "run", FakeModel(RIGHT))
    for line in (tmp_path / "run" / folder.ANSWERS).read_text().splitlines():
        assert list(json.loads(line))[:4] == ["id", "db_id", "question", "gold"]


@pytest.mark.parametrize("kind", [QuestionError, ContextLengthError, DatabaseError])
def test_what_one_question_runs_into_is_a_record(data: Path, tmp_path: Path, kind: type[SqljuryError]) -> None:
    start(data, tmp_path / "run", FakeModel([kind("not this one"), *list(RIGHT.values())[1:]]))
    first, *others = folder.records(tmp_path / "run")
    assert (first["sql"], first["error"], first["candidates"]) == ("", "not this one", [])
    assert len(others) == 3


def test_what_a_question_without_an_answer_took_is_kept(data: Path, tmp_path: Path) -> None:
    """The first is answered in prose; the second fails when its second part is asked; the third before any is."""

    def says(call: Call) -> str | Exception:
        if "old cats" in call.prompt and call.sampling.temperature:
            return DatabaseError("gone")
        if "by age" in call.prompt:
            return ContextLengthError("too long")
        return "I do not know." if "How many cats" in call.prompt else RIGHT["old cats"]

    parts = (GeneratePart(), GeneratePart(samples=2, temperature=1.0))
    pipeline = Pipeline(Recipe("test", generate=parts), FakeModel(says, delay=0.02))
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", run.settings(pipeline, {}, 0))
    prose, broken, nothing, _ = folder.records(tmp_path / "run")
    assert [one["sql"] for one in (prose, broken, nothing)] == ["", "", ""]
    assert (len(prose["candidates"]), list(prose["steps"]), prose["cost"]["calls"]) == (3, ["1 direct", "2 direct"], 2)
    assert (list(broken["steps"]), broken["cost"]["calls"]) == (["1 direct"], 1)
    assert broken["steps"]["1 direct"]["completion_tokens"] == broken["cost"]["completion_tokens"] > 0
    assert broken["cost"]["seconds"] >= 0.02
    assert (nothing["steps"], nothing["cost"]["calls"]) == ({}, 0)
    assert stored.load(tmp_path / "run", data).questions[1].cost.calls == 1


@pytest.mark.parametrize("kind", [WeightsError, BudgetExceededError, ModelUnavailableError])
def test_what_all_questions_would_run_into_ends_the_run(data: Path, tmp_path: Path, kind: type[SqljuryError]) -> None:
    with pytest.raises(kind):
        start(data, tmp_path / "run", FakeModel(kind("none of them")))
    assert folder.records(tmp_path / "run") == []


def test_a_database_that_cannot_be_opened_is_a_record(data: Path, tmp_path: Path) -> None:
    examples = spider.load(data, "dev")
    examples[3].database.write_bytes(b"no database" * 1000)
    pipeline = Pipeline(RECIPE, FakeModel(RIGHT))
    run.run(examples, pipeline, tmp_path / "run", run.settings(pipeline, {"name": "spider"}, 0))
    assert "more.sqlite" in folder.records(tmp_path / "run")[3]["error"]


def test_a_stopped_question_is_not_recorded(data: Path, tmp_path: Path) -> None:
    cancel = threading.Event()
    pipeline = Pipeline(RECIPE, FakeModel(RIGHT))
    told: list[tuple[int, bool]] = []

    def stop_after_two(done: int, record: folder.Record | None) -> None:
        told.append((done, record is None))
        if done == 2:
            cancel.set()

    described = run.settings(pipeline, {"name": "spider"}, 0)
    with pytest.raises(CancelledError):
        run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", described, stop_after_two, cancel)
    assert told == [(0, True), (1, False), (2, False)]
    assert len(folder.records(tmp_path / "run")) == 2


@pytest.mark.parametrize("batch", [1, 2])
def test_a_database_that_goes_during_a_run_ends_it(data: Path, tmp_path: Path, batch: int) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "run"
    pipeline = Pipeline(RECIPE, FakeModel(RIGHT))
    settled = run.settings(pipeline, {"name": "spider", **data_versions(examples, {})}, 0)
    file = Path(examples[3].database)
    file.rename(file.with_suffix(".away"))
    begin = run.run if batch == 1 else partial(workers.run_here, batch=batch)
    with pytest.raises(DatabaseError, match="more: cannot be opened any more"):
        begin(examples, pipeline, out, settled)
    assert [record["db_id"] for record in folder.records(out)] == ["pets"] * 3
    file.with_suffix(".away").rename(file)
    run.run(examples, pipeline, out, settled)
    assert len(folder.records(out)) == 4


def test_a_database_that_was_never_there_ends_no_run(data: Path, tmp_path: Path) -> None:
    examples = spider.load(data, "dev")
    Path(examples[3].database).unlink()
    pipeline = Pipeline(RECIPE, FakeModel(RIGHT))
    versions = data_versions(examples, {})
    assert versions["unreadable"] == ["more"]
    run.run(examples, pipeline, tmp_path / "run", run.settings(pipeline, {"name": "spider", **versions}, 0))
    assert len(folder.records(tmp_path / "run")) == 4

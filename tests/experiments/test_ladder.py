"""MSc-SQL's ladder and repeated runs, on four questions whose answers are known."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, recipes
from sqljury.bench import run, rungs, stored
from sqljury.cli.repeats import folders
from sqljury.datasets import spider
from sqljury.errors import DatasetError, InputError, RecipeError
from sqljury.experiments.ladder import ladder
from sqljury.experiments.repeats import repeats, spread
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SelectPart

WRITTEN = {  # the second of three is right, and alone with its result, for the first question only
    "How many cats": ["SELECT 7", "SELECT count(*) FROM cat", "SELECT 7"],
    "old cats": ["SELECT name FROM cat WHERE age > 5"] * 3,
    "by age": ["SELECT name FROM cat ORDER BY age", "SELECT 1", "SELECT 1"],
    "How many dogs": ["SELECT 0"] * 3,
}


def reply(call: Call) -> str | list[str]:
    if call.sampling.json_schema:
        return '{"tables": ["cat", "dog"]}'
    text = call.messages[-1].content
    if "Result" in text:  # every judge likes what reads a table
        liked = re.search(r"^Query ?([A-H]?):\nSELECT .* FROM", text, re.MULTILINE)
        return (liked[1] or "Yes") if liked else "No"
    return next(queries for question, queries in WRITTEN.items() if question in call.prompt)[: call.n]


def test_every_rung_is_measured_on_the_same_questions(data: Path, tmp_path: Path) -> None:
    base = recipes.load("mscsql")
    both = rungs.recipes_of(replace(base, fix=replace(base.fix, attempts=0)), 3)
    assert (both.write.link.kind, both.link.link.kind) == ("", "model")
    assert [part.samples for part in (*both.write.generate, *both.link.generate)] == [1, 3]
    model, examples, named = FakeModel(reply), spider.load(data, "dev"), {"name": "spider", "data": str(data)}
    for folder, recipe in both._asdict().items():
        pipeline = Pipeline(recipe, model)
        run.run(examples, pipeline, tmp_path / folder, run.settings(pipeline, named, 0))
    made = rungs.choose(tmp_path / "link", data, model, SelectPart(schema="linked"), [1, 2, 3])
    assert set(made) == {(judge, count) for judge in rungs.JUDGES for count in (2, 3)}
    calls = len(model.calls)
    rungs.choose(tmp_path / "link", data, model, SelectPart(schema="linked"), [1, 2, 3])
    assert len(model.calls) == calls, "what is chosen is not asked again"
    loaded = [stored.load(tmp_path / folder, data) for folder in both._fields]
    found = ladder(loaded[0], loaded[1], [1, 2, 3], made)
    right = {(one["rung"], one["samples"]): (one["right"], one["total"]) for one in found["rungs"]}
    assert right["write", 1] == right["+ link", 1] == (2, 4)
    assert right["votes", 3] == (1, 4), "two wrong queries outvote the right one"
    assert right["oracle", 2] == right["oracle", 3] == (3, 4)
    for judge in rungs.JUDGES:
        assert right[judge, 2] == right[judge, 3] == (3, 4)
    assert all(one["low"] <= one["percent"] <= one["high"] for one in found["rungs"])
    json.dumps(found)


def test_a_ladder_needs_a_linker() -> None:
    with pytest.raises(RecipeError, match="needs a linker"):
        rungs.recipes_of(recipes.load("fast"), 3)


def test_repeated_runs_have_a_mean_and_a_variance(data: Path, tmp_path: Path) -> None:
    examples, made = spider.load(data, "dev"), []
    right = {one.question.text: one.gold_sql for one in examples}
    for seed, wrong in ((1, "nothing"), (2, "How many cats?"), (3, "nothing")):
        model = FakeModel(
            lambda call, wrong=wrong: next(
                "SELECT 7" if text == wrong else sql for text, sql in right.items() if text in call.prompt
            )
        )
        pipeline = Pipeline(Recipe("test", generate=(GeneratePart(),)), model)
        folder = tmp_path / f"seed{seed}"
        run.run(examples, pipeline, folder, run.settings(pipeline, {"name": "spider", "data": str(data)}, seed))
        made.append(folder)
    found = repeats(made, data)
    assert (found["seeds"], found["questions"]) == ([1, 2, 3], 4)
    for metric in found["metrics"]:
        assert metric["percent"] == [100.0, 75.0, 100.0]
        assert metric["mean"] == pytest.approx(91.667, abs=0.001)
        assert metric["variance"] == pytest.approx(208.333, abs=0.001)
    lines = (made[1] / "answers.jsonl").read_text().splitlines()
    (made[1] / "answers.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(DatasetError, match="not those of"):
        repeats(made, data)


def test_seeds_are_read(tmp_path: Path) -> None:
    assert folders(tmp_path, 7, "", False) == {7: tmp_path}
    assert list(folders(tmp_path, 7, "3,1,3", False)) == [3, 1]
    assert spread([1.0, 1.0])["variance"] == 0
    for wrong, elsewhere in (("1", False), ("a,b", False), ("1,2", True), (",".join(map(str, range(101))), False)):
        with pytest.raises(InputError, match="--seeds"):
            folders(tmp_path, 7, wrong, elsewhere)

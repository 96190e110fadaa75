"""Choosing again among a run's candidates: what of its recipe plays no part, which candidates do, and with what known.

Three parts of the recipe write for every question, in this order; the first and the last are right:

    question        1 direct    2 direct, two samples    3 direct, two samples
    How many cats   CATS        SELECT 7, SELECT 7       SELECT 7, CATS
    old cats        OLD         ALL, ALL                 ALL, OLD

The other two questions have but one query, which is right.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import choices, run, stored
from sqljury.bench.choices import Among
from sqljury.bench.versions import data_versions
from sqljury.datasets import spider
from sqljury.errors import DatabaseError, InputError
from sqljury.evaluation import run_folder as folder
from sqljury.experiments import ablation
from sqljury.llm.fake import Call
from sqljury.llm.open import open_model
from sqljury.recipes import GeneratePart, Recipe, SelectPart
from sqljury.stages.select.light import Weights
from sqljury.stages.weights import save
from sqljury.train.replay import replay

CATS, OLD, ALL = "SELECT count(*) FROM cat", "SELECT name FROM cat WHERE age > 5", "SELECT name FROM cat"
WRITTEN: dict[str, Sequence[Sequence[str]]] = {
    "How many cats": ([CATS], ["SELECT 7"], ["SELECT 7", CATS]),
    "old cats": ([OLD], [ALL], [ALL, OLD]),
    "by age": (["SELECT name FROM cat ORDER BY age"],) * 3,
    "How many dogs": (["SELECT count(*) FROM dog"],) * 3,
}
RECIPE = Recipe(
    "test",
    generate=(
        GeneratePart(),
        GeneratePart(samples=2, temperature=1.0),
        GeneratePart(samples=2, temperature=0.5),
    ),
)
HINT = "old is above five"


def says(call: Call) -> Sequence[str]:
    part = {0.0: 0, 1.0: 1, 0.5: 2}[call.sampling.temperature]
    return next(parts[part] for question, parts in WRITTEN.items() if question in call.prompt)


@pytest.fixture
def out(data: Path, tmp_path: Path) -> Path:
    """The folder of the run; the second question comes with evidence."""
    examples = spider.load(data, "dev")
    examples[1] = replace(examples[1], question=replace(examples[1].question, evidence=HINT))
    pipeline = Pipeline(RECIPE, FakeModel(says))
    run.run(examples, pipeline, tmp_path / "run", run.settings(pipeline, {}, 0))
    return tmp_path / "run"


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def shown(out: Path, data: Path, parts: Sequence[int] = ()) -> dict[str, tuple[float, int]]:
    """Of each stored choice what is right, and of how many."""
    loaded = stored.load(out, data)
    loaded = loaded.only([number - 1 for number in parts]) if parts else loaded
    found = ablation.ablation(loaded)["methods"]
    return {one["label"]: (one["right"], one["total"]) for one in found if one["label"].startswith("stored")}


@pytest.mark.parametrize("selector", ["first", "rerank"])
@pytest.mark.parametrize(
    "changed",
    [
        {"tests": {"kind": "agents"}, "refine": {"rounds": 3}},
        {"tests": {"kind": "suite"}, "refine": {"rounds": 1}, "select": {"judge": "other"}},
        {"generate": [{"model": "+own"}] * 3},
        {"link": {"kind": "model", "model": "+linker"}},
    ],
)
def test_what_the_recipe_has_for_other_steps_is_not_asked_for(
    out: Path, data: Path, selector: str, changed: dict[str, Any]
) -> None:
    file = out / folder.SETTINGS
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({**settings, "recipe": {**settings["recipe"], **changed}}))
    model = FakeModel("7")
    assert len(lines(choices.select(out, data, model, SelectPart(selector)))) == 4
    assert len(model.calls) == {"first": 0, "rerank": 2}[selector]  # what tests expect, of the two with two results


def test_a_database_that_goes_ends_the_choosing(data: Path, tmp_path: Path) -> None:
    examples, out = spider.load(data, "dev"), tmp_path / "run"
    pipeline = Pipeline(RECIPE, FakeModel(says))
    run.run(examples, pipeline, out, run.settings(pipeline, data_versions(examples, {}), 0))
    file = Path(examples[3].database)
    file.rename(file.with_suffix(".away"))
    with pytest.raises(DatabaseError, match="more: cannot be opened any more"):
        choices.select(out, data, open_model("none"), SelectPart("light"))
    file.with_suffix(".away").rename(file)
    chosen = lines(choices.select(out, data, open_model("none"), SelectPart("light")))
    assert [line["error"] for line in chosen] == [None] * 4


def test_without_a_model_no_choice_is_begun_that_asks_one(out: Path, data: Path) -> None:
    with pytest.raises(InputError, match="tournament asks a model; name one with --model, or choose by consistency"):
        choices.select(out, data, open_model("none"), SelectPart("tournament"))
    assert not list(out.glob("choices-*"))
    assert choices.select(out, data, open_model("none"), SelectPart("light")).name == "choices-light.jsonl"


def test_keywords_are_asked_for_only_where_values_are_looked_at(out: Path, data: Path, tmp_path: Path) -> None:
    file = out / folder.SETTINGS
    settings = json.loads(file.read_text())
    schema = {"values": 3, "keywords": "model"}
    file.write_text(json.dumps({**settings, "recipe": {**settings["recipe"], "schema": schema}}))
    model = FakeModel("A")
    choices.select(out, data, model, SelectPart("first"))
    assert model.calls == []
    choices.select(out, data, model, SelectPart("tournament"))
    assert len(model.calls) == 4  # two questions with two results, in both orders
    save(Weights({"votes_log": 1.0}, {}), tmp_path / "light.json")
    choices.select(out, data, model, SelectPart("light", weights=str(tmp_path / "light.json")))
    assert len(model.calls) == 8  # of each question


def test_the_light_judge_has_tests_where_its_weights_count_them(out: Path, data: Path, tmp_path: Path) -> None:
    """The model expects one row, which says 7, of the cats and of the old ones."""
    for name, weights in (("untested", {"votes_log": -1.0}), ("tested", {"tests_passed": 9.0})):
        save(Weights(weights, {}), tmp_path / f"{name}.json")
    model = FakeModel("7")
    by_figures = SelectPart("light", weights=str(tmp_path / "untested.json"))
    assert choices.select(out, data, model, by_figures) == out / "choices-light-untested.jsonl"
    assert model.calls == []
    by_tests = SelectPart("light", weights=str(tmp_path / "tested.json"))
    file = choices.select(out, data, model, by_tests)
    assert file == out / "choices-light-tested.jsonl"
    assert len(model.calls) == 2
    cats = lines(file)[0]
    assert (cats["sql"], cats["tests"][0]["passed"].count(True)) == ("SELECT 7", 1)
    assert cats["settings"]["shots"] == 7
    few = replace(choices.SUITE, shots=1)
    assert choices.select(out, data, model, by_tests, tests=few) == out / "choices-light-shots1-tested.jsonl"
    assert len(model.calls) == 4
    assert lines(out / "choices-light-shots1-tested.jsonl")[0]["of"] != cats["of"]
    assert shown(out, data)["stored: light-shots1-tested"][1] == 4


def test_choices_among_the_candidates_of_some_parts(out: Path, data: Path) -> None:
    model = FakeModel("A")  # always the one shown first
    file = choices.select(out, data, model, SelectPart("tournament"), among=Among(parts=(3, 1, 3)))
    assert file == out / "choices-tournament-parts1_3.jsonl"
    cats = lines(file)[0]
    assert (cats["parts"], cats["sql"], cats["groups"]) == ([1, 3], CATS, [0, 1, 0])
    second = choices.select(out, data, model, SelectPart("first"), among=Among(1, (2,)))
    assert second == out / "choices-first-parts2-first1.jsonl"
    assert [one["sql"] for one in lines(second)][:2] == ["SELECT 7", ALL]
    assert shown(out, data) == {"stored: tournament-parts1_3": (4, 4), "stored: first-parts2-first1": (2, 4)}
    taking = choices.stored(out, stored.load(out, data).questions)["tournament-parts1_3"]
    assert taking["dev-0000"].groups == (0, None, None, 1, 0)
    assert len(taking["dev-0000"].comparisons) == 1
    with pytest.raises(InputError, match="the parts 1 to 3"):
        choices.select(out, data, model, SelectPart("first"), among=Among(parts=(4,)))
    every = choices.select(out, data, model, SelectPart("first"), among=Among(parts=(1, 2, 3)))
    assert every == out / "choices-first.jsonl"


def test_an_analysis_of_some_parts_shows_the_choices_among_just_these(out: Path, data: Path) -> None:
    model = FakeModel("A")
    for parts in ((), (1, 2), (1, 3)):
        choices.select(out, data, model, SelectPart("tournament"), among=Among(parts=parts))
    assert shown(out, data, (1, 3)) == {"stored: tournament-parts1_3": (4, 4)}
    assert shown(out, data, (2, 1)) == {"stored: tournament-parts1_2": (2, 4)}
    assert shown(out, data, (2, 3)) == {}
    judges = ablation.ablation(stored.load(out, data).only({0, 2}))["judges"]
    assert judges["stored: tournament-parts1_3"]["pairs"] == 2


def test_parts_alone_have_no_answer_of_the_run(out: Path, data: Path) -> None:
    labels = {one["label"] for one in ablation.ablation(stored.load(out, data).only({0, 1}))["methods"]}
    assert not any("the run's answer" in label for label in labels)
    assert "consistency (votes)" in labels


def test_evidence_is_kept_and_shown_again(out: Path, data: Path) -> None:
    records = folder.records(out)
    assert [one.get("evidence") for one in records] == [None, HINT, None, None]
    model = FakeModel("A")
    file = choices.select(out, data, model, SelectPart("tournament"))
    assert {HINT in call.prompt for call in model.calls if "old cats" in call.prompt} == {True}
    assert [one.task.question.evidence for one in replay(out, data)] == ["", HINT, "", ""]
    assert shown(out, data)["stored: tournament"][1] == 4
    records[1]["evidence"] = "old is below five"
    (out / folder.ANSWERS).write_text("".join(json.dumps(one) + "\n" for one in records))
    assert shown(out, data)["stored: tournament"][1] == 3  # made for another question
    choices.select(out, data, model, SelectPart("tournament"))
    assert len(lines(file)) == 5


def test_a_candidate_says_how_many_tokens_its_probability_is_of(out: Path, data: Path) -> None:
    first = folder.records(out)[0]["candidates"][0]
    assert first["tokens"] == FakeModel("").count_tokens(CATS)
    assert next(iter(replay(out, data))).candidates[0].tokens == first["tokens"]

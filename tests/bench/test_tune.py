"""The search for a recipe, on a model that one form of the schema helps.

Six databases of six questions, "Names of cats older than 3?". Shown the schema as DDL the model answers every second
question rightly; in any other form all of them.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqljury import FakeModel, Pipeline, recipes
from sqljury.bench import trials, tune
from sqljury.bench.moves import STEPS
from sqljury.bench.trials import CHECKING, TUNING, halves
from sqljury.bench.tune import Search
from sqljury.datasets import spider
from sqljury.datasets.spider import Example
from sqljury.errors import CancelledError, DatasetError, InputError, ModelUnavailableError, WeightsError
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SelectPart
from sqljury.stages.registry import check_recipe

ONE = Recipe("one", generate=(GeneratePart(),))
FORMS = Search(steps=("forms",), rounds=1)
AGES = range(1, 7)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "spider"
    entries = []
    for number in range(6):
        file = folder / "database" / f"db{number}" / f"db{number}.sqlite"
        file.parent.mkdir(parents=True)
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE cat (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)")
            rows = [(age, f"cat {age} of {number}", age) for age in range(1, 9)]
            connection.executemany("INSERT INTO cat VALUES (?, ?, ?)", rows)
        connection.close()
        for age in AGES:
            query = f"SELECT name FROM cat WHERE age > {age}"
            entries.append({"question": f"Names of cats older than {age}?", "query": query, "db_id": f"db{number}"})
    (folder / "dev.json").write_text(json.dumps(entries))
    return folder


def age_of(call: Call) -> int:
    return int(re.findall(r"older than (\d)", call.prompt)[-1])


def helped(call: Call) -> str:
    age = age_of(call)
    right = age % 2 == 0 or "CREATE TABLE" not in call.prompt
    return f"SELECT name FROM cat WHERE age {'>' if right else '<'} {age}"


def unhelped(call: Call) -> str:
    return f"SELECT name FROM cat WHERE age {'>' if age_of(call) > 2 else '<'} {age_of(call)}"


Tune = Callable[..., tune.Tuned]


@pytest.fixture
def search(data: Path, tmp_path: Path) -> Tune:
    def search(model: FakeModel, wanted: Search = FORMS, start: Recipe = ONE, **more: Any) -> tune.Tuned:
        examples = spider.load(data, "dev")[: more.pop("limit", None)]
        dataset = {"name": "spider", "data": str(data), "split": more.pop("split", "dev")}
        out = tmp_path / more.pop("out", "out")
        return tune.tune(examples, Pipeline(start, model), out, dataset, wanted, **more)

    return search


def test_the_recipe_that_helps_is_found_and_written(search: Tune, tmp_path: Path) -> None:
    found = search(FakeModel(helped), Search(steps=("stops", "forms"), rounds=2))
    assert found.better
    assert found.gain is not None
    assert (found.gain.first, found.gain.second, found.questions) == (0.5, 1.0, (18, 18))
    assert found.tuned.schema.form != "ddl"
    written = recipes.load(str(tmp_path / "out" / "recipe.toml"))
    assert (written.schema, written.generate, written.fix) == (found.tuned.schema, ONE.generate, ONE.fix)
    assert "Tuned from one: +50.0 points" in written.summary
    table = (tmp_path / "out" / "tune.md").read_text()
    assert "The tuned recipe is better: 100.0 % instead of 50.0 % of 18 checking questions" in table
    assert table.count("\n| ") == 1 + len(found.rows)
    assert sum("taken" in row.outcome for row in found.rows) == 1
    assert any(row.outcome.startswith("left out after 9 questions") for row in found.rows)


def test_where_nothing_helps_the_recipe_stays(search: Tune, tmp_path: Path) -> None:
    found = search(FakeModel(unhelped))
    assert (found.gain, found.better, found.recipe) == (None, False, ONE)
    assert "no variant was better" in found.verdict
    assert recipes.load(str(tmp_path / "out" / "recipe.toml")).schema == ONE.schema
    table = (tmp_path / "out" / "tune.md").read_text()
    assert "not better than 66.7 %" in table
    assert "\nNo variant was better on the tuning half, so the recipe is the starting one.\n" in table


def test_a_search_without_variants_says_so(search: Tune) -> None:
    found = search(FakeModel(unhelped), Search(steps=("stops",), rounds=1))
    assert found.verdict == "these steps have no variant of the starting recipe, so the recipe is the starting one"
    right = search(FakeModel(lambda call: f"SELECT name FROM cat WHERE age > {age_of(call)}"), out="right")
    assert right.verdict.startswith("the starting recipe is right on all tuning questions")
    assert len(right.rows) == 1


def test_a_further_search_begins_with_the_recipe_that_was_found(search: Tune, tmp_path: Path) -> None:
    first = search(FakeModel(helped))
    said: list[str] = []
    found = search(FakeModel(helped), Search(steps=("values",), rounds=1), say=said.append)
    assert (found.recipe, found.better, found.gain) == (first.recipe, True, first.gain)
    assert any("begins with" in line and "100.0 %" in line for line in said)
    assert recipes.load(str(tmp_path / "out" / "recipe.toml")).schema == first.tuned.schema
    assert found.rows == first.rows
    table = (tmp_path / "out" / "tune.md").read_text()
    assert "the schema as mschema" in table
    assert "The tuned recipe is better" in table


def test_a_further_search_goes_on_from_the_recipe_that_was_found(search: Tune, tmp_path: Path) -> None:
    def partly(call: Call) -> str:
        age = age_of(call)
        right = age % 3 == 0 if "CREATE TABLE" in call.prompt else age % 3 < 2
        return f"SELECT name FROM cat WHERE age {'>' if right else '<'} {age}"

    first = search(FakeModel(partly))
    assert first.better
    second = search(FakeModel(partly), Search(steps=("counts",), rounds=1))
    assert second.recipe == first.recipe
    assert [row.change for row in second.rows] == [*(row.change for row in first.rows), "three samples more"]
    assert second.rows[-1].outcome == "not better than 66.7 %"
    (tmp_path / "out" / "tuned.toml").write_text("broken = ")
    (tmp_path / "out" / "rows.jsonl").write_text('{"step": 3}\nnone\n')
    third = search(FakeModel(partly), Search(steps=("counts",), rounds=1))
    assert (third.recipe, [row.step for row in third.rows]) == (ONE, ["start", "1 counts"])


def test_what_was_found_is_kept_where_a_further_search_finds_less(search: Tune, data: Path, tmp_path: Path) -> None:
    checked = {one.db_id[-1] for one in halves(spider.load(data, "dev"))[1]}

    def says(call: Call) -> str:
        """Other forms help; samples help on the tuning half, and on the checking half they are all wrong."""
        age, number = age_of(call), re.findall(r"cat \d of (\d)", call.prompt)[0]
        right = age < 4 if "CREATE TABLE" in call.prompt else age < 6
        right = number not in checked if call.sampling.temperature else right
        return f"SELECT name FROM cat WHERE age {'>' if right else '<'} {age}"

    first = search(FakeModel(says))
    assert first.better
    found = search(FakeModel(says), Search(steps=("counts",), rounds=1))
    assert [row.outcome for row in found.rows if row.step == "1 counts"] == ["better than 83.3 %: taken"]
    assert (found.recipe, found.gain) == (first.recipe, first.gain)
    assert recipes.load(str(tmp_path / "out" / "recipe.toml")).generate == ONE.generate


def test_a_recipe_that_was_found_and_is_too_slow_now_is_left(search: Tune, tmp_path: Path) -> None:
    search(FakeModel(helped))
    lines = (tmp_path / "out" / "trials.jsonl").read_text().splitlines()
    slow = [{**json.loads(line)} for line in lines]
    start = trials.digest(ONE)
    slow = [{**line, "seconds": 0.0 if line["recipe"] == start else 9.0} for line in slow]
    (tmp_path / "out" / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in slow))
    found = search(FakeModel(helped), Search(seconds=5, steps=("forms",), rounds=1))
    assert found.recipe == ONE
    assert {row.outcome for row in found.rows[1:]} == {"takes more than 5 s a question"}


def test_a_gain_within_chance_is_not_taken(search: Tune, data: Path, tmp_path: Path) -> None:
    lucky = halves(spider.load(data, "dev"))[0][0]

    def by_chance(call: Call) -> str:
        own = lucky.db_id[-1] in "".join(re.findall(r"cat \d of (\d)", call.prompt)[:1])
        if own and lucky.question.text in call.prompt and "CREATE TABLE" not in call.prompt:
            return lucky.gold_sql
        return "SELECT name FROM cat WHERE age > 2"

    found = search(FakeModel(by_chance))
    assert found.tuned.schema.form != "ddl"  # on the tuning half it is better by one question
    assert found.gain is not None
    assert (found.gain.difference, found.better, found.recipe) == (0.0, False, ONE)
    assert "within what chance gives, so the recipe is the starting one" in found.verdict
    assert recipes.load(str(tmp_path / "out" / "recipe.toml")).schema == ONE.schema
    assert recipes.load(str(tmp_path / "out" / "tuned.toml")).schema == found.tuned.schema


def test_choosing_otherwise_among_the_same_candidates_calls_nothing(search: Tune) -> None:
    model = FakeModel(unhelped)
    start = Recipe("two", generate=(GeneratePart(), GeneratePart(samples=2, temperature=0.8)))
    found = search(model, Search(steps=("choosing", "stops"), rounds=1), start)
    assert len(found.rows) > 4
    assert len(model.calls) == 2 * 18  # two parts on the tuning half, asked once


def test_a_search_that_was_stopped_goes_on(search: Tune, tmp_path: Path) -> None:
    whole = FakeModel(helped)
    wanted = Search(steps=("forms", "counts"), rounds=1)
    expected = search(whole, wanted)
    (tmp_path / "out").rename(tmp_path / "whole")
    made: list[str] = []
    for stop in (3, 25, 60):
        cancel = threading.Event()

        def says(call: Call, stop: int = stop, cancel: threading.Event = cancel) -> str:
            made.append(call.prompt)
            if len(made) >= stop:
                cancel.set()
            return helped(call)

        with pytest.raises(CancelledError):
            search(FakeModel(says), wanted, cancel=cancel)
    found = search(FakeModel(says), wanted)
    # of forms that are as good the faster one is taken, which may be another
    assert sorted(row.trial.right for row in found.rows) == sorted(row.trial.right for row in expected.rows)
    assert found.gain == expected.gain
    assert len(whole.calls) <= len(made) <= len(whole.calls) + 3  # at most the call in flight is made again
    before = len(made)
    assert search(FakeModel(says), wanted).gain == expected.gain
    assert len(made) == before


def test_a_variant_that_cannot_run_is_a_line_of_the_table(search: Tune) -> None:
    def opened(name: str) -> FakeModel:
        raise WeightsError(f"there is no adapter | {name}")

    found = search(FakeModel(helped), Search(steps=("adapters", "forms"), adapters=("mine",), rounds=1), opened=opened)
    failed = [row.outcome for row in found.rows if row.step == "1 adapters"]
    assert failed == ["there is no adapter | +mine"] * 2
    assert found.better
    assert "there is no adapter / +mine" in tune.markdown(found)


def test_the_base_model_is_tried_beside_the_adapter_that_is_worn(search: Tune) -> None:
    asked: list[str] = []

    def opened(name: str) -> FakeModel:
        asked.append(name)
        return FakeModel(helped, name="base+none")

    model = FakeModel(unhelped, name="base+mine@0123abcd")
    start = Recipe("two", generate=(GeneratePart(), GeneratePart(samples=2, temperature=0.8)))
    wanted = Search(steps=("adapters",), adapters=("mine", "yours"), rounds=1)
    found = search(model, wanted, start, opened=opened)
    expected = ["all queries by {}", "samples by {}", "one more query by {}"]
    changes = [row.change for row in found.rows if row.step == "1 adapters"]
    writers = ("the adapter yours", "the base model")
    assert sorted(changes) == sorted(text.format(writer) for writer in writers for text in expected)
    assert set(asked) == {"+yours", "+none"}


def test_a_service_that_is_away_ends_the_search(search: Tune) -> None:
    def away(call: Call) -> str | Exception:
        return ModelUnavailableError("busy") if "CREATE TABLE" not in call.prompt else helped(call)

    with pytest.raises(ModelUnavailableError):
        search(FakeModel(away))
    assert search(FakeModel(helped)).better  # the same call goes on


def test_no_recipe_takes_longer_than_allowed(search: Tune, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the recipe one, with which the search begins, takes more than 0\.01 s"):
        search(FakeModel(helped, delay=0.03), Search(seconds=0.01, steps=("forms",)))
    found = search(FakeModel(helped), Search(seconds=60, steps=("forms",), rounds=1, trials=2))
    assert found.better  # what was too slow may be tried again


def test_the_number_of_trials_is_limited(search: Tune) -> None:
    found = search(FakeModel(unhelped), Search(rounds=5, trials=4))
    assert len({row.trial.recipe for row in found.rows}) == 1 + 4


def test_a_folder_holds_one_search(search: Tune) -> None:
    search(FakeModel(helped))
    with pytest.raises(DatasetError, match="questions differ"):
        search(FakeModel(helped), limit=30)
    with pytest.raises(InputError, match="there is no step 'forme'"):
        search(FakeModel(helped), Search(steps=("forme",)))


def example(number: int, db_id: str, gold: str = "SELECT 1") -> Example:
    [read] = [spider.Question(f"Question {number}?", id=f"own-{number}")]
    return Example(f"own-{number}", read, gold, db_id, Path("none"))


def test_halves_share_no_database() -> None:
    examples = [example(number, f"db{number % 7}") for number in range(50)]
    tuning, checking = halves(examples, 3)
    assert not {one.db_id for one in tuning} & {one.db_id for one in checking}
    assert sorted(one.id for one in (*tuning, *checking)) == sorted(one.id for one in examples)
    assert halves(examples, 3) == halves(examples[::-1], 3)
    assert halves(examples, 4) != halves(examples, 3)


def test_questions_on_one_database_that_say_the_same_stay_together() -> None:
    examples = [
        example(number, "db", f"SELECT {number // 2}" if number % 2 else f"select  {number // 2}")
        for number in range(40)
    ]
    tuning, checking = halves(examples)
    golds: Sequence[set[str]] = [{one.gold_sql.split()[1] for one in half} for half in (tuning, checking)]
    assert not golds[0] & golds[1]
    assert len(tuning) == len(checking) == 20


def test_too_few_questions() -> None:
    with pytest.raises(InputError, match="15 questions give 8 to tune on and 7 to check with; at least 10 each"):
        halves([example(number, "db", f"SELECT {number}") for number in range(15)])


def test_every_variant_of_every_recipe_can_be_used_and_written() -> None:
    tried = 0
    for name in recipes.names():
        for moves in STEPS.values():
            for move in moves(recipes.load(name), ("mine",)):
                check_recipe(move.recipe)
                written = recipes.parse(name, recipes.dump(move.recipe))
                assert written == move.recipe, move.change
                assert written != recipes.load(name), move.change
                tried += 1
    assert tried > 100


def test_a_variant_differs_in_one_respect() -> None:
    judged = Recipe("test", select=SelectPart("critic", judge="openai:BIG", schema="linked"))
    tournament = next(move.recipe for move in STEPS["choosing"](judged, ()) if "tournament" in move.change)
    assert (tournament.select.judge, tournament.select.schema, tournament.select.groups) == ("openai:BIG", "linked", 3)
    default = recipes.load("default")
    stops = {move.change: move.recipe.stop for move in STEPS["stops"](default, ())}
    assert stops["ends once 3 agree, all so far"] == replace(default.stop, least=3)
    assert stops["is not ended by confidence"] == replace(default.stop, confidence=0.0)
    wide = Recipe("test", generate=(GeneratePart(samples=21, temperature=1.0),))
    samples = {move.change: move.recipe.generate[0].samples for move in STEPS["counts"](wide, ())}
    assert samples == {"half as many samples": 10}


def test_names_and_summaries_change_no_digest() -> None:
    assert trials.digest(ONE) == trials.digest(Recipe("other", "summary", generate=(GeneratePart(),)))
    assert (TUNING, CHECKING) == ("tuning", "checking")

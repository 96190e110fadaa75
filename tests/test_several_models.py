"""Models that the tests of a recipe name: opened once, asked from everywhere, counted, and missed before any work."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import sqljury
from sqljury import FakeModel, Pipeline, Question, connect, recipes
from sqljury.api import check_with
from sqljury.bench import choices, refining, run
from sqljury.bench.refining import Way
from sqljury.bench.run import Controls
from sqljury.budget import Allowance
from sqljury.datasets import spider
from sqljury.errors import RecipeError, SandboxError, WeightsError
from sqljury.evaluation import run_folder as folder
from sqljury.llm.base import LanguageModel
from sqljury.llm.fake import Call
from sqljury.llm.open import open_model
from sqljury.recipes import FixPart, GeneratePart, Recipe, SelectPart
from sqljury.recipes.parts import TestsPart
from sqljury.sandbox import Sandbox

TALL, SHORT = ("SELECT name FROM person WHERE height > 180", "SELECT name FROM person WHERE height < 180")
CODES = {
    "tall": "```python\nresult = person[person['height'] > 180][['name']]\n```",
    "short": "```python\nresult = person[person['height'] < 180][['name']]\n```",
}
PEOPLE = (
    "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, height INTEGER);"
    "INSERT INTO person VALUES (1, 'Ann', 185), (2, 'Bo', 170), (3, 'Cy', 190);"
)
QUESTION = Question("Who is tall?")
RECIPE = """
[tests]
kind = "agents"
data = "program"
codes = 1
inspections = 0
models = ["one", "two", "three"]
[refine]
rounds = 1
"""


@pytest.fixture(autouse=True, scope="module")
def walls() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    try:
        Sandbox().close()
    except SandboxError:
        pytest.skip("written code cannot be isolated here")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return filled(tmp_path / "people.db")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A benchmark of one question."""
    filled(tmp_path / "spider/database/people/people.sqlite")
    entry = {"question": QUESTION.text, "query": TALL, "db_id": "people"}
    (tmp_path / "spider/dev.json").write_text(json.dumps([entry]))
    (tmp_path / "spider/tables.json").write_text("[]")
    return tmp_path / "spider"


def filled(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(file) as connection:
        connection.executescript(PEOPLE)
    connection.close()
    return file


def recipe(tmp_path: Path, text: str = RECIPE) -> str:
    file = tmp_path / "several.toml"
    file.write_text(text)
    return str(file)


def writes(call: Call) -> str:
    """The wrong query first; what a test shows then; of programs the one that the rows of tall people are in."""
    system = call.messages[0].content
    if system.startswith("You compare pandas"):
        programs = call.messages[-1].content.split("Program ")[1:]
        return next((one[0] for one in programs if "> 180" in one), "?")
    if not system.startswith("You write SQLite"):
        return "no program of mine"
    return TALL if len(call.messages) > 2 else SHORT


def models(*say: str) -> dict[str, FakeModel]:
    return {name: FakeModel(CODES[what], name=name) for name, what in zip(("one", "two", "three"), say, strict=True)}


def test_an_answer_is_refined_by_what_the_models_say_together(path: Path, tmp_path: Path) -> None:
    writer, named = FakeModel(writes), models("short", "tall", "tall")
    pipeline = Pipeline.from_recipe(recipe(tmp_path), writer, opened=named.__getitem__)
    assert sorted(model.name for model in pipeline.others()) == ["one", "three", "two"]
    with connect(path) as db:
        answer = pipeline.answer(QUESTION, db)
    assert answer.sql == TALL
    assert [len(model.calls) for model in named.values()] == [1, 1, 1]
    assert dict(answer.steps)["tests"].calls == 3
    assert answer.cost.calls == len(writer.calls) + 3


def test_check_asks_them_too(path: Path, tmp_path: Path) -> None:
    named = models("tall", "tall", "short")
    pipeline = Pipeline.from_recipe(recipe(tmp_path), FakeModel(writes), opened=named.__getitem__)
    with connect(path) as db:
        found = check_with(pipeline, QUESTION, TALL, db)
    assert found.verdict == "right"
    assert found.tests[0].case.confidence == pytest.approx(2 / 3)


def test_ask_opens_them_once_and_closes_them(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, opened, closed = models("tall", "tall", "tall"), [], []

    def opening(name: str, base: str | None, **_: object) -> FakeModel:
        opened.append(name)
        named[name].close = lambda: closed.append(name)  # type: ignore[attr-defined]
        return named[name]

    monkeypatch.setattr("sqljury.api.open_model", opening)
    assert sqljury.ask(QUESTION.text, path, model=FakeModel(writes), recipe=recipe(tmp_path)).sql == TALL
    assert opened == ["one", "three", "two"]
    assert sorted(closed) == opened


def test_the_budget_of_a_question_holds_for_them(path: Path, tmp_path: Path) -> None:
    named = models("tall", "tall", "tall")
    pipeline = Pipeline(
        recipes.parse("several", RECIPE), FakeModel(writes), allowance=Allowance(tokens=1), models=named
    )
    with connect(path) as db:
        answer = pipeline.answer(QUESTION, db)
    assert answer.sql == SHORT
    assert [len(model.calls) for model in named.values()] == [0, 0, 0]


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("nosuch", WeightsError, "there is no local model 'nosuch'; known are"),
        ("smollm2-135m", WeightsError, "not on this machine .* run: sqljury models pull smollm2-135m"),
        ("none.gguf", WeightsError, "there is no model file none.gguf"),
        ("+nosuch", WeightsError, "there is no adapter 'nosuch'"),
    ],
)
@pytest.mark.parametrize("part", ["[tests]\nkind = 'agents'\nmodels = ['{}']", "[select]\njudge = '{}'"])
def test_a_model_that_is_not_there_is_told_of_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, name: str, error: type[Exception], told: str
) -> None:
    monkeypatch.setenv("SQLJURY_CACHE", str(tmp_path / "cache"))
    with pytest.raises(error, match=told):
        Pipeline.from_recipe(recipe(tmp_path, part.format(name)), FakeModel([]), opened=uncached)


def uncached(name: str) -> LanguageModel:
    return open_model(name, cache=False)


def test_a_model_that_nobody_opened_is_told_of() -> None:
    for part in (TestsPart(kind="agents", models=("", "one")), TestsPart(kind="agents", chooser="one")):
        with pytest.raises(RecipeError, match="several names the model 'one'; give Pipeline that model"):
            Pipeline(Recipe("several", tests=part), FakeModel(""))


@pytest.fixture
def before(data: Path, tmp_path: Path) -> Path:
    """A run of one wrong answer."""
    pipeline = Pipeline(Recipe("bare", generate=(GeneratePart(),), fix=FixPart(attempts=0)), FakeModel(SHORT))
    settled = run.settings(pipeline, {"name": "spider", "data": str(data)}, 0)
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "before", settled)
    return tmp_path / "before"


@pytest.mark.parametrize(("voting", "sql", "asked"), [(None, SHORT, 0), ("selection", TALL, 2)])
def test_bench_refine_asks_them_and_compares_votings(
    before: Path, data: Path, tmp_path: Path, voting: str | None, sql: str, asked: int
) -> None:
    model, named = FakeModel(writes), models("short", "tall", "short")
    opened: list[str] = []

    def opening(name: str) -> FakeModel:
        opened.append(name)
        return named[name]

    controls = Controls(opened=opening)
    way = Way(voting=voting)  # type: ignore[arg-type]
    out, tests = tmp_path / "out", recipes.parse("several", RECIPE)
    refining.refine(before, out, data, model, tests, way, controls)
    [record] = folder.records(out)
    assert (record["sql"], record["fault"], opened) == (sql, None, ["one", "three", "two"])
    assert sum("compare pandas" in call.prompt for call in model.calls) == asked
    described = folder.described(out)
    assert (described["others"], described["refined"]["voting"]) == (["one", "three", "two"], voting)
    refining.refine(before, out, data, FakeModel([]), tests, way, controls)  # goes on with nothing to do
    assert refining.summary(out, data)["corrected"] == (sql == TALL)


def test_no_other_voting_where_nothing_votes(before: Path, data: Path, tmp_path: Path) -> None:
    tests, way = recipes.parse("suited", '[tests]\nkind = "suite"'), Way(voting="selection")
    with pytest.raises(RecipeError, match="programs vote in tests"):
        refining.refine(before, tmp_path / "out", data, FakeModel([]), tests, way)
    assert not (tmp_path / "out").exists()


def test_without_programs_nobody_is_opened_to_write_them(before: Path, data: Path, tmp_path: Path) -> None:
    def never(name: str) -> FakeModel:
        raise AssertionError(name)

    tests = recipes.parse("several", RECIPE)
    refining.refine(before, tmp_path / "out", data, FakeModel("7"), tests, Way(without="code"), Controls(opened=never))
    refining.summary(tmp_path / "out", data)  # its recipe can be read again


def test_bench_select_asks_them(data: Path, tmp_path: Path) -> None:
    generate = (GeneratePart(), GeneratePart(temperature=1.0))
    pipeline = Pipeline(Recipe("two", generate=generate), FakeModel([SHORT, TALL]))
    run.run(spider.load(data, "dev"), pipeline, tmp_path / "run", run.settings(pipeline, {"data": str(data)}, 0))
    tests = recipes.parse("several", RECIPE).tests
    named, model = models("tall", "short", "tall"), FakeModel([])
    chosen: Callable[..., Path] = choices.select
    file = chosen(tmp_path / "run", data, model, SelectPart("rerank"), Controls(opened=named.__getitem__), tests=tests)
    [line] = [json.loads(one) for one in file.read_text().splitlines()]
    assert (line["sql"], line["others"]) == (TALL, ["one", "three", "two"])
    assert re.search(r"-models3_[0-9a-f]{8}\.jsonl$|-models3_[0-9a-f]{8}-", file.name)

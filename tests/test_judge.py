"""A recipe may name another model that chooses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, ask, check, connect
from sqljury.errors import BudgetExceededError, RecipeError
from sqljury.llm.ledger import Budget, Ledger, Metered
from sqljury.recipes import GeneratePart, Recipe, SelectPart

ONE, TWO = "SELECT 1 FROM t", "SELECT 2 FROM t"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "t.db"
    with sqlite3.connect(file) as connection:
        connection.executescript("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1);")
    connection.close()
    return file


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    file = tmp_path / "judged.toml"
    file.write_text('[[generate]]\n[[generate]]\n[select]\nselector = "tournament"\njudge = "trained"\n')
    return str(file)


class Closing(FakeModel):
    """Counts how often it is closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def favours_two() -> Closing:
    return Closing(lambda call: "A" if call.prompt.index(TWO) < call.prompt.index(ONE) else "B", name="trained")


def test_the_judge_judges_and_writes_nothing(path: Path, recipe: str) -> None:
    writer, judge = FakeModel([ONE, TWO]), favours_two()
    pipeline = Pipeline.from_recipe(recipe, writer, opened=lambda name: {"trained": judge}[name])
    with connect(path) as db:
        answer = pipeline.answer(Question("Which?"), db)
    assert answer.sql == TWO
    assert len(writer.calls) == 2
    assert len(judge.calls) == 2
    assert all(call.sampling.max_tokens == 1 for call in judge.calls)


def test_ask_opens_the_judge_once_and_closes_it(path: Path, recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, opened = favours_two(), []

    def opening(name: str, base: str | None, **_: object) -> FakeModel:
        assert base is None
        opened.append(name)
        return judge

    monkeypatch.setattr("sqljury.api.open_model", opening)
    writer = Closing([ONE, TWO])
    assert ask("Which?", path, model=writer, recipe=recipe).sql == TWO
    assert opened == ["trained"]
    assert judge.closed == 1
    assert writer.closed == 0  # the caller's own


@pytest.mark.parametrize("asking", [ask, partial(check, sql=ONE, tests="suite")], ids=["ask", "check"])
def test_an_adapter_of_a_recipe_is_one_of_the_models_of_the_call(
    path: Path, tmp_path: Path, asking: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "adapted.toml"
    file.write_text('[[generate]]\nmodel = "+own"\n')
    opened: list[tuple[str | None, str | None]] = []
    models: list[Closing] = []

    def opening(name: str | None = None, *, base: str | None, **_: object) -> Closing:
        opened.append((name, base))
        models.append(Closing(ONE, name=f"{base}{name or ''}"))
        return models[-1]

    monkeypatch.setattr("sqljury.api.open_model", opening)
    asking("Which?", path, model="gemma-3-270m", recipe=str(file))
    assert opened == [(None, "gemma-3-270m"), ("+own", "gemma-3-270m")]
    assert [model.closed for model in models] == [1, 1]


def test_a_judge_of_the_writers_name_is_the_writer(path: Path, recipe: str) -> None:
    writer = FakeModel([ONE, TWO, "A", "B"], name="trained")

    def never(name: str) -> FakeModel:
        raise AssertionError(name)

    pipeline = Pipeline.from_recipe(recipe, writer, opened=never)
    assert list(pipeline.models.values()) == [writer]
    assert pipeline.others() == []


def test_a_judge_that_nobody_opened_is_told_of() -> None:
    recipe = Recipe("mine", select=SelectPart("tournament", judge="trained"))
    with pytest.raises(RecipeError, match="mine names the model 'trained'; give Pipeline that model"):
        Pipeline(recipe, FakeModel("x"))


def test_recipes_without_a_judge_ask_the_writer(path: Path) -> None:
    recipe = Recipe("mine", generate=(GeneratePart(), GeneratePart()), select=SelectPart("tournament"))
    writer = FakeModel([ONE, TWO, "A", "B"])
    with connect(path) as db:
        Pipeline(recipe, writer).answer(Question("Which?"), db)
    assert len(writer.calls) == 4


def test_one_budget_holds_for_both(path: Path, recipe: str) -> None:
    ledger = Ledger(Budget(calls=3))
    writer, judge = (Metered(model, ledger) for model in (FakeModel([ONE, TWO]), favours_two()))
    pipeline = Pipeline.from_recipe(recipe, writer, opened=lambda _: judge)
    with connect(path) as db, pytest.raises(BudgetExceededError):
        pipeline.answer(Question("Which?"), db)


def test_a_part_that_names_a_model_is_written_by_it(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "writers.toml"
    file.write_text('[[generate]]\n[[generate]]\nmodel = "+own"\n[[generate]]\nmodel = "+own"\n')
    model, own = FakeModel(ONE), FakeModel(TWO, name="usual+own")
    opened = []
    pipeline = Pipeline.from_recipe(str(file), model, opened=lambda name: opened.append(name) or own)  # type: ignore[func-returns-value]
    with connect(path) as db:
        answer = pipeline.answer(Question("Which?"), db)
    assert [candidate.sql for candidate in answer.candidates] == [ONE, TWO, TWO]
    assert (opened, len(model.calls), len(own.calls)) == (["+own"], 1, 2)
    assert pipeline.others() == [own]


def test_a_writer_that_is_not_given_is_missed() -> None:
    with pytest.raises(RecipeError, match=r"names the model '\+own'; give Pipeline"):
        Pipeline(Recipe("r", generate=(GeneratePart(model="+own"),)), FakeModel(ONE))

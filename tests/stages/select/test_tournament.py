from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sqljury import FakeModel, Pipeline, Question, connect
from sqljury.llm.base import Completion, Token, probabilities
from sqljury.llm.fake import Call
from sqljury.recipes import GeneratePart, Recipe, SelectPart

QUERIES = {
    "count": "SELECT count(*) FROM pet",
    "dogs": "SELECT count(*) FROM pet WHERE kind = 'dog'",
    "names": "SELECT name FROM pet",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "pets.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, kind TEXT); CREATE TABLE shop (id INTEGER);"
            "INSERT INTO pet VALUES (1, 'Rex', 'dog'), (2, 'Tom', 'cat'), (3, 'Ace', 'dog');"
        )
    connection.close()
    return file


def judged_by(favourite: Callable[[str, str], str], written: list[str]) -> tuple[FakeModel, Recipe]:
    """A model that writes these queries and judges pairs by their texts."""

    def reply(call: Call) -> str:
        prompt = call.messages[-1].content
        if "Query A:" not in prompt:
            return written[len([one for one in model.calls if "Query A:" not in one.messages[-1].content]) - 1]
        shown = prompt.partition("Query A:\n")[2]
        first, second = shown.partition("\n")[0], shown.partition("Query B:\n")[2].partition("\n")[0]
        return favourite(first, second)

    model = FakeModel(reply)
    parts = tuple(GeneratePart() for _ in written)
    return model, Recipe("test", generate=parts, select=SelectPart("tournament"))


def test_the_judge_overrules_votes(path: Path) -> None:
    written = [QUERIES["count"], QUERIES["count"], QUERIES["dogs"]]
    model, recipe = judged_by(lambda first, _: "A" if "dog" in first else "B", written)
    with connect(path) as db:
        answer = Pipeline(recipe, model).answer(Question("How many dogs?"), db)
    assert answer.sql == QUERIES["dogs"]
    assert answer.choice is not None
    (comparison,) = answer.choice.comparisons
    assert (comparison.first_shown_first, comparison.first_shown_second) == (0.0, 0.0)
    assert answer.choice.scores == (1.0, 4.0)  # one point for the pair of equals; two orders against each of two


def test_a_judge_that_prefers_a_place_decides_nothing(path: Path) -> None:
    written = [QUERIES["dogs"], QUERIES["count"], QUERIES["count"]]
    model, recipe = judged_by(lambda first, second: "A", written)
    with connect(path) as db:
        answer = Pipeline(recipe, model).answer(Question("How many?"), db)
    assert answer.sql == QUERIES["count"]  # votes stand


def test_equal_results_cost_no_call_and_the_schema_is_what_both_use(path: Path) -> None:
    written = [QUERIES["count"], "SELECT count(id) FROM pet", QUERIES["names"]]
    model, recipe = judged_by(lambda first, second: "A", written)
    with connect(path) as db:
        Pipeline(recipe, model).answer(Question("How many?"), db)
    judged = [call.messages[-1].content for call in model.calls if "Query A:" in call.messages[-1].content]
    assert len(judged) == 2
    assert "CREATE TABLE pet" in judged[0]
    assert "shop" not in judged[0]
    assert "Result of A: 1 row\n3" in judged[0]


def test_only_the_largest_groups_take_part(path: Path) -> None:
    written = [QUERIES["count"], QUERIES["count"], QUERIES["dogs"], QUERIES["names"]]
    model, recipe = judged_by(lambda first, second: "A", written)
    recipe = Recipe("test", generate=recipe.generate, select=SelectPart("tournament", groups=2))
    with connect(path) as db:
        answer = Pipeline(recipe, model).answer(Question("How many?"), db)
    assert answer.choice is not None
    assert len(answer.choice.scores) == 2


def test_the_choice_is_read_from_the_first_tokens_alternatives() -> None:
    token = Token(" B", math.log(0.6), ((" B", math.log(0.6)), ("A", math.log(0.2)), ("**", math.log(0.1))))
    assert probabilities(Completion("B", tokens=(token,)), "AB") == pytest.approx([0.25, 0.75])
    assert probabilities(Completion("A"), "AB") == [1, 0]
    assert probabilities(Completion("b."), "AB") == [0, 1]
    assert probabilities(Completion("neither"), "AB") == [0.5, 0.5]

from __future__ import annotations

from pathlib import Path

import pytest

from sqljury import recipes
from sqljury.errors import RecipeError


def test_the_recipes_that_come_along_load() -> None:
    assert {"default", "fast"} <= set(recipes.names())
    for name in recipes.names():
        recipe = recipes.load(name)
        assert recipe.name == name
        assert recipe.summary


def test_default_is_one_greedy_and_seven_sampled() -> None:
    greedy, sampled = recipes.load("default").generate
    assert (greedy.samples, greedy.temperature) == (1, 0.0)
    assert sampled.samples == 7
    assert sampled.temperature > 0


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('summary = "mine"\n[[generate]]\nsamples = 3\ntemperature = 1\n')
    recipe = recipes.load(str(path))
    assert (recipe.name, recipe.generate[0].samples, recipe.generate[0].temperature) == ("mine", 3, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("summary = ", "not valid TOML"),
        ("speed = 3", "unknown field speed"),
        ("[fix]\nattemps = 3", "unknown field fix.attemps"),
        ('[fix]\nattempts = "three"', "fix.attempts must be int"),
        ("[fix]\nnames = 1", "fix.names must be bool"),
        ("fix = 3", "fix must be a table"),
        ("generate = []", "at least one"),
        ("[[generate]]\nsamples = 0", "at least 1"),
        ('[schema]\nform = "poem"', "schema.form must be one of"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipes.parse("mine", text)


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(RecipeError, match="default, fast"):
        recipes.load("chess")

from __future__ import annotations

from dataclasses import fields
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
        ("[[generate]]\nsamples = 0", "generate.samples must be from 1 to 256, not 0"),
        ("[[generate]]\nsamples = 100000", "generate.samples must be from 1"),
        ("[[generate]]\nmax_tokens = -1", "generate.max_tokens must be from 1"),
        ("[[generate]]\ntemperature = -3", "generate.temperature must be from 0"),
        ("[[generate]]\ntemperature = nan", "generate.temperature must be from 0 to 5, not nan"),
        ("[[generate]]\ntop_p = 1.5", "generate.top_p must be from 0 to 1"),
        ("[fix]\nattempts = -2", "fix.attempts must be from 0"),
        ("[schema]\nsample_rows = -1", "schema.sample_rows must be from 0"),
        ('[[generate]]\nrounds = "none"', "generate.rounds must be one of both, features, focus"),
        ('[schema]\nform = "poem"', "schema.form must be one of"),
        ('[link]\nkind = "guess"', "link.kind must be one of retrieval, model"),
        ("[link]\nshare = 2", "link.share must be from 0 to 1, not 2"),
        ('[tests]\nkind = "agents"\nmodels = "one"', "tests.models must be a list of names, not 'one'"),
        ('[tests]\nkind = "agents"\nmodels = [1]', "tests.models must be a list of names"),
        ('[tests]\nkind = "agents"\nmodels = ["a", "a"]', "tests.models names a model twice"),
        ('[tests]\nkind = "suite"\nmodels = ["a"]', 'for programs: kind = "agents", by = "code"'),
        ('[tests]\nkind = "agents"\nby = "model"\nvoting = "selection"', 'for programs: kind = "agents", by = "code"'),
        ('[tests]\nkind = "agents"\nvoting = "loudest"', "tests.voting must be one of majority, selection"),
        ('[tests]\nkind = "agents"\nchooser = "a"', "tests.chooser chooses where tests.voting"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipes.parse("mine", text)


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(RecipeError, match="default, fast"):
        recipes.load("chess")


def test_every_number_of_a_recipe_has_a_range() -> None:
    parts = {"schema": recipes.SchemaPart(), "generate": recipes.GeneratePart(), "fix": recipes.FixPart()}
    parts |= {"stop": recipes.StopPart(), "select": recipes.SelectPart()}
    parts |= {"link": recipes.LinkPart()}
    parts |= {"tests": recipes.TestsPart(), "refine": recipes.RefinePart()}
    numbers = {
        f"{section}.{field.name}"
        for section, part in parts.items()
        for field in fields(part)
        if type(getattr(part, field.name)) in (int, float)
    }
    assert numbers == set(recipes.RANGES)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'summary = "caf\xe9"')
    with pytest.raises(RecipeError, match=r"mine\.toml: is no UTF-8"):
        recipes.load(str(path))
    with pytest.raises(RecipeError, match="there is no recipe"):
        recipes.load("x" * 5000 + ".toml")

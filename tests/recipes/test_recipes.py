from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import get_type_hints

import pytest

from sqljury import recipes
from sqljury.errors import RecipeError
from sqljury.recipes import GeneratePart, Recipe


def test_the_recipes_that_come_along_load() -> None:
    assert {"default", "fast"} <= set(recipes.names())
    for name in recipes.names():
        recipe = recipes.load(name)
        assert recipe.name == name
        assert recipe.summary


def test_default_looks_at_the_tables_of_its_first_query_again_within_a_time() -> None:
    default = recipes.load("default")
    first, second, *sampled = default.generate
    assert (first.samples, first.temperature, first.tables) == (1, 0.0, "")
    assert (second.samples, second.temperature, second.tables) == (1, 0.0, "drafts")
    assert [(part.samples, part.tables) for part in sampled] == [(3, "drafts"), (2, "drafts")]
    assert all(part.temperature > 0 for part in sampled)
    assert default.budget.seconds == 30
    assert (default.stop.share, default.stop.least, default.stop.confidence) == (1.0, 4, 0.85)
    assert default.select.selector == "light"


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
        ('name = "other"', "unknown field name"),
        ("summary = 3", "summary must be string, not 3"),
        ('[[generate]]\ncolumns = "all"', "generate.columns must be one of drafts, words, model"),
        ("[[generate]]\nreorder = 1", "generate.reorder must be bool"),
        ("[budget]\nseconds = -1.0", "budget.seconds must be from 0"),
        ("[budget]\ntokens = 3", "unknown field budget.tokens"),
        ('[select]\nschema = "all"', "select.schema must be one of used, linked"),
        ("[[generate]]\nfallback = true", "every part is a fallback"),
        ('[[generate]]\ntables = "drafts"', 'tables = "drafts" needs queries before it'),
        ('[[generate]]\nfallback = true\n[[generate]]\ntables = "drafts"', "leave it out of the first"),
        ("[schema]\nnearest = true", "set schema.examples, or leave it out"),
        ("[[generate]]\ngiven = 1", "generate.given must be bool"),
        ('[select]\nopinion = "maybe"', "select.opinion must be one of none, votes, candidate, not 'maybe'"),
        ("generate = 3", "at least one"),
        ("generate = [3]", "generate must be a table, not 3"),
        ("[[generate]]\nsamples = true", "generate.samples must be int, not True"),
        ("[[generate]]\nsamples = 2.0", "generate.samples must be int, not 2.0"),
        ("[[generate]]\ntemperature = true", "generate.temperature must be float, not True"),
        ("[[generate]]\ntemperature = inf", "generate.temperature must be from 0 to 5, not inf"),
        ("[[generate]]\nmodel = 1979-05-27", "generate.model must be string, not"),
        ('[select]\nweights = "x"', "select.weights are for the selector light"),
        ('[tests]\nkind = "agents"\nmodels = "one"', "tests.models must be a list of names, not 'one'"),
        ('[tests]\nkind = "agents"\nmodels = [1]', "tests.models must be a list of names"),
        ('[tests]\nkind = "agents"\nmodels = ["a", "a"]', "tests.models names a model twice"),
        ('[tests]\nkind = "suite"\nmodels = ["a"]', 'for programs: kind = "agents", by = "code"'),
        ('[tests]\nkind = "agents"\nby = "model"\nvoting = "selection"', 'for programs: kind = "agents", by = "code"'),
        ('[tests]\nkind = "agents"\nvoting = "loudest"', "tests.voting must be one of majority, selection"),
        ('[tests]\nkind = "agents"\nchooser = "a"', "tests.chooser chooses where tests.voting"),
        ('[tests]\nkind = "suite"\nkeep = "most"', "tests.keep must be one of pairs, classes, all"),
        ('[tests]\nkind = "suite"\ndraw = "lots"', "tests.draw must be one of selection, fuzzing"),
        ('[tests]\nkind = "agents"\nkeep = "all"', "tests.keep, tests.draw and tests.reduce are for the databases of"),
        (
            '[tests]\nkind = "agents"\nreduce = false',
            "tests.keep, tests.draw and tests.reduce are for the databases of",
        ),
        (
            '[tests]\nkind = "agents"\nshare = 0.1',
            'tests.share is a share of the user\'s rows; set tests.data = "real"',
        ),
        ('[tests]\nkind = "suite"\nreasoning = true', "tests.share and tests.reasoning are for agents"),
        ('[refine]\nkeep = "first"', "refine.keep must be one of better, last"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipes.parse("mine", text)


def test_a_run_with_a_text_that_no_encoding_has_is_no_recipe() -> None:
    with pytest.raises(RecipeError, match="recipe damaged: "):
        recipes.build("damaged", {"generate": [{"form": "\ud800"}]})


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(RecipeError, match="default, fast"):
        recipes.load("chess")


def test_every_number_of_a_recipe_has_a_range() -> None:
    for part in (
        Recipe,
        *(type(field.default) for field in fields(Recipe) if is_dataclass(field.default)),
        GeneratePart,
    ):
        for key, hint in get_type_hints(part, include_extras=True).items():
            assert hint not in (int, float), f"{part.__name__}.{key}"


def test_recipes_of_the_package_are_valid() -> None:
    """They are read without validation, so it is done here; 1 for 1.0 would show in the record of a run."""
    for name in recipes.names():
        text = (files("sqljury.recipes") / f"{name}.toml").read_text(encoding="utf-8")
        assert repr(recipes.load(name)) == repr(recipes.parse(name, text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'summary = "caf\xe9"')
    with pytest.raises(RecipeError, match=r"mine\.toml: is not UTF-8"):
        recipes.load(str(path))
    with pytest.raises(RecipeError, match="there is no recipe"):
        recipes.load("x" * 5000 + ".toml")


def test_parts_can_be_replaced_and_hashed() -> None:
    recipe = recipes.load("fast")
    longer = replace(recipe, generate=(replace(recipe.generate[0], max_tokens=500),))
    assert longer.generate[0].max_tokens == 500
    assert len({recipe, longer, recipes.load("fast")}) == 2


def test_a_run_records_what_it_reads_again() -> None:
    recipe = recipes.load("tssql")
    tables = asdict(recipe)
    assert recipes.build(tables.pop("name"), tables) == recipe


@pytest.mark.parametrize("name", recipes.names())
def test_a_recipe_that_is_written_is_read_again(name: str) -> None:
    recipe = recipes.load(name)
    assert recipes.parse(name, recipes.dump(recipe)) == recipe


def test_texts_of_a_written_recipe_are_what_they_were() -> None:
    summary = 'a "quoted" \\ line\nwith \x7f, \x00 and żółw 🐢'
    recipe = Recipe("mine", summary, tests=recipes.TestsPart(kind="agents", models=("+a", 'b"c')))
    assert recipes.parse("mine", recipes.dump(recipe)) == recipe

"""What recipes may name: generators, selectors, kinds of tests; and whether a recipe can be run."""

from __future__ import annotations

from sqljury.errors import RecipeError
from sqljury.recipes import Recipe
from sqljury.stages.generate import GENERATORS
from sqljury.stages.select import SELECTORS, TESTING, selector
from sqljury.testing import TESTERS


def check_recipe(recipe: Recipe) -> None:
    """Raise ``RecipeError`` for what the recipe names and does not exist, and for steps without tests to rest on.

    Raises ``InputError`` for a file of weights that does not hold any.
    """
    named, kind = f"recipe {recipe.name}", recipe.tests.kind
    for part in recipe.generate:
        if part.generator not in GENERATORS:
            raise RecipeError(f"{named}: unknown generator {part.generator!r}")
    if recipe.select.selector not in SELECTORS:
        raise RecipeError(f"{named}: unknown selector {recipe.select.selector!r}")
    selector(recipe.select)  # reads its weights before a question is asked
    if kind not in ("", *TESTERS):
        raise RecipeError(f"{named}: unknown kind of tests {kind!r}")
    if recipe.select.selector in TESTING and not kind:
        needs = f"the selector {recipe.select.selector} chooses by tests"
        raise RecipeError(f'{named}: {needs}; add [tests] with kind = "suite" or "agents"')
    if recipe.refine.rounds and not kind:
        needs = "[refine] writes queries again that fail their tests"
        raise RecipeError(f'{named}: {needs}; add [tests] with kind = "agents" or "suite"')

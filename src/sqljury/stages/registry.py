"""What recipes may name: generators, selectors, kinds of tests; and whether a recipe can be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqljury.errors import RecipeError
from sqljury.llm.base import LanguageModel, NoModel
from sqljury.recipes import GeneratePart, LinkPart, Recipe, SelectPart, StopPart
from sqljury.stages import confidence
from sqljury.stages.generate import GENERATORS
from sqljury.stages.select import SELECTORS, TESTING, WITHOUT_MODEL, selector
from sqljury.stages.select.light import read
from sqljury.testing import TESTERS


def check_recipe(recipe: Recipe, *, writes: bool = True) -> None:
    """Raise ``RecipeError`` for what the recipe names and does not exist, and for steps without tests to rest on.

    Unless it ``writes``, its generators may be other systems. Raises ``InputError`` for a file of weights that does not
    hold any.
    """
    named, kind = f"recipe {recipe.name}", recipe.tests.kind
    for part in recipe.generate:
        if writes and part.generator not in GENERATORS:
            raise RecipeError(f"{named}: unknown generator {part.generator!r}")
    if recipe.select.selector not in SELECTORS:
        raise RecipeError(f"{named}: unknown selector {recipe.select.selector!r}")
    selector(recipe.select)  # reads its weights before a question is asked
    confidence.read(recipe.select.confidence)
    if kind not in ("", *TESTERS):
        raise RecipeError(f"{named}: unknown kind of tests {kind!r}")
    if recipe.select.selector in TESTING and not kind:
        needs = f"the selector {recipe.select.selector} chooses by tests"
        raise RecipeError(f'{named}: {needs}; add [tests] with kind = "suite" or "agents"')
    if recipe.refine.rounds and not kind:
        needs = "[refine] writes queries again that fail their tests"
        raise RecipeError(f'{named}: {needs}; add [tests] with kind = "agents" or "suite"')


def choosing_recipe(recipe: Recipe, systems: Sequence[str], selector: str, model: LanguageModel) -> Recipe:
    """A recipe for given candidates: a part for each of the ``systems`` in the place of those that write.

    ``selector`` chooses in the place of the recipe's. Raises ``RecipeError`` for one that asks a model where there is
    none.
    """
    parts = tuple(GeneratePart(generator=name) for name in systems)
    select = SelectPart(selector, recipe.select.groups, recipe.select.judge) if selector else recipe.select
    recipe = replace(recipe, generate=parts, link=LinkPart(), stop=StopPart(), select=select)
    return _without_model(recipe) if isinstance(model, NoModel) else recipe


def _without_model(recipe: Recipe) -> Recipe:
    """The recipe without what asks a model: its repairs, and keywords; raises ``RecipeError`` where more would."""
    part, problem = recipe.select, ""
    if part.judge or (part.selector in SELECTORS and part.selector not in WITHOUT_MODEL):
        problem = f"the selector {part.selector} asks a model"
    elif part.selector == "light" and ((weights := read(part.weights)).asks_tests or weights.asks_critic):
        problem = f"the weights {part.weights} use tests or the critic, which ask a model"
    elif recipe.refine.rounds:
        problem = "[refine] asks a model"
    if problem:
        known = ", ".join(sorted(WITHOUT_MODEL))
        raise RecipeError(f"recipe {recipe.name}: {problem}; name one with --model, or choose by {known}")
    schema, fix = replace(recipe.schema, keywords="rules"), replace(recipe.fix, attempts=0)
    return replace(recipe, schema=schema, fix=fix)

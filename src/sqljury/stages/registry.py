"""What recipes may name: generators, selectors, kinds of tests; and whether a recipe can be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from sqljury.errors import InputError, RecipeError
from sqljury.llm.base import LanguageModel, NoModel
from sqljury.recipes import GeneratePart, LinkPart, Recipe, SelectPart, StopPart
from sqljury.recipes.parts import Opinion
from sqljury.stages import confidence
from sqljury.stages.generate import GENERATORS
from sqljury.stages.select import SELECTORS, TESTING, WITHOUT_MODEL, selector
from sqljury.stages.select.light import read
from sqljury.testing import TESTERS


def check_recipe(recipe: Recipe, *, writes: bool = True, given: bool = False) -> None:
    """Raise ``RecipeError`` for what the recipe names and does not exist, and for steps without tests to rest on.

    Unless it ``writes``, its generators may be other systems, as those of ``given`` parts may where candidates are
    ``given``. Raises ``InputError`` for a file of weights that does not hold any.
    """
    named, kind = f"recipe {recipe.name}", recipe.tests.kind
    for part in recipe.generate:
        if part.given and writes and not given:
            raise RecipeError(
                f"{named}: a part is given, and there are no candidates of other systems; leave given out"
            )
        if writes and not part.given and part.generator not in GENERATORS:
            raise RecipeError(f"{named}: unknown generator {part.generator!r}")
    if recipe.select.selector not in SELECTORS:
        raise RecipeError(f"{named}: unknown selector {recipe.select.selector!r}; one of: {', '.join(SELECTORS)}")
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


def choosing_recipe(
    recipe: Recipe,
    systems: Sequence[str],
    selector: str,
    model: LanguageModel,
    weights: str = "",
    opinion: Opinion | Literal[""] = "",
) -> Recipe:
    """A recipe for given candidates: a part for each of the ``systems``, before those that write an opinion, if any.

    ``selector`` chooses in the place of the recipe's, ``weights`` names a file of ``train light`` for the light judge,
    and ``opinion`` takes the place of the recipe's, which is left out where there is no model. Raises ``RecipeError``
    for a selector or an ``opinion`` that asks a model where there is none, and ``InputError`` for weights of another
    selector.
    """
    select = _with_selector(recipe.select, selector) if selector else recipe.select
    if weights:
        check_weights(weights, select.selector)
        select = replace(select, weights=weights)
    without = isinstance(model, NoModel)
    if without and opinion not in ("", "none"):
        raise RecipeError(f"the opinion {opinion!r} asks a model; name one with --model, or leave it out")
    select = replace(select, opinion=opinion or ("none" if without else select.opinion))
    parts = tuple(GeneratePart(generator=name, given=True) for name in systems)
    if select.opinion == "none":
        recipe = replace(recipe, adapter="", stop=StopPart())
    else:
        parts += recipe.generate
    recipe = replace(recipe, generate=parts, link=LinkPart(), select=select)
    return _without_model(recipe) if without else recipe


def _with_selector(part: SelectPart, selector: str) -> SelectPart:
    """The part with another selector; weights stay with ``light``, which alone reads them."""
    return replace(part, selector=selector, weights=part.weights if selector == "light" else "")


def check_weights(weights: str, selector: str) -> None:
    """Raise ``InputError`` for a file of weights, where one is named, that the selector does not read."""
    if weights and selector != "light":
        raise InputError("--weights are for --selector light; leave one of them out, or add the other")


WITHOUT: Final = f"name one with --model, or choose by {', '.join(sorted(WITHOUT_MODEL))}"
"""What to do where a step asks a model and there is none."""


def asking(part: SelectPart) -> str:
    """Why this choice asks a model; empty where it asks none."""
    if part.judge or (part.selector in SELECTORS and part.selector not in WITHOUT_MODEL):
        return f"the selector {part.selector} asks a model"
    if part.selector == "light":
        weights = read(part.weights)
        if weights.asked is not None:
            return f"the weights {part.weights} use scores of the {weights.asked.selector}, which asks a model"
        if weights.asks_tests:
            return f"the weights {part.weights} use tests, which ask a model"
    return ""


def _without_model(recipe: Recipe) -> Recipe:
    """The recipe without what asks a model: its repairs, and keywords; raises ``RecipeError`` where more would."""
    if problem := asking(recipe.select) or ("[refine] asks a model" if recipe.refine.rounds else ""):
        raise RecipeError(f"recipe {recipe.name}: {problem}; {WITHOUT}")
    schema, fix = replace(recipe.schema, keywords="rules"), replace(recipe.fix, attempts=0)
    return replace(recipe, schema=schema, fix=fix)

"""The runs and choices that MSc-SQL's ladder is made of (section 4, Tables 2, 3 and 5), on the same questions.

Two runs: ``write`` has one query a question on the whole schema, ``link`` as many as the ladder looks at on the tables
that a linker picked. Judges then choose among the first two, three, ... queries of the second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.bench import choices
from sqljury.bench.choices import Among
from sqljury.bench.run import UNATTENDED, Controls
from sqljury.errors import RecipeError
from sqljury.llm.base import LanguageModel
from sqljury.recipes import LinkPart, Recipe, RefinePart, SelectPart, StopPart, TestsPart

JUDGES: Final = {"independent": "critic-independent", "joint": "critic", "bracket": "bracket"}
"""Selectors that ask a judge, by what the ladder calls them."""

SAMPLES: Final = (1, 2, 3, 8)


class Recipes(NamedTuple):
    """The recipes of the two runs."""

    write: Recipe
    link: Recipe


def recipes_of(base: Recipe, most: int) -> Recipes:
    """From a recipe with a linker, by its first part alone; ``most`` queries are written on the linked schema.

    Both choose by votes and stop at nothing. Raises ``RecipeError`` for a recipe without a linker.
    """
    if not base.link.kind:
        raise RecipeError(f"recipe {base.name}: the ladder needs a linker; add [link], or use the recipe mscsql")
    part = replace(base.generate[0], fallback=False)
    both = replace(base, stop=StopPart(), tests=TestsPart(), refine=RefinePart(), select=SelectPart())
    return Recipes(
        replace(both, name=f"{base.name}-write", link=LinkPart(), generate=(replace(part, samples=1),)),
        replace(both, name=f"{base.name}-link", generate=(replace(part, samples=most),)),
    )


def choose(
    run: Path,
    data: Path,
    model: LanguageModel,
    selecting: SelectPart,
    samples: Sequence[int],
    controls: Controls = UNATTENDED,
) -> dict[tuple[str, int], str]:
    """Have every judge choose among the first of the run's queries; by judge and number, the name of its choices.

    ``selecting`` says what judges see. What is chosen already is not asked again. Raises what ``choices.select``
    raises.
    """
    made = {}
    for count in (count for count in samples if count > 1):
        for label, selector in JUDGES.items():
            part = replace(selecting, selector=selector)
            file = choices.select(run, data, model, part, controls, among=Among(count))
            made[label, count] = file.stem.removeprefix("choices-")
    return made

"""Ways to choose among candidates, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqljury.select import consistency, plain
from sqljury.select.base import Selector
from sqljury.select.critic import bracket, critic
from sqljury.select.independent import independent
from sqljury.select.light import light
from sqljury.select.tournament import tournament

if TYPE_CHECKING:
    from sqljury.recipes import SelectPart

SELECTORS: dict[str, Callable[[int], Selector]] = {
    "consistency": lambda _: consistency.votes,
    "critic": critic,
    "critic-bracket": bracket,
    "critic-independent": independent,
    "first": lambda _: plain.first,
    "light": light,
    "random": lambda _: plain.chance,
    "tournament": tournament,
}
"""From name to what makes the selector, given how many of the largest groups may take part, 0 for all."""


def selector(part: SelectPart) -> Selector:
    """The selector of a recipe; raises ``InputError`` for a file of weights that is none."""
    return light(part.groups, part.weights) if part.weights else SELECTORS[part.selector](part.groups)


__all__ = ["SELECTORS", "selector"]

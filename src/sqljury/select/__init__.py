"""Ways to choose among candidates, by name."""

from __future__ import annotations

from collections.abc import Callable

from sqljury.select import consistency, plain
from sqljury.select.base import Selector
from sqljury.select.critic import bracket, critic
from sqljury.select.independent import independent
from sqljury.select.tournament import tournament

SELECTORS: dict[str, Callable[[int], Selector]] = {
    "consistency": lambda _: consistency.votes,
    "critic": critic,
    "critic-bracket": bracket,
    "critic-independent": independent,
    "first": lambda _: plain.first,
    "random": lambda _: plain.chance,
    "tournament": tournament,
}
"""From name to what makes the selector, given how many of the largest groups may take part, 0 for all."""

__all__ = ["SELECTORS"]

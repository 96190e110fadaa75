"""Ways to choose among candidates, by name."""

from __future__ import annotations

from collections.abc import Callable

from sqljury.select import consistency, plain
from sqljury.select.base import Selector
from sqljury.select.ranker import ranker
from sqljury.select.tournament import tournament

SELECTORS: dict[str, Callable[[int], Selector]] = {
    "consistency": lambda _: consistency.votes,
    "first": lambda _: plain.first,
    "random": lambda _: plain.chance,
    "ranker": ranker,
    "tournament": tournament,
}
"""From name to what makes the selector, given how many of the largest groups may take part, 0 for all."""

__all__ = ["SELECTORS"]

"""Ways to choose among candidates, by name."""

from __future__ import annotations

from collections.abc import Callable

from sqljury.select import consistency, plain
from sqljury.select.base import Selector
from sqljury.select.ranker import ranker
from sqljury.select.rerank import rerank, rerank_votes
from sqljury.select.tournament import tournament

SELECTORS: dict[str, Callable[[int], Selector]] = {
    "consistency": lambda _: consistency.votes,
    "first": lambda _: plain.first,
    "random": lambda _: plain.chance,
    "ranker": ranker,
    "rerank": rerank,
    "rerank-votes": rerank_votes,
    "tournament": tournament,
}
"""From name to what makes the selector, given how many of the largest groups may take part, 0 for all."""

TESTING = frozenset({"rerank", "rerank-votes"})
"""Those that choose by tests, and need a recipe that has some."""

__all__ = ["SELECTORS", "TESTING"]

"""Ways to choose among candidates, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqljury.context import Work
from sqljury.stages.select import consistency
from sqljury.stages.select import consistency as plain
from sqljury.stages.select.base import SPENT, Selector, UnjudgedError
from sqljury.stages.select.critic import bracket, critic
from sqljury.stages.select.independent import independent
from sqljury.stages.select.light import light
from sqljury.stages.select.rerank import rerank, rerank_votes
from sqljury.stages.select.tournament import tournament
from sqljury.types import Candidate, Choice, Cost, Task

if TYPE_CHECKING:
    from sqljury.recipes import SelectPart

VOTES = "consistency"
"""The one that chooses by votes alone."""

SELECTORS: dict[str, Callable[[int], Selector]] = {
    VOTES: lambda _: consistency.votes,
    "critic": critic,
    "critic-bracket": bracket,
    "critic-independent": independent,
    "first": lambda _: plain.first,
    "light": light,
    "random": lambda _: plain.chance,
    "rerank": rerank,
    "rerank-votes": rerank_votes,
    "tournament": tournament,
}
"""From name to what makes the selector, given how many of the largest groups may take part, 0 for all."""

TESTING = frozenset({"rerank", "rerank-votes"})
"""Those that choose by tests, and need a recipe that has some."""


def selector(part: SelectPart) -> Selector:
    """The selector of a recipe, with votes in its place once the allowance is spent or its judge cannot be asked.

    Such a choice has the reason in ``note``, and what the judge had cost until then. Raises ``InputError`` for a file
    of weights that is none.
    """
    own = light(part.groups, part.weights) if part.weights else SELECTORS[part.selector](part.groups)
    if part.selector == VOTES:
        return own

    def select(candidates: Sequence[Candidate], task: Task, work: Work) -> Choice:
        (counted, costs), why = work.counted(), SPENT
        if not work.over():
            try:
                return own(candidates, task, counted)
            except UnjudgedError as error:
                why = str(error)
        choice = consistency.votes(candidates, task, work)
        note = f"{why}, so votes decided" if len(choice.scores) > 1 else ""
        return replace(choice, cost=sum(costs, Cost()), note=note)

    return select


__all__ = ["SELECTORS", "TESTING", "VOTES", "selector"]

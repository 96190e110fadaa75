"""Ways to choose among candidates, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqljury.context import Context, State
from sqljury.stages.select import consistency
from sqljury.stages.select.base import SPENT, Selector, UnjudgedError
from sqljury.stages.select.critic import critic, independent
from sqljury.stages.select.light import light, read
from sqljury.stages.select.ranker import ranker
from sqljury.stages.select.rerank import rerank, rerank_votes
from sqljury.stages.select.tournament import bracket, tournament
from sqljury.types import Candidate, Choice, Task

if TYPE_CHECKING:
    from sqljury.recipes import SelectPart

VOTES = "consistency"
"""The selector by votes alone."""

SELECTORS: dict[str, Callable[[int], Selector]] = {
    "bracket": bracket,
    VOTES: lambda _: consistency.votes,
    "critic": critic,
    "critic-independent": independent,
    "first": lambda _: consistency.first,
    "light": light,
    "random": lambda _: consistency.chance,
    "ranker": ranker,
    "rerank": rerank,
    "rerank-votes": rerank_votes,
    "tournament": tournament,
}
"""Factories by name; each takes how many of the largest groups may take part, 0 for all."""

TESTING = frozenset({"rerank", "rerank-votes"})
"""Selectors that choose by tests, and need a recipe with tests."""

PROBABILITIES = frozenset({"critic", "critic-independent", "light"})
"""Selectors whose scores are probabilities."""

WITHOUT_MODEL = frozenset({VOTES, "first", "light", "random"})
"""Selectors that ask no model, ``light`` if its weights are without tests and a judge's scores."""


def selector(part: SelectPart) -> Selector:
    """The selector of a recipe; votes decide once the budget is exhausted or where the judge cannot be asked.

    Such a choice names the reason in ``note``. A light judge that asks for no tests and scores needs no budget. Raises
    ``InputError`` for a file that does not hold weights, or whose weights need scores that this part does not give.
    """
    if part.selector == "light":
        chosen, free = light(part.groups, part.weights, part.schema), not read(part.weights).asks
    else:
        chosen, free = SELECTORS[part.selector](part.groups), part.selector == VOTES
    if free:
        return chosen

    def select(candidates: Sequence[Candidate], task: Task, context: Context) -> Choice:
        reason = SPENT
        if not context.exhausted():
            try:
                return chosen(candidates, task, context)
            except UnjudgedError as error:
                reason = str(error)
        choice = consistency.votes(candidates, task, context)
        return replace(choice, note=f"{reason}, so votes decided" if len(choice.scores) > 1 else "")

    return select


def choose(state: State, context: Context) -> State:
    """The stage: one of the candidates is chosen; raises ``NoAnswerError`` where none of them runs."""
    context.emit("choosing")
    judging = context.of(context.recipe.select.judge)
    choice = selector(context.recipe.select)(state.candidates, state.task, judging)
    return replace(state, choice=choice)


__all__ = ["PROBABILITIES", "SELECTORS", "TESTING", "VOTES", "WITHOUT_MODEL", "choose", "selector"]

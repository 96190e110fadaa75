"""Tests for queries: small databases on which they differ, and what the right query returns there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqljury.context import Context
    from sqljury.recipes.parts import TestsPart
    from sqljury.types import Task, Tried

    Tester = Callable[[Sequence[str], Task, TestsPart, Context], tuple[Tried, ...]]


def _suite(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, ...]:
    from sqljury.testing.suite import tested  # needs the parser, which takes a while to load

    return tested(queries, task, part, context)


def _agents(queries: Sequence[str], task: Task, part: TestsPart, context: Context) -> tuple[Tried, ...]:
    from sqljury.testing.agents import tested

    return tested(queries, task, part, context)


TESTERS: dict[str, Tester] = {"agents": _agents, "suite": _suite}
"""From the kind of a recipe's ``[tests]`` to what tests queries, in the task's dialect, against each other."""


def run_tests(queries: Sequence[str], task: Task, context: Context) -> tuple[Tried, ...]:
    """The queries on the tests of the recipe; none where it has none.

    The judge of the recipe says what is expected, where there is one. Raises what the model and the sandbox raise.
    """
    recipe = context.recipe
    if not recipe.tests.kind:
        return ()
    context.emit("testing the queries")
    with context.step("tests"):
        return TESTERS[recipe.tests.kind](queries, task, recipe.tests, context.of(recipe.select.judge))


__all__ = ["TESTERS", "run_tests"]

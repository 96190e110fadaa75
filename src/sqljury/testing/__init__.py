"""Test cases for candidate queries: small databases on which they differ, and what the right one returns there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqljury.context import Work
    from sqljury.recipes.parts import TestsPart
    from sqljury.types import Cost, Task, Tried

    Tester = Callable[[Sequence[str], Task, TestsPart, Work], tuple[tuple[Tried, ...], Cost]]


def _suite(queries: Sequence[str], task: Task, part: TestsPart, work: Work) -> tuple[tuple[Tried, ...], Cost]:
    from sqljury.testing.suite import tested  # needs the parser, which takes a while to load

    return tested(queries, task, part, work)


def _agents(queries: Sequence[str], task: Task, part: TestsPart, work: Work) -> tuple[tuple[Tried, ...], Cost]:
    from sqljury.testing.agents import tested

    return tested(queries, task, part, work)


TESTERS: dict[str, Tester] = {"agents": _agents, "suite": _suite}
"""From the kind of a recipe's ``[tests]`` to what tests queries, in the task's dialect, against each other."""

__all__ = ["TESTERS"]

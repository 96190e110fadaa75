"""Selectors that others are measured against."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sqljury.llm.base import derive_seed
from sqljury.types import Candidate, Choice, Task
from sqljury.work import Work


def first(candidates: Sequence[Candidate], _task: Task, _work: Work) -> Choice:
    """The first candidate that runs: what a single query would have been."""
    return Choice(next(iter(_running(candidates)), None), "first")


def chance(candidates: Sequence[Candidate], _task: Task, work: Work) -> Choice:
    """Any candidate that runs, drawn by the question's seed."""
    running = _running(candidates)
    drawn = random.Random(derive_seed(work.seed, "random"))  # noqa: S311
    return Choice(drawn.choice(running) if running else None, "random")


def _running(candidates: Sequence[Candidate]) -> list[int]:
    return [index for index, candidate in enumerate(candidates) if candidate.group is not None]

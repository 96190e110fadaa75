"""What a question may cost, and what it has cost so far."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import inf

from sqljury.types import Cost


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one question may take: wall seconds, and tokens read (those found in a cache aside) and written.

    It is looked at between two calls of the model, so the call that passes it is still finished. At least one part of
    the recipe is always asked.
    """

    seconds: float = inf
    tokens: float = inf


UNLIMITED = Allowance()


@dataclass(slots=True)
class Clock:
    """What a question has taken so far; ``started`` is of ``time.perf_counter``.

    ``running`` is what calls took in the step under way, for ``over`` alone: the step itself is put down at its end.
    """

    allowance: Allowance
    started: float
    steps: list[tuple[str, Cost]] = field(default_factory=list)
    running: Cost = field(default_factory=Cost)

    def run(self, cost: Cost) -> None:
        """Add what a call took, in a step that goes on."""
        self.running += cost

    def spend(self, step: str, cost: Cost) -> None:
        """Add what a step took, all its calls, to those of the same name."""
        self.running = Cost()
        known = dict(self.steps)
        if cost != Cost():
            known[step] = known.get(step, Cost()) + cost
        self.steps = list(known.items())

    def total(self) -> Cost:
        """All steps together, with the wall seconds since the start."""
        spent = sum((cost for _, cost in self.steps), Cost())
        return replace(spent, seconds=time.perf_counter() - self.started)

    def over(self) -> bool:
        """Whether the allowance is spent."""
        spent = self.total()
        tokens = spent.computed_tokens + self.running.computed_tokens
        return spent.seconds >= self.allowance.seconds or tokens >= self.allowance.tokens

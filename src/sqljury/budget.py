"""What a question may cost, and what it has cost so far: the only counter of time, tokens and money."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from sqljury.types import Cost


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one question may take: wall seconds, and tokens read (those found in a cache aside) and written.

    It is checked between two calls of the model, so the call that exceeds it is still finished; none begins in less
    time than the calls of its step took in the mean. A query on the database ends with it, see ``Context.execute``. At
    least one part of the recipe is always asked.
    """

    seconds: float = inf
    tokens: float = inf


UNLIMITED = Allowance()


class Budget:
    """Counts what one question takes, step by step; any number of threads may charge it.

    The clock starts with the budget: make it when the question arrives. It is ahead of the wall's by the seconds that
    kept replies took when they were made, so that a question takes what it takes with a model that is asked. ``calls``
    are the seconds after which no call of a model begins, whatever the allowance: those of a recipe.
    """

    def __init__(self, allowance: Allowance = UNLIMITED, calls: float = inf) -> None:
        self.allowance = allowance
        self._calls = calls
        self._started = time.perf_counter()
        self._steps: dict[str, Cost] = {}
        self._step = ""
        self._deadline = inf
        self._ahead = 0.0
        self._lock = threading.Lock()

    @property
    def steps(self) -> tuple[tuple[str, Cost], ...]:
        """The steps that asked a model, in the order in which they first did, with what each of them took."""
        return tuple(self._steps.items())

    @property
    def current(self) -> str:
        """The step under way; empty between steps."""
        return self._step

    @contextlib.contextmanager
    def step(self, name: str, seconds: float = inf) -> Iterator[None]:
        """Charges within the block count for this step; the budget is exhausted for it after so many seconds."""
        before = self._step, self._deadline
        self._step, self._deadline = name, min(self._deadline, self._now() + seconds)
        try:
            yield
        finally:
            self._step, self._deadline = before

    def charge(self, cost: Cost, ahead: float = 0.0) -> None:
        """Add what a call of a model took to the step under way; ``ahead`` seconds of it did not pass now."""
        with self._lock:
            self._ahead += ahead
            self._steps[self._step] = self._steps.get(self._step, Cost()) + cost

    def total(self) -> Cost:
        """All steps together, with the wall seconds since the start."""
        spent = sum((cost for _, cost in self.steps), Cost())
        return replace(spent, seconds=self._now() - self._started)

    @property
    def left(self) -> float:
        """The seconds in which calls of the step under way may still begin; never less than 0."""
        return max(0.0, min(self.left_allowed, self._started + self._calls - self._now()))

    @property
    def left_allowed(self) -> float:
        """The seconds that the step under way and the allowance leave, whatever the recipe's; never less than 0."""
        now = self._now()
        return max(0.0, min(self._deadline - now, self._started + self.allowance.seconds - now))

    def exhausted(self) -> bool:
        """Whether the allowance, or the time of the step under way, is used up, or too little for another call.

        A call of the step is expected to take what those before it took in the mean.
        """
        if self.total().computed_tokens >= self.allowance.tokens:
            return True
        spent = self._steps.get(self._step, Cost())
        expected = spent.seconds / spent.calls if spent.calls else 0.0
        return self.left <= expected

    def _now(self) -> float:
        return time.perf_counter() + self._ahead

"""What the steps after generation work with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqljury.db.base import Database
from sqljury.errors import ContextLengthError
from sqljury.llm.base import LanguageModel, Message, Reply, Sampling
from sqljury.sandbox import Warm
from sqljury.types import Cost, Limits, Tried

if TYPE_CHECKING:
    from sqljury.values import ValueIndex


def _never() -> bool:
    return False


def _untold(_: Cost) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Work:
    """The database and the limits of one query on it, the model, the question's seed, and what stops it all.

    ``named`` holds further models by the names that the recipe's parts call them, see ``of``.
    ``values`` opens the value index, building it if need be; None where repairs must do without. ``tests`` tests
    queries that run, against each other or one alone; None where the recipe has no tests. ``over`` says that the
    question's allowance is spent, and no further call to the model is to be begun; ``spent`` is told what each call of
    ``ask`` cost. ``sandbox`` opens the process that runs written code; who works on several questions gives each the
    same.
    """

    db: Database
    model: LanguageModel
    limits: Limits
    seed: int
    cancel: threading.Event | None = None
    values: Callable[[], ValueIndex] | None = None
    tests: Callable[[Sequence[str]], tuple[tuple[Tried, ...], Cost]] | None = None
    over: Callable[[], bool] = _never
    spent: Callable[[Cost], None] = _untold
    sandbox: Warm = field(default_factory=Warm, compare=False, repr=False)
    named: Mapping[str, LanguageModel] = field(default_factory=dict)

    def of(self, name: str) -> Work:
        """The same work for the model of that name; as it is where the name is empty."""
        return replace(self, model=self.named[name]) if name else self

    def counted(self) -> tuple[Work, list[Cost]]:
        """The same work, and what each call of its ``ask`` will have cost: known where a step ends in an error too."""
        costs: list[Cost] = []

        def spent(cost: Cost) -> None:
            costs.append(cost)
            self.spent(cost)

        return replace(self, spent=spent), costs

    def ask(self, messages: Sequence[Message], sampling: Sampling, n: int = 1) -> Reply | None:
        """The model's reply; None once the allowance is spent, and for a prompt that its context cannot hold.

        For calls that an answer can do without. Raises what else the model raises.
        """
        if self.over():
            return None
        try:
            reply = self.model.complete(messages, sampling, n, cancel=self.cancel)
        except ContextLengthError:
            return None
        self.spent(reply.cost)
        return reply

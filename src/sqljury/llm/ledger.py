"""What models cost: a sum that many threads may add to, and limits that hold before money is spent."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from sqljury.errors import BudgetExceededError, CancelledError, InputError, ModelError
from sqljury.llm.base import LanguageModel, Message, Reply, Sampling, Streaming, Wrapper
from sqljury.types import Cost


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, from your provider's price list; a cached token costs ``input`` if not given.

    ``hour`` is the price of an hour of calls, for a machine that is paid by time.
    """

    input: float
    output: float
    cached_input: float | None = None
    hour: float = 0.0

    def usd(self, cost: Cost) -> float:
        """The dollars for the tokens and seconds of ``cost``."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = cost.prompt_tokens - cost.cached_tokens
        tokens = (fresh * self.input + cost.cached_tokens * cached + cost.completion_tokens * self.output) / 1e6
        return tokens + self.hour * cost.seconds / 3600

    def among(self, questions: int) -> Price:
        """The price where a machine has so many questions in flight, which then share the price of its hour."""
        return replace(self, hour=self.hour / questions)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be used: calls, tokens (prompt and completion together), US dollars; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None


class Ledger:
    """Adds up costs and refuses what could go over ``budget``; threads may share it.

    A call reserves the most it could use before it is sent, and gives the rest back when it is done. So calls
    that run side by side cannot pass the limit together, and the last call may be refused though it might have
    fitted.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._lock = threading.Lock()
        self._spent = Cost()
        self._reserved: dict[object, Cost] = {}

    @property
    def spent(self) -> Cost:
        """The sum of all costs added so far."""
        with self._lock:
            return self._spent

    def add(self, cost: Cost) -> None:
        """Add what was used outside of a reservation."""
        with self._lock:
            self._spent += cost

    @property
    def exhausted(self) -> bool:
        """Whether not even a call of no tokens is allowed any more."""
        try:
            self.check()
        except BudgetExceededError:
            return True
        return False

    def check(self) -> None:
        """Raise ``BudgetExceededError`` where not even a call of no tokens is allowed any more."""
        with self._lock:
            self._check(Cost(calls=1))

    def reserve(self, most: Cost) -> object:
        """Set ``most`` aside and return its ticket; raises ``BudgetExceededError`` if a limit does not allow it."""
        with self._lock:
            self._check(most)
            ticket = object()
            self._reserved[ticket] = most
            return ticket

    def settle(self, ticket: object, cost: Cost) -> None:
        """Put what was really used in the place of a reservation."""
        with self._lock:
            del self._reserved[ticket]
            self._spent += cost

    def _check(self, most: Cost) -> None:
        held = sum(self._reserved.values(), Cost())
        for limit, unit, figure in (
            (self.budget.calls, "calls", _calls),
            (self.budget.tokens, "tokens", _tokens),
            (self.budget.usd, "dollars", _usd),
        ):
            if limit is None or figure(self._spent + held + most) <= limit:
                continue
            running = f", {_show(figure(held))} held for calls under way" if self._reserved else ""
            raise BudgetExceededError(
                f"The limit of {_show(limit)} {unit} does not allow the next call: {_show(figure(self._spent))} "
                f"spent{running}, and it may take up to {_show(figure(most))}. Raise the limit to go on."
            )


def _calls(cost: Cost) -> float:
    return cost.calls


def _tokens(cost: Cost) -> float:
    return cost.prompt_tokens + cost.completion_tokens


def _usd(cost: Cost) -> float:
    return cost.usd


def _show(figure: float) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.6g}"


class Metered(Wrapper):
    """A model whose calls are counted and priced in ``ledger``, and refused where its budget ends.

    The most a call could use is estimated as its prompt (once for each sample where the backend sends it so) and
    ``n * max_tokens``. A failed call counts as a call with its seconds, and with the tokens of those of its requests
    that were answered, as far as the error says them. Raises ``InputError`` for a limit in dollars without a price.
    """

    def __init__(self, model: LanguageModel, ledger: Ledger, price: Price | None = None) -> None:
        if ledger.budget.usd is not None and price is None:
            raise InputError("A limit in dollars needs the model's price: dollars for a million tokens, in and out.")
        super().__init__(model)
        self.ledger = ledger
        self.price = price

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Answer through the model within; raises ``BudgetExceededError`` before anything is sent."""
        ticket = self.ledger.reserve(self._most(messages, sampling, n))
        began = time.perf_counter()
        used = Cost(calls=1)
        try:
            reply = self.model.complete(messages, sampling, n, **streaming)
            used = self._priced(reply.cost)
            return replace(reply, cost=used)
        except (ModelError, CancelledError) as error:
            used = used if error.cost is None else self._priced(error.cost)
            raise
        finally:
            self.ledger.settle(ticket, used if used.seconds else replace(used, seconds=time.perf_counter() - began))

    def _most(self, messages: Sequence[Message], sampling: Sampling, n: int) -> Cost:
        budget = self.ledger.budget
        if budget.tokens is None and budget.usd is None:
            return Cost(calls=1)  # counting tokens takes time, and nobody asked for it
        copies = n if getattr(self.model, "prompt_per_sample", False) else 1
        prompt = sum(self.model.count_tokens(message.content) for message in messages)
        return self._priced(Cost(calls=1, prompt_tokens=prompt * copies, completion_tokens=n * sampling.max_tokens))

    def _priced(self, cost: Cost) -> Cost:
        return replace(cost, usd=self.price.usd(cost)) if self.price and not cost.usd else cost

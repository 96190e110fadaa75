"""The journal of a run's calls of models: written as they end, so that those of a question that is killed count too.

``calls.jsonl`` holds one JSON object a call: the question's id, the call's ``number`` within this attempt at the
question, from 1, the step, the model, and the cost.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Unpack

from sqljury.bench.stored import cost_of
from sqljury.budget import Budget
from sqljury.errors import BudgetExceededError, DatasetError
from sqljury.evaluation.run_folder import CALLS, misshapen
from sqljury.llm.base import LanguageModel, Message, Reply, Sampling, Streaming, Wrapper
from sqljury.pipeline import Pipeline
from sqljury.types import Cost

_LINE: Final[dict[str, type | tuple[type, ...]]] = {"id": str, "number": int, "step": str, "model": str}


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the ``number`` of it within its attempt at the question, from 1."""

    id: str
    number: int
    step: str
    model: str
    cost: Cost


class Journal:
    """Hands the calls of one question to ``write``, each as it ends; threads may share it."""

    def __init__(self, id: str, write: Callable[[dict[str, Any]], None]) -> None:
        self._id, self._write = id, write
        self._lock = threading.Lock()
        self._number = 0
        self._budget: Budget | None = None

    def follow(self, budget: Budget) -> None:
        """From now on calls belong to the step under way in this budget."""
        self._budget = budget

    def add(self, model: str, cost: Cost) -> None:
        """Hand on a call that has ended."""
        with self._lock:
            self._number += 1
            step = "" if self._budget is None else self._budget.current
            self._write({"id": self._id, "number": self._number, "step": step, "model": model, **asdict(cost)})

    def recorded(self, pipeline: Pipeline) -> Pipeline:
        """The same pipeline, its models' calls written to this journal."""
        around = {id(model): Recorded(model, self) for model in (pipeline.model, *pipeline.models.values())}
        models = {name: around[id(model)] for name, model in pipeline.models.items()}
        return replace(pipeline, model=around[id(pipeline.model)], models=models)


class Recorded(Wrapper):
    """A model whose calls are written to a journal; a failed one counts as a call with its seconds."""

    def __init__(self, model: LanguageModel, journal: Journal) -> None:
        super().__init__(model)
        self._journal = journal

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
    ) -> Reply:
        """Answer through the model within."""
        began = time.perf_counter()
        try:
            reply = self.model.complete(messages, sampling, n, **streaming)
        except BudgetExceededError:  # it was refused before anything was sent
            raise
        except BaseException:  # Ctrl-C too: the call was sent
            self._journal.add(self.name, Cost(calls=1, seconds=time.perf_counter() - began))
            raise
        self._journal.add(self.name, reply.cost)
        return reply


def calls(folder: Path) -> list[Call]:
    """The calls that a run's journal holds, in the order in which they ended; lines that are none are left out."""
    try:
        lines = (folder / CALLS).read_bytes().splitlines()
    except OSError:
        return []
    recorded = []
    for line in lines:
        with suppress(ValueError, RecursionError, DatasetError):
            loaded: dict[str, Any] = json.loads(line)
            if not misshapen(loaded, _LINE):
                recorded.append(Call(**{name: loaded[name] for name in _LINE}, cost=cost_of(loaded)))
    return recorded

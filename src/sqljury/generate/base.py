"""What every generator is: from a task to what the model is asked, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqljury.generate.kept import Kept
from sqljury.llm.base import Message
from sqljury.replies import STOP, extract_sql
from sqljury.types import Cost, Task
from sqljury.work import Work

if TYPE_CHECKING:
    from sqljury.generate.pool import Pool


@dataclass(frozen=True, slots=True)
class Given:
    """What a generator may use beside the task.

    ``drafts`` are the queries that the parts of the recipe before it wrote, as repaired without the model, those that
    ran first. ``examples`` is how many worked examples the recipe wants shown, of ``pool`` where the generator takes
    them from there; ``rounds`` says which of its rounds ``synthetic`` writes. ``seed`` belongs to this question and
    this part of the recipe. ``kept`` is what generators made for earlier questions.
    """

    drafts: tuple[str, ...] = ()
    examples: int = 0
    rounds: str = "both"
    pool: Pool | None = None
    seed: int = 0
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation that asks for one query; ``read`` takes the query out of a reply, empty where there is none.

    ``reasons`` says that text may come before the query, which then stands in a fenced block. ``cost`` is what making
    the request took, where that needed the model.
    """

    messages: tuple[Message, ...]
    stop: tuple[str, ...] = STOP
    read: Callable[[str], str] = extract_sql
    reasons: bool = False
    cost: Cost = field(default_factory=Cost)


Generator = Callable[[Task, Work, Given], Request]
"""Never raises for what a question, a database or a reply holds; raises what the model raises."""

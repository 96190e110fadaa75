"""What is the same for many questions on a database, made once.

What every generator is: from a task to what the model is asked, and how its reply is read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqljury.context import Work
from sqljury.llm.base import Message
from sqljury.llm.replies import STOP, extract_sql
from sqljury.types import Cost, Task

if TYPE_CHECKING:
    from sqljury.stages.generate.pool import Pool


T = TypeVar("T")

SIZE: Final = 256
"""Things kept at most; those not asked for the longest go first."""


@dataclass(slots=True)
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: list[Any] = field(default_factory=list)


class Kept:
    """What generators made for a database; any number of threads may ask, and each thing is made by one of them.

    The writers of a recipe share it. What is kept must depend on nothing but its key, which names the model and the
    database where they matter, so that a prompt is the same whether or not another question was there before.
    """

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, or gave for this key before; what it raises is raised, and nothing kept."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
        with entry.lock:
            if not entry.made:
                entry.made.append(make())
            found: T = entry.made[0]
            return found


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

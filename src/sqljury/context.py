"""What the stages of a recipe share while they answer one question, and the state that they hand on.

A stage is a function from a ``State`` and the ``Context`` to a new ``State``. Every call of a model goes through the
context, which charges the question's budget.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, TypeVar

from sqljury import traces
from sqljury.budget import Budget
from sqljury.db.base import DEFAULT_LIMITS, Database
from sqljury.db.contents import Content, content
from sqljury.errors import CancelledError, ContextLengthError, PrivacyError
from sqljury.llm.base import LanguageModel, Message, Reply, Sampling
from sqljury.recipes import Recipe
from sqljury.sandbox import Warm
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.schema.retrieve import Indexes
from sqljury.types import Candidate, Choice, Limits, Privacy, Question, Result, Schema, Task

if TYPE_CHECKING:
    from sqljury.datasets.pool import Pool
    from sqljury.values import ValueIndex

T = TypeVar("T")

PLAIN: Final = Recipe("plain")
QUERY_SECONDS: Final = 2.0
"""A query that is begun may run this long, even if the time of its step or its question is over by then."""
WAIT_SECONDS: Final = 0.05
"""After so long, whoever waits for work of another question looks whether its own was cancelled."""
QUERY_SHARE: Final = 1 / 3
"""The share of its time limit that it may run where only the recipe's time is over: that is for calls of the model."""


class Progress(NamedTuple):
    """What is being done: a step, ``done`` of ``total`` of its pieces, and ``candidates`` that were just run."""

    step: str
    done: int
    total: int
    candidates: tuple[Candidate, ...] = ()


def silent(_: Progress) -> None:
    """Progress that nobody wants to see."""


def by_arguments(progress: Callable[[Progress], None]) -> Callable[[str, int, int], None]:
    """``progress`` for work that reports a step, ``done`` and ``total`` as three arguments."""
    return lambda step, done, total: progress(Progress(step, done, total))


class Options(TypedDict, total=False):
    """What a caller may say of one question.

    ``seed`` decides its random choices, 0 by default; ``progress`` is told of each step; setting ``cancel`` stops it;
    ``notes`` is what ``schema.notes_files.load`` read about the database. ``least`` is the least confidence of
    an answer that is given; None for any, where only questions that the schema cannot answer are refused. An answer
    that nobody reads need not ``explain`` itself: it then has neither an explanation nor remarks, for which the
    database is asked.
    """

    seed: int
    progress: Callable[[Progress], None]
    cancel: threading.Event | None
    notes: Notes
    least: float | None
    explain: bool


@dataclass(frozen=True, slots=True)
class State:
    """A question on its way to an answer.

    ``linked`` are the tables that were linked when stored candidates were written; empty where none are known.
    ``keywords`` are those that a model picked, None where the rules are to pick them. ``choice`` is None until one of
    the ``candidates`` was chosen.
    """

    task: Task
    keywords: tuple[str, ...] | None = None
    candidates: tuple[Candidate, ...] = ()
    choice: Choice | None = None
    linked: tuple[str, ...] = ()

    @classmethod
    def of(cls, question: Question) -> State:
        """The state that a question begins with: nothing is known of the database."""
        return cls(Task(question, Schema("", "", ()), ""))


class Kept:
    """What stages made for a database; any number of threads may ask, and each thing is made by one of them.

    What is kept must depend on nothing but its key, which names the model and the database where they matter, so that a
    prompt is the same whether or not another question came before. ``size`` entries are kept, the latest used ones.
    """

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], cancel: threading.Event | None = None) -> T:
        """What ``make`` gives, or gave for this key before; what it raises is raised, and nothing kept.

        While another thread makes it, setting ``cancel`` ends the wait with ``CancelledError``.
        """
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
        while not entry.lock.acquire(timeout=WAIT_SECONDS):
            if cancel is not None and cancel.is_set():
                raise CancelledError("stopped while it waited for the work of another question")
        try:
            if not entry.made:
                entry.made.append(make())
            value: T = entry.made[0]
            return value
        finally:
            entry.lock.release()


@dataclass(slots=True)
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Context:
    """What the stages of a recipe share for one question.

    ``limits`` hold for each query on ``db``. ``seed`` belongs to the question. ``model`` answers ``ask`` and
    ``complete``; ``named`` holds further models by the names that the recipe calls them, see ``of``. ``values`` opens
    the value index, building it if need be; None where repairs must do without. ``pool`` holds the user's worked
    examples, None for those of the package. ``indexes``, ``kept`` and ``sandbox`` are caches; several questions may
    share them; ``once`` is one for this question. ``least`` and ``explain`` are those of ``Options``. ``shows`` is the
    most of the database's content that prompts may hold.
    """

    db: Database
    model: LanguageModel
    limits: Limits = DEFAULT_LIMITS
    seed: int = 0
    cancel: threading.Event | None = None
    recipe: Recipe = PLAIN
    named: Mapping[str, LanguageModel] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    notes: Notes = NO_NOTES
    pool: Pool | None = None
    values: Callable[[], ValueIndex] | None = None
    progress: Callable[[Progress], None] = silent
    indexes: Indexes = field(default_factory=Indexes)
    kept: Kept = field(default_factory=Kept)
    sandbox: Warm = field(default_factory=Warm)
    once: Kept = field(default_factory=Kept)
    least: float | None = None
    explain: bool = True
    shows: Privacy = "rows"

    def of(self, name: str) -> Context:
        """The same context with the model of that name; as it is where the name is empty."""
        return replace(self, model=self.named[name]) if name else self

    @contextmanager
    def step(self, name: str, seconds: float = inf) -> Iterator[None]:
        """Calls of a model within the block are charged to this step, which may take that long; see ``Budget.step``."""
        again = name == self.budget.current  # a stage that limits the time of a part of itself
        with nullcontext() if again else traces.step(name), self.budget.step(name, seconds):
            yield

    def emit(self, step: str, done: int = 0, total: int = 1, candidates: Sequence[Candidate] = ()) -> None:
        """Tell whoever watches what is being done, and which candidates were just run; from any thread."""
        self.progress(Progress(step, done, total, tuple(candidates)))

    def content(self) -> Content:
        """What is kept of the database's content, which is looked at once for the question."""
        return self.once.get("content", lambda: content(self.db), self.cancel)

    def exhausted(self) -> bool:
        """Whether no further call of a model is to be begun."""
        return self.budget.exhausted()

    def execute(self, sql: str, seconds: float = inf) -> Result:
        """The result of a query, within ``limits``, ``seconds`` and the time that the step under way has left.

        A query may take ``QUERY_SECONDS`` of them even where no time is left, and ``QUERY_SHARE`` of its limit where
        the allowance has time left and the recipe has not.
        """
        after_recipe = min(self.budget.left_allowed, self.limits.seconds * QUERY_SHARE)
        allowed = min(self.limits.seconds, seconds, max(self.budget.left, after_recipe, QUERY_SECONDS))
        return self.db.execute(sql, replace(self.limits, seconds=allowed), self.cancel)

    def complete(self, messages: Sequence[Message], sampling: Sampling, n: int = 1) -> Reply:
        """The model's reply, charged to the budget; raises what the model raises."""
        with traces.chat(self.model.name, messages, sampling, n) as replied:
            reply = self.model.complete(messages, sampling, n, cancel=self.cancel)
            replied(reply)
        self.budget.charge(reply.cost, reply.ahead)
        return reply

    def ask(self, messages: Sequence[Message], sampling: Sampling, n: int = 1) -> Reply | None:
        """The model's reply; None once the budget is exhausted, and for a prompt that the model's context cannot hold.

        Nor is there one to a prompt that holds more of the database than the model may get. For calls that an answer
        can do without. Raises what else the model raises.
        """
        if self.exhausted():
            return None
        try:
            return self.complete(messages, sampling, n)
        except (ContextLengthError, PrivacyError):
            return None

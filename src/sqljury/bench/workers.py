"""A run whose questions several workers answer: threads of this process, or actors of a cluster.

Workers answer and report each call of a model; only the driver writes, to the same files as a run without workers.
So a worker that dies costs its questions in flight, which others answer, and nothing is written twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqljury import traces
from sqljury.bench.run import STOPPED, KeptOpen, answer, asked, made_of, settings, writing
from sqljury.bench.stored import cost_of
from sqljury.bench.versions import refuse_if_gone
from sqljury.datasets.spider import Example
from sqljury.errors import CancelledError, ClusterError
from sqljury.evaluation.run_folder import Record, lasting
from sqljury.llm.ledger import Ledger
from sqljury.parallel.crew import ATTEMPTS, Crew, Tell, Threads, share
from sqljury.parallel.threads import Within
from sqljury.pipeline import Pipeline
from sqljury.types import Cost

SPLIT: Final = 2
"""The least rest of a database's questions that a worker without work takes half of."""

Numbered = tuple[int, Example]


def run(
    examples: Iterable[Example],
    make: Callable[[], Pipeline],
    folder: Path,
    settled: Record,
    crew: Crew,
    on_answer: Callable[[int, Record | None], None] = lambda *_: None,
    ledger: Ledger | None = None,
) -> None:
    """As ``bench.run.run``, by the workers of ``crew``; each makes its pipeline itself.

    Questions on one database go to one worker as long as there are others to ask. A question whose workers die
    ``ATTEMPTS`` times is a record with an error. What calls cost is added to ``ledger``; once it allows no more, the
    questions in flight are finished, and ``BudgetExceededError`` is raised. Raises ``ClusterError`` too, where a worker
    has other code, prompts or weights than the run.
    """
    with writing(examples, folder, settled, on_answer) as (waiting, call, write):
        answering = Answering(make, dict(settled))
        shared = share(
            answering.begin,
            waiting,
            crew,
            _lost,
            kind=lambda numbered: numbered[1].db_id,
            attempts=ATTEMPTS,
            split=SPLIT,
            on_progress=_counted(call, ledger),
            halt=lambda: ledger is not None and ledger.exhausted,
        )
        left = len(waiting)
        with closing(shared) as records:  # type: ignore[type-var]
            for _, record in records:
                write(record)
                left -= 1
        if left and ledger is not None:
            ledger.check()


def run_here(
    examples: Iterable[Example],
    pipeline: Pipeline,
    folder: Path,
    settled: Record,
    batch: int,
    on_answer: Callable[[int, Record | None], None] = lambda *_: None,
    cancel: threading.Event | None = None,
    ledger: Ledger | None = None,
) -> None:
    """As ``bench.run.run``, with ``batch`` questions in flight at once, in threads that share the pipeline.

    What calls cost is added to ``ledger``, which the models of ``pipeline`` must not be held to. Once it allows no
    more, or a question has failed, no further one is begun and those in flight are finished; then the error is raised.
    """
    stop = Within(cancel or threading.Event())
    failures: list[Exception] = []

    def attempted(numbered: Numbered, tell: Tell) -> Record | None:
        try:
            return work(numbered, tell)
        except CancelledError:
            raise
        except Exception as error:  # the calls of the others are paid for
            failures.append(error)
            return None

    def halted() -> bool:
        return bool(failures) or (ledger is not None and ledger.exhausted)

    with writing(examples, folder, settled, on_answer) as (waiting, call, write):
        # the threads write down their calls themselves: after an interrupt nobody listens to what they tell
        work = _Answerer(pipeline, settled, stop, _counted(call, ledger))
        left = len(waiting)
        shared = share(
            lambda: attempted,
            waiting,
            Threads(batch, stop),
            _lost,
            kind=lambda numbered: numbered[1].db_id,
            halt=halted,
        )
        with closing(work), closing(shared) as records:  # type: ignore[type-var]
            for _, record in records:
                if record is not None:
                    write(record)
                    left -= 1
        if failures:
            raise failures[0]
        if left and ledger is not None:
            ledger.check()


def _counted(call: Callable[[Record], None], ledger: Ledger | None) -> Callable[[Record], None]:
    """What writes down a call and adds what it cost to the ledger; threads may share it."""
    lock = threading.Lock()

    def counted(line: Record) -> None:
        with lock:
            call(line)
        if ledger is not None:
            ledger.add(cost_of(line))

    return counted


@dataclass(frozen=True)
class Answering:
    """What a worker needs: how to make the pipeline, and the settings of the run, which must be the pipeline's too."""

    make: Callable[[], Pipeline]
    settled: Record

    def begin(self) -> _Answerer:
        """Called once in each worker; raises ``ClusterError`` where what shapes answers is not as it is in the run."""
        traces.export_by_environment()
        pipeline, seed = self.make(), int(self.settled["seed"])
        current = json.loads(json.dumps(settings(pipeline, self.settled["dataset"], seed)))
        wanted = lasting(json.loads(json.dumps(self.settled)))
        changed = sorted(key for key, value in lasting(current).items() if wanted.get(key) != value)
        if changed:
            raise ClusterError(
                f"a worker has other settings than the run ({', '.join(changed)} differ); install the same sqljury, "
                "Python, weights and adapters on all nodes"
            )
        return _Answerer(pipeline, self.settled)


@dataclass
class _Answerer:
    """The work on questions, in any number of threads; each keeps the database of its last question open.

    Calls of models go to ``on_call``, or are told to whoever listens to the worker.
    """

    pipeline: Pipeline
    settled: Record
    stop: threading.Event | None = None
    on_call: Callable[[Record], None] | None = None
    opened: list[KeptOpen] = field(default_factory=list)
    own: threading.local = field(default_factory=threading.local)

    def __call__(self, numbered: Numbered, tell: Tell) -> Record:
        number, example = numbered
        if not hasattr(self.own, "databases"):
            self.own.databases = KeptOpen()
            self.opened.append(self.own.databases)
        record = answer(
            example,
            self.pipeline,
            int(self.settled["seed"]),
            self.stop,
            self.on_call or tell,
            self.own.databases.open,
        )
        if self.stop is not None and self.stop.is_set():  # what was stopped half way is no answer
            raise CancelledError(STOPPED)
        refuse_if_gone(record["error"], self.settled["dataset"], example.db_id, example.database)
        return {**record, "number": number}

    def close(self) -> None:
        """Close the databases."""
        for databases in self.opened:
            databases.close()


def _lost(numbered: Numbered, why: str, _: Any) -> Record:
    number, example = numbered
    reason = f"this question was begun {ATTEMPTS} times, and each time {why}"
    return {**asked(example), "sql": "", "error": reason, **made_of((), Cost(), ()), "number": number}

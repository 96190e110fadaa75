"""Runs a recipe over a benchmark, a line a question, so that a run can be broken off and continued.

Each answer is on disk before the next question is asked, and each call of a model is written down as it ends. A run
that is killed at any moment, with SIGKILL too, loses the question in flight and nothing else.
"""

from __future__ import annotations

import json
import os
import platform
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any, Final

from sqljury.bench.calls import Journal
from sqljury.bench.versions import refuse_if_gone, versions
from sqljury.budget import Allowance, Budget
from sqljury.context import State
from sqljury.datasets.pool import Pool
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import (
    CancelledError,
    ContextLengthError,
    DatabaseError,
    DatasetError,
    NoAnswerError,
    QueryError,
    QuestionError,
)
from sqljury.evaluation.run_folder import (
    CALLS,
    IN_FLIGHT,
    SETTINGS,
    Record,
    append_line,
    appending,
    claimed,
    described,
    lasting,
    records,
    restate,
)
from sqljury.llm.base import LanguageModel
from sqljury.llm.open import open_model
from sqljury.pipeline import Pipeline
from sqljury.recipes import Recipe
from sqljury.resources import Closing
from sqljury.stages.select.light import read
from sqljury.types import Candidate, Choice, Cost, Limits, QueryFailure, Result

STOPPED: Final = "stopped; the same command goes on with the run"

UNANSWERED = (NoAnswerError, QuestionError, ContextLengthError, DatabaseError, QueryError)
"""What one question can run into without the next running into it too; anything else ends the run.

So does a database that could be read when the run began and cannot be opened any more: ``versions.refuse_if_gone``.
"""


def settings(pipeline: Pipeline, dataset: Mapping[str, Any], seed: int) -> Record:
    """All that shapes a run's answers, and where it ran; ``dataset`` names the questions."""
    return {
        "dataset": dict(dataset),
        "model": pipeline.model.name,
        **_named(pipeline),
        **conditions(pipeline.recipe, pipeline.limits, pipeline.allowance, pipeline.pool),
        "seed": seed,
        **_shared(pipeline),
        **versions(pipeline),
        "sqljury": version("sqljury"),
        "python": platform.python_version(),
    }


def _named(pipeline: Pipeline) -> Record:
    """What a recipe names, by what it is today: the names of its models, with their adapters' hashes, and weights."""
    named: Record = {}
    if others := sorted(model.name for model in pipeline.others()):
        named["others"] = others
    if pipeline.recipe.select.selector == "light":
        named["weights"] = read(pipeline.recipe.select.weights).digest
    return named


def _shared(pipeline: Pipeline) -> Record:
    """How many questions share a machine; it shapes answers where a model runs on its cores alone."""
    models = (pipeline.model, *pipeline.others())
    on_cpu = any(getattr(model, "on_cpu", False) for model in models)
    return {"batch" if on_cpu else IN_FLIGHT: pipeline.questions}


def conditions(recipe: Recipe, limits: Limits, allowance: Allowance, pool: Pool | None) -> Record:
    """Of a run's settings those that can be told without a model."""
    return {
        "recipe": asdict(recipe),
        "limits": asdict(limits),
        "allowance": {key: None if value == inf else value for key, value in asdict(allowance).items()},
        "examples": None if pool is None else pool.fingerprint,
    }


def is_finished(examples: Iterable[Example], folder: Path, wanted: Mapping[str, Any]) -> bool:
    """Whether ``folder`` holds an answer to every example, from a run whose settings are these as far as they go.

    The number of questions does not count: older runs do not have it, and the examples say it.
    """
    if not (folder / SETTINGS).is_file():
        return False
    before, now = lasting(described(folder)), lasting(json.loads(json.dumps(wanted)))
    for dataset in (before["dataset"], now["dataset"]):
        dataset.pop("count", None)
    answered = {record["id"] for record in records(folder)}
    return all(before.get(key) == now[key] for key in now) and all(example.id in answered for example in examples)


@dataclass(frozen=True, slots=True)
class Controls:
    """How work on a finished run is followed and stopped, and how the models that its tests name are opened.

    ``say`` receives the number of finished questions, the number of all, and the newest record, None at the start.
    """

    say: Callable[[int, int, Record | None], None] = lambda *_: None
    cancel: threading.Event | None = None
    opened: Callable[[str], LanguageModel] = open_model

    def check(self, work: str) -> None:
        """Raise ``CancelledError`` once ``cancel`` is set."""
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError(f"stopped; the same command goes on with the {work}")


UNATTENDED: Final = Controls()


def run(
    examples: Iterable[Example],
    pipeline: Pipeline,
    folder: Path,
    settled: Mapping[str, Any],
    on_answer: Callable[[int, Record | None], None] = lambda *_: None,
    cancel: threading.Event | None = None,
) -> None:
    """Answer every example that ``folder`` has no answer to yet, those on one database together.

    A model that keeps what it has read of a schema then reads each schema once. ``settled`` comes from ``settings``.
    ``on_answer`` is told how many answers there are and the newest, first None for those that were there before. A
    question that fails for reasons of its own (``UNANSWERED``) is a record with an error, not the end of the run.
    Raises ``DatabaseError`` where ``refuse_if_gone`` does, ``DatasetError`` for a folder that holds another run or is
    in use, and ``CancelledError`` once ``cancel`` is set; the question at hand is then not recorded.
    """
    cancel = cancel or threading.Event()
    seed = int(settled["seed"])
    with writing(examples, folder, settled, on_answer) as (waiting, call, write), KeptOpen() as databases:
        for number, example in waiting:
            record = answer(example, pipeline, seed, cancel, call, databases.open)
            if cancel.is_set():  # what was stopped half way is no answer
                raise CancelledError(STOPPED)
            refuse_if_gone(record["error"], settled["dataset"], example.db_id, example.database)
            write({**record, "number": number})


@contextmanager
def writing(
    examples: Iterable[Example],
    folder: Path,
    settled: Mapping[str, Any],
    on_answer: Callable[[int, Record | None], None] = lambda *_: None,
) -> Iterator[tuple[list[tuple[int, Example]], Callable[[Record], None], Callable[[Record], None]]]:
    """What is left to answer, with its places, what writes down a call of a model, and what writes down an answer.

    Examples on one database stand together. Raises what ``run`` raises for a folder that cannot be written to.
    """
    with claimed(folder, settled) as (stream, before), appending(folder / CALLS) as calls:
        known, examples = {record["id"] for record in before}, list(examples)
        _refuse_others(examples, before, folder)
        restate(folder, settled)
        done = len(before)
        on_answer(done, None)

        def write(record: Record) -> None:
            nonlocal done
            append_line(stream, record)
            done += 1
            on_answer(done, record)

        def call(line: Record) -> None:
            append_line(calls, line, durable=False)  # a power cut loses the last of them, a kill none

        yield [(number, example) for number, example in grouped(examples) if example.id not in known], call, write


class KeptOpen(Closing):
    """Opens databases, and keeps the latest one open for the next question on it."""

    def __init__(self) -> None:
        self._url = ""
        self._database: Database | None = None

    @contextmanager
    def open(self, database: os.PathLike[str]) -> Iterator[Database]:
        """The database; it is opened anew after another one, and after an error."""
        url = os.fspath(database)
        if self._database is None or url != self._url:
            self.close()
            self._url, self._database = url, connect(database)
        try:
            yield self._database
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database that is open."""
        if self._database is not None:
            self._database.close()
        self._database = None


def _refuse_others(examples: Iterable[Example], before: Iterable[Record], folder: Path) -> None:
    """Raise ``DatasetError`` where an example has the id of another question that was answered."""
    known = {record["id"]: (record["question"], record["gold"]) for record in before}
    for example in examples:
        question = (example.question.text, example.gold_sql)
        if known.get(example.id, question) != question:
            raise DatasetError(
                f"{folder} answers another question {example.id!r}, of another dataset; give another folder with --out"
            )


def grouped(examples: Iterable[Example]) -> list[tuple[int, Example]]:
    """The examples with their places, those on one database together, databases in the order of their first example."""
    by_database: dict[str, list[tuple[int, Example]]] = {}
    for number, example in enumerate(examples):
        by_database.setdefault(example.db_id, []).append((number, example))
    return [numbered for group in by_database.values() for numbered in group]


def asked(example: Example) -> Record:
    """What a record says of its question."""
    record: Record = {
        "id": example.id,
        "db_id": example.db_id,
        "question": example.question.text,
        "gold": example.gold_sql,
    }
    more = {"evidence": example.question.evidence, "source_gold": example.source_gold, "hardness": example.hardness}
    record |= {name: text for name, text in more.items() if text}
    return record if example.interaction is None else {**record, "interaction": example.interaction}


def answer(
    example: Example,
    pipeline: Pipeline,
    seed: int,
    cancel: threading.Event | None = None,
    on_call: Callable[[Record], None] | None = None,
    opened: Callable[[os.PathLike[str]], AbstractContextManager[Database]] = connect,
) -> Record:
    """One question's record: the query, every candidate with its repairs, the cost.

    ``on_call`` receives the journal's line of each call of a model as it ends. ``opened`` opens databases.
    """
    journal = Journal(example.id, on_call or (lambda _: None))
    pipeline = journal.recorded(pipeline)
    record = asked(example)
    budget = Budget()  # until the question's own counts
    try:
        with opened(example.database) as db:
            context = pipeline.context(example.question, db, seed=seed, cancel=cancel, explain=False)
            budget = context.budget
            journal.follow(budget)
            state = replace(State.of(example.question), candidates=example.candidates)
            outcome = pipeline.finish(state, context)
    except UNANSWERED as error:
        tried = error.candidates if isinstance(error, NoAnswerError) else _unrun(example.candidates, str(error))
        made = made_of(tried, budget.total(), budget.steps)
        return {**record, "sql": "", "error": str(error), **made}
    made = made_of(outcome.candidates, outcome.cost, outcome.steps)
    made["choice"] = None if outcome.choice is None else kept(outcome.choice)
    linked: Record = {"linked": list(outcome.linked)} if outcome.linked else {}
    if outcome.abstention is not None:
        linked["abstained"] = outcome.abstention.reason
    sure = {"confidence": outcome.confidence, "agreement": outcome.agreement}
    return {**record, "sql": outcome.sql, "error": None, **sure, **linked, **made}


def _unrun(candidates: Sequence[Candidate], reason: str) -> tuple[Candidate, ...]:
    """Candidates that were given and could not be run."""
    return tuple(replace(candidate, result=Result(error=QueryFailure("database", reason))) for candidate in candidates)


def made_of(candidates: Sequence[Candidate], cost: Cost, steps: Iterable[tuple[str, Cost]]) -> Record:
    """Candidates, cost and what of it each step took, as a line keeps them."""
    return {
        "candidates": [_candidate(candidate) for candidate in candidates],
        "cost": asdict(cost),
        "steps": {step: asdict(spent) for step, spent in steps},
    }


def kept(choice: Choice) -> Record:
    """A choice as a line keeps it: with its tests as an answer's JSON has them."""
    return {**asdict(replace(choice, tests=())), "tests": [test.to_dict() for test in choice.tests]}


def _candidate(candidate: Candidate) -> Record:
    weighed: Record = {"weight": candidate.weight} if candidate.weight != 1 else {}
    if candidate.opinion:
        weighed["opinion"] = True
    return {
        "sql": candidate.sql,
        "generator": candidate.generator,
        "logprob": candidate.logprob,
        "tokens": candidate.tokens,
        "part": candidate.part,
        "group": candidate.group,
        "rows": len(candidate.result.rows),
        "error": candidate.result.error and str(candidate.result.error),
        "fixes": [asdict(fix) for fix in candidate.fixes],
        **weighed,
    }

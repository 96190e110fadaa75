"""Runs with several questions in flight: what a limit, an error or an interrupt leaves of them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Unpack

import pytest

from sqljury import FakeModel, Pipeline
from sqljury.bench import calls, costs, run, workers
from sqljury.datasets import spider
from sqljury.db.connect import connect
from sqljury.errors import BudgetExceededError, CancelledError, DatasetError, ModelUnavailableError
from sqljury.evaluation import run_folder as folder
from sqljury.llm.base import LanguageModel, Message, Reply, Sampling, Streaming
from sqljury.llm.fake import Call
from sqljury.llm.ledger import Budget, Ledger
from sqljury.recipes import BudgetPart, GeneratePart, Recipe

RECIPE = Recipe("test", generate=(GeneratePart(), GeneratePart(samples=2, temperature=1.0)))
WAIT = 20.0


def start(
    data: Path,
    out: Path,
    model: LanguageModel,
    batch: int,
    ledger: Ledger | None = None,
    cancel: threading.Event | None = None,
) -> None:
    pipeline = Pipeline(RECIPE, model)
    settled = run.settings(pipeline, {"name": "spider"}, 0)
    workers.run_here(spider.load(data, "dev"), pipeline, out, settled, batch, cancel=cancel, ledger=ledger)


class Meeting(FakeModel):
    """A service whose first ``count`` calls wait for each other, and which takes no request back."""

    def __init__(self, count: int, met: threading.Event) -> None:
        super().__init__("SELECT 1")
        self._count, self._met = count, met
        self._wait = threading.Barrier(count)

    def complete(self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **_: Unpack[Streaming]) -> Reply:
        reply = super().complete(messages, sampling, n)
        if len(self.calls) <= self._count and not self._met.is_set():
            self._wait.wait(WAIT)
            self._met.set()
        return reply


def test_a_limit_ends_a_run_after_the_questions_in_flight_and_holds_when_it_goes_on(data: Path, tmp_path: Path) -> None:
    model, out = FakeModel("SELECT 1"), tmp_path / "run"
    with pytest.raises(BudgetExceededError, match="limit of 3 calls"):
        start(data, out, model, 2, Ledger(Budget(calls=3)))
    answered = len(folder.records(out))
    assert answered in (2, 3)
    assert len(model.calls) == len(calls.calls(out)) == 2 * answered
    assert costs.costs(out).broken_off.calls == 0
    ledger = Ledger(Budget(calls=3))
    ledger.add(costs.costs(out).spent)
    with pytest.raises(BudgetExceededError):
        start(data, out, model, 2, ledger)
    assert len(model.calls) == 2 * answered
    start(data, out, model, 2, Ledger(Budget(calls=100)))
    assert (len(folder.records(out)), len(model.calls)) == (4, 8)


def test_an_error_ends_a_run_after_the_questions_in_flight(data: Path, tmp_path: Path) -> None:
    failed = threading.Event()

    def says(call: Call) -> str:
        if "How many cats?" in call.prompt:
            failed.set()
            raise ModelUnavailableError("gone")
        return "SELECT 1"

    class Slow(FakeModel):
        def complete(
            self, messages: Sequence[Message], sampling: Sampling, n: int = 1, **streaming: Unpack[Streaming]
        ) -> Reply:
            if "How many cats?" not in messages[-1].content:
                assert failed.wait(WAIT)
            return super().complete(messages, sampling, n, **streaming)

    model, out = Slow(says), tmp_path / "run"
    with pytest.raises(ModelUnavailableError):
        start(data, out, model, 3)
    assert [record["question"] for record in folder.records(out)].count("How many cats?") == 0
    assert len(folder.records(out)) == 2
    assert len(calls.calls(out)) == len(model.calls) == 5


def test_calls_of_questions_that_were_stopped_are_in_the_journal(data: Path, tmp_path: Path) -> None:
    cancel, out = threading.Event(), tmp_path / "run"
    model = Meeting(4, cancel)
    with pytest.raises(CancelledError):
        start(data, out, model, 4, cancel=cancel)
    assert len(model.calls) >= 4
    found = costs.costs(out)
    assert found.broken_off.calls == len(calls.calls(out)) == len(model.calls)
    assert found.broken_off.completion_tokens > 0


def test_calls_that_an_interrupt_broke_off_are_in_the_journal(
    data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # A program that other tests ran in this process may have left a handler of its own.
    request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def says(call: Call) -> str:
        if "Cats by age?" in call.prompt:
            signal.raise_signal(signal.SIGINT)
        return "SELECT 1"

    model, out = FakeModel(says), tmp_path / "run"
    pipeline = Pipeline(RECIPE, model)
    with pytest.raises(KeyboardInterrupt):
        run.run(spider.load(data, "dev"), pipeline, out, run.settings(pipeline, {"name": "spider"}, 0))
    assert len(folder.records(out)) == 2
    assert len(calls.calls(out)) == len(model.calls) == 5
    assert costs.costs(out).broken_off.calls == 1


class OnCores(FakeModel):
    """A model that reads its prompts on this machine's cores."""

    on_cpu = True


def test_a_service_goes_on_with_another_batch_and_a_model_on_this_machine_does_not(data: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, budget=BudgetPart(seconds=60.0))
    examples = spider.load(data, "dev")

    def go_on(model: LanguageModel, out: Path, batch: int) -> None:
        pipeline = Pipeline(recipe, model, questions=batch)
        settled = run.settings(pipeline, {"name": "spider"}, 0)
        assert settled["recipe"]["budget"]["seconds"] == 60.0
        workers.run_here(examples[: 1 + batch], pipeline, out, settled, batch)

    go_on(FakeModel("SELECT 1"), tmp_path / "service", 1)
    go_on(FakeModel("SELECT 1"), tmp_path / "service", 3)
    assert len(folder.records(tmp_path / "service")) == 4
    go_on(OnCores("SELECT 1"), tmp_path / "cores", 1)
    with pytest.raises(DatasetError, match="batch was 1, is 3"):
        go_on(OnCores("SELECT 1"), tmp_path / "cores", 3)


def test_questions_that_share_this_machine_have_as_many_times_the_seconds(data: Path) -> None:
    recipe = replace(RECIPE, budget=BudgetPart(seconds=60.0))
    example = spider.load(data, "dev")[0]
    with connect(example.database) as db:
        for model, expected in ((OnCores("SELECT 1"), 180.0), (FakeModel("SELECT 1"), 0.0)):
            context = Pipeline(recipe, model, questions=3).context(example.question, db)
            assert context.recipe.budget.seconds == expected
            assert context.budget.left == pytest.approx(expected or inf, abs=5)

"""Actors of a real Ray on this machine; it is started once for all tests here."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest

from judging import ENTRIES, pair
from sqljury import FakeModel, Pipeline
from sqljury.audit import run as audit
from sqljury.bench import calls, costs, run, workers
from sqljury.datasets import spider
from sqljury.errors import BudgetExceededError, ClusterError, DatasetError, InputError, MissingExtraError
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.judge import evaluate
from sqljury.evaluation.targets import Targets
from sqljury.llm.fake import Call
from sqljury.llm.ledger import Budget, Ledger
from sqljury.metrics import distill
from sqljury.metrics.registry import named
from sqljury.parallel.cluster import Cluster
from sqljury.parallel.crew import Start, Tell, Work, Worker, share
from sqljury.recipes import GeneratePart, Recipe
from sqljury.recipes.parts import SchemaPart
from sqljury.train.data import linker_examples
from sqljury.train.data_writer import GeneratorSet, generator_examples

pytest.importorskip("ray")
pytestmark = pytest.mark.timeout(600)

RECIPE = Recipe("test", generate=(GeneratePart(), GeneratePart(samples=2, temperature=1.0)))


@pytest.fixture(scope="module")
def crew() -> Iterator[Cluster]:
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a module of tests
    with closing(Cluster("local", 2)) as cluster:
        yield cluster


def pids(seconds: float = 0.05) -> Start[int, tuple[int, int]]:
    def start() -> Work[int, tuple[int, int]]:
        def work(item: int, tell: Tell) -> tuple[int, int]:
            tell(("begun", item))
            time.sleep(seconds)
            return item, os.getpid()

        return work

    return start


def lost(item: int, why: str, told: object) -> tuple[str, object]:
    return why, told


def test_items_of_a_kind_go_to_one_worker(crew: Cluster) -> None:
    heard: list[object] = []
    shared = share(pids(), range(24), crew, lost, kind=lambda item: item // 12, on_progress=heard.append)
    found = dict(shared)
    assert {number: item for number, (item, _) in found.items()} == {number: number for number in range(24)}
    halves = [{found[number][1] for number in range(at, at + 12)} for at in (0, 12)]
    assert [len(half) for half in halves] == [1, 1]
    assert halves[0] != halves[1]
    assert os.getpid() not in halves[0] | halves[1]
    assert sorted(heard) == [("begun", item) for item in range(24)]  # type: ignore[type-var]


def test_a_worker_without_work_takes_half_of_the_rest(crew: Cluster) -> None:
    found = dict(share(pids(0.2), range(60), crew, lost, kind=lambda _: 0, split=2))
    by_worker = Counter(pid for _, pid in found.values())
    assert len(by_worker) == 2


def test_an_error_in_the_work_is_raised_as_it_is(crew: Cluster) -> None:
    def start() -> Work[int, int]:
        raise MissingExtraError("anything", "extra")

    with pytest.raises(MissingExtraError, match=r"sqljury\[extra\]"):
        list(share(start, [1, 2], crew, lost))


def test_what_kills_every_worker_is_given_up(crew: Cluster) -> None:
    def start() -> Work[int, int]:
        def work(item: int, tell: Tell) -> int:
            if item == 1:
                tell("half way")
                time.sleep(0.2)
                os.kill(os.getpid(), signal.SIGKILL)
            return item

        return work

    found = dict(share(start, range(3), crew, lost, attempts=2))
    assert (found[0], found[2]) == (0, 2)
    why, told = found[1]  # type: ignore[misc]
    assert "worker died" in why
    assert told == "half way"


def pipeline_for(log: Path, kill: str = "") -> Pipeline:
    """Answers with the pid; logs each call before; the question with ``kill`` in it ends its worker the first time."""

    def says(call: Call) -> str:
        text = next(entry["question"] for entry in ENTRIES if entry["question"] in call.prompt)
        with log.open("a") as stream:
            stream.write(f"{os.getpid()}\t{text}\t{call.n}\n")
        if kill and kill in text and not log.with_suffix(".killed").exists():
            log.with_suffix(".killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "SELECT 1"

    return Pipeline(RECIPE, FakeModel(says, delay=0.1))


def test_a_killed_worker_costs_its_question_in_flight(crew: Cluster, data: Path, tmp_path: Path) -> None:
    log, out, examples = tmp_path / "log", tmp_path / "run", spider.load(data, "dev")
    text = examples[1].question.text
    settled = run.settings(pipeline_for(log), {"name": "spider"}, 0)
    progress: list[int] = []
    workers.run(examples, lambda: pipeline_for(log, text), out, settled, crew, lambda done, _: progress.append(done))
    assert log.with_suffix(".killed").exists()
    assert progress == list(range(len(examples) + 1))
    records = folder.records(out)
    assert sorted(record["id"] for record in records) == [example.id for example in examples]
    assert all(record["sql"] == "SELECT 1" and record["error"] is None for record in records)
    asked = Counter(tuple(line.split("\t")[1:]) for line in log.read_text().splitlines())
    repeated = {question for (question, _), count in asked.items() if count > 1}
    assert repeated == {text}
    found = costs.costs(out)
    assert found.answers.calls == 2 * len(examples)
    alone = tmp_path / "alone"
    run.run(examples, pipeline_for(tmp_path / "log2"), alone, settled)
    answered = {record["id"]: record["candidates"] for record in folder.records(alone)}
    assert {record["id"]: record["candidates"] for record in records} == answered


def test_limits_end_a_run_after_the_questions_in_flight(crew: Cluster, data: Path, tmp_path: Path) -> None:
    out, examples = tmp_path / "run", spider.load(data, "dev")
    settled = run.settings(pipeline_for(tmp_path / "log"), {"name": "spider"}, 0)
    ledger = Ledger(Budget(calls=3))
    with pytest.raises(BudgetExceededError):
        workers.run(examples, lambda: pipeline_for(tmp_path / "log"), out, settled, crew, ledger=ledger)
    assert 2 <= len(folder.records(out)) < len(examples)
    assert len(calls.calls(out)) == 2 * len(folder.records(out))
    workers.run(examples, lambda: pipeline_for(tmp_path / "log"), out, settled, crew)
    assert len(folder.records(out)) == len(examples)


def test_a_worker_with_another_recipe_is_refused(crew: Cluster, data: Path, tmp_path: Path) -> None:
    settled = run.settings(pipeline_for(tmp_path / "log"), {"name": "spider"}, 0)
    other = Recipe("test", generate=(GeneratePart(),))
    with pytest.raises(ClusterError, match=r"recipe differ"):
        workers.run(
            spider.load(data, "dev"), lambda: Pipeline(other, FakeModel("SELECT 1")), tmp_path / "run", settled, crew
        )


def test_a_run_that_is_going_on_is_not_written_twice(crew: Cluster, data: Path, tmp_path: Path) -> None:
    settled = run.settings(pipeline_for(tmp_path / "log"), {"name": "spider"}, 0)
    with folder.claimed(tmp_path / "run", settled), pytest.raises(DatasetError, match="another program"):
        workers.run(spider.load(data, "dev"), lambda: pipeline_for(tmp_path / "log"), tmp_path / "run", settled, crew)


class Killing:
    """The crew of a cluster; the worker that works on one of the items is killed in the middle, the first time."""

    slots = 1

    def __init__(self, crew: Cluster, doomed: int) -> None:
        self.workers, self.heard, self.given = crew.workers, crew.heard, Counter[int]()
        self._crew, self._doomed = crew, doomed

    def begin(self, start: Start[Any, Any]) -> Worker:
        worker: Any = self._crew.begin(start)
        give = worker.give

        def given(number: int, item: Any) -> None:
            give(number, item)
            self.given[number] += 1
            if number == self._doomed and self.given[number] == 1:
                pid = worker._ray.get(worker._actor.__ray_call__.remote(lambda _: os.getpid()))
                time.sleep(0.3)
                os.kill(pid, signal.SIGKILL)

        worker.give = given
        return cast(Worker, worker)


SLOW = (
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000000) "
    "SELECT count(*) - 2999997 FROM n"
)


def test_an_evaluation_loses_nothing_by_a_killed_worker(crew: Cluster, data: Path) -> None:
    count, other = "SELECT count(*) FROM cat", "SELECT count(*) FROM dog WHERE age > 3"
    asked = [(count, count), (count, "SELECT 4"), (count, "SELECT FROM"), (count, SLOW), (count, "SELECT 3")]
    pairs = [pair(number, *queries) for number, queries in enumerate(asked)]
    pairs += [pair(number, other, sql, "more") for number, sql in enumerate([other, "SELECT 2", count], len(pairs))]
    files = {name: (data / "database" / name / f"{name}.sqlite",) for name in ("pets", "more")}
    killing = Killing(crew, doomed=3)
    metrics = named(["ex", "exe", "esm", "esm+"])
    found = evaluate(pairs, Targets(files), metrics, processes=killing)
    assert found.judged == evaluate(pairs, Targets(files), metrics).judged
    assert found.column("ex") == [1, 0, 0, 1, 1, 1, 1, 0]
    assert killing.given == {**dict.fromkeys(range(8), 1), 3: 2}


def audited(data: Path, processes: int | Cluster) -> object:
    with TemporaryDirectory() as folder:
        settled = audit.settings({"name": "spider"}, 5.0)
        return audit.run(spider.load(data, "dev"), Path(folder) / "audit.jsonl", settled, processes=processes)


def suites(data: Path, processes: int | Cluster) -> object:
    golds = {entry["db_id"]: entry["query"] for entry in ENTRIES}
    jobs = [
        distill.Job(name, data / "database" / name / f"{name}.sqlite", (sql,)) for name, sql in sorted(golds.items())
    ]
    return distill.build_all(jobs, distill.Settings(candidates=4), processes)


def learned(data: Path, processes: int | Cluster) -> object:
    examples = spider.load(data, "dev")
    options = GeneratorSet(SchemaPart(), shown="both")
    return [
        *linker_examples(examples, SchemaPart(), processes),
        *generator_examples(examples, options, processes),
    ]


@pytest.mark.parametrize("made", [audited, suites, learned])
def test_workers_make_what_one_process_makes(
    crew: Cluster, data: Path, made: Callable[[Path, int | Cluster], object]
) -> None:
    by_workers = made(data, crew)
    assert by_workers
    assert by_workers == made(data, 1)


def test_what_is_no_cluster() -> None:
    with pytest.raises(InputError, match="local, auto or ray"):
        Cluster("http://127.0.0.1:8265")

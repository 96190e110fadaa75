"""A finished run's candidates as a selector saw them: executed again, grouped, and with their verdicts."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from sqljury.bench import choices, stored
from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.engines.databases import Engine, of_run
from sqljury.errors import InputError
from sqljury.evaluation import run_folder
from sqljury.evaluation.run_folder import Record, is_figure, misshapen
from sqljury.parallel.threads import map_threads
from sqljury.stages.prepare import Preparation
from sqljury.stages.select.base import representative, representatives
from sqljury.stages.select.consistency import group
from sqljury.stages.select.features import Opinions, passed
from sqljury.train import leaks
from sqljury.types import Candidate, Limits, QueryFailure, Result, Task

Key = tuple[str, str]
"""A question: the name of its database, and its text. Ids are only places in some file."""


@dataclass(frozen=True)
class Replayed:
    """One question with its candidates, grouped; ``correct`` are the groups whose representative is correct.

    ``right`` are the texts of all correct queries among the candidates. ``database`` is the file, ``db_id`` the
    database's name in the benchmark, ``gold`` the gold query. ``opinions`` hold the outcomes of the run's own tests
    and, where it takes part, the critic's scores; see ``select.features``.
    """

    id: str
    db_id: str
    database: Path
    task: Task
    candidates: tuple[Candidate, ...]
    correct: frozenset[int]
    right: frozenset[str]
    gold: str
    opinions: Opinions

    def representative(self, group: int) -> Candidate:
        """The candidate that stands for a group."""
        return self.candidates[representative(self.candidates, group)]


def evaluation_of_runs(runs: Sequence[Path], data: Path | None, eval_data: Path | None) -> list[Example]:
    """The evaluation questions, by ``leaks.evaluation_questions`` for the dataset of every run.

    Raises what that raises, and ``DatasetError`` for a run that does not say where its dataset is.
    """
    if eval_data is not None or data is not None:
        return leaks.evaluation_questions(eval_data, data)
    folders = dict.fromkeys(run_folder.data_of(run).resolve() for run in runs)
    return [example for folder in folders for example in leaks.evaluation_questions(None, folder)]


def replay_all(
    runs: Sequence[Path], data: Path | None, evaluation: Sequence[Example], processes: int = 1, critic: str = ""
) -> Iterator[Replayed]:
    """The questions of several runs, each question of a database once, from the first run that has it.

    ``data`` is the dataset's folder if it has moved; ``critic`` names the critic's choices, kept in every run. Raises
    ``InputError`` at once for a run on a database of ``evaluation``, and while iterating what ``replay`` raises.
    """
    for run in runs:  # at once, not with the first question: what is done before that may take minutes
        leaks.refuse({record["db_id"] for record in run_folder.records(run)}, evaluation)
    return _replay_all(runs, data, processes, critic)


def _replay_all(runs: Sequence[Path], data: Path | None, processes: int, critic: str) -> Iterator[Replayed]:
    keys: dict[Path, set[Key]] = {}
    for run in runs:
        folder = data or run_folder.data_of(run)
        known = keys.setdefault(folder.resolve(), set())
        for replayed in replay(run, folder, frozenset(known), processes, critic):
            known.add((replayed.db_id, replayed.task.question.text))
            yield replayed


def replay(
    run: Path, data: Path, leave_out: Collection[Key] = (), processes: int = 1, critic: str = ""
) -> Iterator[Replayed]:
    """The questions of a run in its order, without those in ``leave_out``, repeated ones and those without candidates.

    Questions whose gold query fails are left out too; a warning counts them and names the first. Tasks are made by the
    run's own recipe, so that judges see what they saw then. Raises what ``bench.stored.load`` raises, and
    ``InputError`` where the run has no choices named ``critic``, or none for one of these questions, and where its
    recipe refines answers; or where it was not on SQLite, in which judges are trained.
    """
    loaded = stored.load(run, data, processes)
    _warn_of_faults(run, loaded)
    records = {record["id"]: record for record in run_folder.records(run)}
    if loaded.recipe.refine.rounds:  # a refined query is an extra candidate, which no judge saw when it chose
        raise InputError(f"{run}: its recipe {loaded.recipe.name} refines answers; make a run without [refine]")
    limits = stored.limits_of(run, loaded.described)
    preparation = Preparation(loaded.recipe.schema)
    critic_choices = _critic_choices(run, critic, loaded.questions) if critic else {}
    kept: dict[Key, stored.Asked] = {}
    for question in loaded.questions:
        if question.candidates and (question.db_id, question.text) not in leave_out:
            kept.setdefault((question.db_id, question.text), question)
    if Engine.of(loaded.described["dataset"]).name != "sqlite":
        raise InputError(f"{run}: its databases are not SQLite files; make a run without --engine")
    databases = of_run(loaded.described, data, run)
    for db_id, questions in groupby(kept.values(), key=lambda question: question.db_id):
        file = Path(databases.target(db_id))
        with connect(file) as db:
            for question in questions:
                record = records[question.id]
                task = preparation.task(stored.question_of(record), db)
                candidates = group(map_threads(lambda entry, _: _executed(entry, db, limits), record["candidates"]))
                correct = frozenset(
                    number
                    for number, index in representatives(candidates).items()
                    if question.right(candidates[index].sql)
                )
                right = frozenset(candidate.sql for candidate in candidates if question.right(candidate.sql))
                scores: Mapping[str, float] = {}
                if critic:
                    scores = _critic_scores(candidates, critic_choices.get(question.id), f"{run}: {question.id!r}")
                opinions = Opinions(passed(_test_outcomes(record)), scores)
                yield Replayed(question.id, db_id, file, task, candidates, correct, right, record["gold"], opinions)


def _warn_of_faults(run: Path, loaded: stored.StoredRun) -> None:
    if loaded.faults:
        name, fault = loaded.faults[0]
        warnings.warn(
            f"{run}: {len(loaded.faults)} of {len(loaded.questions) + len(loaded.faults)} questions are left out, "
            f"since their gold queries fail; {name}: {fault}",
            stacklevel=3,
        )


def _critic_choices(run: Path, name: str, questions: Sequence[stored.Asked]) -> Mapping[str, choices.Chosen]:
    known = choices.stored(run, questions)
    if name not in known:
        there = f"has {', '.join(sorted(known))}" if known else "has none"
        raise InputError(
            f"{run} has no choices {name!r} (it {there}); make them with `sqljury bench select {run} --selector critic`"
        )
    if others := {choice.selector for choice in known[name].values()} - {"critic"}:
        raise InputError(f"{run}: the choices {name!r} were made by {', '.join(others)}; name choices of the critic")
    return known[name]


def _critic_scores(candidates: Sequence[Candidate], chosen: choices.Chosen | None, question: str) -> dict[str, float]:
    """The critic's score of each group, by its representative's query; empty for a single group."""
    indexes = representatives(candidates).values()
    if len(indexes) < 2:
        return {}
    if chosen is None:
        raise InputError(f"{question} has no choice of the critic; run the same `sqljury bench select` again")
    numbers = {candidates[index].sql: chosen.groups[index] for index in indexes}
    return {
        sql: chosen.scores[number]
        for sql, number in numbers.items()
        if number is not None and number < len(chosen.scores)
    }


def _test_outcomes(record: Record) -> Iterator[tuple[list[str], list[bool | None], float]]:
    """(queries, which passed, confidence in the expected result) of each stored test."""
    choice = record.get("choice")
    for test in choice.get("tests") or () if isinstance(choice, dict) else ():
        if misshapen(test, {"queries": list, "passed": list}) is None:
            confidence = test.get("sureness", 1.0)
            outcomes = [outcome if isinstance(outcome, bool) else None for outcome in test["passed"]]
            yield [str(sql) for sql in test["queries"]], outcomes, confidence if is_figure(confidence) else 1.0


def _executed(record: Record, db: Database, limits: Limits) -> Candidate:
    sql = record["sql"]
    result = db.execute(sql, limits) if sql else Result(error=QueryFailure("missing", "the model wrote no query"))
    return Candidate(
        sql,
        record["generator"],
        record["logprob"],
        result,
        fixes=stored.fixes_of(record),
        part=record["part"],
        tokens=record.get("tokens"),
    )

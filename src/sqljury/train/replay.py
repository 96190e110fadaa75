"""A finished run's candidates as a selector saw them: executed again, grouped, and with their verdicts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from pathlib import Path

from sqljury.bench import stored
from sqljury.bench.choices import Chosen
from sqljury.bench.notes import shown_notes
from sqljury.datasets.spider import Example
from sqljury.datasets.subset import Within, every_database
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.engines.databases import Databases, Engine, of_run
from sqljury.errors import InputError
from sqljury.evaluation import run_folder
from sqljury.evaluation.run_folder import Record, is_figure, misshapen
from sqljury.parallel.crew import Crew
from sqljury.parallel.threads import map_threads
from sqljury.recipes.parts import Judged
from sqljury.schema.notes import NO_NOTES, Notes
from sqljury.stages.prepare import Preparation
from sqljury.stages.select.base import representative, representatives
from sqljury.stages.select.consistency import group
from sqljury.stages.select.features import Opinions, passed
from sqljury.train import leaks
from sqljury.train.scores import StoredScores, scores_of
from sqljury.types import Candidate, Choice, Limits, QueryFailure, Question, Result, Schema, Task, TestCase, Tried

Key = tuple[str, str]
"""A question: the name of its database, and its text. Ids are only places in some file."""


@dataclass(frozen=True)
class Replayed:
    """One question with its candidates, grouped; ``correct`` are the groups whose representative is correct.

    ``right`` are the texts of all correct queries among the candidates. ``database`` is the file, ``db_id`` the
    database's name in the benchmark, ``gold`` the gold query. ``opinions`` hold the outcomes of the run's own tests
    and, where one takes part, a judge's scores; see ``select.features``. ``choice`` is what the run chose, with the
    scores and test outcomes that it had; None where it chose nothing. ``judged`` is the part of the schema
    that its recipe shows to judges. ``notes`` are those that the run showed, and ``evidence`` is what it was asked
    with; the evidence of ``task`` has the rules of the notes too.
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
    choice: Choice | None = None
    judged: Judged = "used"
    notes: Notes = NO_NOTES
    evidence: str = ""

    @property
    def question(self) -> Question:
        """The question as it was asked."""
        return replace(self.task.question, evidence=self.evidence)

    def representative(self, group: int) -> Candidate:
        """The candidate that stands for a group."""
        return self.candidates[representative(self.candidates, group)]

    def regrouped(self, candidates: Sequence[Candidate], right: frozenset[str]) -> Replayed:
        """The question with other candidates, grouped anew; ``right`` has the correct queries."""
        grouped = group(candidates)
        correct = {number for number, at in representatives(grouped).items() if grouped[at].sql in right}
        return replace(self, candidates=grouped, correct=frozenset(correct), right=right)


def evaluation_of_runs(runs: Sequence[Path], data: Path | None, eval_data: Path | None) -> list[Example]:
    """The evaluation questions, by ``leaks.evaluation_questions`` for the dataset of every run.

    Raises what that raises, and ``DatasetError`` for a run that does not say where its dataset is.
    """
    if eval_data is not None:
        return leaks.evaluation_questions(eval_data)
    datasets = [(data or run_folder.data_of(run), run_folder.described(run)["dataset"].get("name")) for run in runs]
    datasets = list(dict.fromkeys((folder.resolve(), kind) for folder, kind in datasets))
    return [example for folder, kind in datasets for example in leaks.evaluation_questions(None, folder, kind)]


def replay_all(
    runs: Sequence[Path],
    data: Path | None,
    evaluation: Sequence[Example],
    processes: int | Crew = 1,
    scores: StoredScores | None = None,
    *,
    merge: bool = False,
    within: Within = every_database,
) -> Iterator[Replayed]:
    """The questions of several runs, each question of a database once: from the first run that has it.

    With ``merge`` a question has the candidates of all runs that have it, see ``merged``. ``within`` tells by name
    which databases take part. ``data`` is the dataset's folder if it has moved; ``scores`` are a judge's, of every
    run. Raises ``InputError`` at once for a run on a
    database of ``evaluation``, and while iterating what ``replay`` raises.
    """
    for run in runs:  # at once, not with the first question: what is done before that may take minutes
        names = {record["db_id"] for record in run_folder.records(run)}
        leaks.refuse(filter(within, names), evaluation)
    return _replay_all(list(dict.fromkeys(runs)), data, processes, scores, merge, within)


def _replay_all(
    runs: Sequence[Path],
    data: Path | None,
    processes: int | Crew,
    scores: StoredScores | None,
    merge: bool,
    within: Within,
) -> Iterator[Replayed]:
    loaded = [LoadedRun.load(run, data or run_folder.data_of(run), processes, scores) for run in runs]
    questions: dict[tuple[Path, Key], list[tuple[LoadedRun, stored.Asked]]] = {}
    for run in loaded:
        for key, question in run.questions.items():
            having = questions.setdefault((run.data.resolve(), key), [])
            if merge or not having:
                having.append((run, question))
    asked = [(key, having) for key, having in questions.items() if within(key[1][0])]
    for (_, db_id), group_ in groupby(asked, key=lambda item: (item[0][0], item[0][1][0])):
        with ExitStack() as stack:
            opened: dict[Path, Database] = {}
            for _, having in group_:
                for run, _question in having:
                    if run.folder not in opened:
                        opened[run.folder] = stack.enter_context(connect(run.file(db_id)))
                yield reduce(merged, (run.replayed(question, opened[run.folder]) for run, question in having))


def replay(run: Path, data: Path, processes: int | Crew = 1, scores: StoredScores | None = None) -> Iterator[Replayed]:
    """The questions of a run in its order, without repeated ones and those without candidates.

    Questions whose gold query fails, or whose database is gone, are left out too; a warning counts them and names the
    first. Tasks are made by the run's own recipe with the notes that it showed, so that judges see what they saw then.
    Raises what ``bench.stored.load`` and ``bench.notes.shown_notes`` raise, ``InputError`` where ``scores`` lack one of
    these questions, and where the run's recipe refines answers; or where it was not on SQLite, in which judges are
    trained.
    """
    return _replay_all([run], data, processes, scores, False, every_database)


def merged(first: Replayed, other: Replayed) -> Replayed:
    """A question with the candidates of two runs, grouped together; the task is the first one's.

    A query of both runs has the votes of both. Neither run's choice and opinions are about all of the candidates: they
    are left out. If the runs have different gold queries, ``other`` is left out.
    """
    if first.gold != other.gold:
        return first
    both = first.regrouped((*first.candidates, *other.candidates), first.right | other.right)
    return replace(both, opinions=Opinions(), choice=None)


@dataclass(frozen=True)
class LoadedRun:
    """A finished run in ``folder`` on the dataset in ``data``, with what its questions are replayed from.

    ``questions`` are those that are replayed, in the run's order, ``notes`` those that it showed, by name of the
    database, and ``chosen`` the choices with a judge's scores, by question; None where no judge takes part.
    """

    folder: Path
    data: Path
    loaded: stored.StoredRun
    databases: Databases
    questions: Mapping[Key, stored.Asked]
    records: Mapping[str, Record]
    notes: Mapping[str, Notes]
    chosen: Mapping[str, Chosen] | None
    limits: Limits
    preparation: Preparation

    @classmethod
    def load(cls, run: Path, data: Path, processes: int | Crew = 1, scores: StoredScores | None = None) -> LoadedRun:
        """The run; warns and raises as ``replay``."""
        loaded = stored.load(run, data, processes)
        if Engine.of(loaded.described["dataset"]).name != "sqlite":
            raise InputError(f"{run}: its databases are not SQLite files; make a run without --engine")
        if loaded.recipe.refine.rounds:  # a refined query is an extra candidate, which no judge saw when it chose
            raise InputError(f"{run}: its recipe {loaded.recipe.name} refines answers; make a run without [refine]")
        databases = of_run(loaded.described, data, run)
        names = {question.db_id for question in loaded.questions}
        lost = {name for name in names if not os.path.exists(databases.target(name))}
        _warn_of_faults(run, loaded, lost)
        questions: dict[Key, stored.Asked] = {}
        for question in loaded.questions:
            if question.candidates and question.db_id not in lost:
                questions.setdefault((question.db_id, question.text), question)
        return cls(
            run,
            data,
            loaded,
            databases,
            questions,
            {record["id"]: record for record in run_folder.records(run)},
            shown_notes(run, loaded.described, data, names - lost),
            None if scores is None else scores.chosen(run, loaded.questions),
            stored.limits_of(run, loaded.described),
            Preparation(loaded.recipe.schema),
        )

    def file(self, db_id: str) -> Path:
        """The file of a database."""
        return Path(self.databases.target(db_id))

    def replayed(self, question: stored.Asked, db: Database) -> Replayed:
        """One of its questions; raises ``InputError`` where a judge takes part and its scores are missing."""
        record, notes = self.records[question.id], self.notes.get(question.db_id, NO_NOTES)
        task = self.preparation.task(stored.question_of(record), db, notes)
        candidates = group(map_threads(lambda entry, _: _executed(entry, db, self.limits), record["candidates"]))
        correct = {number for number, at in representatives(candidates).items() if question.right(candidates[at].sql)}
        judge: Mapping[str, float] = {}
        if self.chosen is not None:
            judge = scores_of(candidates, self.chosen.get(question.id), f"{self.folder}: {question.id!r}")
        return Replayed(
            question.id,
            question.db_id,
            self.file(question.db_id),
            task,
            candidates,
            frozenset(correct),
            frozenset(candidate.sql for candidate in candidates if question.right(candidate.sql)),
            record["gold"],
            Opinions(passed(_test_outcomes(record)), judge),
            _choice(record, task.known),
            self.loaded.recipe.select.schema,
            notes,
            question.evidence,
        )


def _warn_of_faults(run: Path, loaded: stored.StoredRun, lost: Collection[str]) -> None:
    gone = [
        (question.id, f"the database {question.db_id} is no longer there")
        for question in loaded.questions
        if question.db_id in lost
    ]
    faults = [*loaded.faults, *gone]
    if faults:
        name, fault = faults[0]
        warnings.warn(
            f"{run}: {len(faults)} of {len(loaded.questions) + len(loaded.faults)} questions are left out, since their "
            f"gold queries fail or their databases are gone; {name}: {fault}",
            stacklevel=3,
        )


def _choice(record: Record, schema: Schema) -> Choice | None:
    """The stored choice; None where there is none, or it does not name the query that was answered."""
    stored_choice = record.get("choice")
    fault = misshapen(stored_choice, {"index": int, "selector": str, "scores": list})
    if fault is not None or stored_choice is None:
        return None
    index, scores = stored_choice["index"], stored_choice["scores"]
    chosen = record["candidates"][index : index + 1] if index >= 0 else []
    if [candidate["sql"] for candidate in chosen] != [record["sql"]] or not all(is_figure(score) for score in scores):
        return None
    tests = tuple(
        Tried(TestCase(schema, ()), tuple(queries), (), tuple(passed)) for queries, passed, _ in _test_outcomes(record)
    )
    return Choice(index, stored_choice["selector"], tuple(scores), tests=tests)


def _test_outcomes(record: Record) -> Iterator[tuple[list[str], list[bool | None], float]]:
    """(queries, which passed, confidence in the expected result) of each stored test."""
    choice = record.get("choice")
    for test in choice.get("tests") or () if isinstance(choice, dict) else ():
        if misshapen(test, {"queries": list, "passed": list}) is None:
            confidence = test.get("confidence", 1.0)
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
        weight=record.get("weight", 1.0),
    )

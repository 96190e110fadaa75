"""A finished run's candidates as a selector saw them: run again, grouped, and with their verdicts."""

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
from sqljury.errors import InputError
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.run_folder import Record, is_figure, misshapen
from sqljury.parallel.threads import map_threads
from sqljury.stages.prepare import Preparation
from sqljury.stages.select.base import groups, representative
from sqljury.stages.select.consistency import group
from sqljury.stages.select.features import Opinions, passed
from sqljury.train import leaks
from sqljury.types import Candidate, Limits, QueryFailure, Result, Task

Key = tuple[str, str]
"""A question: the name of its database, and its text. Ids say no more than its place in some file."""


@dataclass(frozen=True)
class Replayed:
    """One question with its candidates, grouped; ``right`` are the groups whose speaking query is right.

    ``database`` is the file, ``gold`` the gold query, ``named`` the database's name in the benchmark. ``opinions`` are
    what the run's own tests said and, where it is heard, the critic; see ``select.features``.
    """

    id: str
    named: str
    database: Path
    task: Task
    candidates: tuple[Candidate, ...]
    right: frozenset[int]
    gold: str
    opinions: Opinions

    def speaker(self, group: int) -> Candidate:
        """The candidate that speaks for a group."""
        return self.candidates[representative(self.candidates, group)]


def replay_all(
    runs: Sequence[Path], data: Path | None, evaluation: Sequence[Example], processes: int = 1, critic: str = ""
) -> Iterator[Replayed]:
    """The questions of several runs, each question of a database once, from the first run that has it.

    ``data`` is the dataset's folder where it has moved; ``critic`` names its choices, kept in every run. Raises
    ``InputError`` at once for a run on a database of ``evaluation``, and with the questions what ``replay`` raises.
    """
    for run in runs:  # at once, not with the first question: what is done before that may take minutes
        leaks.refuse({record["db_id"] for record in folder.records(run)}, evaluation)
    return _replay_all(runs, data, processes, critic)


def _replay_all(runs: Sequence[Path], data: Path | None, processes: int, critic: str) -> Iterator[Replayed]:
    known: dict[Path, set[Key]] = {}
    for run in runs:
        folder_of_data = data or folder.data_of(run)
        own = known.setdefault(folder_of_data.resolve(), set())
        for one in replay(run, folder_of_data, frozenset(own), processes, critic):
            own.add((one.named, one.task.question.text))
            yield one


def measured(runs: Sequence[Path], data: Path | None, against: Path | None) -> list[Example]:
    """The questions that are measured on, as ``leaks.evaluation`` has them for the dataset of every run.

    Raises what that raises, and ``DatasetError`` for a run that does not say where its dataset is.
    """
    if against is not None or data is not None:
        return leaks.evaluation(against, data)
    folders = dict.fromkeys(folder.data_of(run).resolve() for run in runs)
    return [one for own in folders for one in leaks.evaluation(None, own)]


def replay(
    run: Path, data: Path, leave_out: Collection[Key] = (), processes: int = 1, critic: str = ""
) -> Iterator[Replayed]:
    """The questions of a run in its order, but those in ``leave_out``, repeated ones, and those whose gold fails.

    A warning counts the last and names the first of them.
    Tasks are made as the run's own recipe makes them, so that judges see of them what they saw then. Questions without
    candidates are left out too. Raises what ``bench.stored.load`` raises, and ``InputError`` where the run has no
    choices of that name, or none for one of these questions, and where its recipe refines answers.
    """
    loaded = stored.load(run, data, processes)
    if loaded.faults:
        name, fault = loaded.faults[0]
        warnings.warn(
            f"{run}: {len(loaded.faults)} of {len(loaded.questions) + len(loaded.faults)} questions are left out, for "
            f"nothing can be judged by their gold; {name}: {fault}",
            stacklevel=2,
        )
    records = {record["id"]: record for record in folder.records(run)}
    if loaded.recipe.refine.rounds:  # a refined query is one candidate more, which no judge had before it when it chose
        raise InputError(f"{run}: its recipe {loaded.recipe.name} refines answers; make a run without [refine]")
    limits = stored.limits_of(run, loaded.described)
    preparation = Preparation(loaded.recipe.schema)
    heard = _choices(run, critic, loaded.questions) if critic else {}
    first: dict[Key, stored.Asked] = {}
    for one in loaded.questions:
        if one.candidates and (one.db_id, one.text) not in leave_out:
            first.setdefault((one.db_id, one.text), one)
    for name, asked in groupby(first.values(), key=lambda one: one.db_id):
        file = data / "database" / name / f"{name}.sqlite"
        with connect(file) as db:
            for one in asked:
                record = records[one.id]
                task = preparation.task(stored.question_of(record), db)
                ran = group(map_threads(lambda written, _: _ran(written, db, limits), record["candidates"]))
                right = frozenset(number for number in groups(ran) if one.right(ran[representative(ran, number)].sql))
                told = _scores(ran, heard.get(one.id), f"{run}: {one.id!r}") if critic else {}
                known = Opinions(passed(_tests(record)), told)
                yield Replayed(one.id, name, file, task, ran, right, record["gold"], known)


def _choices(run: Path, name: str, questions: Sequence[stored.Asked]) -> Mapping[str, choices.Chosen]:
    known = choices.stored(run, questions)
    if name not in known:
        there = f"has {', '.join(sorted(known))}" if known else "has none"
        raise InputError(
            f"{run} has no choices {name!r} (it {there}); make them with `sqljury bench select {run} --selector critic`"
        )
    if other := {one.selector for one in known[name].values()} - {"critic"}:
        raise InputError(f"{run}: the choices {name!r} are by {', '.join(other)}; the judge hears the critic alone")
    return known[name]


def _scores(ran: Sequence[Candidate], chosen: choices.Chosen | None, question: str) -> dict[str, float]:
    """What the critic's score of each group is, by the query that speaks for it; nothing of a single group."""
    speakers = [representative(ran, number) for number in groups(ran)]
    if len(speakers) < 2:
        return {}
    if chosen is None:
        raise InputError(f"{question} has no choice of the critic; the same `sqljury bench select` goes on with them")
    scores = {ran[place].sql: chosen.groups[place] for place in speakers}
    return {sql: chosen.scores[own] for sql, own in scores.items() if own is not None and own < len(chosen.scores)}


def _tests(record: Record) -> Iterator[tuple[list[str], list[bool | None], float]]:
    """Of each stored test, in the form of ``Tried.to_dict``, its queries, which passed, and how sure it is."""
    choice = record.get("choice")
    for one in choice.get("tests") or () if isinstance(choice, dict) else ():
        if misshapen(one, {"queries": list, "passed": list}) is None:
            sureness = one.get("sureness", 1.0)
            passed = [outcome if isinstance(outcome, bool) else None for outcome in one["passed"]]
            yield [str(sql) for sql in one["queries"]], passed, sureness if is_figure(sureness) else 1.0


def _ran(record: Record, db: Database, limits: Limits) -> Candidate:
    sql = record["sql"]
    result = db.execute(sql, limits) if sql else Result(error=QueryFailure("missing", "the model wrote no query"))
    fixes = stored.fixes_of(record)
    tokens = record.get("tokens")
    return Candidate(
        sql, record["generator"], record["logprob"], result, fixes=fixes, part=record["part"], tokens=tokens
    )

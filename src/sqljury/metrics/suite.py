"""Judge predictions that are right on the user's database by a suite: which of them are right by luck there.

Distilled test suites (Zhong et al. 2020): databases that tell a gold query from the queries close to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from sqljury.db.base import Runs
from sqljury.errors import DatasetError
from sqljury.metrics.execution import EXE, LIMITS, Rules, judge, run_gold
from sqljury.testing.store import Entry, databases, query_hash
from sqljury.types import Limits


class Trial(NamedTuple):
    """A database of a suite, opened; ``settled`` are hashes of the gold queries that can be judged on it."""

    file: Path
    settled: frozenset[str]
    database: Runs


class Tried(NamedTuple):
    """On how many databases a prediction was tried, the first on which it is wrong, and how it is."""

    tried: int
    counterexample: Path | None = None
    reason: str = ""


def open_trials(folder: Path, name: str, entry: Entry, opened: Callable[[Path], Runs]) -> tuple[Trial, ...]:
    """The databases of a suite for the one of this name; ``folder`` is the suite's.

    Raises ``DatasetError`` when a file is gone or was changed, and what ``opened`` raises.
    """
    known = frozenset(entry.queries)
    return tuple(
        Trial(file, known.difference(member.unsettled), opened(file)) for file, member in databases(folder, name, entry)
    )


def try_on(trials: Sequence[Trial], gold: str, predicted: str, rules: Rules = EXE, limits: Limits = LIMITS) -> Tried:
    """Run a prediction, prepared by ``rules``, on every database on which gold's answer is settled.

    One that fails or runs too long is wrong.
    """
    hashed, ordered, count = query_hash(gold), rules.ordered(gold), 0
    for trial in trials:
        if hashed not in trial.settled:
            continue
        try:
            expected = run_gold(trial.database, gold, rules, limits)
        except DatasetError:
            continue  # limits here may be tighter than at build
        count += 1
        outcome = judge(expected, trial.database.execute(predicted, limits), ordered)
        if not outcome.correct:
            return Tried(count, trial.file, outcome.reason)
    return Tried(count)

"""Judge predictions that are right on the user's database by a suite: which of them are right by luck there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatasetError
from sqljury.metrics.execution import EXE, Rules, Runs, judge, run_gold
from sqljury.metrics.suite.store import Entry, databases, query_hash
from sqljury.types import Limits

LIMITS: Final = Limits(seconds=10.0, rows=100_000, bytes=256 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class Item:
    """A gold query and the prediction for it."""

    id: str
    gold: str
    predicted: str


class Trial(NamedTuple):
    """A database of a suite, opened; ``unsettled`` are hashes of the gold queries that cannot be judged on it."""

    file: Path
    unsettled: frozenset[str]
    database: Runs


class Tried(NamedTuple):
    """On how many databases a prediction was tried, the first on which it is wrong, and how it is."""

    tried: int
    counterexample: Path | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a suite says of one pair.

    ``correct`` is the verdict on the user's database, None where gold fails there. ``tried`` counts the databases of
    the suite on which gold's answer is settled; ``counterexample`` is the first of them on which the prediction is
    wrong, and ``reason`` says how.
    """

    item: Item
    correct: bool | None
    tried: int = 0
    counterexample: Path | None = None
    reason: str = ""

    @property
    def rejected(self) -> bool:
        """Right on the user's database, wrong on the suite."""
        return self.counterexample is not None


def run(
    items: Iterable[Item],
    database: Path,
    folder: Path,
    entry: Entry,
    rules: Rules = EXE,
    limits: Limits = LIMITS,
) -> list[Finding]:
    """Judge the pairs of one database; ``folder`` is the suite's and holds the folder of this database by its name.

    Raises ``DatasetError`` when a file of the suite is gone or was changed, ``DatabaseError`` when ``database`` cannot
    be read. A prediction that fails or runs too long is wrong.
    """
    with ExitStack() as stack:
        own = stack.enter_context(connect(database))
        trials = open_trials(folder, database.stem, entry, lambda file: stack.enter_context(connect(file)))
        return [_judge(item, own, trials, rules, limits) for item in items]


def open_trials(folder: Path, name: str, entry: Entry, opened: Callable[[Path], Runs]) -> tuple[Trial, ...]:
    """The databases of a suite for the one of this name; raises ``DatasetError`` as ``run`` does."""
    return tuple(
        Trial(file, frozenset(member.unsettled), opened(file)) for file, member in databases(folder, name, entry)
    )


def try_on(trials: Sequence[Trial], gold: str, predicted: str, rules: Rules = EXE, limits: Limits = LIMITS) -> Tried:
    """Run a prediction, prepared by ``rules``, on every database on which gold's answer is settled."""
    hashed, ordered, count = query_hash(gold), rules.ordered(gold), 0
    for trial in trials:
        if hashed in trial.unsettled:
            continue
        try:
            expected = run_gold(trial.database, gold, rules, limits)
        except DatasetError:
            continue  # a gold query that the suite was not built for may fail here
        count += 1
        outcome = judge(expected, trial.database.execute(predicted, limits), ordered)
        if not outcome.correct:
            return Tried(count, trial.file, outcome.reason)
    return Tried(count)


def _judge(item: Item, own: Database, trials: Sequence[Trial], rules: Rules, limits: Limits) -> Finding:
    predicted = rules.prepare(item.predicted.replace(" value ", " 1 "))  # as Spider's programs read it
    try:
        expected = run_gold(own, item.gold, rules, limits)
    except DatasetError as error:
        return Finding(item, None, reason=str(error))
    outcome = judge(expected, own.execute(predicted, limits), rules.ordered(item.gold))
    if not outcome.correct:
        return Finding(item, False, reason=outcome.reason)
    return Finding(item, True, *try_on(trials, item.gold, predicted, rules, limits))

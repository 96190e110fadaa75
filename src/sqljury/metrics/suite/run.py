"""Judge predictions that are right on the user's database by a suite: which of them are right by luck there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatasetError
from sqljury.metrics.execution import EXE, Rules, judge, run_gold
from sqljury.metrics.suite.store import Entry, Member, databases, query_hash
from sqljury.types import Limits

LIMITS: Final = Limits(seconds=10.0, rows=100_000, bytes=256 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class Item:
    """A gold query and the prediction for it."""

    id: str
    gold: str
    predicted: str


class _Open(NamedTuple):
    file: Path
    member: Member
    database: Database


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
        members = [
            _Open(file, member, stack.enter_context(connect(file)))
            for file, member in databases(folder, database.stem, entry)
        ]
        return [_judge(item, own, members, rules, limits) for item in items]


def _judge(item: Item, own: Database, members: Sequence[_Open], rules: Rules, limits: Limits) -> Finding:
    gold, ordered = query_hash(item.gold), rules.ordered(item.gold)
    predicted = rules.prepare(item.predicted.replace(" value ", " 1 "))  # as Spider's programs read it
    try:
        outcome = judge(run_gold(own, item.gold, rules, limits), own.execute(predicted, limits), ordered)
    except DatasetError as error:
        return Finding(item, None, reason=str(error))
    if not outcome.correct:
        return Finding(item, False, reason=outcome.reason)
    tried = 0
    for file, member, database in members:
        if gold in member.unsettled:
            continue
        try:
            expected = run_gold(database, item.gold, rules, limits)
        except DatasetError:
            continue  # a gold query that the suite was not built for may fail here
        tried += 1
        outcome = judge(expected, database.execute(predicted, limits), ordered)
        if not outcome.correct:
            return Finding(item, True, tried, file, outcome.reason)
    return Finding(item, True, tried)

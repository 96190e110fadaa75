"""Gold on another engine: translated, run there and in SQLite, and kept where both give the same result.

``gold.jsonl`` in a run's folder holds a line a question: what became of its gold query, and why it is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from sqljury.datasets.spider import Example
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.engines.databases import Databases
from sqljury.engines.gold import translate
from sqljury.errors import DatabaseError, DatasetError, QueryLimitError
from sqljury.metrics.execution import EX, LIMITS, judge, run_gold
from sqljury.metrics.hardness import hardness
from sqljury.metrics.spider import Names, Query, parse_or_empty
from sqljury.resources import write_whole
from sqljury.sql.compare import VOTES, same
from sqljury.types import Schema

FILE: Final = "gold.jsonl"
_PROGRAM: Final = version("sqljury")  # once: the metadata of the package is read from its file each time

OUTCOMES: Final = {
    "equal": "gives the same result",
    "rounded": "gives the same result but for the last digits of numbers",
    "different": "gives another result",
    "refused": "does not run on the engine",
    "untranslated": "cannot be translated",
    "source": "does not run in SQLite",
    "database": "its database cannot be copied or used",
}
"""The outcomes of a gold query; the first two are kept, questions with the others are left out."""

_PASSING: Final = ("limit", "locked", "database")
"""Failures that are not the query's: it may run another time."""

KEPT: Final = ("equal", "rounded")


@dataclass(frozen=True, slots=True)
class Checked:
    """A gold query on an engine: ``outcome`` is one of ``OUTCOMES``, ``repairs`` are names of ``gold.REPAIRS``."""

    id: str
    of: str
    db_id: str
    gold: str
    sql: str
    outcome: str
    reason: str
    repairs: tuple[str, ...]
    hardness: str

    @property
    def kept(self) -> bool:
        """Whether the question is asked."""
        return self.outcome in KEPT


Observer = Callable[[int, int, Checked | None], None]
"""Called with (queries checked, queries in all, the newest)."""


def prepared(
    examples: Sequence[Example],
    databases: Databases,
    folder: Path,
    on_checked: Observer = lambda *_: None,
    stop: Callable[[], None] = lambda: None,
) -> list[Example]:
    """The examples whose gold holds on the engine, with that gold, and a database that is copied when it is opened.

    What was checked before is read from ``folder``, where ``gold.jsonl`` is kept. ``stop`` may raise between two
    questions. On SQLite files all examples are kept as they are.
    """
    if databases.engine.name == "sqlite":
        return [replace(example, database=databases.lazy(example.db_id)) for example in examples]
    known = {key: check for key, check in _read(folder / FILE).items() if check.outcome != "database"}
    checked = {
        example.id: known[key] for example in examples if (key := (example.id, _digest(example, databases))) in known
    }
    waiting = [example for example in examples if example.id not in checked]
    on_checked(len(checked), len(examples), None)
    try:
        for db_id, group in groupby(
            sorted(waiting, key=lambda example: example.db_id), key=lambda example: example.db_id
        ):
            stop()
            for check in _of_database(db_id, list(group), databases, stop):
                checked[check.id] = check
                on_checked(len(checked), len(examples), check)
    finally:
        if waiting and checked:
            folder.mkdir(parents=True, exist_ok=True)
            lines = [json.dumps(asdict(checked[example.id])) for example in examples if example.id in checked]
            write_whole(folder / FILE, "\n".join(lines) + "\n")
    return [_example(example, checked[example.id], databases) for example in examples if checked[example.id].kept]


def read(folder: Path) -> list[Checked]:
    """The checked gold queries of a run; none if its engine is SQLite."""
    return list(_read(folder / FILE).values())


def counts(checked: Iterable[Checked]) -> Counter[str]:
    """How many gold queries had each outcome."""
    return Counter(check.outcome for check in checked)


def _example(example: Example, checked: Checked, databases: Databases) -> Example:
    return replace(
        example,
        gold_sql=checked.sql,
        database=databases.lazy(example.db_id),
        hardness=checked.hardness,
        source_gold=example.gold_sql,
    )


def _of_database(
    db_id: str, examples: Sequence[Example], databases: Databases, stop: Callable[[], None]
) -> Iterable[Checked]:
    """The gold queries about one database; where that cannot be copied, with the reason."""
    try:
        with connect(databases.file(db_id)) as original, connect(databases.target(db_id)) as copy:
            source = databases.source(db_id)
            for example in examples:
                stop()
                check = _Check(original, copy, databases)
                yield check.check(example, source.schema)
    except DatabaseError as error:
        for example in examples:
            yield _found(example, databases, "database", str(error))


@dataclass(frozen=True)
class _Check:
    original: Database
    copy: Database
    databases: Databases

    def check(self, example: Example, schema: Schema) -> Checked:
        """One gold query."""
        parsed = parse_or_empty(example.gold_sql, Names.of_schema(schema))
        level = "" if parsed == Query() else hardness(parsed)
        done = translate(example.gold_sql, self.databases.source(example.db_id), self.copy.dialect)
        outcome, reason = self._outcome(example.gold_sql, done.sql, done.fault)
        made = _found(example, self.databases, outcome, reason)
        return replace(made, sql=done.sql, repairs=done.repairs, hardness=level)

    def _outcome(self, gold: str, sql: str, fault: str) -> tuple[str, str]:
        try:
            expected = run_gold(self.original, gold)
        except DatasetError as error:
            return "source", str(error)
        if not sql:
            return "untranslated", fault
        result = self.copy.execute(sql, LIMITS)
        if result.error is not None:
            return "database" if result.error.kind in _PASSING else "refused", str(result.error)
        ordered = EX.ordered(gold)
        verdict = judge(expected, result, ordered)
        if verdict.correct:
            return "equal", ""
        with suppress(QueryLimitError):
            if not result.truncated and same(expected, result, VOTES, ordered=ordered):
                return "rounded", ""
        return "different", verdict.reason


def _found(example: Example, databases: Databases, outcome: str, reason: str) -> Checked:
    digest = _digest(example, databases)
    return Checked(example.id, digest, example.db_id, example.gold_sql, "", outcome, reason, (), "")


def _digest(example: Example, databases: Databases) -> str:
    """A hash of all that the outcome depends on."""
    try:
        file = databases.file(example.db_id).stat()
        stamp = [file.st_size, file.st_mtime_ns]
    except OSError:
        stamp = []
    inputs = [_PROGRAM, databases.engine.name, example.gold_sql, *stamp]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32]


def _read(file: Path) -> dict[tuple[str, str], Checked]:
    """The well-formed lines by question and digest; the others are checked again."""
    known: dict[tuple[str, str], Checked] = {}
    names = {item.name for item in fields(Checked)}
    try:
        lines = file.read_bytes().splitlines()
    except OSError:
        return known
    for line in lines:
        with suppress(ValueError, RecursionError, TypeError):
            loaded: dict[str, Any] = json.loads(line)
            if (
                set(loaded) == names
                and loaded["outcome"] in OUTCOMES
                and all(isinstance(loaded[name], str) for name in names - {"repairs"})
            ):
                known[loaded["id"], loaded["of"]] = Checked(**{**loaded, "repairs": tuple(loaded["repairs"])})
    return known

"""The verdicts on all queries of a run, each judged once and kept in the run's folder for analyses without databases.

``verdicts.jsonl`` holds a line a question. A line counts as long as nothing has changed that it depends on: the
queries, gold, the database's file, the limits and the version of this program; otherwise the question is judged again.
Where the database is not there, the line counts with the file that it had.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import repeat
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqljury.datasets.pairs import Gold, Prediction
from sqljury.engines.databases import FILES, Databases, Engine
from sqljury.errors import QueryLimitError
from sqljury.evaluation.judge import Batch, BatchJudge, Judged, judge_batches, scored
from sqljury.evaluation.run_folder import Record, forms_of, misshapen
from sqljury.evaluation.targets import Targets
from sqljury.metrics.case import Case, Score
from sqljury.metrics.execution import EX, LIMITS
from sqljury.metrics.registry import METRICS
from sqljury.parallel.crew import Crew
from sqljury.resources import write_whole
from sqljury.sql.compare import EXACT, VOTES, canonical, same
from sqljury.sql.scan import text_fault
from sqljury.types import Limits, QueryFailure, Result

VERDICTS: Final = "verdicts.jsonl"
_PROGRAM: Final = version("sqljury")  # once: the metadata of the package is read from its file each time

DEVIATIONS: Final = {
    "fails": "no query, or one that fails",
    "columns": "another number of columns",
    "none": "no rows where gold has some",
    "some": "rows where gold has none",
    "fewer": "fewer rows",
    "more": "more rows",
    "order": "gold's rows in another order",
    "cells": "as many rows, other cells",
}
"""How a wrong result differs from gold's, by name; the first that holds counts."""

_LINE: Final = {"id": str, "of": str, "database": str, "hardness": str, "fault": str, "queries": dict}
_QUERY: Final[dict[str, type | tuple[type, ...]]] = {
    "right": bool,
    "error": (str, type(None)),
    "answer": int,
    "form": int,
    "empty": bool,
    "deviation": str,
    "matches": bool,
}


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one query.

    Queries of a question with the same ``answer`` vote together (policy ``VOTES``); of those, queries with the same
    ``form`` return their rows and columns in the same order. Both are 0 for a query that failed, which has an
    ``error``. ``deviation`` is one of ``DEVIATIONS``, empty for a right query. ``matches`` is ESM, which has a
    meaning for Spider's grammar alone.
    """

    right: bool
    error: str | None = None
    answer: int = 0
    form: int = 0
    empty: bool = False
    deviation: str = ""
    matches: bool = False


NO_QUERY: Final = Tried(False, "no query", deviation="fails")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All queries of one question, judged; ``fault`` is why they cannot be, such as a gold query that fails.

    Without ``usable`` the database cannot be used now; that is not kept, since another day it may.
    """

    id: str
    hardness: str
    fault: str
    queries: dict[str, Tried]
    usable: bool = True

    def tried(self, sql: str) -> Tried:
        """What came of one of the queries; an empty one fails."""
        return self.queries[sql] if sql else NO_QUERY

    def stand_in(self, sql: str) -> Result:
        """A small result that agrees with those of the question's other queries exactly where the real one does.

        Each answer has rows of its own, and each of its forms these rows in an order of its own, so that grouping and
        comparing give what they give for the real results.
        """
        tried = self.tried(sql)
        if tried.error is not None:
            return Result(error=QueryFailure("sql", tried.error))
        if tried.empty:
            return Result()
        forms = 1 + max(other.form for other in self.queries.values() if other.answer == tried.answer)
        rows = [(f"{tried.answer}, row {number}",) for number in range(forms)]
        return Result(rows=(*rows[tried.form :], *rows[: tried.form]))


class _Kept(NamedTuple):
    """A question's verdicts, and the stamp of the database's file that they were made on."""

    stamp: str
    made: Verdicts


@dataclass(frozen=True, slots=True)
class Work:
    """The queries of one question and what their verdicts depend on; ``database`` is the dataset's own file.

    ``hardness`` is known for gold that was translated to another ``engine``.
    """

    id: str
    db_id: str
    database: Path
    gold: str
    queries: tuple[str, ...]
    limits: Limits
    engine: Engine = FILES
    hardness: str = ""

    @classmethod
    def of(cls, record: Record, databases: Databases, limits: Limits) -> Work:
        """From a run's record, for the databases of the run and its limits."""
        queries = [sql for candidate in record["candidates"] for sql in forms_of(candidate)]
        distinct = tuple(dict.fromkeys(sql for sql in (*queries, record["sql"]) if sql))
        name = record["db_id"]
        file, gold, level = databases.file(name), record["gold"], record.get("hardness", "")
        return cls(record["id"], name, file, gold, distinct, limits, databases.engine, level)

    @property
    def asked(self) -> Gold:
        """The gold query as judges take it."""
        return Gold(self.id, self.gold, self.db_id, difficulty=self.hardness)

    def digest(self) -> str:
        """A hash of all that the verdicts depend on but the database's file."""
        inputs = [_PROGRAM, self.gold, sorted(self.queries), asdict(self.limits), asdict(LIMITS)]
        inputs += [self.engine.settings] if self.engine.copies else []
        return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()

    def stamp(self) -> str:
        """Size and time of the database's file; empty where there is none."""
        try:
            file = self.database.stat()
        except OSError:
            return ""
        return f"{file.st_size} bytes, {file.st_mtime_ns} ns"


def verdicts(
    records: Sequence[Record], folder: Path, databases: Databases, limits: Limits, processes: int | Crew = 1
) -> list[Verdicts]:
    """The verdicts on all queries of each record, read from ``folder`` where it has them, else made and kept there.

    ``limits`` are those of the run, on which it depends which results agree.
    """
    work = [Work.of(record, databases, limits) for record in records]
    keys = [(item.id, item.digest()) for item in work]
    stamps = [item.stamp() for item in work]
    known = _read(folder / VERDICTS)
    new = {
        index: item
        for index, (item, key, stamp) in enumerate(zip(work, keys, stamps, strict=True))
        if key not in known or stamp not in ("", known[key].stamp) or set(known[key].made.queries) != set(item.queries)
    }
    made = judge_all(list(new.values()), databases, processes)
    judged = {index: _Kept(stamps[index], verdict) for index, verdict in zip(new, made, strict=True)}
    result = [judged.get(index) or known[key] for index, key in enumerate(keys)]
    if new:
        _write(folder / VERDICTS, [(key, kept) for key, kept in zip(keys, result, strict=True) if kept.made.usable])
    return [kept.made for kept in result]


def judge_all(
    work: Sequence[Work], databases: Databases, processes: int | Crew = 1, on_judged: Callable[[], None] = lambda: None
) -> list[Verdicts]:
    """The verdicts on each question's queries by EX; ``on_judged`` is called after each question.

    Raises ``DatabaseError`` for a database that cannot be copied to the run's engine.
    """
    targets = Targets({name: (databases.target(name),) for name in dict.fromkeys(item.db_id for item in work)})
    limits = work[0].limits if work else LIMITS
    judge = BatchJudge(targets, (METRICS["ex"],), observe=partial(_Answers, limits))
    # Without any query gold is judged all the same, to know its hardness and its fault.
    batches = [
        Batch(item.asked, tuple(Prediction(item.id, sql) for sql in item.queries or (item.gold,))) for item in work
    ]
    judged = judge_batches(batches, judge, processes, lambda _: on_judged())
    return [_verdicts(item, batch) for item, batch in zip(work, judged, strict=True)]


def _verdicts(work: Work, batch: Sequence[Judged]) -> Verdicts:
    first = batch[0]
    if first.left_out:
        fault = f"no query can be judged by gold: {first.fault}" if text_fault(work.gold) else first.fault
        not_judged = Tried(False, "not judged", deviation="fails")
        return Verdicts(work.id, first.hardness, fault, dict.fromkeys(work.queries, not_judged), first.usable)
    tried = {judged.pair.prediction.sql: _tried(judged) for judged in batch}
    return Verdicts(work.id, first.hardness, "", {sql: tried[sql] for sql in work.queries})


def _tried(judged: Judged) -> Tried:
    """What the observer made of the query; one whose process was killed fails with that reason."""
    if isinstance(judged.observed, Tried):
        return judged.observed
    score = judged.scores["ex"]
    return Tried(False, judged.fault if score is None else score.reason, deviation="fails")


class _Answers:
    """The observer of one question: tells its results apart, and how a wrong one differs from gold's."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seen: list[list[Result]] = []

    def __call__(self, case: Case, scores: dict[str, Score | None]) -> Tried | None:
        score = scores["ex"]
        if score is None:
            return None
        database = case.target.databases[0]
        result = database.execute(case.predicted_sql, LIMITS)
        right, matches = score.value == 1, scored(METRICS["esm"], case).value == 1
        deviation = "" if right else _deviation(case, database.execute(EX.prepare(case.predicted_sql), LIMITS))
        if result.error is not None:
            return Tried(right, str(result.error), deviation=deviation, matches=matches)
        answer, form = self._place(_cut(result, self._limits))
        return Tried(right, None, answer, form, not result.rows, deviation, matches)

    def _place(self, result: Result) -> tuple[int, int]:
        """The numbers of the answer and of its form; new ones for a result that was not seen before."""
        for answer, forms in enumerate(self._seen):
            if same(forms[0], result, VOTES):
                exact = canonical(result.rows, VOTES)
                for form, seen in enumerate(forms):
                    if canonical(seen.rows, VOTES) == exact:
                        return answer, form
                forms.append(result)
                return answer, len(forms) - 1
        self._seen.append([result])
        return len(self._seen) - 1, 0


def _deviation(case: Case, result: Result) -> str:
    """The name in ``DEVIATIONS`` of what is wrong with a wrong result."""
    gold = case.gold_result(EX)
    if not result.ok:
        return "fails"
    if len(gold.columns) != len(result.columns):
        return "columns"
    if bool(gold.rows) != bool(result.rows):
        return "none" if gold.rows else "some"
    if len(gold.rows) != len(result.rows):
        return "fewer" if len(result.rows) < len(gold.rows) else "more"
    try:
        return "order" if EX.ordered(case.gold_sql) and same(gold, result, EXACT) else "cells"
    except QueryLimitError:  # too alike to be told apart
        return "cells"


def _cut(result: Result, limits: Limits) -> Result:
    """The result as the run saw it, which fetches fewer rows than an evaluation does."""
    if len(result.rows) <= limits.rows:
        return result
    return replace(result, rows=result.rows[: limits.rows], truncated=True)


def _read(file: Path) -> dict[tuple[str, str], _Kept]:
    """The well-formed lines; whatever else the file holds is judged again."""
    known = {}
    try:
        lines = file.read_bytes().splitlines() if file.is_file() else []
    except OSError:
        lines = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            loaded = json.loads(line)
            if not misshapen(loaded, _LINE) and all(map(_is_tried, loaded["queries"].values(), repeat(loaded))):
                queries = {
                    sql: Tried(**{key: entry[key] for key in _QUERY}) for sql, entry in loaded["queries"].items()
                }
                made = Verdicts(loaded["id"], loaded["hardness"], loaded["fault"], queries)
                known[loaded["id"], loaded["of"]] = _Kept(loaded["database"], made)
    return known


def _is_tried(value: Any, line: Record) -> bool:
    """Whether it is a query's entry; numbers beyond the count of queries would make stand-ins that fill the memory."""
    if (
        misshapen(value, _QUERY)
        or value["deviation"] not in ("", *DEVIATIONS)
        or value["right"] == bool(value["deviation"])
    ):
        return False
    return all(0 <= value[key] < len(line["queries"]) for key in ("answer", "form"))


def _write(file: Path, lines: Iterable[tuple[tuple[str, str], _Kept]]) -> None:
    """Replace the file, whole or not at all; without room for it the next analysis judges again."""
    written = []
    for (id_, digest), (stamp, made) in lines:
        line: dict[str, Any] = {"id": id_, "of": digest, "database": stamp}
        line |= {"hardness": made.hardness, "fault": made.fault}
        line["queries"] = {sql: asdict(tried) for sql, tried in made.queries.items()}
        written.append(json.dumps(line) + "\n")
    try:
        write_whole(file, "".join(written))
    except OSError as error:
        warnings.warn(
            f"{file}: cannot be kept ({error.strerror}); the next analysis runs all queries again", stacklevel=2
        )

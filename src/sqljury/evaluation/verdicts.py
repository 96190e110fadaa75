"""In which way a result that is not gold's differs from it, as far as the two results say.

Every distinct query of a run, run and judged once, and kept in the run's folder so that analyses need no database.

``verdicts.jsonl`` holds a line a question. A line counts as long as nothing has changed that it rests on: the queries,
gold, the database's file, the limits and the version of this program; otherwise the question is judged again.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import repeat
from pathlib import Path
from typing import Any, Final

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.errors import DatabaseError, DatasetError, QueryLimitError
from sqljury.evaluation.judge import GRACE_SECONDS
from sqljury.evaluation.run_folder import Record, misshapen
from sqljury.metrics.execution import EX, LIMITS, judge, run_gold
from sqljury.metrics.hardness import hardness
from sqljury.metrics.spider import Names, Query, parse_or_empty
from sqljury.parallel.processes import Tell, map_processes
from sqljury.resources import write_whole
from sqljury.schema.introspect import introspect
from sqljury.sql.compare import same_result
from sqljury.sql.parse import hush_parser
from sqljury.sql.scan import text_fault
from sqljury.stages.select.consistency import agree, rounded
from sqljury.types import Limits, QueryFailure, Result

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
"""By name, the first in this order that holds; what is right has none."""


def deviation(gold: Result, other: Result, ordered: bool) -> str:
    """The name of what is wrong with a result that is not right; ``ordered`` says that the order of rows counts."""
    if not other.ok:
        return "fails"
    if len(gold.columns) != len(other.columns):
        return "columns"
    if bool(gold.rows) != bool(other.rows):
        return "none" if gold.rows else "some"
    if len(gold.rows) != len(other.rows):
        return "fewer" if len(other.rows) < len(gold.rows) else "more"
    try:
        return "order" if ordered and same_result(gold, other, ordered=False) else "cells"
    except QueryLimitError:  # too alike to be told apart
        return "cells"


VERDICTS: Final = "verdicts.jsonl"
_LINE: Final = {"id": str, "of": str, "hardness": str, "fault": str, "queries": dict}
_QUERY: Final[dict[str, type | tuple[type, ...]]] = {
    "right": bool,
    "error": (str, type(None)),
    "answer": int,
    "form": int,
    "empty": bool,
    "deviation": str,
}


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one query.

    Queries of a question with the same ``answer`` say the same, by ``consistency.agree``; of those, with the same
    ``form`` in the same order of rows and columns. Both are 0 for one that failed, which has an ``error``.
    ``deviation`` is one of ``DEVIATIONS``, empty for what is right.
    """

    right: bool
    error: str | None = None
    answer: int = 0
    form: int = 0
    empty: bool = False
    deviation: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All queries of one question, judged; ``fault`` says why there are none: gold itself fails.

    Where ``unusable``, the database cannot be used as it is now, which is not kept: it may be there next time.
    """

    id: str
    hardness: str
    fault: str
    queries: dict[str, Tried]
    unusable: bool = False

    def stand_in(self, sql: str) -> Result:
        """A small result that agrees with those of the question's other queries exactly where the real one does.

        Each answer has rows of its own, each form of it an order of its own of these rows, so whatever groups and
        compares results comes to what it came to with the real ones.
        """
        tried = self.queries[sql]
        if tried.error is not None:
            return Result(error=QueryFailure("sql", tried.error))
        if tried.empty:
            return Result()
        forms = 1 + max(one.form for one in self.queries.values() if one.answer == tried.answer)
        rows = [(f"{tried.answer}, row {number}",) for number in range(forms)]
        return Result(rows=(*rows[tried.form :], *rows[: tried.form]))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The queries of one question; ``killed`` holds those that ended the process that ran them, and how."""

    id: str
    database: Path
    gold: str
    queries: tuple[str, ...]
    limits: Limits
    killed: dict[str, str] = field(default_factory=dict)

    def digest(self) -> str:
        """Of all that the verdicts rest on; empty where there is no database."""
        try:
            file = self.database.stat()
        except OSError:
            return ""
        rests_on = (version("sqljury"), self.gold, sorted(self.queries), asdict(self.limits), asdict(LIMITS))
        text = json.dumps((*rests_on, file.st_size, file.st_mtime_ns))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Killed:
    at: str | None
    why: str


def verdicts(records: Sequence[Record], folder: Path, data: Path, limits: Limits, processes: int = 1) -> list[Verdicts]:
    """The verdicts on all queries of each record, from ``folder`` where they are known; what is new is kept there.

    ``data`` is the dataset's folder, ``limits`` are those of the run, which decide what results agree. A question whose
    gold query or database cannot be used has a ``fault``.
    """
    asked = [_asked(record, data, limits) for record in records]
    digests = [one.digest() for one in asked]
    known = _read(folder / VERDICTS)
    new = {
        place: one
        for place, (one, digest) in enumerate(zip(asked, digests, strict=True))
        if not digest or (one.id, digest) not in known or set(known[one.id, digest].queries) != set(one.queries)
    }
    judged = dict(zip(new, _judge_all(list(new.values()), processes), strict=True))
    found = [judged.get(place) or known[one.id, digests[place]] for place, one in enumerate(asked)]
    if new:
        kept = [(digest, one) for digest, one in zip(digests, found, strict=True) if not one.unusable]
        _write(folder / VERDICTS, kept)
    return found


def _asked(record: Record, data: Path, limits: Limits) -> _Asked:
    queries = [sql for one in record["candidates"] for sql in (*(fix["before"] for fix in one["fixes"]), one["sql"])]
    distinct = tuple(dict.fromkeys(sql for sql in (*queries, record["sql"]) if sql))
    name = record["db_id"]
    return _Asked(record["id"], data / "database" / name / f"{name}.sqlite", record["gold"], distinct, limits)


def _judge_all(asked: Sequence[_Asked], processes: int) -> list[Verdicts]:
    """In processes that are killed when a query hangs; what killed one is wrong, and the rest is judged without it."""
    found: dict[int, Verdicts] = {}
    waiting = dict(enumerate(asked))
    while waiting:
        judged = map_processes(
            _Judge,
            list(waiting.values()),
            lambda _, why, told: _Killed(told, why),
            silence=LIMITS.seconds + GRACE_SECONDS,
            processes=processes,
            kind=lambda one: one.database,
        )
        again = {}
        for (place, one), verdict in zip(waiting.items(), judged, strict=True):
            if isinstance(verdict, Verdicts):
                found[place] = verdict
            elif not verdict.at:
                found[place] = Verdicts(one.id, "", f"the gold query {verdict.why}; query: {one.gold}", _all_wrong(one))
            else:
                again[place] = replace(one, killed={**one.killed, verdict.at: f"limit: {verdict.why}"})
        waiting = again
    return [found[place] for place in range(len(asked))]


def _all_wrong(asked: _Asked) -> dict[str, Tried]:
    return {sql: Tried(False, "not judged", deviation="fails") for sql in asked.queries}


class _Judge:
    """The work of one process, which keeps the database of its last question open."""

    def __init__(self) -> None:
        hush_parser()
        self._file: Path | None = None
        self._db: Database | None = None
        self._unusable: DatabaseError | None = None

    def __call__(self, asked: _Asked, tell: Tell) -> Verdicts | _Killed:
        if fault := text_fault(asked.gold):
            return Verdicts(asked.id, "", f"no query can be judged by gold: {fault}", _all_wrong(asked))
        try:
            db = self._opened(asked.database)
            query = parse_or_empty(asked.gold, Names.of_schema(introspect(db)))
        except DatabaseError as error:
            return Verdicts(asked.id, "", f"its database cannot be used: {error}", _all_wrong(asked), unusable=True)
        level = hardness(query) if query != Query() else ""
        tell("")
        try:
            gold = run_gold(db, asked.gold)
        except DatasetError as error:
            return Verdicts(asked.id, level, str(error), _all_wrong(asked))
        ordered = EX.ordered(asked.gold)
        answers = _Answers()
        tried: dict[str, Tried] = {}
        for sql in asked.queries:
            if sql in asked.killed:
                tried[sql] = Tried(False, asked.killed[sql], deviation="fails")
                continue
            tell(sql)
            result = db.execute(sql, LIMITS)
            prepared = EX.prepare(sql)
            compared = result if prepared == sql else db.execute(prepared, LIMITS)
            right = judge(gold, compared, ordered).correct
            off = "" if right else deviation(gold, compared, ordered)
            if result.error is not None:
                tried[sql] = Tried(right, str(result.error), deviation=off)
            else:
                answer, form = answers.place(_cut(result, asked.limits))
                tried[sql] = Tried(right, None, answer, form, not result.rows, off)
        return Verdicts(asked.id, level, "", tried)

    def _opened(self, file: Path) -> Database:
        if self._file != file:
            if self._db is not None:
                self._db.close()
            self._db, self._file, self._unusable = None, file, None
        if self._unusable is not None:  # a lock is waited for once, not for each question
            raise self._unusable
        try:
            self._db = self._db or connect(file)
        except DatabaseError as error:
            self._unusable = error
            raise
        return self._db


class _Answers:
    """Results seen so far, one of each answer, and of each the forms it was seen in."""

    def __init__(self) -> None:
        self._seen: list[list[Result]] = []

    def place(self, result: Result) -> tuple[int, int]:
        """The number of the answer and of its form, new ones for what was not seen before."""
        for answer, forms in enumerate(self._seen):
            if agree(forms[0], result):
                exact = rounded(result).rows
                for form, other in enumerate(forms):
                    if rounded(other).rows == exact:
                        return answer, form
                forms.append(result)
                return answer, len(forms) - 1
        self._seen.append([result])
        return len(self._seen) - 1, 0


def _cut(result: Result, limits: Limits) -> Result:
    """As the run saw it, which fetches fewer rows than an evaluation does."""
    if len(result.rows) <= limits.rows:
        return result
    return replace(result, rows=result.rows[: limits.rows], truncated=True)


def _read(file: Path) -> dict[tuple[str, str], Verdicts]:
    """The lines that are what this module writes; whatever else stands there is judged again."""
    found = {}
    try:
        lines = file.read_bytes().splitlines() if file.is_file() else []
    except OSError:
        lines = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            loaded = json.loads(line)
            if not misshapen(loaded, _LINE) and all(map(_is_tried, loaded["queries"].values(), repeat(loaded))):
                queries = {sql: Tried(**{key: one[key] for key in _QUERY}) for sql, one in loaded["queries"].items()}
                found[loaded["id"], loaded["of"]] = Verdicts(loaded["id"], loaded["hardness"], loaded["fault"], queries)
    return found


def _is_tried(value: Any, line: Record) -> bool:
    """Numbers beyond the count of queries would make stand-ins that fill the memory."""
    if (
        misshapen(value, _QUERY)
        or value["deviation"] not in ("", *DEVIATIONS)
        or value["right"] == bool(value["deviation"])
    ):
        return False
    return all(0 <= value[key] < len(line["queries"]) for key in ("answer", "form"))


def _write(file: Path, lines: Iterable[tuple[str, Verdicts]]) -> None:
    """In the place of what was there, whole or not at all; without room for it the next analysis judges again."""
    written = []
    for digest, one in lines:
        line: dict[str, Any] = {"id": one.id, "of": digest, "hardness": one.hardness, "fault": one.fault}
        line["queries"] = {sql: asdict(tried) for sql, tried in one.queries.items()}
        written.append(json.dumps(line) + "\n")
    try:
        write_whole(file, "".join(written))
    except OSError as error:
        warnings.warn(
            f"{file}: cannot be kept ({error.strerror}); the next analysis runs all queries again", stacklevel=2
        )

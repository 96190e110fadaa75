"""How many stored queries run once their names are bound to the schema without a model, and how many are right then.

    python benchmarks/bind.py runs/train_light --data ../shared/spider --keys none likely declared
    python benchmarks/bind.py runs/stripped --keys none --show wrong

Every query of a run is taken as the model first wrote it, once a question. A query that fails is repaired by name
binding and by translation, as the pipeline does it before it asks the model. `--keys` says what the schema tells of
keys: `declared` as the database does; `likely` the declared ones as if they had been inferred; `none` nothing, as in a
database that declares none; `inferred` those that `sqljury.keys` finds in --data, which should be a copy without keys.
A row for each kind of repair says how many queries had one and run now, and how many of these are right, so that a bad
kind can be seen; a query that needs several repairs counts for each.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqljury import connect
from sqljury.context import Context
from sqljury.db.base import Database
from sqljury.evaluation.run_folder import forms_of
from sqljury.llm.fake import FakeModel
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.schema.introspect import introspect
from sqljury.sql.names.bind import bindings
from sqljury.stages.repair import readings, translate
from sqljury.types import Candidate, Limits, Question, Result, Schema, Table, Task

KEYS = ("none", "likely", "declared", "inferred")
LIMITS = Limits(seconds=10)
LIKELY = 0.9
SHOWN = {
    "wrong": "repaired and wrong",
    "rescued": "wrong, and another reading is right",
    "failing": "still failing",
    "right": "repaired and right",
}


@dataclass
class Tally:
    """What became of the queries under one kind of schema."""

    queries: int = 0
    ran: int = 0
    right: int = 0
    repaired: int = 0
    repaired_right: int = 0
    any_right: int = 0
    several: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    questions: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    kinds_right: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    shown: dict[str, list[str]] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """The figures, for print."""
        runs = self.ran + self.repaired
        yield (
            f"{self.queries} queries of {len(self.questions)} questions: as written {self.ran / self.queries:.1%} run, "
            f"after repair {runs / self.queries:.1%}; right {self.right / self.queries:.1%}, after repair "
            f"{(self.right + self.repaired_right) / self.queries:.1%}"
        )
        failing = self.queries - self.ran
        yield (
            f"  of {failing} that fail {self.repaired} repaired: {_share(self.repaired_right, self.repaired)} right, "
            f"with the other readings {_share(self.any_right, self.repaired)}; {self.several} have several; "
            f"{self.seconds / max(failing, 1) * 1000:.1f} ms each, at most {self.longest * 1000:.0f} ms"
        )
        yield f"  questions whose first query does not run: {_share(len(self.silent), len(self.questions))}"
        for kind, count in self.kinds.most_common():
            yield f"  {kind:<44} {count:>5}  right {_share(self.kinds_right[kind], count)}"
        yield "  still failing: " + ", ".join(f"{error} {count}" for error, count in self.errors.most_common(8))


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "0"


class Replay:
    """The queries of one question, run, repaired and judged."""

    def __init__(self, db: Database, record: dict[str, Any]) -> None:
        self._db, self._record = db, record
        self._context = Context(db, FakeModel(""), LIMITS)
        self._gold = run_gold(db, record["gold"], limits=LIMITS)
        self._ordered = EX.ordered(record["gold"])
        self.results: dict[str, Result] = {}

    def queries(self) -> list[str]:
        """What the model wrote, once each, in its order."""
        stored = self._record["candidates"]
        texts = (forms_of(one)[0] for one in stored)
        return [text for text in dict.fromkeys(texts) if text]

    def run(self, sql: str) -> Result:
        """The result of a query, which is run once."""
        if sql not in self.results:
            self.results[sql] = self._db.execute(sql, LIMITS)
        return self.results[sql]

    def right(self, sql: str) -> bool:
        """Whether a query returns what gold returns."""
        return judge(self._gold, self.run(EX.prepare(sql)), self._ordered).correct

    def repair(self, sql: str, schema: Schema) -> tuple[list[Candidate], str]:
        """The readings of a failed query that run, the best first, and the kind of the repair that made the first."""
        task = Task(Question(self._record["question"], id=self._record["id"]), schema, "")
        failed = Candidate(sql, "direct", result=self.run(sql))
        bound = readings(failed, task, self._context)
        if bound[0].result.ok:
            made = bindings(sql, schema, self._record["question"])
            return bound, next((" + ".join(one.kinds) for one in made if one.sql == bound[0].sql), "?")
        translated = translate(failed, task, self._context, names=True)
        kinds = dict.fromkeys(fix.by for fix in translated.fixes)
        return ([translated], " + ".join(kinds)) if translated.result.ok else ([], "")


def replay(record: dict[str, Any], db: Database, schemas: dict[str, Schema], tallies: dict[str, Tally]) -> None:
    """Count one question under each kind of schema."""
    question = Replay(db, record)
    for number, sql in enumerate(question.queries()):
        ran = question.run(sql).ok
        right = ran and question.right(sql)
        for name, schema in schemas.items():
            tally = tallies[name]
            tally.queries += 1
            tally.questions.add(record["id"])
            tally.ran += ran
            tally.right += right
            if ran:
                continue
            began = time.perf_counter()
            candidates, kind = question.repair(sql, schema)
            seconds = time.perf_counter() - began
            tally.seconds, tally.longest = tally.seconds + seconds, max(tally.longest, seconds)
            _count(tally, record, question, sql, candidates, kind)
            if not candidates and not number:
                tally.silent.add(record["id"])


def _count(
    tally: Tally, record: dict[str, Any], question: Replay, sql: str, candidates: list[Candidate], kind: str
) -> None:
    verdicts = [question.right(one.sql) for one in candidates]
    if candidates:
        tally.repaired += 1
        tally.repaired_right += verdicts[0]
        tally.any_right += any(verdicts)
        tally.several += len(candidates) > 1
        for each in kind.split(" + "):
            tally.kinds[each] += 1
            tally.kinds_right[each] += verdicts[0]
    else:
        tally.errors[str(question.run(sql).error).split(":")[0][:60]] += 1
    outcome = "failing" if not verdicts else "right" if verdicts[0] else "rescued" if any(verdicts) else "wrong"
    text = "".join(f"\n    {one.sql}" for one in candidates) or f"\n    {question.run(sql).error}"
    head = f"{record['id']} {record['db_id']} [{kind}] {record['question']}"
    tally.shown.setdefault(outcome, []).append(f"{head}\n    {sql}{text}\n  gold {record['gold']}")


def with_keys(declared: Schema, keys: str) -> Schema:
    """The schema as it would be known with other knowledge of its keys."""
    return replace(declared, tables=tuple(_told(table, keys) for table in declared.tables))


def _told(table: Table, keys: str) -> Table:
    if keys == "declared":
        return table
    columns = tuple(replace(column, unique=False, not_null=False) for column in table.columns)
    candidates = (table.primary_key,) if keys == "likely" and table.primary_key else ()
    inferred = tuple(replace(key, declared=False, score=LIKELY) for key in table.foreign_keys)
    return replace(
        table,
        columns=columns,
        primary_key=(),
        unique_keys=(),
        candidate_keys=candidates,
        foreign_keys=inferred if keys == "likely" else (),
    )


@lru_cache(4)
def _schemas(file: Path, keys: tuple[str, ...]) -> dict[str, Schema]:
    with connect(file) as db:
        declared = introspect(db)
        return {name: _inferred(db) if name == "inferred" else with_keys(declared, name) for name in keys}


def _inferred(db: Database) -> Schema:
    from sqljury.keys import known_schema

    return known_schema(db)


def main() -> None:
    """Replay a run and print what became of its queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, default=Path("../shared/spider"))
    parser.add_argument("--keys", nargs="+", choices=KEYS, default=["none", "likely", "declared"])
    parser.add_argument("--limit", type=int, default=200, help="questions, spread over the databases; 0 for all")
    parser.add_argument("--skip", type=int, default=0, help="start the spread this many questions later")
    parser.add_argument("--show", nargs="*", choices=SHOWN, default=[], help="list the queries that this became of")
    arguments = parser.parse_args()
    lines = [line for run in arguments.runs for line in (run / "answers.jsonl").read_text("utf-8").splitlines()]
    records = sorted(map(json.loads, lines), key=lambda record: (record["db_id"], record["id"]))
    records = records[arguments.skip :: max(1, len(records) // arguments.limit) if arguments.limit else 1]
    tallies = {name: Tally() for name in arguments.keys}
    for record in records:
        file = arguments.data / "database" / record["db_id"] / f"{record['db_id']}.sqlite"
        with closing(connect(file)) as db:
            replay(record, db, _schemas(file, tuple(arguments.keys)), tallies)
    for name, tally in tallies.items():
        print(f"keys {name}:", *tally.lines(), sep="\n")
        for outcome in arguments.show:
            print(f"  {SHOWN[outcome]}:", *tally.shown.get(outcome, ()), sep="\n  ")


if __name__ == "__main__":
    main()

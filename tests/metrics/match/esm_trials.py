"""Checks what strict mode takes for the same by running it: pairs from gold queries on fuzzed databases.

As a program, on Spider's train split: ``python tests/metrics/match/esm_trials.py ../shared/spider --pairs 20000``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import random
import sqlite3
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import sqlglot
from esm_rewriting import rewritten
from sqlglot import exp

from sqljury.db.base import Runs
from sqljury.db.connect import connect
from sqljury.metrics.esm_plus import STRICT, Facts, esm_plus
from sqljury.metrics.execution import EX, judge
from sqljury.schema.introspect import introspect
from sqljury.sql.resolve import column_names
from sqljury.sql.tree import facts_of, tree_of
from sqljury.testing.cells import Source, sampled, sources
from sqljury.testing.fuzz import fuzz
from sqljury.testing.store import write_database
from sqljury.types import Result, Schema

NUMBERS_AS_TEXT = ("1", "01", "1.0", "2", "007")
SHUFFLED = 3
SECONDS = 1.0


class Trial(NamedTuple):
    """A database, and the same rows without keys in other orders."""

    database: sqlite3.Connection
    shuffled: list[sqlite3.Connection]


@contextlib.contextmanager
def trials(
    schema: Schema, golds: Sequence[str], own: Runs | None = None, count: int = 8, seed: str = ""
) -> Iterator[list[Trial]]:
    """Databases of a schema, the first without rows; NULL is wherever it may be, and text that reads as a number."""
    columns = column_names(schema)
    trees = [tree for tree in (tree_of(sql, columns) for sql in golds) if tree is not None]
    drawn = sources(schema, sampled(schema, own) if own is not None else None, facts_of(trees), nulls=True)
    for at, source in drawn.items():
        if source.kind == "text":
            drawn[at] = Source(source.kind, source.known + NUMBERS_AS_TEXT, source.nulls)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = []
        for number in range(count):
            rows = (
                fuzz(schema, drawn, f"{seed}|{schema.name}|{number}") if number else {t.name: [] for t in schema.tables}
            )
            opened = []
            for copy in range(1 + SHUFFLED):
                file = folder / f"{number}_{copy}.sqlite"
                order = random.Random(f"{seed}|{number}|{copy}")
                mixed = {name: order.sample(table, len(table)) for name, table in rows.items()}
                write_database(file, schema, mixed if copy else rows, plain=copy > 0)
                opened.append(
                    stack.enter_context(contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)))
                )
            found.append(Trial(opened[0], opened))
        yield found


def counterexample(gold: str, predicted: str, databases: Sequence[Trial]) -> int | None:
    """The number of the first database on which two queries answer otherwise, where SQL does not leave that open."""
    for number, (database, shuffled) in enumerate(databases):
        expected = run(database, gold)
        if not expected.ok:
            return None
        if judge(expected, run(database, predicted), EX.ordered(gold)).correct:
            continue
        if not any(is_open(sql, shuffled) for sql in (gold, predicted)):
            return number
    return None


def run(database: sqlite3.Connection, sql: str) -> Result:
    """All rows, or why there are none."""
    end = time.monotonic() + SECONDS
    database.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    try:
        cursor = database.execute(sql)
        return Result(tuple(column[0] for column in cursor.description), tuple(cursor.fetchall()))
    except sqlite3.Error as error:
        return Result(error=str(error))


def is_open(sql: str, shuffled: Sequence[sqlite3.Connection]) -> bool:
    """Whether the answer hangs on the order in which rows are stored, or that of rows that tie."""
    loose = loosened(sql)
    first = run(shuffled[0], loose)
    answers = (run(database, loose) for database in shuffled for _ in range(4))
    return not all(judge(first, answer, EX.ordered(sql)).correct for answer in answers)


def loosened(sql: str) -> str:
    """The query with rows that tie in any order."""
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    for node in list(tree.find_all(exp.SetOperation)):
        if node.args.get("order"):
            tail = {clause: node.args.pop(clause, None) for clause in ("order", "limit", "offset")}
            around = sqlglot.parse_one(f"SELECT * FROM ({node.sql(dialect='sqlite')})", dialect="sqlite")
            for clause, part in tail.items():
                around.set(clause, part)
            tree = node.replace(around) if node is not tree else around
            tree = tree.root()
    chance = sqlglot.parse_one("SELECT 1 ORDER BY random()", dialect="sqlite").args["order"].expressions[0]
    for select in tree.find_all(exp.Select):
        if select.args.get("order"):
            select.args["order"].append("expressions", chance.copy())
    return tree.sql(dialect="sqlite")


def pairs(golds: Sequence[str], schema: Schema, count: int, seed: str) -> Iterator[tuple[str, str]]:
    """A gold query, or what became of one, and what becomes of it."""
    chance = random.Random(seed)
    for number in range(count):
        gold = chance.choice(golds)
        if chance.random() < 0.5:
            gold = rewritten(gold, schema, f"{seed}|{number}|gold") or gold
        if (other := rewritten(gold, schema, f"{seed}|{number}")) is not None:
            yield gold, other


def main() -> None:
    """Print how many pairs were tried, how many match, and those that should not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spider", type=Path)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", default="0")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)  # sqlglot warns of what SQLite does not know
    by_database: dict[str, set[str]] = defaultdict(set)
    for entry in json.loads((asked.spider / "train.json").read_text(encoding="utf-8")):
        if (asked.spider / "database" / entry["db_id"] / f"{entry['db_id']}.sqlite").is_file():
            by_database[entry["db_id"]].add(entry["query"])
    counts: Counter[str] = Counter()
    for db_id, queries in sorted(by_database.items()):
        golds = sorted(queries)
        with connect(asked.spider / "database" / db_id / f"{db_id}.sqlite") as own:
            schema = introspect(own)
            facts = Facts.of_schema(schema)
            with trials(schema, golds, own, seed=asked.seed) as databases:
                for pair in pairs(golds, schema, asked.pairs // len(by_database) + 1, f"{asked.seed}|{db_id}"):
                    match = esm_plus(*pair, facts, STRICT)
                    counts["pairs"] += 1
                    counts["matches"] += match.matches
                    counts.update(f"rule {rule:2}" for rule in match.rules if match.matches)
                    if match.matches and (number := counterexample(*pair, databases)) is not None:
                        counts["wrong"] += 1
                        print(f"{db_id}, database {number}, rules {match.rules}", *pair, sep="\n  ")
    for name, count in sorted(counts.items()):
        print(name, count)


if __name__ == "__main__":
    main()

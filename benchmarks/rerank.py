"""What tests made of stored candidates: how often the model's expectation was right, and what choosing by it changed.

    sqljury bench select runs/default --selector rerank --cache
    python benchmarks/rerank.py runs/default --data ../shared/spider

Reads ``choices-rerank.jsonl`` (or --choices FILE) and asks no model. An expectation is right where the gold query
passes the test by the relaxed equality (the paper's prediction accuracy, section 4.3.1); tests on which gold cannot be
run, since it needs tables or columns that no candidate uses, are counted apart. Ways to choose are compared on all
questions that were tested, and on those of which some group is right and some wrong; "perfect expectations" are gold's
results on the same small databases.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqljury.bench import stored
from sqljury.db.connect import connect
from sqljury.evaluation import run_folder as folder
from sqljury.evaluation.report import Share
from sqljury.schema.introspect import introspect
from sqljury.testing.trial import run_case
from sqljury.types import Result, Schema, TestCase
from sqljury.types.schema import subset

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tested:
    """One question: by group whether it is right, and of each test who passed, how sure it was, whether gold passes.

    ``matches`` tells by group whether its query is gold's by exact match, which Table 4 of the paper has beside EX.
    ``ideal`` is who would have passed if gold's result had been expected.
    """

    right: tuple[bool, ...]
    matches: tuple[bool, ...]
    chosen: bool
    chosen_matches: bool
    passed: tuple[tuple[bool | None, ...], ...]
    confidence: tuple[float, ...]
    gold: tuple[bool | None, ...]
    ideal: tuple[tuple[bool | None, ...], ...]
    gold_sql: str


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", type=Path, help="folder of a run with choices of `sqljury bench select`")
    parser.add_argument("--data", type=Path, required=True, help="folder with database/")
    parser.add_argument("--choices", type=Path, help="by default choices-rerank.jsonl of the run")
    options = parser.parse_args()
    file = options.choices or options.run / "choices-rerank.jsonl"
    lines = {line["id"]: line for line in map(json.loads, file.read_text().splitlines())}
    golds = {record["id"]: record["gold"] for record in folder.records(options.run)}
    questions = stored.load(options.run, options.data).questions
    found = [
        read(lines[one.id], one, golds[one.id], options.data)
        for one in questions
        if one.id in lines and lines[one.id]["tests"]
    ]
    tests = sum(len(one.passed) for one in found)
    print(
        f"{sum(one.id in lines for one in questions)} questions with a choice, {len(found)} of them tested, "
        f"{tests / max(1, len(found)):.2f} tests each"
    )
    expectations(found)
    print("ways to choose, all that were tested:")
    choosing(found)
    print("ways to choose, where some group is right and some wrong:")
    choosing([one for one in found if any(one.right) and not all(one.right)])


def read(line: Line, asked: stored.Asked, gold: str, data: Path) -> Tested:
    """A line of choices with what gold says of it."""
    with connect(data / "database" / asked.db_id / f"{asked.db_id}.sqlite") as db:
        schema = introspect(db)
    tests = line["tests"]
    ran = [run_case(case(test, schema), [gold]) for test in tests]
    perfect = [replace(one.case, expected=one.results[0] if one.results[0].ok else None) for one in ran]
    return Tested(
        tuple(asked.right(sql) for sql in tests[0]["queries"]),
        tuple(asked.tried(sql).matches for sql in tests[0]["queries"]),
        asked.right(line["sql"]),
        asked.tried(line["sql"]).matches,
        tuple(tuple(test["passed"]) for test in tests),
        tuple(test["confidence"] for test in tests),
        tuple(one.passed[0] for one in ran),
        tuple(run_case(one, test["queries"]).passed for one, test in zip(perfect, tests, strict=True)),
        gold,
    )


def case(test: Line, schema: Schema) -> TestCase:
    """A stored test's database; cells are as JSON keeps them."""
    tables = test["tables"]
    part = subset(schema, {name: set(table["columns"]) for name, table in tables.items()})
    expected = test["expected"]
    rows = tuple(tuple(map(tuple, tables[table.name]["rows"])) for table in part.tables)
    return TestCase(part, rows, expected and Result(tuple(expected["columns"]), tuple(map(tuple, expected["rows"]))))


def expectations(found: Sequence[Tested]) -> None:
    """How often what the model expects is what gold returns."""
    kinds = {
        "all": lambda _: True,
        "gold has ORDER BY": lambda sql: re.search(r"\border\s+by\b", sql, re.IGNORECASE),
        "gold has GROUP BY": lambda sql: re.search(r"\bgroup\s+by\b", sql, re.IGNORECASE),
    }
    for name, kind in kinds.items():
        own = [one for one in found if kind(one.gold_sql)]
        said = [gold for one in own for gold in one.gold]
        told = [gold for gold in said if gold is not None]
        print(f"expectations, {name}: {share(sum(told), len(told))} right; of {len(said)} tests")
    by_passing = Counter(sum(map(bool, passed)) for one in found for passed in one.passed)
    print(
        "groups that pass a test:",
        ", ".join(f"{count} in {tests} tests" for count, tests in sorted(by_passing.items())),
    )


def choosing(found: Sequence[Tested]) -> None:
    """How often each way to choose takes a right group, what it changes against votes, and exact matches (EM)."""
    votes = [one.right[0] for one in found]
    groups = {
        "votes": [0 for _ in found],
        "passes, then votes": [best(one.passed, [1.0] * len(one.passed)) for one in found],
        "confidence, then votes": [best(one.passed, one.confidence) for one in found],
        "perfect expectations": [best(one.ideal, [1.0] * len(one.ideal)) for one in found],
    }
    ways = {
        name: [(one.right[at], one.matches[at]) for one, at in zip(found, chosen, strict=True)]
        for name, chosen in groups.items()
    }
    ways["as stored"] = [(one.chosen, one.chosen_matches) for one in found]
    for name, both in ways.items():
        right = [one for one, _ in both]
        better = sum(new and not old for new, old in zip(right, votes, strict=True))
        worse = sum(old and not new for new, old in zip(right, votes, strict=True))
        matches = sum(one for _, one in both)
        print(
            f"  {name:22} {share(sum(right), len(right))}  corrected {better}, misled {worse}, EM {matches}/{len(both)}"
        )
    print(f"  {'any group is right':22} {share(sum(any(one.right) for one in found), len(found))}")


def best(tests: Sequence[Sequence[bool | None]], weights: Sequence[float]) -> int:
    """The group that passes most, the largest of those that tie."""
    scores = [
        round(sum(weight for passed, weight in zip(tests, weights, strict=True) if passed[group]), 9)
        for group in range(len(tests[0]))
    ]
    return max(range(len(scores)), key=lambda group: (scores[group], -group))


def share(right: int, total: int) -> str:
    """Percent with its interval."""
    low, high = Share(right, total).interval()
    return f"{right}/{total} = {Share(right, total).percent:.1f} % [{low:.1f}, {high:.1f}]"


if __name__ == "__main__":
    main()

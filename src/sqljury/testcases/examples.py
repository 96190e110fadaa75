"""Examples of expected results: a question, a small database, and what the right query returns there.

They come with the package and were made by ``benchmarks/make_expect_examples.py`` from this project's own databases.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sqljury.types import Column, ForeignKey, Result, Row, Schema, Table, TestCase


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the case that answers it; ``kind`` says what it asks for, ``sql`` made ``case.expected``."""

    question: str
    sql: str
    kind: str
    case: TestCase


def choose(count: int, seed: int = 0) -> tuple[Example, ...]:
    """So many of the examples, of as many kinds as there are, drawn by the seed; all where there are no more.

    What a seed gives stays the same for a larger count and is gone on from.
    """
    rng = random.Random(f"{seed}|expect")  # noqa: S311 - no secret
    by_kind: dict[str, list[Example]] = {}
    for example in rng.sample(everything(), len(everything())):
        by_kind.setdefault(example.kind, []).append(example)
    ranked = [(at, example) for listed in by_kind.values() for at, example in enumerate(listed)]
    return tuple(example for _, example in sorted(ranked, key=lambda pair: pair[0])[:count])


@cache
def everything() -> tuple[Example, ...]:
    """All examples of the package."""
    lines = (files(__package__) / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_example(json.loads(line)) for line in lines)


def line_of(example: Example) -> str:
    """The example as a line of JSON, the opposite of what is read."""
    tables = [
        {
            "name": table.name,
            "columns": [[column.name, column.type] for column in table.columns],
            "primary_key": table.primary_key,
            "foreign_keys": [[key.columns, key.ref_table, key.ref_columns] for key in table.foreign_keys],
            "rows": rows,
        }
        for table, rows in zip(example.case.schema.tables, example.case.rows, strict=True)
    ]
    assert example.case.expected is not None
    return json.dumps(
        {
            "db_id": example.case.schema.name,
            "kind": example.kind,
            "question": example.question,
            "query": example.sql,
            "tables": tables,
            "result": example.case.expected.rows,
        },
        ensure_ascii=False,
    )


def _example(entry: dict[str, Any]) -> Example:
    schema = Schema(entry["db_id"], "sqlite", tuple(map(_table, entry["tables"])))
    rows = tuple(_rows(table["rows"]) for table in entry["tables"])
    result = _rows(entry["result"])
    expected = Result(columns=("",) * len(result[0]), rows=result)
    case = TestCase(schema, rows, expected)
    return Example(entry["question"], entry["query"], entry["kind"], case)


def _table(entry: dict[str, Any]) -> Table:
    columns = tuple(Column(name, type_) for name, type_ in entry["columns"])
    keys = tuple(ForeignKey(tuple(own), table, tuple(refs)) for own, table, refs in entry["foreign_keys"])
    return Table(entry["name"], columns, tuple(entry["primary_key"]), keys)


def _rows(listed: Iterable[Iterable[Any]]) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in listed)

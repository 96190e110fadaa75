"""Inferred keys against the columns that gold queries join, for databases that declare few keys or none.

    python benchmarks/joined_keys.py runs/gate/database benchmarks/gate/questions.jsonl [--list]
    python benchmarks/joined_keys.py runs/business/database runs/business/questions.jsonl

A key is wanted where a gold query equates a column with one that identifies the rows of its table, and the database
does not declare it. Found: the inference has it. Wrong: it has only other keys for that column. Equal columns of two
tables, neither of which identifies rows, want nothing.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqljury.db.connect import connect
from sqljury.keys import known_schema
from sqljury.sql.equated import key_columns
from sqljury.sql.parse import parse_one
from sqljury.sql.resolve import owner
from sqljury.types import Schema, Table

Place = tuple[str, str]
"""A table and a column, in lower case."""


def equated(sql: str, schema: Schema) -> Iterator[tuple[Place, Place]]:
    """The pairs of columns of two tables that a query sets equal, each in both directions."""
    for left, right in key_columns(parse_one(sql, schema.dialect)):
        here, there = owner(left, schema), owner(right, schema)
        if here is not None and there is not None:
            places = (here[1].name.lower(), left.name.lower()), (there[1].name.lower(), right.name.lower())
            yield places
            yield places[::-1]


def identifying(table: Table) -> set[str]:
    """The columns that may identify a row: the declared or inferred keys of one column, else the first column."""
    keys = {key[0].lower() for key in (table.primary_key, *table.candidate_keys) if len(key) == 1}
    return keys or {table.columns[0].name.lower()}


def wanted(schema: Schema, gold: Sequence[str]) -> dict[Place, set[Place]]:
    """By column the keys that gold queries equate it with."""
    keys = {table.name.lower(): identifying(table) for table in schema.tables}
    found: dict[Place, set[Place]] = defaultdict(set)
    for sql in gold:
        for here, there in equated(sql, schema):
            if here != there and there[1] in keys[there[0]] and here[1] not in keys[here[0]]:
                found[here].add(there)
    return found


def main() -> None:
    """Print how many keys are found, wrong and missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--list", action="store_true", help="list what is wrong or missed")
    options = parser.parse_args()
    gold: dict[str, list[str]] = defaultdict(list)
    for line in options.questions.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        gold[question["db_id"]].append(question.get("sql") or question["gold"])
    counts: Counter[str] = Counter()
    for name, queries in sorted(gold.items()):
        with connect(options.databases / name / f"{name}.sqlite") as db:
            schema = known_schema(db)
        inferred, declared = defaultdict[Place, set[Place]](set), set[Place]()
        for table in schema.tables:
            for key in table.foreign_keys:
                for here, there in zip(key.columns, key.ref_columns, strict=True):
                    place = table.name.lower(), here.lower()
                    inferred[place].add((key.ref_table.lower(), there.lower()))
                    declared |= {place} if key.declared else set()
        for place, targets in sorted(wanted(schema, queries).items()):
            if place in declared:
                continue
            verdict = "found" if inferred[place] & targets else "wrong" if inferred[place] else "missed"
            counts[verdict] += 1
            if options.list and verdict != "found":
                print(f"{verdict}: {name}: {'.'.join(place)} -> {targets}, inferred {inferred[place] or 'none'}")
    total = sum(counts.values())
    print(f"{total} keys wanted: {counts['found']} found ({counts['found'] / max(total, 1):.1%}), ", end="")
    print(f"{counts['wrong']} wrong, {counts['missed']} missed")


if __name__ == "__main__":
    main()

"""Makes the examples of expected results that come with the package, from its own databases and questions.

    python benchmarks/make_expect_examples.py > src/sqljury/testcases/examples.jsonl

For each question of datasets/examples the first random draw (5 rows a table, small numbers) on which its query returns
a few rows, that are no matter of luck, and that fits on a few lines. Of each kind of question the first of each
database in turn. Equal on every machine.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from sqljury.datasets.pool import Shot, default
from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.stages.generate.examples import finds
from sqljury.testing.draw import random_case, read_origin
from sqljury.testing.expect import Example, line_of
from sqljury.testing.show import show
from sqljury.testing.trial import Trial
from sqljury.types import TestCase

DRAWS = 40
ROWS = 4
CHARS = 700
A_KIND = 9
KINDS = {
    "group": (" group by ",),
    "order": (" order by ",),
    "nested": ("(select ", " union ", " except ", " intersect "),
    "number": ("count(", "sum(", "avg(", "min(", "max("),
    "join": (" join ",),
    "filter": (" where ",),
    "plain": ("select ",),
}


def main() -> None:
    """Print a line for each example."""
    by_kind: dict[str, dict[str, list[Shot]]] = {kind: {} for kind in KINDS}
    for shot in default().shots:
        by_kind[kind_of(shot.sql)].setdefault(shot.database, []).append(shot)
    with tempfile.TemporaryDirectory() as folder:
        for kind, listed in by_kind.items():
            found = 0
            for shot in in_turn(listed):
                example = example_of(shot, kind, Path(folder)) if found < A_KIND else None
                if example is not None:
                    found += 1
                    print(line_of(example))


def kind_of(sql: str) -> str:
    """What is hardest about the query."""
    text = f" {' '.join(sql.lower().split())}"
    return next(kind for kind, marks in KINDS.items() if any(mark in text for mark in marks))


def in_turn(listed: dict[str, list[Shot]]) -> Iterator[Shot]:
    """The first of every database, then the second of every one."""
    for at in range(max(map(len, listed.values()), default=0)):
        yield from (shots[at] for shots in listed.values() if at < len(shots))


def example_of(shot: Shot, kind: str, folder: Path) -> Example | None:
    """The first draw that shows something, with what the query returns there."""
    with connect(database(shot.database, folder)) as db:
        origin = read_origin(db, introspect(db), [shot.sql])
    with Trial(origin.shape, [shot.sql]) as trial:
        for number in range(DRAWS):
            case = in_key_order(random_case(origin, f"{shot.question}|{number}"))
            if not trial.load(case.tables) or len(show(case, "csv")) > CHARS:
                continue
            (result,) = trial.results
            if result.ok and finds(result) and len(result.rows) <= ROWS and trial.settled(0):
                case = replace(case, expected=replace(result, seconds=0.0))
                return Example(shot.question, shot.sql, kind, case)
    return None


def in_key_order(case: TestCase) -> TestCase:
    """The rows as SQLite keeps those with a number as key: results then come in the order in which rows are shown."""
    rows = []
    for table, own in zip(case.schema.tables, case.rows, strict=True):
        places = [at for at, column in enumerate(table.columns) if column.name in table.primary_key]
        rows.append(tuple(sorted(own, key=lambda row: [row[at] for at in places])))
    return replace(case, rows=tuple(rows))


def database(name: str, folder: Path) -> Path:
    """The file of one of the package's databases, made if need be."""
    file = folder / f"{name}.sqlite"
    if not file.exists():
        text = (files("sqljury.stages.generate") / "examples" / f"{name}.sql").read_text(encoding="utf-8")
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(text)
    return file


if __name__ == "__main__":
    main()

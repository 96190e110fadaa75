"""Inferred foreign keys against those that Spider's databases declare, with all keys removed, and the time it takes.

    python benchmarks/infer_keys.py ../shared/spider [--split train|dev] [--fit] [--list]
    python benchmarks/infer_keys.py --time URL-or-empty-for-SQLite-and-DuckDB

Keys are removed from the schema in memory; the rows are those of the database. A key counts by column: one of several
columns counts as several. ``strict`` counts what is not declared as wrong; ``by hand`` takes out the keys that
``keys_read.tsv`` lists, which were read and are right though not declared. ``--fit`` fits the weights and gives figures
on databases that were left out, five times a fifth of them. ``--time`` makes 20 tables of 100,000 rows.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.keys import known_schema
from sqljury.keys.infer import infer, with_best_name
from sqljury.keys.pairs import Finder
from sqljury.keys.profile import Bounds, Contained, Reader, TableProfile, inclusion_sql, may_be_key, read_table
from sqljury.keys.score import FEATURES, WEIGHTS, features
from sqljury.schema.introspect import introspect
from sqljury.types import Schema, Table

READ = Path(__file__).with_name("keys_read.tsv")
FOLDS = 5
RIDGE = 0.3
ROWS = 100_000
_LISTED = """
    customer order product supplier invoice payment shipment warehouse employee department project contract ticket
    campaign visit device sensor account region article
"""
NOUNS = _LISTED.split()

Link = tuple[str, str, str, str, str]
"""Database, table, column, other table, other column."""


@dataclass
class Case:
    """A database without its keys: what was read of it, the keys it declares, and a query cache."""

    name: str
    schema: Schema
    declared: set[Link]
    profiles: dict[str, TableProfile]
    contained: Contained
    seconds: float


def links(name: str, schema: Schema, *, declared: bool) -> set[Link]:
    """The foreign keys of a schema by column."""
    return {
        (name, table.name, column, key.ref_table, other)
        for table in schema.tables
        for key in table.foreign_keys
        if key.declared == declared
        for column, other in zip(key.columns, key.ref_columns, strict=True)
    }


def stripped(schema: Schema) -> Schema:
    """The schema without keys and constraints."""
    return replace(schema, tables=tuple(map(_stripped, schema.tables)))


def _stripped(table: Table) -> Table:
    columns = tuple(replace(column, unique=False, not_null=False) for column in table.columns)
    return replace(table, columns=columns, primary_key=(), foreign_keys=(), unique_keys=())


def case(name: str, db: Database) -> Case:
    """What the inference reads of a database."""
    whole, bounds, start = introspect(db), Bounds(), time.perf_counter()
    schema = stripped(whole)
    reader = Reader(db, Bounds(seconds=600))
    profiles = {
        table.name: read_table(reader, table, [c for c in table.columns if may_be_key(c, db.dialect)])
        for table in schema.tables
        if not table.is_view
    }
    counts: dict[object, tuple[int, int] | None] = {}

    def contained(table: Table, columns: Sequence[str], other: Table, key: Sequence[str]) -> tuple[int, int] | None:
        pair = table.name, *columns, other.name, *key
        if pair not in counts:
            result = reader.rows(inclusion_sql(table, columns, other, key, db.dialect, bounds), 1)
            counts[pair] = None if isinstance(result, str) else (int(result.rows[0][0]), int(result.rows[0][1] or 0))
        return counts[pair]

    infer(schema, profiles, contained)  # what is looked up is known from here on
    return Case(name, schema, links(name, whole, declared=True), profiles, contained, time.perf_counter() - start)


def found(one: Case, weights: Sequence[float] = WEIGHTS) -> set[Link]:
    """The keys inferred for a case, by column."""
    inferred = infer(one.schema, one.profiles, one.contained, weights)
    return {
        (one.name, name, column, key.ref_table, other)
        for name, table in inferred.items()
        for key in table.foreign_keys
        for column, other in zip(key.columns, key.ref_columns, strict=True)
    }


def right_by_hand() -> set[Link]:
    """The keys that are not declared and were read to be right."""
    lines = READ.read_text(encoding="utf-8").splitlines()[1:]
    return {
        (name, *column.split("."), *other.split(".")) for name, column, other in (line.split("\t") for line in lines)
    }  # type: ignore[misc]


def report(title: str, declared: set[Link], inferred: set[Link], listed: bool) -> None:
    """Print precision and recall, and what is wrong or missing."""
    right, read = inferred & declared, right_by_hand()
    turned = {link for link in inferred - declared if (link[0], *link[3:], *link[1:3]) in declared}
    print(f"{title}: {len(declared)} declared, {len(inferred)} inferred, {len(right)} of them declared")
    print(f"  strict: precision {_share(right, inferred)}, recall {_share(right, declared)}")
    print(f"  as joins, whichever side refers: precision {_share(right | turned, inferred)}")
    print(f"  by hand: precision {_share(right | inferred & read, inferred)}")
    if listed:
        for name, some in (("not declared", inferred - declared), ("not found", declared - inferred)):
            for database, table, column, other, key in sorted(some):
                mark = " (right by hand)" if (database, table, column, other, key) in read else ""
                print(f"  {name}: {database}: {table}.{column} -> {other}.{key}{mark}")


def _share(some: set[Link], of: set[Link]) -> str:
    return f"{len(some) / max(len(of), 1):.1%}"


def fitted(cases: Sequence[Case]) -> np.ndarray:
    """Weights by logistic regression (ridge, Newton's method); pairs read to be right count as declared."""
    read, rows, labels = right_by_hand(), [], []
    for one in cases:
        finder = Finder(one.schema, one.profiles, one.contained)
        for table in one.schema.tables:
            for column in table.columns:
                for pair, best in with_best_name(finder.of(table, column)):
                    link = one.name, table.name, column.name, pair.key.table.name, pair.key.column
                    rows.append(features(pair, best))
                    labels.append(float(link in one.declared | read))
    x, y = np.asarray(rows), np.asarray(labels)
    weights = np.zeros(x.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (chance - y) + RIDGE * weights
        curve = (x * (chance * (1 - chance))[:, None]).T @ x + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return weights


def left_out(cases: Sequence[Case]) -> set[Link]:
    """The keys inferred for each case with weights fitted on other databases."""
    inferred: set[Link] = set()
    for fold in range(FOLDS):
        weights = fitted([one for at, one in enumerate(cases) if at % FOLDS != fold])
        for one in cases[fold::FOLDS]:
            inferred |= found(one, weights)
    return inferred


def cases_of(spider: Path, split: str) -> Iterator[Case]:
    """The databases of a split's questions."""
    names = sorted({one["db_id"] for one in json.loads((spider / f"{split}.json").read_text(encoding="utf-8"))})
    for name in names:
        with connect(str(spider / "database" / name / f"{name}.sqlite")) as db:
            yield case(name, db)


def statements() -> Iterator[str]:
    """Tables without keys; each refers to two others, in one of them by a role."""
    for at, noun in enumerate(NOUNS):
        near, far = (NOUNS[(at + step) % len(NOUNS)] for step in (1, 7))
        yield (
            f"CREATE TABLE {noun}s AS SELECT n AS id, (n * 37) % {ROWS} + 1 AS {near}_id, "
            f"(n * 13) % 500 + 1 AS other_{far}_id, 'name ' || n AS name, n % 12 AS month, "
            f"'2024-01-' || (10 + n % 20) AS day, n * 1.5 AS price FROM numbers"
        )


def made(target: str, folder: Path) -> str:
    """A database with these tables; returns where it is. ``target`` is a PostgreSQL URL, ``sqlite`` or ``duckdb``."""
    if target == "sqlite":
        import sqlite3

        file = sqlite3.connect(folder / "made.db")
        rows = f"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {ROWS}) SELECT n FROM r"
        for sql in (f"CREATE TABLE numbers AS {rows}", *statements(), "DROP TABLE numbers"):
            file.execute(sql)
        file.commit()
        file.close()
        return str(folder / "made.db")
    if target == "duckdb":
        import duckdb

        with duckdb.connect(str(folder / "made.duckdb")) as opened:
            for sql in (f"CREATE TABLE numbers AS SELECT range AS n FROM range(1, {ROWS + 1})", *statements()):
                opened.execute(sql)
            opened.execute("DROP TABLE numbers")
        return str(folder / "made.duckdb")
    import psycopg

    with psycopg.connect(target, autocommit=True) as server:
        server.execute(f"CREATE TABLE numbers AS SELECT n FROM generate_series(1, {ROWS}) AS n".encode())
        for sql in (*statements(), "DROP TABLE numbers"):
            server.execute(sql.encode())
    return target


def timed(targets: Sequence[str]) -> None:
    """Print the seconds for reading 20 tables of 100,000 rows, and for asking again."""
    for target in targets:
        with tempfile.TemporaryDirectory() as folder:
            where = made(target, Path(folder))
            with connect(where) as db:
                for title in ("first", "again"):
                    start = time.perf_counter()
                    schema = known_schema(db)
                    seconds = time.perf_counter() - start
                    keys = [key for table in schema.tables for key in table.foreign_keys]
                    print(f"{db.dialect}: {title} {seconds:.2f} s, {len(keys)} of {2 * len(NOUNS)} keys found")


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spider", type=Path, nargs="?")
    parser.add_argument("--split", default="train")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--time", nargs="*", metavar="URL")
    options = parser.parse_args()
    if options.time is not None:
        timed(options.time or ("sqlite", "duckdb"))
    if options.spider is None:
        return
    cases = list(cases_of(options.spider, options.split))
    declared = set().union(*(one.declared for one in cases))
    seconds = sorted(one.seconds for one in cases)
    print(f"{len(cases)} databases, {sum(seconds):.1f} s in all, {seconds[-1]:.1f} s for the slowest")
    report("weights of the package", declared, set().union(*map(found, cases)), options.list)
    if options.fit:
        report("weights fitted on other databases", declared, left_out(cases), options.list)
        for (name, _), weight in zip(FEATURES, fitted(cases), strict=True):
            print(f'    ("{name}", {weight:.2f}),')


if __name__ == "__main__":
    main()

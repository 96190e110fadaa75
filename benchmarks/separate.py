"""Pairs of queries that mean different things: how many are told apart by small databases, and by how small ones.

    python benchmarks/separate.py --data ../shared --limit 60
    python benchmarks/separate.py --data ../shared --limit 60 --pairs neighbours
    python benchmarks/separate.py --data ../shared --limit 60 --keep all --cases 5
    python benchmarks/separate.py --data ../shared --limit 60 --draw fuzzing

``predictions``: gold and a prediction of Spider's dev split that the published program calls wrong (exe_keep_distinct
of ``verdicts``), both of which run. Pairs that differ only in an order that one of them does not ask for are left out
and counted. ``neighbours``: gold of the train split and a query one small change away, some of which mean the same.

Printed for each pair; at the end the shares told apart within --cases cases (10), and the mean number of cases, by the
search and by random selection alone, the rows of the smallest database for each pair, and milliseconds to draw one
database on a schema of 10 tables.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple, get_args

from sqljury.db.connect import connect
from sqljury.metrics.execution import EX, judge
from sqljury.recipes.parts import Draw, KeptCases
from sqljury.schema.introspect import introspect
from sqljury.sql.mutate import neighbours
from sqljury.sql.resolve import column_names
from sqljury.sql.scan import orders
from sqljury.testing.draw import Origin, fuzzed_origin, random_case, read_origin
from sqljury.testing.separate import Search, separate
from sqljury.testing.trial import Trial
from sqljury.types import Limits

CASES = 10
LIMITS = Limits(seconds=5.0)


class Pair(NamedTuple):
    db_id: str
    gold: str
    other: str


class Told(NamedTuple):
    search: bool
    drawn: bool
    rows: int | None
    how: tuple[str, ...]
    looked_at: int
    seconds: float


def main() -> None:
    """Print each pair and what became of it, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder with spider/, predictions/ and verdicts/")
    parser.add_argument("--pairs", choices=("predictions", "neighbours"), default="predictions")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--start", type=int, default=0, help="pairs to pass over, to measure in pieces")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5.0, help="for the search of one pair")
    parser.add_argument("--cases", type=int, default=CASES, help="databases kept at most")
    parser.add_argument("--keep", choices=get_args(KeptCases), default="pairs", help="which databases are kept")
    parser.add_argument("--draw", choices=get_args(Draw), default="selection", help="rows of the database, or made up")
    options = parser.parse_args()
    found = sorted(set(predicted(options.data) if options.pairs == "predictions" else changed(options.data)))
    random.Random(options.seed).shuffle(found)
    print(f"{len(found)} pairs, of which {options.start} to {options.start + options.limit}")
    told, same = [], 0
    for number, pair in enumerate(found[options.start : options.start + options.limit], options.start):
        one = tell(pair, options)
        if one is None:
            same += 1
            continue
        told.append(one)
        how = " ".join(one.how) or "-"
        print(f"{number} {pair.db_id} {how} rows={one.rows} drawn={one.drawn} {one.looked_at} {one.seconds:.2f}s")
        if not one.search:
            print(f"    {pair.gold}\n    {pair.other}")
    report(told, same)
    speed(options.data)


def predicted(data: Path) -> Iterator[Pair]:
    """Gold with each prediction that is wrong by the published program."""
    folder = data / "predictions" / "spider_dev"
    golds = [line.split("\t") for line in (folder / "gold.txt").read_text().splitlines() if line.strip()]
    for file in sorted((data / "verdicts" / "spider_dev").glob("*.tsv")):
        queries = (folder / f"{file.stem}.txt").read_text().splitlines()
        for line in file.read_text().splitlines()[1:]:
            cells = line.split("\t")
            if cells[3] == "0":
                gold, db_id = golds[int(cells[0])]
                yield Pair(db_id.strip(), gold.strip(), queries[int(cells[0])].split("\t")[0].strip())


def changed(data: Path) -> Iterator[Pair]:
    """Some gold queries of the train split, each with one neighbour."""
    rng = random.Random(1)
    for one in rng.sample(json.loads((data / "spider" / "train.json").read_text()), 400):
        with connect(path(data, one["db_id"])) as db:
            near = neighbours(one["query"], column_names(introspect(db)))
        if near:
            yield Pair(one["db_id"], one["query"], rng.choice(near))


def path(data: Path, db_id: str) -> Path:
    """The file of a database."""
    return data / "spider" / "database" / db_id / f"{db_id}.sqlite"


def tell(pair: Pair, options: argparse.Namespace) -> Told | None:
    """Search, and draw at random, for this pair; None for a pair that is none."""
    queries = [EX.prepare(pair.gold), EX.prepare(pair.other)]
    with connect(path(options.data, pair.db_id)) as db:
        results = [db.execute(sql, LIMITS) for sql in queries]
        one_sided = orders(queries[0]) != orders(queries[1])
        same = one_sided and bool(results[0].rows) and judge(*results, ordered=False).correct
        if not all(result.ok for result in results) or same:
            return None
        start = time.perf_counter()
        origin = read_origin(db, introspect(db), queries)
        fuzzing = options.draw == "fuzzing"
        drawn_from = fuzzed_origin(db, introspect(db), queries) if fuzzing else origin
    search = Search(cases=options.cases, seconds=options.seconds, keep=options.keep, fuzzing=fuzzing)
    found = separate(drawn_from, queries, search)
    took = time.perf_counter() - start
    rows = found.cases[0].size if found.cases else None
    drawn = at_random(origin, queries)
    return Told(not found.together, drawn, rows, found.how, found.looked_at, took)


def at_random(origin: Origin, queries: list[str]) -> bool:
    """Whether one of ten databases of random selection alone tells the two apart, by the same measure."""
    with Trial(origin.shape, queries) as trial:
        for number in range(CASES):
            if trial.load(random_case(origin, f"baseline|{number}").tables) and trial.apart([(0, 1)]):
                return True
    return False


def report(told: list[Told], same: int) -> None:
    """The figures."""
    count = max(1, len(told))
    apart, drawn = sum(one.search for one in told), sum(one.drawn for one in told)
    print(f"left out: {same} that do not run or differ in an order that one does not ask for")
    print(f"told apart: search {apart}/{len(told)} = {apart / count:.1%}, random selection {drawn / count:.1%}")
    rows = [one.rows for one in told if one.rows is not None]
    if rows:
        print(f"rows of the database: median {median(rows)}, at most 6 in {sum(n <= 6 for n in rows)}, max {max(rows)}")
    print(f"cases for a pair: mean {sum(len(one.how) for one in told) / count:.2f}")
    print(f"seconds for a pair: median {median(one.seconds for one in told):.3f}")


def speed(data: Path) -> None:
    """Milliseconds to draw one database on each schema of 10 tables, all of them used."""
    for file in sorted((data / "spider" / "database").glob("*/*.sqlite")):
        with connect(file) as db:
            schema = introspect(db)
            if len(schema.tables) != 10:
                continue
            start = time.perf_counter()
            origin = read_origin(db, schema, [f'SELECT * FROM "{table.name}"' for table in schema.tables])
        read = time.perf_counter() - start
        start = time.perf_counter()
        for number in range(20):
            random_case(origin, str(number))
        took = (time.perf_counter() - start) / 20
        print(
            f"{schema.name}, {len(schema.tables)} tables: read {read * 1000:.0f} ms, one database {took * 1000:.1f} ms"
        )


if __name__ == "__main__":
    main()

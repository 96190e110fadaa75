"""Questions that their database cannot answer: a dataset in Spider's form, and how many of them are noticed.

    python benchmarks/unanswerable.py build --data ../shared/spider --split dev --limit 200 --out runs/unanswerable
    python benchmarks/unanswerable.py report runs/unanswerable --data ../shared/spider --split dev
    python benchmarks/unanswerable.py run runs/unanswerable_fast --data runs/unanswerable

Half of them are asked of another database, which has none of the tables that gold reads; for the other half a column
that gold needs is dropped from a copy of the database, if no other column there has a name like it. ``report`` prints
the share that is noticed, and that of the questions of ``--split`` which is wrongly said to be so. ``run`` prints what
the stored candidates of a run of `sqljury bench` add: how often they name what the schema lacks, and which answers
`--min-confidence` would withhold, and how many of them are right. No model is asked.
``wta_1`` is left out: it is 100 times as large as the rest.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path

from sqljury import connect, recipes
from sqljury.bench.stored import fixes_of, limits_of, question_of
from sqljury.datasets.spider import Example, load, sample
from sqljury.engines import databases
from sqljury.evaluation.run_folder import Record, described, records
from sqljury.evaluation.verdicts import verdicts
from sqljury.language.alike import likeness, pieces
from sqljury.schema.introspect import introspect
from sqljury.sql.features import anatomy
from sqljury.stages.doubt import invented, missing, refused
from sqljury.stages.prepare import Preparation
from sqljury.types import Candidate, Schema, Table

ALIKE = 0.7
KINDS = ("foreign", "dropped")
LEAST = (0.3, 0.4, 0.5, 0.6, 0.7)
HUGE = "wta_1"


def main() -> None:
    """Build the dataset, or report runs on it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    build_ = commands.add_parser("build")
    build_.add_argument("--data", type=Path, default=Path("../shared/spider"), help="Spider's folder")
    build_.add_argument("--split", default="dev")
    build_.add_argument("--limit", type=int, default=200)
    build_.add_argument("--seed", type=int, default=0)
    build_.add_argument("--out", type=Path, required=True)
    report_ = commands.add_parser("report")
    report_.add_argument("dataset", type=Path)
    report_.add_argument("--data", type=Path, help="Spider's folder, for false alarms")
    report_.add_argument("--split", default="dev")
    report_.add_argument("--limit", type=int, help="the number of answerable questions, drawn by --seed")
    report_.add_argument("--seed", type=int, default=0)
    report_.add_argument("--show", action="store_true", help="print the questions that are judged wrongly")
    run_ = commands.add_parser("run")
    run_.add_argument("run", type=Path, help="a folder of `sqljury bench`, on questions that can be answered or cannot")
    run_.add_argument("--data", type=Path, required=True, help="the folder of its dataset")
    run_.add_argument("--show", action="store_true", help="print the questions whose candidates invent something")
    options = parser.parse_args()
    if options.command == "run":
        of_run(options.run, options.data, options.show)
    elif options.command == "report":
        report(options.dataset, options.show)
        if options.data:
            false_alarms(options.data, options.split, options.limit, options.seed, options.show)
    else:
        build(options.data, options.split, options.limit, options.seed, options.out)


def build(data: Path, split: str, limit: int, seed: int, out: Path) -> None:
    """Write ``dev.json`` and ``database/`` into ``out``; ids of databases end with what was done."""
    chance = random.Random(seed)
    examples = [example for example in load(data, split) if example.db_id != HUGE]
    chance.shuffle(examples)
    schemas = {}
    for example in examples:
        if example.db_id not in schemas:
            with connect(example.database) as db:
                schemas[example.db_id] = introspect(db), Path(example.database)
    made = {kind: [] for kind in KINDS}
    for example in examples:
        if len(made["foreign"]) < limit // 2:
            made["foreign"] += foreign(example, schemas, chance)
        elif len(made["dropped"]) < limit - limit // 2:
            made["dropped"] += dropped(example, schemas[example.db_id][0], out, chance)
        else:
            break
    for entry in made["foreign"]:
        target = out / "database" / entry["db_id"] / f"{entry['db_id']}.sqlite"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(schemas[entry["db_id"].removesuffix("__foreign")][1], target)
    entries = [entry for kind in KINDS for entry in made[kind]]
    (out / "dev.json").write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(made['foreign'])} foreign and {len(made['dropped'])} dropped questions in {out}")


def foreign(
    example: Example, schemas: dict[str, tuple[Schema, Path]], chance: random.Random
) -> Iterator[dict[str, str]]:
    """The question asked of a database that has no table of its own, and few of its columns."""
    own = anatomy(example.gold_sql, schemas[example.db_id][0])
    if not own.parsed or not own.tables:
        return
    tables, columns = {name.casefold() for name in own.tables}, {name.casefold() for name in own.columns}
    others = sorted(schemas)
    chance.shuffle(others)
    for other in others:
        schema = schemas[other][0]
        there = {column.name.casefold() for table in schema.tables for column in table.columns}
        shared = tables & {table.name.casefold() for table in schema.tables}
        if other != example.db_id and not shared and 2 * len(columns & there) <= len(columns):
            yield {"question": example.question.text, "query": example.gold_sql, "db_id": f"{other}__foreign"}
            return


def dropped(example: Example, schema: Schema, out: Path, chance: random.Random) -> Iterator[dict[str, str]]:
    """The question asked of a copy of its database that lacks a column which gold selects or compares."""
    own = anatomy(example.gold_sql, schema)
    if len(own.tables) != 1:
        return
    table = next((table for table in schema.tables if table.name.casefold() == own.tables[0].casefold()), None)
    if table is None:
        return
    keys = {name.casefold() for name in table.row_key} | {
        name.casefold() for key in table.foreign_keys for name in key.columns
    }
    named = [
        column.name for column in table.columns if column.name.casefold() in {one.casefold() for one in own.columns}
    ]
    free = [name for name in named if name.casefold() not in keys and not stands_in(table, name, schema)]
    if not free:
        return
    column = chance.choice(free)
    db_id = f"{example.db_id}__no_{''.join(c if c.isalnum() else '_' for c in column)}"
    target = out / "database" / db_id / f"{db_id}.sqlite"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(example.database, target)
        try:
            with closing(sqlite3.connect(target)) as connection:
                connection.execute(f'ALTER TABLE "{table.name}" DROP COLUMN "{column}"')
                connection.commit()
        except sqlite3.Error:
            shutil.rmtree(target.parent)
            return
    yield {"question": example.question.text, "query": example.gold_sql, "db_id": db_id}


def stands_in(table: Table, column: str, schema: Schema) -> bool:
    """Whether another column, or a table, has a name with a piece like one of this column's."""
    others = [one.name for other in schema.tables for one in other.columns if (other, one.name) != (table, column)]
    others += [other.name for other in schema.tables]
    return any(likeness(own, piece) >= ALIKE for own in pieces(column) for name in others for piece in pieces(name))


def report(dataset: Path, show: bool) -> None:
    """Print what is noticed, by kind."""
    examples = load(dataset, "dev")
    noticed = judged(examples)
    for kind in (*KINDS, ""):
        own = [one for example, one in zip(examples, noticed, strict=True) if kind_of(example, kind)]
        print(f"{kind or 'all'}: {shares(own)}")
    if show:
        for example, words in zip(examples, noticed, strict=True):
            if not words[0]:
                print(f"  not noticed: {example.db_id}: {example.question.text}")


def of_run(run: Path, data: Path, show: bool) -> None:
    """Print for how many questions of a run the candidates, or the first one, name what the schema lacks."""
    preparation = Preparation(recipes.load("default").schema)
    asked = sorted(records(run), key=lambda one: one["db_id"])
    counts = dict.fromkeys(("refused for missing words", "first candidate invents", "refused for invented names"), 0)
    refusals = set[str]()
    for db_id, own in groupby(asked, key=lambda one: one["db_id"]):
        with connect(data / "database" / db_id / f"{db_id}.sqlite") as db:
            for one in own:
                task = preparation.task(question_of(one), db)
                candidates = [Candidate(each["sql"], "", fixes=fixes_of(each)) for each in one["candidates"]]
                by_words, by_names = refused(missing(task), task), invented(candidates, task)
                for name, found in zip(counts, (by_words, invented(candidates[:1], task), by_names), strict=True):
                    counts[name] += bool(found)
                if by_words or by_names:
                    refusals.add(one["id"])
                if show and by_names:
                    print(f"  {one['id']} {db_id}: {one['question']} {by_names}")
    for name, count in {**counts, "refused": len(refusals)}.items():
        print(f"{name}: {count} of {len(asked)} ({count / len(asked):.1%})")
    withheld(run, data, asked, refusals)


def withheld(run: Path, data: Path, asked: Sequence[Record], refusals: Collection[str]) -> None:
    """Print the share of questions that are refused or withheld by ``--min-confidence``, and how many were right."""
    settings = described(run)
    with databases.of_run(settings, data, run) as opened:
        judged = verdicts(asked, run, opened, limits_of(run, settings))
    for least in LEAST:
        below = [
            place
            for place, answer in enumerate(asked)
            if answer["id"] in refusals or not answer["sql"] or answer["confidence"] < least
        ]
        lost = sum(not judged[place].fault and judged[place].tried(asked[place]["sql"]).right for place in below)
        share = f"{len(below)} of {len(asked)} ({len(below) / len(asked):.1%})"
        print(f"refused or below {least:.0%}: {share}, right of these {lost} ({lost / len(asked):.1%} of all)")


def false_alarms(data: Path, split: str, limit: int | None, seed: int, show: bool) -> None:
    """Print the share of answerable questions that are said to be unanswerable."""
    examples = [example for example in load(data, split) if example.db_id != HUGE]
    examples = sorted(sample(examples, limit, seed), key=lambda example: example.db_id)
    noticed = judged(examples)
    print(f"{split}, answerable: {shares(noticed)}")
    if show:
        for example, words in zip(examples, noticed, strict=True):
            if words[0]:
                print(f"  {example.db_id}: {example.question.text} {words}")


def shares(noticed: Sequence[tuple[list[str], bool]]) -> str:
    """How many are refused, and how many get at least a remark."""
    kinds = {"refused": [one for _, one in noticed], "or with a remark": [bool(words) for words, _ in noticed]}
    return ", ".join(f"{name} {sum(own)} of {len(own)} ({sum(own) / len(own):.1%})" for name, own in kinds.items())


def judged(examples: Sequence[Example]) -> list[tuple[list[str], bool]]:
    """For each question the words that its database is said to lack, and whether it is refused for them."""
    preparation, noticed = Preparation(recipes.load("default").schema), []
    for _, own in groupby(examples, key=lambda example: example.database):
        questions = list(own)
        with connect(questions[0].database) as db:
            tasks = [preparation.task(one.question, db) for one in questions]
        noticed += [(words := missing(task), refused(words, task)) for task in tasks]
    return noticed


def kind_of(example: Example, kind: str) -> bool:
    """Whether a question is of this kind; every one is of the kind ``""``."""
    return not kind or example.db_id.endswith("__foreign") == (kind == "foreign")


if __name__ == "__main__":
    sys.exit(main())

"""Seconds of the first and second question of `fast` on schemas of 10 to 20 tables, and what smaller schemas cost.

    python benchmarks/first_question.py --out runs/first [--data ../shared/spider] [--forms tokens-0 tokens-1200]
    python benchmarks/first_question.py --out runs/first --ex 100 [--forms tokens-0 tokens-1200 ddl-1 ...]
    python benchmarks/first_question.py --tokens
    python benchmarks/with_servers.py python benchmarks/first_question.py --out runs/first --url POSTGRES

A form is `tokens-N`, the recipe with that target, or one step of `schema.target` for every schema: `ddl-1` (a row of
each table), `ddl-text` (an example beside text columns), `compact-1`, `compact-text`, `compact`. Databases are a made
one of 15 tables (SQLite, and a server's with --url, an empty database) and those of Spider's train split with at least
ten tables. Each is asked two questions by a process of its own, with empty caches: seconds from opening the session to
the answer, with the weights' loading among them. With --ex, `fast` answers questions on train databases of at least
eight tables, in every form, in run folders under --out, and shares of right answers are printed. With --tokens only the
sizes of the schemas are printed, by the model's tokenizer. Whatever was finished is not done again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqljury import Pipeline, Session, connect, recipes
from sqljury.bench.run import run, settings
from sqljury.datasets import spider
from sqljury.evaluation.report import Share
from sqljury.evaluation.run_folder import records
from sqljury.llm import models
from sqljury.llm.open import open_model
from sqljury.metrics.execution import EX, judge, run_gold
from sqljury.recipes import Recipe
from sqljury.schema import target
from sqljury.schema.introspect import introspect
from sqljury.schema.render import Style, render
from sqljury.schema.samples import sample

LEAST_TABLES = 10
LEAST_TABLES_EX = 8
STEPS = {
    "ddl-2": target.Step(2),
    "ddl-1": target.Step(1),
    "ddl-text": target.Step(0, 1),
    "compact-1": target.Step(1, compact=True),
    "compact-text": target.Step(0, 1, compact=True),
    "compact": target.Step(0, compact=True),
}
QUESTIONS = ("How many {0} are there?", "How many different {0} are there, and what is the first one?")

COLUMNS = {
    "depot": "name text, street text, city text, opened_on date, capacity integer",
    "vehicle_type": "label text, max_load_kg integer, needs_licence text",
    "vehicle": "plate text, vehicle_type_id integer, depot_id integer, bought_on date, mileage integer, status text",
    "driver": "first_name text, last_name text, born_on date, licence text, depot_id integer, hourly_rate numeric",
    "customer": "company_name text, contact_name text, email text, city text, country text, credit_limit numeric",
    "contract": "customer_id integer, starts_on date, ends_on date, monthly_fee numeric, status text",
    "warehouse": "name text, depot_id integer, floor_area_m2 numeric, is_cooled integer",
    "product": "sku text, description text, weight_kg numeric, hazard_class text, unit_price numeric",
    "stock_level": "warehouse_id integer, product_id integer, quantity integer, counted_on date",
    "shipment": "customer_id integer, contract_id integer, ordered_at timestamp, priority text, status text, note text",
    "shipment_line": "shipment_id integer, product_id integer, quantity integer, unit_price numeric",
    "tour": "vehicle_id integer, driver_id integer, starts_at timestamp, ends_at timestamp, distance_km numeric",
    "tour_stop": "tour_id integer, shipment_id integer, position integer, arrived_at timestamp, signed_by text",
    "maintenance": "vehicle_id integer, performed_on date, workshop text, description text, cost numeric",
    "invoice": "customer_id integer, shipment_id integer, issued_on date, due_on date, total numeric, paid_on date",
}
"""The tables of the made database; each has an id, and columns that end with _id refer to the table before that."""
ROWS = 40
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "juniper", "kelp", "linden")


def statements() -> Iterator[str]:
    """The SQL that makes and fills the database, for SQLite and for PostgreSQL."""
    draw = random.Random(17)
    for table, listed in COLUMNS.items():
        columns = [tuple(column.split()) for column in listed.split(", ")]
        keys = [f", FOREIGN KEY ({name}) REFERENCES {name[:-3]} (id)" for name, _ in columns if name.endswith("_id")]
        body = "".join(f", {name} {kind}" for name, kind in columns)
        yield f"CREATE TABLE {table} (id integer PRIMARY KEY{body}{''.join(keys)})"
        for row in range(1, ROWS + 1):
            cells = ", ".join(_cell(name, kind, draw) for name, kind in columns)
            yield f"INSERT INTO {table} VALUES ({row}, {cells})"


def _cell(name: str, kind: str, draw: random.Random) -> str:
    day = f"20{draw.randint(18, 24)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    if kind == "integer":
        return str(draw.randint(1, ROWS) if name.endswith("_id") else draw.randint(0, 5000))
    if kind == "numeric":
        return f"{draw.random() * 1000:.2f}"
    if kind == "text":
        return f"'{draw.choice(WORDS)} {draw.choice(WORDS)}'" if name != "status" else f"'{draw.choice(WORDS[:4])}'"
    return f"'{day}'" if kind == "date" else f"'{day} {draw.randint(6, 20):02}:{draw.randint(0, 59):02}:00'"


def make(folder: Path) -> Path:
    """The made database as an SQLite file."""
    file = folder / "fleet.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements():
            connection.execute(statement)
    return file


def fill(url: str) -> str:
    """The made database on a PostgreSQL server, in the empty database of the URL."""
    import psycopg

    with psycopg.connect(url) as connection:
        for statement in statements():
            connection.execute(statement)  # type: ignore[arg-type]
    return url


def recipe_of(form: str) -> Recipe:
    """`fast` with the target of a form; a step for every schema is a target of one token, see ``only``."""
    fast = recipes.load("fast")
    tokens = int(form.removeprefix("tokens-")) if form.startswith("tokens-") else 1
    return replace(fast, name=f"fast-{form}", schema=replace(fast.schema, tokens=tokens))


def only(form: str) -> None:
    """For a form that is a step: leave no other step to choose."""
    target.STEPS = (STEPS[form],) if form in STEPS else ALL_STEPS  # type: ignore[misc]


ALL_STEPS = target.STEPS


def child(database: str, form: str, weights: str) -> None:
    """Ask two questions in this process, and print their seconds and tokens as JSON."""
    only(form)
    began = time.perf_counter()
    figures: list[dict[str, Any]] = []
    with Session(database, model=weights, cache=False) as session:
        session.pipeline = replace(session.pipeline, recipe=recipe_of(form))
        table = introspect(session.database).tables[0].name.replace("_", " ")
        for question in QUESTIONS:
            cost = session.ask(question.format(table)).cost
            now = time.perf_counter()
            figures.append({"seconds": now - began, "model": cost.seconds, "tokens": cost.prompt_tokens})
            began = now
    print(json.dumps(figures))


def times(files: dict[str, str], forms: list[str], out: Path) -> None:
    """Measure what is left to measure, and print the table."""
    store = out / "times.jsonl"
    lines = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    done, weights = {(line["database"], line["form"]) for line in lines}, str(models.resolve(models.DEFAULT))
    for name, database in files.items():
        for form in forms:
            if (name, form) in done:
                continue
            with tempfile.TemporaryDirectory() as cache:
                command = [sys.executable, __file__, "--child", database, form, weights]
                text = subprocess.check_output(command, text=True, env={**os.environ, "SQLJURY_CACHE": cache})
            first, second = json.loads(text)
            lines.append({"database": name, "form": form, "first": first, "second": second})
            with store.open("a") as stream:
                stream.write(json.dumps(lines[-1]) + "\n")
    print(f"{'database':30s} {'form':14s} {'first s':>8s} {'model':>6s} {'second s':>8s} {'model':>6s} {'tokens':>7s}")
    for line in lines:
        first, second = line["first"], line["second"]
        print(
            f"{line['database']:30s} {line['form']:14s} {first['seconds']:8.1f} {first['model']:6.1f} "
            f"{second['seconds']:8.1f} {second['model']:6.1f} {first['tokens']:7d}"
        )


def accuracy(data: Path, forms: list[str], out: Path, limit: int, seed: int) -> None:
    """Answer the same questions in every form, and print the shares of right answers."""
    examples = spider.load(data, "train")
    tables = {path: _tables(path) for path in {example.database for example in examples}}
    large = [example for example in examples if tables[example.database] >= LEAST_TABLES_EX]
    chosen = sorted(random.Random(seed).sample(large, min(limit, len(large))), key=lambda one: one.db_id)
    model = open_model(None, cache=False)
    for form in forms:
        only(form)
        pipeline = Pipeline(recipe_of(form), model)
        dataset = {"name": "spider", "data": str(data.resolve()), "split": "train", "limit": limit, "form": form}
        folder = out / form
        run(
            chosen,
            pipeline,
            folder,
            settings(pipeline, dataset, seed),
            lambda done, _: print(done, end=" ", flush=True),
        )
        print()
        _report(form, folder, data)
    model.close()  # type: ignore[attr-defined]


def _tables(path: Path) -> int:
    with connect(path) as db:
        return len(introspect(db).tables)


def _report(form: str, folder: Path, data: Path) -> None:
    lines, right = records(folder), 0
    for line in lines:
        with connect(data / "database" / line["db_id"] / f"{line['db_id']}.sqlite") as db:
            gold = run_gold(db, line["gold"])
            right += bool(line["sql"]) and judge(gold, db.execute(line["sql"]), EX.ordered(line["gold"])).correct
    low, high = Share(right, len(lines)).interval()
    seconds = sum(line["cost"]["seconds"] for line in lines) / len(lines)
    share = f"EX {right} of {len(lines)}, {right / len(lines):.1%} ({low:.0f} - {high:.0f})"
    print(f"{form:14s} {share}; model {seconds:.1f} s a question")


def sizes(files: dict[str, str]) -> None:
    """Print the tokens of every schema as shown today and in each step, by the model's tokenizer."""
    model = open_model(None, cache=False)
    print(f"{'database':30s} {'tables':>6s} {'ddl-3':>7s}", *(f"{name:>12s}" for name in STEPS))
    for name, file in files.items():
        with connect(file) as db:
            schema = introspect(db)
            samples = sample(db, schema, 3)
        style = Style(rows=3, examples=0)
        texts = [target.stepped(schema, samples, step, style=style) for step in STEPS.values()]
        counts = [model.count_tokens(text) for text in (render(schema, samples, style=style), *texts)]
        print(f"{name:30s} {len(schema.tables):6d} {counts[0]:7d}", *(f"{count:12d}" for count in counts[1:]))
    model.close()  # type: ignore[attr-defined]


def main() -> None:
    """Measure times, accuracy or sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("runs/first"))
    parser.add_argument("--data", type=Path, default=Path("../shared/spider"), help="Spider's folder")
    parser.add_argument("--forms", nargs="+", default=["tokens-0", "tokens-1200"])
    parser.add_argument("--url", help="an empty PostgreSQL database to make the tables in")
    parser.add_argument("--databases", nargs="+", help="names of the databases to ask; all by default")
    parser.add_argument("--ex", type=int, metavar="N", help="measure accuracy on so many questions")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--tokens", action="store_true")
    parser.add_argument("--child", nargs=3, metavar=("DATABASE", "FORM", "WEIGHTS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    if options.ex:
        accuracy(options.data, options.forms, options.out, options.ex, options.seed)
        return
    with tempfile.TemporaryDirectory() as folder:
        files = {"fleet": str(make(Path(folder)))}
        if options.url:
            files["fleet on PostgreSQL"] = fill(options.url)
        names = sorted({one["db_id"] for one in json.loads((options.data / "train.json").read_text())})
        paths = {name: options.data / "database" / name / f"{name}.sqlite" for name in names}
        files |= {name: str(path) for name, path in paths.items() if _tables(path) >= LEAST_TABLES}
        files = {name: file for name, file in files.items() if not options.databases or name in options.databases}
        if options.tokens:
            sizes(files)
        else:
            times(files, options.forms, options.out)


if __name__ == "__main__":
    main()

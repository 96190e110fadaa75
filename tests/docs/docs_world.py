"""What the commands of the documentation work on: the files that pages speak of, small, and a model that knows them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from sqljury import FakeModel
from sqljury.llm.fake import Call

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    "college_2": ("department", "student"),
    "concert": ("stadium", "singer"),
    "garden": ("bed", "plot"),
    "clinic": ("ward", "patient"),
    "pets_1": ("owner", "pet"),
    "world_1": ("continent", "country"),
    "library": ("shelf", "book"),
    "school": ("teacher", "lesson"),
}
"""By name of a database its two tables: the second points to the first."""
DEV = ("pets_1", "world_1", "clinic")
"""The databases of the split dev; the others are train's."""
SYSTEMS = ("DAIL", "DIN", "C3", "pred", "predictions")

LIGHT = "light"
RUN = f"sqljury bench spider --data SPIDER_DIR --split {{0}} --recipe {LIGHT} --limit 600 --out runs/{{0}}"
COPIES = {
    "dev": ("default", "dev_default", "dev_early", "dev_light", "dev_look", "dev200", "dev200-light", "fast130"),
    "train": ("own", "train_light"),
}
"""By split, whose run ``RUN`` makes, the runs that pages speak of without making them."""


_PRODUCT = {"resource_type": "model", "name": "product", "alias": "product", "description": "what we sell"}
DBT = {
    "manifest.json": {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {"model.shop.product": {**_PRODUCT, "columns": {}}},
        "sources": {},
    },
    "semantic_manifest.json": {"semantic_models": [], "metrics": []},
}
OSSIE = """version: 0.1.1
semantic_model:
  - name: shop
    datasets:
      - name: product
        source: product
        description: what we sell
"""


class Asked(NamedTuple):
    """A question, its gold query, and one that is wrong."""

    database: str
    question: str
    gold: str
    wrong: str


def _asked(database: str) -> list[Asked]:
    first, second = TABLES[database]
    each = f"SELECT T1.name, count(*) FROM {first} AS T1 JOIN {second} AS T2 ON T1.id = T2.{first}_id GROUP BY T1.id"
    return [
        Asked(database, f"How many of the {second} are there?", f"SELECT count(*) FROM {second}", "SELECT 0"),
        Asked(
            database,
            f"How many of the {second} does each {first} have?",
            each,
            f"SELECT {first}_id, count(*) FROM {second} GROUP BY {first}_id",
        ),
    ]


QUESTIONS = [asked for database in TABLES for asked in _asked(database)]
IN_DEV = [asked for asked in QUESTIONS if asked.database in DEV]
IN_TRAIN = [asked for asked in QUESTIONS if asked.database not in DEV]
SHOP = {
    "customers live in each region": "SELECT region.name, COUNT(*) FROM region JOIN customer"
    " ON region.code = customer.region_code GROUP BY region.name",
    "five products": "SELECT name, list_price FROM product ORDER BY list_price DESC LIMIT 5",
    "How many customers are there": "SELECT count(*) FROM customer",
    "How many pieces came back": "SELECT SUM(quantity) FROM return_line",
}


def model(name: str) -> FakeModel:
    """Every second reply to a question of ``QUESTIONS`` is wrong; ``SELECT 1`` to what it does not know."""

    def replies(call: Call) -> list[str]:
        prompt = call.messages[-1].content
        for asked in QUESTIONS:
            if asked.question in prompt:
                return [asked.gold, asked.wrong]
        return [next((sql for words, sql in SHOP.items() if words in prompt), "SELECT 1")]

    return FakeModel(replies, name=name)


def build(folder: Path) -> None:
    """The folder that pages are read in is ``folder/work``; beside it lies ``shared``."""
    work = folder / "work"
    _spider(folder / "shared" / "spider")
    work.mkdir()
    for name in ("spider", "SPIDER_DIR", "OWN_DIR", "BIRD_DIR", "COSQL_DIR"):
        (work / name).symlink_to(Path("..", "shared", "spider"))
    for name in ("database", "databases"):
        (work / name).symlink_to(Path("spider", "database"))
    for name in TABLES:
        for file in (f"{name}.db", f"{name}.sqlite"):
            (work / file).symlink_to(Path("database", name, f"{name}.sqlite"))
    _examples(work)
    _files(work)


def add_runs(work: Path, but: Collection[str]) -> None:
    """The runs that a page speaks of, ``but`` those that it makes."""
    for split, names in COPIES.items():
        for name in set(names) - set(but):
            shutil.copytree(work / "runs" / split, work / "runs" / name)
        if split in but:
            shutil.rmtree(work / "runs" / split)


def _spider(folder: Path) -> None:
    for name, (first, second) in TABLES.items():
        file = folder / "database" / name / f"{name}.sqlite"
        file.parent.mkdir(parents=True)
        with sqlite3.connect(file) as connection:
            connection.executescript(
                f"CREATE TABLE {first} (id INTEGER PRIMARY KEY, name TEXT);"
                f"CREATE TABLE {second} (id INTEGER PRIMARY KEY, name TEXT, age INTEGER,"
                f" {first}_id INTEGER REFERENCES {first}(id));"
            )
            connection.executemany(f"INSERT INTO {first} VALUES (?, ?)", [(1, "Aruba"), (2, "Benin"), (3, "Cuba")])
            rows = [(n, f"{second} {n}", 20 + n * 7 % 11, 1 + n * n % 3) for n in range(1, 9)]
            connection.executemany(f"INSERT INTO {second} VALUES (?, ?, ?, ?)", rows)
        connection.close()
    for name, asked in (("dev.json", IN_DEV), ("train.json", IN_TRAIN)):
        entries = [{"question": one.question, "query": one.gold, "db_id": one.database} for one in asked]
        (folder / name).write_text(json.dumps(entries))
    (folder / "tables.json").write_text("[]")
    predictions = folder.parent / "predictions" / "spider_dev"
    predictions.mkdir(parents=True)
    _predictions(predictions)


def _predictions(folder: Path) -> None:
    (folder / "gold.txt").write_text("".join(f"{one.gold}\t{one.database}\n" for one in IN_DEV))
    for place, system in enumerate(SYSTEMS):
        lines = [one.wrong if at % 4 == place else one.gold for at, one in enumerate(IN_DEV)]
        (folder / f"{system}.txt").write_text("\n".join(lines) + "\n")


def _examples(work: Path) -> None:
    shutil.copytree(ROOT / "examples", work / "examples", ignore=shutil.ignore_patterns("*.db", "__pycache__"))
    (work / "benchmarks").symlink_to(ROOT / "benchmarks")
    shop = work / "examples" / "shop" / "shop.db"
    subprocess.run([sys.executable, str(ROOT / "examples" / "shop" / "build.py"), str(shop)], check=True)
    for name in ("shop.db", "your.db"):
        shutil.copy(shop, work / name)


def _more() -> Iterator[dict[str, str]]:
    """Further questions on the databases of the split train: ``tune`` wants ten to tune on and ten to check with."""
    for database, (first, second) in TABLES.items():
        for least in range(2, 5) if database not in DEV else ():
            yield {
                "question": f"How many of the {second} have a {first} of at least {least}?",
                "sql": f"SELECT count(*) FROM {second} WHERE {first}_id >= {least}",
                "db_id": database,
            }


def _files(work: Path) -> None:
    """Files that a reader of the pages has."""
    _predictions(work)
    shutil.copy(work / "spider" / "dev.json", work / "dev.json")
    shutil.copy(work / "spider" / "tables.json", work / "tables.json")
    lines = [{"question": one.question, "sql": one.gold, "db_id": one.database} for one in IN_TRAIN]
    enough = [*lines, *_more()]
    (work / "questions.jsonl").write_text("".join(json.dumps({**line, "gold": line["sql"]}) + "\n" for line in enough))
    shutil.copy(ROOT / "src" / "sqljury" / "stages" / "select" / "light.json", work / "own.json")
    for name in ("questions.json", "our_questions.json"):
        (work / name).write_text(json.dumps(lines))
    (work / "sales.csv").write_text("month,amount\n2024-01,7\n2024-02,9\n")
    (work / "a.sql").write_text("SELECT count(*) FROM customer")
    (work / "b.sql").write_text("SELECT count(DISTINCT region_code) FROM customer")
    (work / "glossary.txt").write_text("AOV: average order value\n")
    (work / "ids.txt").write_text("dev-0000\n")
    (work / "model.yaml").write_text(OSSIE)
    for name, text in DBT.items():
        (work / "target" / name).parent.mkdir(exist_ok=True)
        (work / "target" / name).write_text(json.dumps(text))
    (work / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS month, 7 AS amount) TO '{work}/data/sales.parquet' (FORMAT parquet)")
    folder = work / "CONTEXT_FOLDER"
    folder.mkdir()
    (folder / "sqljury.toml").write_text("".join(f'[databases.{name}]\nurl = "../{name}.db"\n' for name in TABLES))
    (folder / "examples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

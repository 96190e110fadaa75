"""A benchmark of four questions in Spider's form; two databases, one with a test suite, and how to judge on them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sqljury.datasets.pairs import Gold, Pair, Prediction
from sqljury.db.connect import connect
from sqljury.evaluation.judge import Evaluation, evaluate
from sqljury.evaluation.targets import Targets
from sqljury.metrics import distill
from sqljury.metrics.registry import named
from sqljury.schema.introspect import introspect
from sqljury.testing import store

Judge = Callable[..., Evaluation]

PETS = """
    CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, age INTEGER);
    INSERT INTO pet VALUES (1, 'dog', {0}), (2, 'cat', {1}), (3, 'dog', 1);
"""
SHOP = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, price REAL);
    CREATE TABLE sale (id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES item (id));
    INSERT INTO item VALUES (1, 2.5), (2, 3.5);
    INSERT INTO sale VALUES (1, 1), (2, 1);
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("database")
    files = {"pets/pets": PETS.format(3, 2), "pets/pets_2": PETS.format(2, 3), "shop/shop": SHOP}
    for name, script in files.items():
        file = root / f"{name}.sqlite"
        file.parent.mkdir(exist_ok=True)
        with sqlite3.connect(file) as connection:
            connection.executescript(script)
        connection.close()
    return root


@pytest.fixture(scope="session")
def files(folder: Path) -> Mapping[str, Sequence[Path]]:
    return {
        "pets": (folder / "pets/pets.sqlite", folder / "pets/pets_2.sqlite"),
        "shop": (folder / "shop/shop.sqlite",),
    }


@pytest.fixture(scope="session")
def suite(files: Mapping[str, Sequence[Path]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built suite for both databases."""
    root = tmp_path_factory.mktemp("suite")
    queries = {
        "pets": ["SELECT kind FROM pet", "SELECT kind FROM pet WHERE age > 2"],
        "shop": ["SELECT id FROM item WHERE price > 3"],
    }
    entries = {}
    for name, own in files.items():
        with connect(own[0]) as opened:
            schema = introspect(opened)
        entries[name] = distill.build(schema, own[0], queries[name], root / name, distill.Settings(candidates=6))
    store.save(root, entries)
    return root


@pytest.fixture
def judge(files: Mapping[str, Sequence[Path]], suite: Path) -> Judge:
    """Judges (gold, predicted) or (gold, predicted, database, interaction) tuples."""

    def judge(
        *queries: tuple[Any, ...],
        metrics: Sequence[str] = ("ex", "exe", "esm"),
        tables: Path | None = None,
        **more: Any,
    ) -> Evaluation:
        pairs = [pair(index, *query) for index, query in enumerate(queries)]
        return evaluate(pairs, Targets(files, tables, suite), named(metrics), **more)

    return judge


def pair(index: int, gold: str, predicted: str, db_id: str = "pets", interaction: int = 0) -> Pair:
    place = f"gold.txt, line {index + 1}"
    return Pair(Gold(str(index), gold, db_id, interaction, place), Prediction(str(index), predicted, None, interaction))


ENTRIES = [
    {"question": "How many cats?", "query": "SELECT count(*) FROM cat", "db_id": "pets"},
    {"question": "Names of old cats?", "query": "SELECT name FROM cat WHERE age > 5", "db_id": "pets"},
    {"question": "Cats by age?", "query": "SELECT name FROM cat ORDER BY age", "db_id": "pets"},
    {"question": "How many dogs?", "query": "SELECT count(*) FROM dog", "db_id": "more"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "spider"
    for name, table in (("pets", "cat"), ("more", "dog")):
        file = folder / "database" / name / f"{name}.sqlite"
        file.parent.mkdir(parents=True)
        with sqlite3.connect(file) as connection:
            connection.executescript(
                f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);"
                f"INSERT INTO {table} VALUES (1, 'Tom', 3), (2, 'Kit', 9), (3, 'Mog', 7);"
            )
        connection.close()
    (folder / "dev.json").write_text(json.dumps(ENTRIES))
    (folder / "tables.json").write_text("[]")
    return folder

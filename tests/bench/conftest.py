"""Two small databases, one of them with a test suite, and how to judge on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sqljury.bench.evaluation import Evaluation, evaluate
from sqljury.datasets.pairs import Gold, Pair, Prediction

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


@pytest.fixture
def judge(files: Mapping[str, Sequence[Path]]) -> Judge:
    """Judges (gold, predicted) or (gold, predicted, database, interaction) tuples."""

    def judge(*queries: tuple[Any, ...], metrics: Sequence[str] = ("ex", "exe", "esm"), **more: Any) -> Evaluation:
        return evaluate([pair(index, *query) for index, query in enumerate(queries)], files, metrics, **more)

    return judge


def pair(index: int, gold: str, predicted: str, db_id: str = "pets", interaction: int = 0) -> Pair:
    place = f"gold.txt, line {index + 1}"
    return Pair(Gold(str(index), gold, db_id, interaction, place), Prediction(str(index), predicted, None, interaction))

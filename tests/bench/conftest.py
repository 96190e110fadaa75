"""A benchmark of four questions in Spider's form."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

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

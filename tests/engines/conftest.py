"""A benchmark in Spider's form with two databases as they are found: mixed names, keys that fail, odd values."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

PETS = """
    CREATE TABLE Owner (
        "ID" INTEGER PRIMARY KEY, "Full Name" VARCHAR(20) NOT NULL, -- as written
        Born DATE, Email TEXT UNIQUE
    );
    CREATE TABLE pet (
        PetID INTEGER PRIMARY KEY, owner_id TEXT REFERENCES Owner (ID), kind TEXT, Age INTEGER, Weight REAL,
        seen DATETIME, "order" INT, photo BLOB, chip INTEGER REFERENCES missing (id)
    );
    CREATE VIEW old_pets AS SELECT kind, Age FROM pet WHERE Age > 3;
    INSERT INTO Owner VALUES (1, 'Ann', '1980-02-03', 'a@b'), (2, 'Bob', NULL, NULL), (3, 'Żuk', '2001-12-31', NULL);
    INSERT INTO pet VALUES
        (1, '1', 'Dog', 3, 2.5, '2020-01-01 10:00:00', 1, x'00ff', 1), (2, '1', 'cat', 5, NULL, NULL, 2, NULL, NULL),
        (3, '2', 'dog', 4, 1.25, '2021-05-06 00:00:00', 3, NULL, NULL), (4, NULL, 'Cat', 7, 3, NULL, NULL, NULL, NULL);
"""
SHOP = """
    CREATE TABLE item (code VARCHAR(3) PRIMARY KEY, price NUMERIC, stock INTEGER);
    CREATE TABLE sale (id INTEGER, item VARCHAR(3), year TEXT, FOREIGN KEY (item) REFERENCES item (code));
    INSERT INTO item VALUES ('a', 2.5, 4), ('b', 3, 'none'), ('long', 1, 2);
    INSERT INTO sale VALUES (1, 'a', '2010'), (1, 'x', '2011'), (2, 'b', '2010');
"""
GOLD = {
    "pets": (
        "SELECT count(*) FROM pet",
        'SELECT t1.petid FROM PET AS T1 JOIN owner AS T2 ON T1.Owner_ID = T2.id WHERE T2."full name" = "Ann"',
        "SELECT sum(age) / count(*), avg(age) FROM pet",
        "SELECT kind FROM pet WHERE kind LIKE '%c%'",
        "SELECT kind FROM pet WHERE kind NOT LIKE '%C%'",
        "SELECT T2.`Full Name`, count(*) FROM pet AS T1 JOIN Owner AS T2 ON T1.owner_id = T2.ID GROUP BY T2.ID",
        "SELECT petid FROM pet ORDER BY weight DESC",
        "SELECT strftime('%Y', seen), born FROM pet JOIN owner ON owner_id = id WHERE born < '1990-01-01'",
        "SELECT kind, max(age), petid FROM pet",
        "SELECT nothing FROM pet",
        "SELECT Age FROM old_pets ORDER BY Age",
        "SELECT count(*) FROM (SELECT DISTINCT owner_id FROM pet)",
    ),
    "shop": (
        "SELECT id FROM sale WHERE year = 2010 AND item IN (SELECT code FROM item)",
        "SELECT code FROM item WHERE stock = 4",
        "SELECT sum(price) FROM item",
    ),
}


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dataset")
    for name, script in (("pets", PETS), ("shop", SHOP)):
        file = root / "database" / name / f"{name}.sqlite"
        file.parent.mkdir(parents=True)
        with sqlite3.connect(file) as connection:
            connection.executescript(script)
        connection.close()
    entries = [
        {"question": f"Question {number} about {name}?", "query": query, "db_id": name}
        for name, queries in GOLD.items()
        for number, query in enumerate(queries)
    ]
    (root / "dev.json").write_text(json.dumps(entries))
    return root

"""A small shop with what makes test databases hard: a self reference, a cycle, composite keys, an empty table."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.testing.draw import Origin, read_origin

STATEMENTS = """
    CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mayor INTEGER REFERENCES person (id));
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT UNIQUE, age INTEGER CHECK (age > 0),
        boss INTEGER REFERENCES person (id), town INTEGER NOT NULL REFERENCES town (id));
    CREATE TABLE sale (person INTEGER REFERENCES person (id), day DATE, price REAL, PRIMARY KEY (person, day));
    CREATE TABLE part (person INTEGER NOT NULL, day DATE NOT NULL, what TEXT,
        FOREIGN KEY (person, day) REFERENCES sale (person, day));
    CREATE TABLE complaint (id INTEGER PRIMARY KEY, sale_person INTEGER REFERENCES person (id), kind TEXT
        CHECK (kind IN ('late', 'broken')));
"""


def make(file: Path) -> Path:
    """40 persons in 6 towns, each with two sales of two parts; nobody complained yet."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.executescript(STATEMENTS)
        connection.executemany("INSERT INTO town VALUES (?, ?, ?)", [(n, f"Town {n}", n) for n in range(1, 7)])
        persons = [(n, f"P{n % 30}", f"p{n}@x.org", 18 + n, max(1, n // 2), 1 + n % 6) for n in range(1, 41)]
        connection.executemany("INSERT INTO person VALUES (?, ?, ?, ?, ?, ?)", persons)
        for person in range(1, 41):
            for day in ("2024-01-05", f"2024-02-{1 + person % 28:02}"):
                connection.execute("INSERT INTO sale VALUES (?, ?, ?)", (person, day, 99.5 + person))
                connection.executemany("INSERT INTO part VALUES (?, ?, ?)", [(person, day, w) for w in ("nut", "bolt")])
        connection.commit()
    return file


def origin(file: Path, *queries: str) -> Origin:
    """What these queries need of the shop."""
    with connect(file) as db:
        return read_origin(db, introspect(db), queries)

"""A database whose schema has what real ones have, and what only hostile ones have."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.db.sqlite import SQLiteDatabase

NASTY = """
CREATE TABLE Author (id INTEGER PRIMARY KEY, "full name" VARCHAR(40) NOT NULL, mail TEXT UNIQUE, größe REAL);
CREATE TABLE book (isbn TEXT PRIMARY KEY, author INT REFERENCES author, editor INT REFERENCES AUTHOR (ID),
    "order" INT, price DECIMAL(10, 2), net AS (price / 1.2), gross REAL AS (price * 1.2) STORED);
CREATE TABLE edition (isbn TEXT, number INT, year INT, PRIMARY KEY (number, isbn),
    FOREIGN KEY (isbn) REFERENCES book (isbn)) WITHOUT ROWID;
CREATE TABLE copy (shelf INT, isbn TEXT, number INT, UNIQUE (shelf, isbn), UNIQUE (number, shelf),
    FOREIGN KEY (number, isbn) REFERENCES edition, FOREIGN KEY (shelf) REFERENCES gone (id),
    FOREIGN KEY (isbn) REFERENCES book (no_such_column));
CREATE UNIQUE INDEX copy_whole ON copy (number);
CREATE UNIQUE INDEX copy_partial ON copy (isbn) WHERE shelf > 1;
CREATE UNIQUE INDEX copy_expression ON copy (lower(isbn), shelf);
CREATE INDEX copy_plain ON copy (isbn);
CREATE TABLE "odd ""name"" */ x" ("a""b" INT, "" TEXT, "new
line" TEXT, "select" TEXT);
CREATE TABLE "select" (a);
CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, note);
CREATE TABLE node (id INT PRIMARY KEY, parent INT REFERENCES node);
CREATE VIRTUAL TABLE docs USING fts5 (title, body);
CREATE VIRTUAL TABLE box USING rtree (id, min_x, max_x);
CREATE VIEW cheap AS SELECT isbn, price * 2 AS double, count(*) FROM book WHERE price < 9 GROUP BY isbn;
CREATE VIEW broken AS SELECT a FROM nowhere;
CREATE VIEW alsobroken AS SELECT isbn FROM book WHERE missing = 1;
INSERT INTO author VALUES (1, 'Ann', 'a@x', 1.5), (2, 'Bo', NULL, NULL);
INSERT INTO book (isbn, author, "order", price) VALUES ('i1', 1, 1, 10);
INSERT INTO counted (note) VALUES ('one'), (x'00ff'), (NULL), ('four');
"""


@pytest.fixture
def nasty_path(tmp_path: Path) -> Path:
    path = tmp_path / "nasty.db"
    connection = sqlite3.connect(path)
    connection.executescript(NASTY)
    connection.close()
    return path


@pytest.fixture
def nasty(nasty_path: Path) -> Iterator[SQLiteDatabase]:
    with SQLiteDatabase(nasty_path) as db:
        yield db

"""The shop of the SQLite tests as a DuckDB database, with types that only DuckDB has."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

SHOP: Final = """
CREATE TYPE mood AS ENUM ('happy', 'it''s ok', 'sad');
CREATE TABLE nation (name TEXT PRIMARY KEY, capital TEXT);
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, state TEXT, age INT, joined DATE,
    mood mood, tags TEXT[], note JSON);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customer (id), total DECIMAL(10, 2), day DATE);
CREATE TABLE "odd ""table" ("order" INT, "two words" TEXT, größe REAL);
CREATE VIEW city_sales AS
    SELECT city, sum(total) AS total FROM customer JOIN orders ON orders.customer_id = customer.id GROUP BY city;
CREATE SCHEMA stock;
CREATE TABLE stock.place (place_id INT PRIMARY KEY, name TEXT);
CREATE TABLE stock.item (id INT, place_id INT REFERENCES stock.place (place_id), left_over INT);
CREATE SEQUENCE counter;
CREATE MACRO twice(x) AS x * 2;
INSERT INTO nation VALUES ('Latvia', 'Riga'), ('Norway', 'Oslo');
INSERT INTO customer VALUES
    (1, 'Ann', 'Riga', 'north', 31, '2023-01-05', 'happy', ['new', 'vip'], '{"color": "red", "size": 3}'),
    (2, 'Bo', 'Oslo', 'south', 25, '2023-02-01', 'sad', [], NULL),
    (3, 'Cem', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (4, 'Dee', 'Riga', 'north', 44, '2023-03-01', 'it''s ok', ['old'], '{}');
INSERT INTO orders VALUES (1, 1, 9.50, '2024-01-02'), (2, 1, 20, '2024-01-09'), (3, 4, 7, '2024-02-01'),
    (4, 2, 12.25, '2024-02-03');
INSERT INTO "odd ""table" VALUES (1, 'x', 2.5);
INSERT INTO stock.place VALUES (1, 'cellar');
INSERT INTO stock.item VALUES (7, 1, 3);
"""


def write(path: Path, sql: str = SHOP) -> Path:
    """A DuckDB database at ``path`` made by these statements."""
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)
    return path


def contents(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file in the folder."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}

"""A small shop with the oddities of real databases, written once a session and copied for each test."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import servers
from servers import Server
from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.db.sqlite import SQLiteDatabase

SHOP = """
CREATE TABLE nation (name TEXT PRIMARY KEY, capital TEXT);
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, age INT);
CREATE INDEX customer_city ON customer (city);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customer (id), total REAL);
CREATE TABLE "odd ""table" ("order" INT, "two words" TEXT, größe REAL);
CREATE VIEW city_sales AS
    SELECT city, sum(total) AS total FROM customer JOIN orders ON orders.customer_id = customer.id GROUP BY city;
CREATE VIRTUAL TABLE docs USING fts5 (body);
CREATE VIRTUAL TABLE box USING rtree (id, min_x, max_x);
CREATE VIRTUAL TABLE notes USING fts4 (text);
CREATE TABLE audit (what TEXT);
CREATE TRIGGER customer_changes AFTER UPDATE ON customer BEGIN INSERT INTO audit VALUES ('changed'); END;
INSERT INTO nation VALUES ('Latvia', 'Riga'), ('Norway', 'Oslo');
INSERT INTO customer VALUES
    (1, 'Ann', 'Riga', 31), (2, 'Bo', 'Oslo', 25), (3, 'Cem', NULL, NULL), (4, 'Dee', 'Riga', 44);
INSERT INTO orders VALUES (1, 1, 9.5), (2, 1, 20), (3, 4, 7), (4, 2, 12.25);
INSERT INTO "odd ""table" VALUES (1, 'x', 2.5);
INSERT INTO docs VALUES ('a river runs'), ('a hill stands');
INSERT INTO box VALUES (1, 1.0, 2.0);
INSERT INTO notes VALUES ('a river runs');
"""


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(SHOP)
    connection.close()
    return path


@pytest.fixture
def shop(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(template, tmp_path / "shop.db"))


@pytest.fixture
def db(shop: Path) -> Iterator[SQLiteDatabase]:
    with SQLiteDatabase(shop) as database:
        yield database


@pytest.fixture
def untouched(shop: Path) -> Iterator[None]:
    """Fails the test when the folder of the database is not byte for byte what it was."""
    before = _contents(shop.parent)
    yield
    assert _contents(shop.parent) == before


def _contents(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="session")
def postgres_shop(postgres_server: Server) -> Server:
    """The server with the database ``shop`` and a role ``reader`` that may read it, and no more."""
    password = servers.READER_PASSWORD
    script = (Path(__file__).parent / "shop_postgres.sql").read_text(encoding="utf-8")
    servers.in_postgres(postgres_server, "postgres", f"CREATE ROLE reader LOGIN PASSWORD '{password}'")
    servers.in_postgres(postgres_server, "postgres", "CREATE DATABASE shop")
    servers.in_postgres(postgres_server, "shop", script, "CREATE EXTENSION dblink")
    return postgres_server


@pytest.fixture
def pg(postgres_shop: Server) -> Iterator[Database]:
    """The shop, as its reader."""
    with connect(servers.postgres_url(postgres_shop, "shop", "reader", servers.READER_PASSWORD)) as db:
        yield db


@pytest.fixture
def pg_boss(postgres_shop: Server) -> Iterator[Database]:
    """The shop, as the superuser."""
    with connect(servers.postgres_url(postgres_shop, "shop")) as db:
        yield db


@pytest.fixture(scope="session")
def mariadb_shop(mariadb_server: Server) -> Server:
    """The server with the database ``shop`` and a user ``reader`` who may read it, and no more."""
    text = (Path(__file__).parent / "shop_mysql.sql").read_text(encoding="utf-8")
    script = [statement for statement in text.split(";\n") if statement.strip()]
    servers.in_mariadb(
        mariadb_server,
        *("CREATE DATABASE shop", "USE shop", *script),
        f"CREATE USER reader IDENTIFIED BY '{servers.READER_PASSWORD}'",
        "GRANT SELECT, EXECUTE, SHOW VIEW ON shop.* TO reader",
    )
    return mariadb_server


@pytest.fixture
def maria(mariadb_shop: Server) -> Iterator[Database]:
    """The shop, as its reader."""
    with connect(servers.mysql_url(mariadb_shop, "shop", "reader", servers.READER_PASSWORD)) as db:
        yield db


@pytest.fixture
def maria_boss(mariadb_shop: Server) -> Iterator[Database]:
    """The shop, as the administrator."""
    with connect(servers.mysql_url(mariadb_shop, "shop")) as db:
        yield db

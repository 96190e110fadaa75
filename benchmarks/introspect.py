"""How long the schema of 1,000 tables with 20,000 columns takes to read: of a server by its URL, else of SQLite.

On a server the tables are made in a scratch schema, named in the output and dropped afterwards; the user of the URL
must be allowed to create one.

    python benchmarks/introspect.py [URL]
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect

TABLES = 1_000
COLUMNS = 20
SCRATCH = "sqljury_scratch"


def statements(text: str) -> Iterator[str]:
    """Tables that each refer to the one before, with a unique key and an index."""
    others = ", ".join(f"c{number} {text}" for number in range(COLUMNS - 2))
    for number in range(TABLES):
        target = max(number - 1, 0)
        yield (
            f"CREATE TABLE t{number} (id INT PRIMARY KEY, parent INT, {others}, UNIQUE (c0, c1), "
            f"FOREIGN KEY (parent) REFERENCES t{target} (id))"
        )


@contextmanager
def sqlite_scratch() -> Iterator[tuple[str, tuple[str, ...]]]:
    """A new file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.db"
        connection = sqlite3.connect(path)
        with connection:
            for statement in statements("TEXT"):
                connection.execute(statement)
        connection.close()
        yield str(path), ()


@contextmanager
def postgres_scratch(url: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A new schema of the database."""
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE SCHEMA {SCRATCH}")
        connection.execute(f"SET LOCAL search_path = {SCRATCH}")
        for statement in statements("TEXT"):
            connection.execute(statement.encode())
    try:
        yield url, (SCRATCH,)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            # All at once would need more locks than a server has by default.
            for number in reversed(range(TABLES)):
                connection.execute(f"DROP TABLE {SCRATCH}.t{number}".encode())
            connection.execute(f"DROP SCHEMA {SCRATCH}")


@contextmanager
def mysql_scratch(url: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A new database of the server."""
    import pymysql

    from sqljury.db.mysql_url import read_url

    connection = pymysql.connect(**{**read_url(url, ()).arguments(), "database": None})
    cursor = connection.cursor()
    cursor.execute(f"CREATE DATABASE {SCRATCH}")
    cursor.execute(f"USE {SCRATCH}")
    for statement in statements("VARCHAR(100)"):
        cursor.execute(statement)
    try:
        yield url, (SCRATCH,)
    finally:
        cursor.execute("SET foreign_key_checks = 0")
        cursor.execute(f"DROP DATABASE {SCRATCH}")
        connection.close()


def main() -> None:
    """Make the tables, read them three times, print seconds."""
    url = sys.argv[1] if len(sys.argv) > 1 else ""
    scheme = urlsplit(url).scheme
    if not url:
        scratch = sqlite_scratch()
    elif scheme in ("postgres", "postgresql"):
        scratch = postgres_scratch(url)
    else:
        scratch = mysql_scratch(url)
    with scratch as (target, schemas):
        for _ in range(3):
            start = time.perf_counter()
            with connect(target, schemas) as db:
                schema = introspect(db)
            seconds = time.perf_counter() - start
            columns = sum(len(table.columns) for table in schema.tables)
            keys = sum(len(table.foreign_keys) for table in schema.tables)
            print(f"{db.dialect}: {len(schema.tables)} tables, {columns} columns, {keys} foreign keys, {seconds:.2f} s")


if __name__ == "__main__":
    main()

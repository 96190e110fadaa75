from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect
from sqljury.schema.samples import TOO_LARGE, sample, sample_rows


def test_first_rows_of_each_table(nasty: SQLiteDatabase) -> None:
    schema = introspect(nasty)
    samples = sample(nasty, schema, 3)
    assert list(samples) == [table.name for table in schema.tables if table.kind == "table"]
    assert all(result.ok for result in samples.values())
    assert samples["counted"].rows == ((1, "one"), (2, b"\x00\xff"), (3, None))
    assert samples["Author"].columns == ("id", "full name", "mail", "größe")
    assert samples['odd "name" */ x'].rows == ()
    assert "cheap" in sample(nasty, schema, 1, views=True)


def test_a_big_table_is_not_scanned(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "big.db")
    connection.execute("CREATE TABLE big (id INTEGER PRIMARY KEY, a TEXT)")
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 300000)"
    connection.execute(f"INSERT INTO big {numbers} SELECT x, printf('%50d', x) FROM n")
    connection.commit()
    connection.close()
    with SQLiteDatabase(tmp_path / "big.db") as db:
        (table,) = introspect(db).tables
        db.execute("SELECT 1")
        start = time.perf_counter()
        assert len(sample_rows(db, table, 3).rows) == 3
        assert time.perf_counter() - start < 0.05


def test_columns_too_large_are_left_out(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "wide.db")
    connection.execute("CREATE TABLE picture (id INT, data BLOB, note TEXT)")
    connection.executemany("INSERT INTO picture VALUES (?, zeroblob(7000000), 'n')", [(1,), (2,), (3,)])
    connection.commit()
    connection.close()
    with SQLiteDatabase(tmp_path / "wide.db") as db:
        (table,) = introspect(db).tables
        assert sample_rows(db, table, 3).rows == ((1, TOO_LARGE, "n"), (2, TOO_LARGE, "n"), (3, TOO_LARGE, "n"))
        assert sample_rows(db, table, 1).rows == ((1, bytes(7_000_000), "n"),)

"""Random selection: rows of the user's own, with what they refer to, up to the maximum table size."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import shop

from sqljury.access.guard import Guarded
from sqljury.access.rules import Access
from sqljury.db.base import DEFAULT_LIMITS
from sqljury.db.connect import connect
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect
from sqljury.testing.draw import random_case, read_origin, select, small_numbers
from sqljury.testing.shape import read_checks
from sqljury.types import Limits, Result

ALL = tuple(f"SELECT * FROM {name}" for name in ("town", "person", "sale", "part", "complaint"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return shop.make(tmp_path / "shop.sqlite")


def test_rows_are_the_users_and_their_parents_come_along(file: Path) -> None:
    origin = shop.origin(file, *ALL)
    for seed in range(10):
        rows = select(origin, str(seed), 5)
        assert all(set(rows[name]) <= set(origin.pool[name]) for name in rows)
        assert origin.shape.closed(rows) == rows
        assert len(rows["part"]) == 5  # nothing refers to it
        assert {row[:2] for row in rows["part"]} <= {row[:2] for row in rows["sale"]}
        assert {row[0] for row in rows["sale"]} <= {row[0] for row in rows["person"]}


def test_tables_are_filled_up_to_the_size(file: Path) -> None:
    origin = shop.origin(file, "SELECT name FROM town", "SELECT count(*) FROM complaint")
    for size in (1, 3, 5):
        rows = select(origin, "0", size)
        assert len(rows["town"]) == min(size, 6)
        assert len(rows["complaint"]) == size


def test_a_table_without_rows_is_fuzzed_within_its_constraints(file: Path) -> None:
    origin = shop.origin(file, *ALL)
    persons = {row[0] for row in origin.pool["person"]}
    assert len(origin.pool["complaint"]) >= 3
    assert {row[1] for row in origin.pool["complaint"]} <= persons | {None}
    assert {row[2] for row in origin.pool["complaint"]} <= {"late", "broken", None}
    assert len(origin.pool["person"]) == 40


def test_equal_seeds_draw_the_same(file: Path) -> None:
    origin = shop.origin(file, *ALL)
    assert random_case(origin, "1") == random_case(origin, "1")
    assert random_case(origin, "1") != random_case(origin, "2")


def test_only_what_queries_use_is_there(file: Path) -> None:
    case = random_case(shop.origin(file, "SELECT name FROM person WHERE age > 30"), "0")
    assert [table.name for table in case.schema.tables] == ["person"]
    assert [column.name for column in case.schema.tables[0].columns] == ["id", "name", "age", "boss"]
    assert case.size >= 5


def test_measured_columns_become_small_numbers(file: Path) -> None:
    origin = shop.origin(
        file, "SELECT sum(price), day FROM sale GROUP BY day ORDER BY person", "SELECT max(age) FROM person"
    )
    assert origin.measured == {("sale", "price"), ("person", "age")}  # sale.person is of a key
    case = random_case(origin, "0")
    assert all(isinstance(row[2], int) and 1 <= row[2] <= 10 for row in case.tables["sale"])
    assert any(row[2] > 10 for row in random_case(origin, "0", numbers=False).tables["sale"])
    assert {row[:2] for row in case.tables["sale"]} == {row[:2] for row in select(origin, "0")["sale"]}


def test_small_numbers_that_break_a_check_are_left(tmp_path: Path) -> None:
    with connect(shop.make(tmp_path / "s.sqlite")) as db:
        schema = introspect(db)
        origin = read_origin(db, schema, ["SELECT max(age) FROM person"], {"person": ('"age" > 17',)})
    assert small_numbers(origin, select(origin, "0"), "0")["person"][0][1] <= 10
    assert all(row[1] > 17 for row in random_case(origin, "0").tables["person"])


class Heard(SQLiteDatabase):
    """Notes what is asked."""

    asked: list[str]

    def execute(  # type: ignore[override]
        self, sql: str, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None, **more: object
    ) -> Result:
        self.asked = [*getattr(self, "asked", []), sql]
        return super().execute(sql, limits, cancel, **more)  # type: ignore[arg-type]


def test_masked_columns_are_never_read(file: Path) -> None:
    with Heard(file) as db:
        guarded = Guarded(db, introspect(db), Access(mask=("person.mail", "person.age")))
        queries = ["SELECT name, mail FROM person WHERE age = 30 ORDER BY mail"]
        origin = read_origin(guarded, guarded.schema, queries)
        assert db.asked
        assert not [sql for sql in db.asked if "mail" in sql or "age" in sql]
    rows = origin.pool["person"]
    places = {column.name: index for index, column in enumerate(origin.shape.tables["person"].columns)}
    assert len(rows) >= 20
    assert not {row[places["mail"]] for row in rows} & {f"p{n}@x.org" for n in range(1, 41)}
    assert {row[places["name"]] for row in rows} <= {f"P{n}" for n in range(30)}


def test_reads_are_bounded_and_find_what_queries_name(tmp_path: Path) -> None:
    file = tmp_path / "big.sqlite"
    import sqlite3

    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE kind (code TEXT PRIMARY KEY, label TEXT)")
    connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, kind TEXT REFERENCES kind (code), note TEXT)")
    connection.executemany("INSERT INTO kind VALUES (?, ?)", [(f"k{n}", f"Kind {n}") for n in range(3000)])
    connection.executemany("INSERT INTO item VALUES (?, ?, ?)", [(n, f"k{n}", f"n{n}") for n in range(3000)])
    connection.commit()
    connection.close()
    origin = shop.origin(file, "SELECT label, id FROM kind JOIN item ON code = kind WHERE note = 'n2900'")
    assert (2900, "k2900", "n2900") in origin.pool["item"]
    assert ("k2900", "Kind 2900") in origin.pool["kind"]
    assert len(origin.pool["item"]) < 250


def test_rows_that_refer_to_none_get_a_parent(tmp_path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(tmp_path / "d.sqlite")
    connection.execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE b (x INTEGER NOT NULL REFERENCES a (id), y TEXT)")
    connection.execute("INSERT INTO a VALUES (1), (2)")
    connection.executemany("INSERT INTO b VALUES (?, ?)", [(n, f"y{n}") for n in range(70, 80)])
    connection.commit()
    connection.close()
    pool = shop.origin(tmp_path / "d.sqlite", "SELECT * FROM a, b").pool
    assert [row[1] for row in pool["b"]] == [f"y{n}" for n in range(70, 80)]
    assert {row[0] for row in pool["b"]} <= {1, 2}


def test_conditions_are_read_and_strange_ones_left_out(tmp_path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(tmp_path / "c.sqlite")
    connection.execute(
        "CREATE TABLE t (a INT CHECK (a BETWEEN 1 AND 9), b CHECK (b IN ('x', 'y)')), c TEXT CHECK (glob('q*', c)), "
        "CONSTRAINT both CHECK (a < 5 OR length(b) = 1))"
    )
    connection.close()
    with connect(tmp_path / "c.sqlite") as db:
        found = read_checks(db, introspect(db))
    assert found == {"t": ('"a" BETWEEN 1 AND 9', "\"b\" IN ('x', 'y)')", '"a" < 5 OR LENGTH("b") = 1')}

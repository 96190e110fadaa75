"""Small databases tell apart queries that differ, and none that mean the same."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import shop

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.testing.draw import fuzzed_origin, select
from sqljury.testing.separate import Search, minimised, separate
from sqljury.testing.shape import size
from sqljury.testing.trial import Trial
from sqljury.types import TestCase

PAIRS = {
    "boundary": ("SELECT name FROM person WHERE age > 500", "SELECT name FROM person WHERE age >= 500"),
    "constant": (
        "SELECT count(*) FROM sale WHERE day = '1999-01-01'",
        "SELECT count(*) FROM sale WHERE day = '1998-01-01'",
    ),
    "tie": (
        "SELECT id FROM person ORDER BY age DESC LIMIT 1",
        "SELECT id FROM person WHERE age = (SELECT max(age) FROM person)",
    ),
    "null": ("SELECT count(*) FROM part", "SELECT count(what) FROM part"),
    "duplicate": ("SELECT name FROM person", "SELECT DISTINCT name FROM person"),
    "partner": (
        "SELECT name FROM person JOIN sale ON person.id = sale.person",
        "SELECT name FROM person LEFT JOIN sale ON person.id = sale.person",
    ),
    "any row": ("SELECT name FROM person LIMIT 1", "SELECT name FROM person ORDER BY age DESC LIMIT 1"),
    "descending": ("SELECT name FROM town ORDER BY name", "SELECT name FROM town ORDER BY name DESC"),
    "group": (
        "SELECT name FROM person GROUP BY name HAVING count(*) > 2",
        "SELECT name FROM person GROUP BY name HAVING count(*) >= 2",
    ),
    "nested": (
        "SELECT name FROM person WHERE id NOT IN (SELECT sale_person FROM complaint)",
        "SELECT name FROM person WHERE NOT EXISTS (SELECT 1 FROM complaint WHERE sale_person = person.id)",
    ),
    "empty table": (
        "SELECT kind FROM complaint WHERE kind = 'late'",
        "SELECT kind FROM complaint WHERE kind <> 'broken' OR kind IS NULL",
    ),
}

SAME = {
    "join order": (
        "SELECT name FROM person JOIN sale ON person.id = sale.person",
        "SELECT name FROM sale JOIN person ON sale.person = person.id",
    ),
    "unique": ("SELECT count(mail) FROM person", "SELECT count(DISTINCT mail) FROM person"),
    "ties alone": (
        "SELECT name FROM person ORDER BY age LIMIT 1",
        "SELECT name FROM person ORDER BY age, 1 + 1 LIMIT 1",
    ),
    "two of any": ("SELECT name FROM person LIMIT 2", "SELECT name FROM person WHERE id > 0 LIMIT 2"),
    "check": ("SELECT id FROM person WHERE age <= 0", "SELECT id FROM person WHERE age < 0"),
    "order of one": ("SELECT name FROM town", "SELECT name FROM town ORDER BY name"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return shop.make(tmp_path / "shop.sqlite")


@pytest.mark.parametrize("name", PAIRS)
def test_different_queries_are_told_apart_by_few_rows(file: Path, name: str) -> None:
    origin = shop.origin(file, *PAIRS[name])
    found = separate(origin, PAIRS[name], Search(seconds=20))
    assert found.together == ()
    assert found.classes == ((0, 1),)
    assert found.cases[0].size <= 6
    with Trial(origin.shape, PAIRS[name]) as trial:
        assert trial.load(found.cases[0].tables)
        assert trial.apart([(0, 1)]) == {(0, 1)}


@pytest.mark.parametrize("name", SAME)
def test_queries_that_mean_the_same_stay_together(file: Path, name: str) -> None:
    found = separate(shop.origin(file, *SAME[name]), SAME[name], Search(tries=600, seconds=20))
    assert found.together == ((0, 1),)
    assert found.cases == ()
    assert found.looked_at >= 600


def test_several_queries_are_classified_and_no_case_repeats(file: Path) -> None:
    queries = [
        "SELECT name FROM person WHERE age > 30",
        "SELECT name FROM person WHERE age >= 30",
        "SELECT DISTINCT name FROM person WHERE age > 30",
        "SELECT name FROM person WHERE 30 < age",
        "SELECT name FROM person WHERE age < 30",
    ]
    found = separate(shop.origin(file, *queries), queries, Search(tries=800, seconds=20))
    assert found.together == ((0, 3),)
    assert len(set(found.classes)) == len(found.cases) == len(found.how) <= 4
    for one in range(5):
        for other in range(one):
            told = any(classes[one] != classes[other] for classes in found.classes)
            assert told == ({one, other} != {0, 3})


def test_new_classes_are_kept_until_all_are_told_apart(file: Path) -> None:
    """Algorithm 1 keeps a database for its classification; it need not tell apart what none before did."""
    queries = [f"SELECT name FROM person WHERE age > {n}" for n in (20, 30, 40, 50)]
    origin = shop.origin(file, *queries)
    found = separate(origin, queries, Search(seconds=20, keep="classes"))
    assert found.together == ()
    assert len(set(found.classes)) == len(found.classes) >= len(separate(origin, queries, Search(seconds=20)).cases)
    assert all(len(set(classes)) > 1 for classes in found.classes)


def test_redundant_cases_are_kept_up_to_the_number_asked_for(file: Path) -> None:
    queries = PAIRS["boundary"]
    origin = shop.origin(file, *queries)
    counts = {cases: separate(origin, queries, Search(cases=cases, seconds=60, keep="all")) for cases in (5, 15)}
    assert [len(found.cases) for found in counts.values()] == [5, 15]
    for found in counts.values():
        assert len(set(found.cases)) == len(found.cases)
        assert set(found.classes) == {(0, 1)}
        assert found.together == ()
    assert separate(shop.origin(file, *SAME["check"]), SAME["check"], Search(tries=80, keep="all")).cases == ()


def test_drawn_databases_stay_as_drawn_where_they_are_not_reduced(file: Path) -> None:
    queries = PAIRS["descending"]
    origin = shop.origin(file, *queries)
    search = Search(cases=4, size=20, numbers=False, seconds=60, seed="3", keep="all", reduce=False)
    found = separate(origin, queries, search)
    drawn = [origin.shape.case(select(origin, f"3|{number}", 20)) for number in range(4)]
    as_drawn = [case for case, how in zip(found.cases, found.how, strict=True) if how == "drawn"]
    assert as_drawn
    assert all(case in drawn for case in as_drawn)
    reduced = separate(origin, queries, replace(search, reduce=True))
    rows = [sum(map(len, case.tables.values())) for case in (as_drawn[0], reduced.cases[0])]
    assert rows[0] > rows[1]


def test_fuzzed_databases_have_no_row_of_the_users(file: Path) -> None:
    queries = PAIRS["boundary"]
    with connect(file) as db:
        origin = fuzzed_origin(db, introspect(db), queries, seed="7")
    found = separate(origin, queries, Search(cases=5, seconds=60, seed="7", keep="all", fuzzing=True))
    assert len(found.cases) == 5
    assert set(found.how) == {"fuzzed"}
    cells = {cell for case in found.cases for row in case.tables["person"] for cell in row}
    assert cells
    assert not cells & {f"P{number}" for number in range(30)}
    again = separate(origin, queries, Search(cases=5, seconds=60, seed="7", keep="all", fuzzing=True))
    assert found.cases == again.cases


def test_two_large_groups_that_tie_become_small_ones(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "f.sqlite")) as connection:
        connection.execute("CREATE TABLE line (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE flight (no INTEGER PRIMARY KEY, line INTEGER REFERENCES line (id))")
        connection.executemany("INSERT INTO line VALUES (?, ?)", [(1, "A"), (2, "B")])
        connection.executemany("INSERT INTO flight VALUES (?, ?)", [(n, 1 + n // 90) for n in range(180)])
        connection.commit()
    counted = "SELECT name FROM line JOIN flight ON line = id GROUP BY id"
    least = "SELECT count(*) AS n FROM flight GROUP BY line ORDER BY n LIMIT 1"
    queries = [f"{counted} ORDER BY count(*) LIMIT 1", f"{counted} HAVING count(*) = ({least})"]
    found = separate(shop.origin(tmp_path / "f.sqlite", *queries), queries, Search(seconds=20))
    assert found.together == ()
    assert found.cases[0].size <= 6


def test_limits_on_cases_tries_and_time(file: Path) -> None:
    queries = [f"SELECT name FROM person WHERE age > {n}" for n in (20, 30, 40, 50)]
    origin = shop.origin(file, *queries)
    assert len(separate(origin, queries, Search(cases=1)).cases) == 1
    assert separate(origin, SAME["check"], Search(seconds=0)).looked_at == 0
    assert separate(origin, queries[:1]).looked_at == 0


def test_making_a_database_small_uses_up_no_tries(file: Path) -> None:
    queries = [f"SELECT name FROM person WHERE age > {n}" for n in (20, 30, 40, 50)]
    found = separate(shop.origin(file, *queries), queries, Search(tries=30, seconds=60))
    assert found.together == ()
    assert len(found.cases) <= found.looked_at <= 30


def test_a_search_can_be_stopped(file: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    found = separate(shop.origin(file, *PAIRS["null"]), PAIRS["null"], cancel=cancel)
    assert (found.cases, found.together, found.looked_at) == ((), ((0, 1),), 0)


@pytest.mark.parametrize(
    ("queries", "together"),
    [
        (("SELECT 1", "SELECT 2"), ()),
        (("SELECT 1", "SELECT 1"), ((0, 1),)),
        (("SELECT (", "SELECT name FROM nowhere"), ((0, 1),)),
        ((f"SELECT name FROM person WHERE id < {'9' * 500}", "SELECT name FROM person"), ((0, 1),)),
        (("SELECT name FROM person WHERE age IS NOT 1e999", f"SELECT mail FROM person -- {'x' * 9000}"), ()),
        (("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n", "SELECT 1"), ((0, 1),)),
    ],
)
def test_queries_that_are_strange(file: Path, queries: tuple[str, str], together: tuple[tuple[int, int], ...]) -> None:
    assert separate(shop.origin(file, *queries), queries, Search(tries=150, seconds=3)).together == together


def test_equal_seeds_find_the_same(file: Path) -> None:
    origin = shop.origin(file, *PAIRS["tie"])
    first, second = (separate(origin, PAIRS["tie"], Search(seed="7", seconds=20)) for _ in range(2))
    assert first == second


def test_a_failing_query_is_apart_from_nothing(file: Path) -> None:
    queries = ["SELECT name FROM person", "SELECT nope FROM person", "DELETE FROM person"]
    found = separate(shop.origin(file, *queries), queries, Search(tries=50))
    assert found.cases == ()
    assert len(found.together) == 3


def test_a_minimal_database_needs_each_of_its_rows(file: Path) -> None:
    queries = ["SELECT what FROM part JOIN sale USING (person, day) WHERE price > 110", "SELECT what FROM part WHERE 0"]
    origin = shop.origin(file, *queries)
    with Trial(origin.shape, queries) as trial:

        def holds(rows: dict[str, list[tuple[object, ...]]]) -> bool:
            return trial.load(rows) and bool(trial.apart([(0, 1)]))

        assert holds(origin.pool)
        small = minimised(origin.shape, origin.pool, holds)
        assert {name: len(rows) for name, rows in small.items()} == {"sale": 1, "part": 1}
        for name in small:
            fewer = {**small, name: small[name][1:]}
            assert not holds(origin.shape.closed(fewer))
        assert size(minimised(origin.shape, origin.pool, holds, lambda: True)) == size(origin.pool)


def test_a_case_reads_as_tables(file: Path) -> None:
    origin = shop.origin(file, "SELECT name FROM town")
    case = origin.shape.case({"town": [(1, "A", None), (2, "B", None)]})
    assert isinstance(case, TestCase)
    assert (case.size, case.tables["town"][1][1]) == (2, "B")

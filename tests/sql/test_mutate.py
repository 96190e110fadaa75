from __future__ import annotations

import pytest

from sqljury.sql.mutate import misreadings, neighbours
from sqljury.sql.tree import facts_of, tree_of
from sqljury.types import Column, Schema, Table


@pytest.mark.parametrize(
    ("sql", "neighbour"),
    [
        ("SELECT a FROM t WHERE a > 3", "SELECT a FROM t WHERE a >= 3"),
        ("SELECT a FROM t WHERE a > 3", "SELECT a FROM t WHERE a > 4"),
        ("SELECT a FROM t WHERE a > 3", "SELECT a FROM t"),
        ("SELECT a FROM t WHERE a > 3", "SELECT DISTINCT a FROM t WHERE a > 3"),
        ("SELECT DISTINCT a FROM t", "SELECT a FROM t"),
        ("SELECT max(a) FROM t", "SELECT MIN(a) FROM t"),
        ("SELECT count(a) FROM t", "SELECT COUNT(DISTINCT a) FROM t"),
        ("SELECT count(DISTINCT a) FROM t", "SELECT COUNT(a) FROM t"),
        ("SELECT a FROM t WHERE a = 1 AND b = 2", "SELECT a FROM t WHERE a = 1 OR b = 2"),
        ("SELECT a FROM t WHERE a = 1 AND b = 2", "SELECT a FROM t WHERE b = 2"),
        ("SELECT a FROM t ORDER BY a LIMIT 1", "SELECT a FROM t LIMIT 1"),
        ("SELECT a FROM t ORDER BY a LIMIT 1", "SELECT a FROM t ORDER BY a"),
        ("SELECT a FROM t ORDER BY a LIMIT 1", "SELECT a FROM t ORDER BY a DESC LIMIT 1"),
        ("SELECT a FROM t JOIN s ON t.i = s.i", "SELECT a FROM t LEFT JOIN s ON t.i = s.i"),
        ("SELECT a FROM t JOIN s ON t.i = s.i", "SELECT a FROM t"),
        ("SELECT a FROM t GROUP BY a, b", "SELECT a FROM t GROUP BY a"),
        ("SELECT a FROM t EXCEPT SELECT b FROM t", "SELECT a FROM t INTERSECT SELECT b FROM t"),
        ('SELECT a FROM t WHERE b LIKE "%x%"', "SELECT a FROM t WHERE b LIKE 'x'"),
    ],
)
def test_one_small_mistake(sql: str, neighbour: str) -> None:
    assert neighbour in neighbours(sql, {"a", "b", "i"}, limit=1000)


@pytest.mark.parametrize("sql", ["", "I would select a", "DELETE FROM t", "SELECT a FROM", "SELECT 1; SELECT 2"])
def test_what_is_no_query_has_none(sql: str) -> None:
    assert neighbours(sql) == ()


def test_the_sample_hangs_on_seed_and_query_alone() -> None:
    sql = "SELECT a, count(*) FROM t WHERE a > 3 AND b < 4 OR c = 5 GROUP BY a HAVING count(*) > 1 ORDER BY a LIMIT 3"
    few = neighbours(sql, limit=5)
    assert len(few) == 5
    assert few == neighbours(sql, limit=5)
    assert few != neighbours(sql, limit=5, seed=1)
    assert set(few) < set(neighbours(sql, limit=1000))
    assert sql not in few


def test_constants_and_linked_columns() -> None:
    sql = """SELECT t.a FROM t JOIN s ON t.x = s.Y WHERE b = "red" AND c IN (1, 2.5) AND d LIKE '%an%' AND e > 3"""
    tree = tree_of(sql, {"a", "b", "c", "d", "e", "x", "y"})
    assert tree is not None
    facts = facts_of([tree])
    assert facts.constants == {"b": ("red",), "c": (1, 2.5), "d": ("an",), "e": (3,)}
    assert facts.linked == {frozenset({"x", "y"})}


PETS = Schema(
    "pets",
    "sqlite",
    (
        Table("pet", (Column("name", "TEXT"), Column("kind", "text"), Column("age", "INT"), Column("owner", "INT"))),
        Table("owner", (Column("id", "INT"), Column("city", "TEXT"))),
    ),
)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT name FROM pet", {"SELECT kind FROM pet", "SELECT name, kind FROM pet"}),
        ("SELECT avg(age) FROM pet", {"SELECT AVG(owner) FROM pet"}),
        (
            "SELECT T2.city, T1.name FROM pet AS T1 JOIN owner AS T2 ON T1.owner = T2.id",
            {
                "SELECT T1.name FROM pet AS T1 JOIN owner AS T2 ON T1.owner = T2.id",
                "SELECT T2.city FROM pet AS T1 JOIN owner AS T2 ON T1.owner = T2.id",
                "SELECT T2.city, T1.kind FROM pet AS T1 JOIN owner AS T2 ON T1.owner = T2.id",
                "SELECT T2.city, T1.name, T1.kind FROM pet AS T1 JOIN owner AS T2 ON T1.owner = T2.id",
            },
        ),
        ('SELECT count(*) FROM pet WHERE kind = "dog"', {"SELECT COUNT(*) FROM pet WHERE name = 'dog'"}),
        ("SELECT count(*) FROM pet", set()),
        ("SELECT x FROM pet", set()),
        ("no query", set()),
    ],
)
def test_a_misread_query_has_another_column_one_more_or_one_less(sql: str, expected: set[str]) -> None:
    assert set(misreadings(sql, PETS)) == expected

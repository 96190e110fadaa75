from __future__ import annotations

import pytest

from sqljury.metrics.hardness import hardness, levels_of
from sqljury.metrics.spider import Names, parse

NAMES = Names.of([("pet", ["id", "kind", "age", "owner_id"]), ("owner", ["id", "name", "city"])])
JOINED = "FROM pet AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id"


@pytest.mark.parametrize(
    ("level", "sql"),
    [
        ("easy", "SELECT count(*) FROM pet"),
        ("easy", "SELECT kind FROM pet WHERE age > 3"),
        ("medium", "SELECT kind , age FROM pet WHERE age > 3"),
        ("medium", f"SELECT T1.kind {JOINED} WHERE T2.city = 'Rome'"),
        ("medium", "SELECT min(age) , max(age) FROM pet"),
        ("hard", f"SELECT T1.kind , T1.age {JOINED} WHERE T2.city = 'Rome' ORDER BY T1.age"),
        ("hard", "SELECT kind FROM pet WHERE age = (SELECT max(age) FROM pet)"),
        ("hard", "SELECT kind FROM pet UNION SELECT name FROM owner"),
        ("hard", "SELECT kind , avg(age) , max(age) FROM pet WHERE age > 1 AND id > 2 GROUP BY kind , age"),
        ("extra", f"SELECT T1.kind {JOINED} WHERE T2.city = 'Rome' ORDER BY T1.age LIMIT 1"),
        ("extra", "SELECT kind FROM pet WHERE age = 1 AND id IN (SELECT id FROM owner)"),
        ("extra", "SELECT id FROM pet WHERE id IN (SELECT id FROM owner) EXCEPT SELECT id FROM owner"),
        # LIKE and OR count as clauses of their own.
        ("medium", "SELECT kind FROM pet WHERE kind LIKE 'd%'"),
        ("hard", "SELECT kind FROM pet WHERE kind LIKE 'd%' OR kind = 'cat'"),
        # A query in FROM does not count as a nested one.
        ("easy", "SELECT count(*) FROM (SELECT kind FROM pet GROUP BY kind)"),
        # Negations, and connectives in HAVING, count as aggregates.
        ("medium", "SELECT count(*) FROM pet WHERE kind NOT LIKE 'd%'"),
        ("easy", "SELECT kind FROM pet GROUP BY kind HAVING count(*) > 1 AND avg(age) > 2"),
        ("medium", "SELECT count(*) FROM pet GROUP BY kind HAVING count(*) > 1 AND avg(age) > 2"),
    ],
)
def test_levels(level: str, sql: str) -> None:
    assert hardness(parse(sql, NAMES)) == level


def test_the_levels_of_questions_are_spiders_or_birds() -> None:
    assert levels_of(["easy", ""]) == levels_of([]) == ("easy", "medium", "hard", "extra")
    assert levels_of(["", "moderate"]) == ("simple", "moderate", "challenging")
    assert len(levels_of(["easy", "moderate"])) == 7

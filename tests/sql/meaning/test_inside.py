"""Counts outside a subquery that are to be of what the subquery counts: the works of the donors of a museum."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.cues import wants_count

SCHEMA = """
CREATE TABLE donor (id INTEGER PRIMARY KEY, name TEXT, city TEXT, hidden INTEGER);
CREATE TABLE work (no INTEGER PRIMARY KEY, donor_id INTEGER REFERENCES donor, artist TEXT, price INTEGER, city TEXT);
INSERT INTO donor VALUES (1, 'Ann', 'Bonn', 0), (2, 'Ben', 'Bonn', 0), (3, 'Cid', 'Lyon', 0), (4, 'Dee', 'Lyon', 1);
INSERT INTO work VALUES (1, 1, 'Klee', 5, 'Rome'), (2, 1, 'Klee', 6, 'Rome'), (3, 2, 'Marc', 7, 'Rome'),
 (4, 2, 'Klee', 8, 'Rome'), (5, 2, 'Klee', 9, 'Oslo'), (6, 3, 'Marc', 1, 'Oslo'), (7, 4, 'Marc', 2, 'Oslo'),
 (8, 4, 'Marc', 3, 'Oslo');
"""
QUESTION = "Which donors gave two or more works? Name and number of works"
CHOSEN = "id IN (SELECT donor_id FROM work GROUP BY donor_id HAVING COUNT(*) >= 2)"
JOINED = "FROM donor AS T1 JOIN work AS T2 ON T2.donor_id = T1.id"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN} GROUP BY name ORDER BY COUNT(*) DESC",
            f"SELECT T1.name, COUNT(*) {JOINED} GROUP BY T1.id, T1.name HAVING COUNT(*) >= 2 ORDER BY COUNT(*) DESC",
        ),
        (
            f"SELECT donor.name AS n, donor.city, COUNT(donor.id) AS works FROM donor WHERE hidden = 0 AND {CHOSEN} "
            "GROUP BY n, 2 ORDER BY works DESC, donor.name LIMIT 3",
            f"SELECT T1.name AS n, T1.city, COUNT(*) AS works {JOINED} WHERE T1.hidden = 0 "
            "GROUP BY T1.id, T1.name, T1.city HAVING COUNT(*) >= 2 ORDER BY works DESC, T1.name LIMIT 3",
        ),
        (
            "SELECT name, COUNT(*) FROM donor WHERE (city = 'Bonn' OR hidden = 1) AND id IN (SELECT donor_id FROM work "
            "WHERE city = 'Rome' OR price > 7 GROUP BY donor_id HAVING SUM(price) > 5) GROUP BY id, name",
            f"SELECT T1.name, COUNT(*) {JOINED} WHERE (T1.city = 'Bonn' OR T1.hidden = 1) AND "
            "(T2.city = 'Rome' OR T2.price > 7) GROUP BY T1.id, T1.name HAVING SUM(T2.price) > 5",
        ),
        (
            "SELECT name, COUNT(*) FROM donor WHERE id IN (SELECT donor_id FROM work GROUP BY donor_id "
            "HAVING COUNT(DISTINCT artist) > 1) GROUP BY name",
            f"SELECT T1.name, COUNT(DISTINCT T2.artist) {JOINED} GROUP BY T1.id, T1.name "
            "HAVING COUNT(DISTINCT T2.artist) > 1",
        ),
    ],
)
def test_what_the_subquery_counts_is_counted(answered: Answered, sql: str, expected: str) -> None:
    assert answered(SCHEMA, QUESTION, sql).sql == expected


def test_a_description_names_rows_too(answered: Answered) -> None:
    script = SCHEMA.replace("name TEXT", "descr TEXT")
    sql = f"SELECT descr, COUNT(*) FROM donor WHERE {CHOSEN} GROUP BY descr"
    assert answered(script, QUESTION, sql).rows == (("Ann", 2), ("Ben", 3), ("Dee", 2))


def test_groups_are_added(answered: Answered) -> None:
    sql = f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN}"
    assert answered(SCHEMA, QUESTION, sql).rows == (("Ann", 2), ("Ben", 3), ("Dee", 2))


@pytest.mark.parametrize(("question", "expected"), [("Name and number of works", True), ("Which donors?", False)])
def test_whether_a_number_is_asked_for(question: str, expected: bool) -> None:
    assert wants_count(question) is expected


@pytest.mark.parametrize("question", ["How many donors gave two works?", "How many donors of two works in each city?"])
def test_rows_of_the_table_itself_may_be_counted(answered: Answered, question: str) -> None:
    sql = f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN} GROUP BY name ORDER BY COUNT(*) DESC"
    assert answered(SCHEMA, question, sql).sql == sql


def test_a_question_without_a_number_has_none(answered: Answered) -> None:
    sql = f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN} GROUP BY name"
    assert answered(SCHEMA, "Which donors gave two or more works?", sql).sql == sql


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT city, COUNT(*) FROM donor WHERE {CHOSEN} GROUP BY city",  # donors of a city
        f"SELECT COUNT(*) FROM donor WHERE {CHOSEN}",
        f"SELECT name, COUNT(*), SUM(hidden) FROM donor WHERE {CHOSEN} GROUP BY name",
        f"SELECT name, COUNT(*) FROM donor WHERE NOT {CHOSEN} GROUP BY name",
        f"SELECT name, COUNT(*) FROM donor WHERE hidden = 1 OR {CHOSEN} GROUP BY name",
        f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN} GROUP BY name HAVING COUNT(*) > 0",
        f"SELECT DISTINCT name, COUNT(*) FROM donor WHERE {CHOSEN} GROUP BY name",
        f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN.replace('SELECT', 'SELECT DISTINCT')} GROUP BY name",
        f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN.replace('HAVING COUNT(*) >= 2', '')} GROUP BY name",
        f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN.replace('>= 2', '>= hidden')} GROUP BY name",
        f"SELECT name, COUNT(*) FROM donor WHERE {CHOSEN} AND hidden < (SELECT MAX(price) FROM work) GROUP BY name",
    ],
)
def test_other_queries_stay(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, QUESTION, sql).sql == sql

"""Keys in GROUP BY that split groups without being shown, in a law firm whose matters belong to offices and clients."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE office (id INTEGER PRIMARY KEY, city TEXT, floor_count INTEGER);
CREATE TABLE client (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE contact (id INTEGER PRIMARY KEY, client_id INTEGER UNIQUE REFERENCES client, contact_name TEXT);
CREATE TABLE matter (id INTEGER PRIMARY KEY, office_id INTEGER REFERENCES office, client_id INTEGER REFERENCES client,
 area TEXT, opened INTEGER, title TEXT);
CREATE TABLE invoice (id INTEGER PRIMARY KEY, matter_id INTEGER REFERENCES matter, amount INTEGER);
INSERT INTO office VALUES (1, 'Lyon', 3), (2, 'Bonn', 4);
INSERT INTO client VALUES (1, 'Ann'), (2, 'Ben'), (3, 'Cid');
INSERT INTO contact VALUES (1, 1, 'Kim'), (2, 2, 'Kim'), (3, 3, 'Lee');
INSERT INTO matter VALUES (1, 1, 1, 'tax', 2023, 'A'), (2, 2, 1, 'tax', 2024, 'A'),
 (3, 1, 2, 'labour', 2024, 'B'), (4, 1, 3, 'tax', 2024, 'C');
INSERT INTO invoice VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30), (4, 3, 40), (5, 4, 50);
"""
BY_AREA = "SELECT T1.area, COUNT(*) FROM matter AS T1 JOIN office AS T2 ON T2.id = T1.office_id"
BY_CITY = (
    "SELECT office.city, SUM(T1.amount) FROM invoice AS T1 JOIN matter AS T2 ON T2.id = T1.matter_id "
    "JOIN office ON T2.office_id = office.id"
)


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "How many matters did we open in each area?",
            f"{BY_AREA} GROUP BY T2.id, T1.area ORDER BY COUNT(*) DESC",
            f"{BY_AREA} GROUP BY T1.area ORDER BY COUNT(*) DESC",
        ),
        (
            "Which areas have how many open matters, at least one?",
            f"{BY_AREA} GROUP BY T2.id, 1 HAVING COUNT(*) >= 1",
            f"{BY_AREA} GROUP BY 1 HAVING COUNT(*) >= 1",
        ),
        (
            "How much has each office billed, going by the office that runs the matter?",
            f"{BY_CITY} GROUP BY T2.id, office.city, office.floor_count",
            f"{BY_CITY} GROUP BY office.city, office.floor_count",
        ),
        (
            "How much was billed in each city?",
            f"{BY_CITY.replace('SELECT office.city', 'SELECT office.city AS town')} GROUP BY T2.id, Town",
            f"{BY_CITY.replace('SELECT office.city', 'SELECT office.city AS town')} GROUP BY Town",
        ),
        (
            "How much did each city bill?",
            f"{BY_CITY.replace('SELECT office.city', 'SELECT office.city AS town')} GROUP BY T1.id, T2.id, town",
            f"{BY_CITY.replace('SELECT office.city', 'SELECT office.city AS town')} GROUP BY town",
        ),
    ],
)
def test_a_key_that_splits_the_groups_is_removed(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How much was billed for each matter? City and amount", f"{BY_CITY} GROUP BY T2.id, office.city"),
        ("How much was billed per matter and city?", f"{BY_CITY} GROUP BY T2.id, office.city"),
        ("Every matter's city and billed amount", f"{BY_CITY} GROUP BY T2.id, office.city"),
        ("City and amount of the matters of 2024", f"{BY_CITY} GROUP BY T2.id, office.city"),
        (
            "In each city, which sums of matters exceed 20?",
            f"{BY_CITY} GROUP BY T2.id, office.city HAVING SUM(T1.amount) > 20",
        ),
        (
            "The three largest matters: city and amount, for each office its city",
            f"{BY_CITY} GROUP BY T2.id, office.city ORDER BY SUM(T1.amount) DESC LIMIT 3",
        ),
        ("City and amount for each case", f"{BY_CITY} GROUP BY T2.id, office.city"),
        ("Wie viele gibt es je Amt?", f"{BY_AREA} GROUP BY T2.id, T1.area"),
        ("How many matters by area and city?", f"{BY_AREA} GROUP BY T2.id, T1.area"),
    ],
)
def test_rows_that_the_question_is_about_stay_apart(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


@pytest.mark.parametrize(
    "sql",
    [
        f"{BY_AREA} GROUP BY T2.id, T1.area, T2.city",
        f"{BY_AREA} GROUP BY T2.id, T1.area ORDER BY T2.city",
        f"{BY_AREA} GROUP BY T2.id, T1.area HAVING T2.floor_count > 0",
        f"{BY_AREA} WHERE T2.id = 1 GROUP BY T2.id, T1.area",  # no area comes twice
        f"{BY_AREA} GROUP BY T2.id",
        f"{BY_AREA.replace('area', 'title')} GROUP BY T2.id, T1.title",  # two titles are equal, in different offices
        "SELECT T1.area, MAX(T2.city), COUNT(*) FROM matter AS T1 JOIN office AS T2 ON T2.id = T1.office_id "
        "GROUP BY T2.id, T1.area",
        "SELECT T1.area FROM matter AS T1 JOIN office AS T2 ON T2.id = T1.office_id GROUP BY T2.id, T1.area",
        "SELECT T2.contact_name, COUNT(*) FROM matter AS T1 JOIN client AS T3 ON T3.id = T1.client_id "
        "JOIN contact AS T2 ON T2.client_id = T3.id GROUP BY T3.id, T2.contact_name",  # two are called Kim
    ],
)
def test_other_groups_stay(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "How many are there in each area, for each contact name or title?", sql).sql == sql

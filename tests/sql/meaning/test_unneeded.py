"""Joins that nothing needs, on a farm whose rotations and treatments refer to fields."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE field (id INTEGER PRIMARY KEY, label TEXT, site TEXT, tenure TEXT, head_id INTEGER REFERENCES worker);
CREATE TABLE rotation (id INTEGER PRIMARY KEY, field_id INTEGER REFERENCES field, crop TEXT, sown DATE);
CREATE TABLE worker (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE treatment (id INTEGER PRIMARY KEY, field_id INTEGER REFERENCES field, worker_id INTEGER REFERENCES worker);
CREATE TABLE pasture (id INTEGER PRIMARY KEY REFERENCES field, cows INTEGER);
CREATE TABLE audit (id INTEGER PRIMARY KEY, field_id INTEGER REFERENCES field);
INSERT INTO audit VALUES (1, 1), (2, 3);
INSERT INTO worker VALUES (1, 'Ann'), (2, 'Ben');
INSERT INTO field VALUES (1, 'Acre', 'Hill', 'leased', 1), (2, 'Ley', 'Hill', 'owned', 1),
 (3, 'Fen', 'Vale', 'leased', 2);
INSERT INTO rotation VALUES (1, 1, 'rye', '2023-10-01'), (2, 1, 'oats', '2024-03-01'), (3, 2, 'rye', '2024-03-01'),
 (4, 3, 'rye', '2024-03-01'), (5, 3, 'peas', '2025-03-01');
INSERT INTO treatment VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1);
INSERT INTO pasture VALUES (1, 4), (2, 5), (3, 6);
"""


LEASED = "SELECT T1.label FROM field AS T1 JOIN rotation AS T2 ON T1.id = T2.field_id WHERE T1.tenure = 'leased'"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (LEASED, "SELECT T1.label FROM field AS T1 WHERE T1.tenure = 'leased'"),
        (
            "SELECT f.label FROM rotation AS r INNER JOIN field AS f ON r.field_id = f.id ORDER BY f.label",
            "SELECT f.label FROM field AS f ORDER BY f.label",
        ),
        (
            "SELECT f.label, w.name FROM field AS f JOIN rotation AS r ON r.field_id = f.id "
            "JOIN worker AS w ON w.id = f.head_id",
            "SELECT f.label, w.name FROM field AS f JOIN worker AS w ON w.id = f.head_id",
        ),
    ],
)
def test_a_join_that_only_repeats_rows_is_removed(answered: Answered, sql: str, expected: str) -> None:
    assert answered(SCHEMA, "Which leased fields are there?", sql).sql == expected


@pytest.mark.parametrize(
    "question",
    ["Which leased fields have a rotation?", "Which leased fields were ever sown?", "Leased fields with some crops"],
)
def test_a_table_that_the_question_means_stays(answered: Answered, question: str) -> None:
    assert answered(SCHEMA, question, LEASED).sql == LEASED


@pytest.mark.parametrize(
    "sql",
    [
        LEASED.replace("JOIN", "LEFT JOIN"),
        LEASED + " AND T2.crop = 'rye'",
        LEASED.replace("rotation", "treatment"),  # two of the fields have none: the question may be about that
        "SELECT f.site, COUNT(f.id) FROM field AS f JOIN rotation AS r ON r.field_id = f.id GROUP BY f.site",
        "SELECT f.label FROM field AS f JOIN rotation AS r ON r.field_id = f.id GROUP BY f.id HAVING COUNT(f.id) > 1",
        "SELECT f.label FROM field AS f JOIN pasture AS p ON p.id = f.id",  # one row each: nothing is repeated
        "SELECT w.name FROM worker AS w JOIN field AS f ON f.head_id = w.id WHERE w.id IN (SELECT 1)",
    ],
)
def test_other_queries_stay(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "Which ones are there?", sql).sql == sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # The price of each thing that was sold, not of each thing.
        ("What is our total income?", "SELECT SUM(p.price) FROM product AS p JOIN receipt AS r ON r.product_id = p.id"),
        ("What is the mean?", "SELECT AVG(p.price) FROM receipt AS r JOIN product AS p ON r.product_id = p.id"),
        ("Everything sold, in a list", "SELECT p.title FROM receipt AS r JOIN product AS p ON r.product_id = p.id"),
    ],
)
def test_rows_that_are_added_up_or_sold_stay(answered: Answered, question: str, sql: str) -> None:
    kiosk = """
    CREATE TABLE product (id INTEGER PRIMARY KEY, title TEXT, price REAL);
    CREATE TABLE receipt (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product);
    INSERT INTO product VALUES (1, 'Tea', 2), (2, 'Cake', 3);
    INSERT INTO receipt VALUES (1, 1), (2, 2), (3, 2);
    """
    assert answered(kiosk, question, sql).sql == sql


FORK = "FROM rotation AS r JOIN field AS f ON r.field_id = f.id JOIN treatment AS t ON t.field_id = f.id"


@pytest.mark.parametrize(
    ("joins", "expected"),
    [
        (FORK, "FROM field AS f JOIN treatment AS t ON t.field_id = f.id"),
        (
            "FROM treatment AS t JOIN field AS f ON t.field_id = f.id JOIN rotation AS r ON r.field_id = f.id",
            "FROM treatment AS t JOIN field AS f ON t.field_id = f.id",
        ),
    ],
)
def test_events_are_not_multiplied_by_other_events(answered: Answered, joins: str, expected: str) -> None:
    found = answered(
        SCHEMA, "How many treatments did each worker do?", f"SELECT t.worker_id, COUNT(*) {joins} GROUP BY 1"
    )
    assert found.sql == f"SELECT t.worker_id, COUNT(*) {expected} GROUP BY 1"


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many treatments did fields with a rotation have?", f"SELECT t.worker_id, COUNT(*) {FORK} GROUP BY 1"),
        ("What was done on the hill?", f"SELECT COUNT(*) {FORK} WHERE f.site = 'Hill'"),
        ("How many were treated?", f"SELECT COUNT(DISTINCT t.id) {FORK}"),
        (
            "What was done in places that were inspected?",
            f"SELECT t.worker_id, COUNT(t.id) {FORK.replace('rotation', 'audit')} GROUP BY 1",
        ),
        ("How many treatments of rye?", f"SELECT COUNT(*) {FORK} WHERE r.crop = 'rye'"),
    ],
)
def test_events_that_are_meant_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

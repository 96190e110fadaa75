"""The direction of an order by days, on the rentals of a car rental."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE rental (id INTEGER PRIMARY KEY, number TEXT, customer TEXT, due_at TIMESTAMP, days INTEGER);
CREATE TABLE vet (id INTEGER PRIMARY KEY, surname TEXT, started DATE, born DATE);
INSERT INTO rental VALUES (1, 'R1', 'Ann', '2024-12-07 10:00:00', 3), (2, 'R2', 'Ben', '2024-12-31 10:00:00', 9),
    (3, 'R3', 'Ann', '2024-12-15 10:00:00', 5);
INSERT INTO vet VALUES (1, 'Ash', '2010-01-01', '1990-01-01'), (2, 'Bly', '2015-01-01', '1970-01-01');
"""


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Overdue rentals, longest overdue at the top",
            "SELECT number, due_at FROM rental ORDER BY due_at DESC",
            "SELECT number, due_at FROM rental ORDER BY due_at ASC",
        ),
        (
            "Rentals with their due dates, soonest first",
            "SELECT number, due_at FROM rental ORDER BY due_at DESC",
            "SELECT number, due_at FROM rental ORDER BY due_at ASC",
        ),
        (
            "Rentals by customer, most recent due date first",
            "SELECT customer, due_at FROM rental ORDER BY customer, due_at",
            "SELECT customer, due_at FROM rental ORDER BY customer, due_at DESC",
        ),
        (
            "The latest due date of each customer, latest first",
            "SELECT customer, MAX(due_at) FROM rental GROUP BY customer ORDER BY MAX(due_at)",
            "SELECT customer, MAX(due_at) FROM rental GROUP BY customer ORDER BY MAX(due_at) DESC",
        ),
        (
            "Our vets, longest-serving first",
            "SELECT surname FROM vet ORDER BY started DESC",
            "SELECT surname FROM vet ORDER BY started ASC",
        ),
        (
            "Vets with their date of birth, youngest first",
            "SELECT surname, born FROM vet ORDER BY born",
            "SELECT surname, born FROM vet ORDER BY born DESC",
        ),
    ],
)
def test_it_is_turned(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Rentals, longest overdue first", "SELECT number, days FROM rental ORDER BY days DESC"),
        ("Rentals, longest first", "SELECT number, due_at FROM rental ORDER BY due_at DESC"),
        ("Vets, newest first, then oldest first", "SELECT surname FROM vet ORDER BY started"),
        ("Vets with the latest first name", "SELECT surname FROM vet ORDER BY started"),
        ("Vets, newest first", "SELECT surname FROM vet ORDER BY started, born"),
        ("Who was born earliest?", "SELECT surname FROM vet ORDER BY born DESC"),
    ],
)
def test_it_stays(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""The day of a row that the question names, on the contracts of a supplier."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE contract (id INTEGER PRIMARY KEY, customer INT, SignDate DATE, StartDate DATE, EndDate DATE, PayDate DATE);
INSERT INTO contract VALUES (1, 1, '2023-12-20', '2024-01-01', NULL, '2023-12-30'),
    (2, 2, '2024-03-02', '2024-04-01', '2025-03-31', NULL), (3, 2, '2024-12-02', '2025-01-01', NULL, '2025-01-01'),
    (4, 3, '2024-12-03', '2025-01-01', NULL, '2025-01-01');
CREATE TABLE orders (id INTEGER PRIMARY KEY, order_date DATE, shipped_at DATE);
INSERT INTO orders VALUES (1, '2024-01-02', '2024-01-04'), (2, '2023-12-30', '2024-01-02'), (3, '2024-05-02', NULL);
"""
STARTED = "SELECT COUNT(*) FROM contract WHERE StartDate >= '2024-01-01' AND StartDate < '2025-01-01'"


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("How many contracts were signed in 2024?", "SignDate"),
        ("How many contracts were paid in the first half of 2024?", "PayDate"),
        ("Number of contracts signed between January and December 2024", "SignDate"),
    ],
)
def test_the_verb_names_the_day(answered: Answered, question: str, day: str) -> None:
    assert f"{day} >= '2024-01-01'" in answered(SCHEMA, question, STARTED).sql


def test_a_noun_names_the_day(answered: Answered) -> None:
    sql = "SELECT COUNT(*) FROM orders WHERE shipped_at BETWEEN '2024-01-01' AND '2024-01-31'"
    answer = answered(SCHEMA, "How many orders were there in January 2024?", sql)
    assert answer.sql == "SELECT COUNT(*) FROM orders WHERE order_date BETWEEN '2024-01-01' AND '2024-01-31'"


@pytest.mark.parametrize(
    "question",
    [
        "How many contracts started in 2024?",
        "How many contracts that start in 2024 were signed before 2026?",
        "How many contracts were agreed in 2024?",
        "How many contracts were there in 2024?",
    ],
)
def test_other_days_stay(answered: Answered, question: str) -> None:
    assert answered(SCHEMA, question, STARTED).sql == STARTED


VISITS = """
CREATE TABLE appointment (id INTEGER PRIMARY KEY, practice INTEGER, booked_on DATE, appointment_date DATE, state TEXT);
INSERT INTO appointment VALUES (1, 1, '2023-12-20', '2024-01-05', 'kept'), (2, 1, '2024-12-20', '2025-01-05', 'kept'),
    (3, 2, '2024-12-21', '2025-01-06', 'kept');
"""


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("How many appointments did each practice have in 2024?", "appointment_date"),
        ("Number of appointments month by month for 2024", "appointment_date"),
        ("How many appointments did each practice book in 2024?", "booked_on"),
    ],
)
def test_the_day_of_what_is_counted(answered: Answered, question: str, day: str) -> None:
    year = "BETWEEN '2024-01-01' AND '2024-12-31'"
    sql = f"SELECT practice, COUNT(*) FROM appointment WHERE booked_on {year} GROUP BY practice"
    assert f" {day} BETWEEN" in answered(VISITS, question, sql).sql

"""Numbers that a question limits by, on the rooms of a hotel."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.wants import limits

SCHEMA = """
CREATE TABLE room (id INTEGER PRIMARY KEY, floor INTEGER, beds INTEGER, price REAL, built INTEGER, price_cents INTEGER);
INSERT INTO room VALUES (1, 1, 1, 80.0, 1990, 8000), (2, 1, 2, 100.0, 2000, 10000), (3, 1, 2, 120.0, 2001, 12000),
    (4, 2, 3, 100.0, 2000, 10000), (5, 2, 3, 150.0, 2010, 15000), (6, 3, 2, 99.5, 2010, 9950);
"""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Rooms with at least two beds", {2.0: ">="}),
        ("Rooms that cost no less than $1,200.50", {1200.5: ">="}),
        ("Rooms for 3 people or more", {3.0: ">="}),
        ("Rooms for 3 or more", {3.0: ">="}),
        ("Rooms built since 2000", {2000.0: ">="}),
        ("Rooms with at most 2 beds", {2.0: "<="}),
        ("Rooms with no more than 2 beds", {2.0: "<="}),
        ("Rooms of 100 or less", {100.0: "<="}),
        ("Rooms over 100 or under 50", {100.0: ">", 50.0: "<"}),
        ("Guests older than ten", {10.0: ">"}),
        ("Rooms built after 2000 and before 2010", {2000.0: ">", 2010.0: "<"}),
        ("More than 3 beds, at least 3 beds", {}),
        ("Rooms that do not cost more than 100", {100.0: ">"}),
        ("Not later than 2010", {}),
        ("After 3 days", {}),
        ("Stays after 2024-01-05", {}),
        ("Rooms above the second floor", {}),
        ("Version over 1.2.3", {}),
    ],
)
def test_limits_are_read(question: str, said: dict[float, str]) -> None:
    assert limits(question) == said


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Floors with at least two rooms",
            "SELECT floor FROM room GROUP BY floor HAVING COUNT(*) > 2",
            "SELECT floor FROM room GROUP BY floor HAVING COUNT(*) >= 2",
        ),
        (
            "How many rooms cost more than 100?",
            "SELECT COUNT(*) FROM room WHERE price >= 100",
            "SELECT COUNT(*) FROM room WHERE price > 100",
        ),
        (
            "How many rooms cost more than 100?",
            "SELECT COUNT(*) FROM room WHERE 100 <= price",
            "SELECT COUNT(*) FROM room WHERE 100 < price",
        ),
        (
            "Ids of rooms built after 2000 and before 2010",
            "SELECT id FROM room WHERE built >= 2000 AND built <= 2010",
            "SELECT id FROM room WHERE built > 2000 AND built < 2010",
        ),
        (
            "How many rooms cost more than 150?",
            "SELECT id FROM room WHERE price >= 150",
            "SELECT id FROM room WHERE price > 150",
        ),
        (
            "Which floors have no room with two or more beds?",
            "SELECT DISTINCT floor FROM room WHERE NOT floor IN (SELECT floor FROM room WHERE beds > 2)",
            "SELECT DISTINCT floor FROM room WHERE NOT floor IN (SELECT floor FROM room WHERE beds >= 2)",
        ),
    ],
)
def test_the_number_is_included_or_left_out(answered: Answered, question: str, sql: str, expected: str) -> None:
    answer = answered(SCHEMA, question, sql)
    assert answer.sql == expected
    assert "the question asks for" in str(answer.candidates)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many rooms cost more than 100?", "SELECT COUNT(*) FROM room WHERE price > 100"),
        ("How many rooms do not cost more than 100?", "SELECT COUNT(*) FROM room WHERE price <= 100"),
        ("How many rooms cost at least 100?", "SELECT COUNT(*) FROM room WHERE NOT price < 100"),
        ("How many rooms cost at least 100?", "SELECT COUNT(*) FROM room WHERE price BETWEEN 100 AND 120"),
        (
            "Ids of rooms of at least 2 beds on floors above 1",
            "SELECT id FROM room WHERE beds >= 2 AND floor > 1",
        ),
        (
            "Rooms with at least 2 beds on floors with more than 1 room: id",
            "SELECT id FROM room WHERE beds > 1 AND floor IN (SELECT floor FROM room GROUP BY 1 HAVING 1 < COUNT(*))",
        ),
        ("Ids of rooms whose price is over 100", "SELECT id FROM room WHERE price > 99"),
    ],
)
def test_other_comparisons_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

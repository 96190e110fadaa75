"""Quarters and halves of a year that a question names, on the calls of a service."""

from __future__ import annotations

from datetime import date

import pytest

from answered import Answered
from sqljury.language.times import part_of_year

SCHEMA = """
CREATE TABLE call (id INTEGER PRIMARY KEY, made_on DATE, ended_on DATE);
INSERT INTO call VALUES (1, '2024-02-01', '2024-02-01'), (2, '2024-06-15', '2024-06-15'),
    (3, '2024-10-03', '2024-10-03'), (6, '2024-09-10', '2024-09-10'), (4, '2024-12-31', '2024-12-31'),
    (5, '2025-01-01', '2025-01-01');
"""
COUNT = "SELECT COUNT(*) FROM call WHERE {}"
LAST = COUNT.format("made_on >= '2024-10-01' AND made_on < '2025-01-01'")


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("Calls in the last quarter of 2024", date(2024, 10, 1), date(2024, 12, 31)),
        ("Calls in the second half of 2024", date(2024, 7, 1), date(2024, 12, 31)),
        ("Calls in Q1 2024", date(2024, 1, 1), date(2024, 3, 31)),
        ("2024-Q2 calls", date(2024, 4, 1), date(2024, 6, 30)),
        ("H1 of 2023", date(2023, 1, 1), date(2023, 6, 30)),
    ],
)
def test_parts_are_read(question: str, first: date, last: date) -> None:
    assert part_of_year(question) == (first, last)


@pytest.mark.parametrize(
    "question",
    [
        "Calls of 2024",
        "Q1 2024 against Q2 2024",
        "Calls in Q1 and Q2 2024",
        "Calls in Q1-Q2 2024",
        "Calls in the first and second quarter of 2024",
        "Calls in the first, second and the third quarter of 2024",
        "Calls before Q3 2024",
        "Calls since the second half of 2024",
        "Calls from Q3 2024 onwards",
        "Calls of Q3 2024 or later",
        "Calls outside of Q3 2024",
        "Calls at the end of Q3 2024",
        "Calls in fiscal Q1 2024",
        "Calls in Q1 2024. The financial year begins in April.",
        "The first quarter of 2024 and all of 2023",
        "H3 2024",
        "Last quarter",
    ],
)
def test_other_times_are_no_part(question: str) -> None:
    assert part_of_year(question) is None


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("made_on >= '2024-01-01' AND made_on < '2024-04-01'", LAST),
        ("made_on > '2024-09-01' AND made_on <= '2024-12-31'", LAST),
        (
            "made_on BETWEEN '2024-09-01' AND '2024-12-31'",
            COUNT.format("(made_on >= '2024-10-01' AND made_on < '2025-01-01')"),
        ),
    ],
)
def test_the_days_of_the_part_are_compared(answered: Answered, condition: str, expected: str) -> None:
    question = "How many calls in the last quarter of 2024?"
    assert answered(SCHEMA, question, COUNT.format(condition)).sql == expected


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("How many calls in the last quarter of 2024?", "made_on BETWEEN '2024-10-01' AND '2024-12-31'"),
        ("How many calls in the last quarter of 2024?", "made_on >= '2024-01-01'"),
        ("How many calls in the last quarter of 2024?", "made_on >= '2024-01-01' AND ended_on < '2024-04-01'"),
        ("Q4 2024, how many?", "NOT (made_on >= '2024-01-01' AND made_on < '2024-07-01')"),
    ],
)
def test_other_days_stay(answered: Answered, question: str, condition: str) -> None:
    assert answered(SCHEMA, question, COUNT.format(condition)).sql == COUNT.format(condition)

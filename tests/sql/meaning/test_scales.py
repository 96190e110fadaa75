"""Numbers in thousands and millions, on the budgets of a foundation."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE programme (id INTEGER PRIMARY KEY, name TEXT, budget REAL, budget_mn REAL);
INSERT INTO programme VALUES (1, 'Arts', 900000, 0.9), (2, 'Youth', 2000000, 2), (3, 'Health', 20000000, 20);
"""


@pytest.mark.parametrize(
    ("question", "written", "expected"),
    [
        ("Programmes with more than 1.5 million to spend", "budget > 15000000", "budget > 1500000"),
        ("Programmes with a budget over 1.5m or 1.5 million", "budget > 1.5", "budget > 1500000"),
        ("Programmes with at most 950k", "budget <= 95000", "budget <= 950000"),
        ("Programmes with over 3 million", "budget > 3000", "budget > 3000000"),
        ("Programmes with over 1,500 thousand", "budget > 1500", "budget > 1500000"),
        ("Programmes with over 1,5 million", "budget > 15000000", "budget > 1500000"),
    ],
)
def test_the_number_of_the_question(answered: Answered, question: str, written: str, expected: str) -> None:
    answer = answered(SCHEMA, question, f"SELECT name FROM programme WHERE {written}")
    assert answer.sql == f"SELECT name FROM programme WHERE {expected}"


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Programmes with more than 1.5 million", "budget_mn > 1.5"),
        ("Programmes with more than 1.5 million", "budget > 1500000"),
        ("Programmes with 1 million to 2 million", "budget > 100000"),
        ("Programmes with more than 1.5 million", "budget > 1600"),
        ("Programmes with more than 1,500 million", "budget > 1500000000"),
        ("Programmes with more than 1.500 million", "budget > 150000000"),  # a point, or thousands
    ],
)
def test_other_numbers_stay(answered: Answered, question: str, condition: str) -> None:
    sql = f"SELECT name FROM programme WHERE {condition}"
    assert answered(SCHEMA, question, sql).sql == sql

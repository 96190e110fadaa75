"""All quarters or months of a year that a question names, on the payments of an office."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.times import year_in_parts

SCHEMA = """
CREATE TABLE payment (id INTEGER PRIMARY KEY, paid_on DATE, due_on DATE, amount INTEGER);
INSERT INTO payment VALUES (1, '2024-02-01', '2024-02-01', 10), (2, '2024-06-15', '2024-06-15', 20),
    (3, '2024-10-03', '2024-10-03', 30), (4, '2024-12-31', '2024-12-31', 40), (5, '2025-01-01', '2025-01-01', 50);
"""
MONTHS = "SELECT STRFTIME('%Y-%m', paid_on), SUM(amount) FROM payment WHERE {} GROUP BY STRFTIME('%Y-%m', paid_on)"
QUARTER = "(CAST(STRFTIME('%m', paid_on) AS INTEGER) + 2) / 3"
QUARTERS = f"SELECT {QUARTER} AS quarter, SUM(amount) FROM payment WHERE {{}} GROUP BY quarter"
WHOLE = "paid_on >= '2024-01-01' AND paid_on < '2025-01-01'"
FIRST = "paid_on >= '2024-01-01' AND paid_on < '2024-04-01'"


@pytest.mark.parametrize(
    "question",
    [
        "Payments per quarter of 2024",
        "What was paid for each month of 2024?",
        "month by month for 2024, what was paid",
        "Payments by quarter in 2024",
        "Monthly payments in 2024",
    ],
)
def test_a_year_in_parts_is_read(question: str) -> None:
    assert year_in_parts(question) == 2024


@pytest.mark.parametrize(
    "question",
    [
        "Payments of 2024",
        "Payments per month",
        "Payments per month in the first quarter of 2024",
        "Payments per month of 2024 and 2023",
        "Payments by month for the first six months of 2024",
        "Monthly payments since May 2024",
        "Payments per month of 2024 so far",
        "Payments per month in the summer of 2024",
    ],
)
def test_other_times_are_not_a_year_in_parts(question: str) -> None:
    assert year_in_parts(question) is None


@pytest.mark.parametrize(
    ("question", "query", "condition", "expected"),
    [
        ("How much was paid per quarter of 2024?", QUARTERS, FIRST, WHOLE),
        ("How much was paid month by month for 2024?", MONTHS, FIRST, WHOLE),
        (
            "How much was paid in each month of 2024?",
            MONTHS,
            "paid_on BETWEEN '2024-01-01' AND '2024-06-30' AND amount > 5",
            f"({WHOLE}) AND amount > 5",
        ),
    ],
)
def test_the_whole_year_is_taken(answered: Answered, question: str, query: str, condition: str, expected: str) -> None:
    assert answered(SCHEMA, question, query.format(condition)).sql == query.format(expected)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How much was paid per month in the first half of 2024?", MONTHS.format(FIRST.replace("04", "07"))),
        ("How much was paid per month of 2024?", MONTHS.format(FIRST.replace("AND paid_on", "AND due_on"))),
        ("How much was paid per month of 2025?", MONTHS.format(FIRST)),
        ("How much was paid per month of 2024?", f"SELECT SUM(amount) FROM payment WHERE {FIRST}"),
        ("How much was paid per month of 2024?", MONTHS.format(f"NOT ({FIRST})")),
        ("How much was paid per month of 2024?", MONTHS.format(f"{FIRST} OR amount > 15")),
    ],
)
def test_other_days_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("What was paid in 2024?", "paid_on BETWEEN '2024-04-01' AND '2024-10-31'"),
        ("What was paid during 2024?", "paid_on >= '2024-06-01' AND paid_on < '2024-07-01'"),
        ("Last names and payments of 2024", "paid_on >= '2024-06-01' AND paid_on <= '2024-06-30'"),
    ],
)
def test_a_part_of_the_named_year_is_the_whole(answered: Answered, question: str, condition: str) -> None:
    answer = answered(SCHEMA, question, f"SELECT SUM(amount) FROM payment WHERE {condition}")
    assert answer.rows == ((100,),), answer.sql


@pytest.mark.parametrize(
    "question",
    [
        "What was paid in late 2024?",
        "What was paid towards the end of 2024?",
        "What was paid in the last months of 2024?",
        "What was paid at Pentecost in 2024?",
        "What was paid in 2024 after the change in June?",
        "Was wurde im März 2024 bezahlt?",
        "What was paid between 2024 and 2025?",
    ],
)
def test_a_part_that_the_question_may_name_stays(answered: Answered, question: str) -> None:
    sql = "SELECT SUM(amount) FROM payment WHERE paid_on >= '2024-06-01' AND paid_on < '2024-12-01'"
    assert answered(SCHEMA, question, sql).rows in (((50,),), ((90,),))

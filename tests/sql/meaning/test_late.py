"""What was late, and quarters of a year, on the loans of a library."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE loan (id INTEGER PRIMARY KEY, lent_on DATE, due_on DATE, returned_on DATE, fee REAL);
INSERT INTO loan VALUES (1, '2024-01-02', '2024-01-16', '2024-01-20', 2), (2, '2024-02-02', '2024-02-16', '2024-02-10',
    0), (3, '2024-05-02', '2024-05-16', '2024-05-15', 0), (4, '2024-08-02', '2024-08-16', NULL, 0);
"""
EARLY = "SELECT COUNT(*) FROM loan WHERE returned_on < due_on"
LATE = "SELECT COUNT(*) FROM loan WHERE returned_on > due_on"


@pytest.mark.parametrize("question", ["How many books came back late?", "How many loans were returned too late?"])
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (EARLY, LATE),
        (
            "SELECT COUNT(*) FROM loan WHERE due_on >= returned_on",
            "SELECT COUNT(*) FROM loan WHERE due_on < returned_on",
        ),
    ],
)
def test_late_is_after_the_day_that_was_planned(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many books came back late?", LATE),
        ("How many books did not come back late?", EARLY),
        ("How many books came back on time, none of them late?", EARLY),
        ("How many late fees were there before the due day?", EARLY),
        ("How many books lent late in 2024 came back when they should?", EARLY),
        ("How many books came back late?", "SELECT COUNT(*) FROM loan WHERE lent_on < returned_on"),
        ("How many books came back late?", "SELECT COUNT(*) FROM loan WHERE NOT returned_on < due_on"),
    ],
)
def test_other_comparisons_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


@pytest.mark.parametrize(
    ("question", "form", "expected"),
    [
        ("How many loans in each quarter?", "%Y-%m", {"2024-Q1": 2, "2024-Q2": 1, "2024-Q3": 1}),
        ("Quarterly number of loans", "%m", {1: 2, 2: 1, 3: 1}),
        ("How many loans per quarter of 2024?", "%Y-%Q", {"2024-Q1": 2, "2024-Q2": 1, "2024-Q3": 1}),
        ("How many loans per quarter of 2024?", "%q", {1: 2, 2: 1, 3: 1}),
    ],
)
def test_quarters_are_computed(answered: Answered, question: str, form: str, expected: dict[object, int]) -> None:
    sql = f"SELECT STRFTIME('{form}', lent_on), COUNT(*) FROM loan GROUP BY STRFTIME('{form}', lent_on)"
    assert dict(answered(SCHEMA, question, sql).rows) == expected


@pytest.mark.parametrize(
    "question", ["How many loans in each month?", "Per quarter and month, how many?", "How many in the first quarter?"]
)
def test_months_stay(answered: Answered, question: str) -> None:
    sql = "SELECT STRFTIME('%Y-%m', lent_on), COUNT(*) FROM loan GROUP BY STRFTIME('%Y-%m', lent_on)"
    assert answered(SCHEMA, question, sql).sql == sql


def test_quarters_that_are_computed_stay(answered: Answered) -> None:
    quarter = "(CAST(STRFTIME('%m', lent_on) AS INTEGER) + 2) / 3"
    sql = f"SELECT {quarter}, COUNT(*) FROM loan GROUP BY {quarter}"
    assert answered(SCHEMA, "How many loans in each quarter?", sql).sql == sql

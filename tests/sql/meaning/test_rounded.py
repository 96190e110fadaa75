"""Decimals and units that a question names, on calls of ships at a port."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE berth (id INTEGER PRIMARY KEY, code TEXT);
CREATE TABLE call (id INTEGER PRIMARY KEY, berth_id INTEGER REFERENCES berth, arrived TEXT, berthed TEXT, fee NUMERIC);
INSERT INTO berth VALUES (1, 'N1'), (2, 'N2');
INSERT INTO call VALUES (1, 1, '2024-03-01 06:00', '2024-03-01 13:20', 10.55),
 (2, 1, '2024-04-01 06:00', '2024-04-01 07:00', 20.333), (3, 2, '2024-05-01 06:00', '2024-05-01 16:10', 7.125);
"""
FEES = "SELECT berth_id, MIN(fee), AVG(fee) FROM call GROUP BY berth_id"
WAITS = "SELECT AVG(JULIANDAY(berthed) - JULIANDAY(arrived)) FROM call"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "The lowest and the average fee of each berth, the average to two decimals",
            FEES,
            "SELECT berth_id, MIN(fee), ROUND(AVG(fee), 2) FROM call GROUP BY berth_id",
        ),
        (
            "Average fee per berth, rounded to whole euros",
            FEES,
            "SELECT berth_id, MIN(fee), ROUND(AVG(fee)) FROM call GROUP BY berth_id",
        ),
        ("All fees together, to the cent", "SELECT SUM(fee) FROM call", "SELECT ROUND(SUM(fee), 2) FROM call"),
        (
            "What percentage of the calls cost more than 10, with 1 decimal?",
            "SELECT CAST(SUM(fee > 10) AS REAL) * 100 / COUNT(*) FROM call",
            "SELECT ROUND(CAST(SUM(fee > 10) AS REAL) * 100 / COUNT(*), 1) FROM call",
        ),
        (
            "Average waiting time in hours, one decimal",
            WAITS,
            "SELECT ROUND(AVG((JULIANDAY(berthed) - JULIANDAY(arrived)) * 24), 1) FROM call",
        ),
        (
            "How many minutes do ships wait on average?",
            WAITS,
            "SELECT AVG((JULIANDAY(berthed) - JULIANDAY(arrived)) * 1440) FROM call",
        ),
    ],
)
def test_numbers_have_the_decimals_and_the_unit_of_the_question(
    answered: Answered, question: str, sql: str, expected: str
) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("The average fee of each berth", FEES),
        ("The average fee to one decimal, and the lowest to two decimals", FEES),
        ("The average fee rounded down to whole euros", FEES),
        ("The average fee to two decimals", "SELECT ROUND(AVG(fee), 1) FROM call"),
        ("The average fee to two decimals", "SELECT PRINTF('%.2f', AVG(fee)) FROM call"),
        ("The average fee to two decimals", "SELECT CAST(AVG(fee) AS INTEGER) FROM call"),
        ("How many calls had a fee with two decimals?", "SELECT COUNT(*) FROM call WHERE fee > 1"),
        ("How many days do ships wait that wait for hours?", WAITS),
        ("Average waiting time in hours", WAITS.replace("arrived))", "arrived)) * 24.0")),
    ],
)
def test_other_digits_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

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
ENOUGH = "SUM(fee) > (SELECT MIN(code) FROM berth WHERE code = 'x') OR SUM(fee) > 9"
RANKS = "SELECT berth_id, RANK() OVER (ORDER BY AVG(fee)) FROM call GROUP BY berth_id"
WITHIN = "SELECT SUM(CASE WHEN JULIANDAY(berthed) - JULIANDAY(arrived) <= 2 THEN 1 ELSE 0 END) FROM call"


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
        (
            "Average fee of each berth, rounded to the nearest tenth",
            FEES,
            "SELECT berth_id, MIN(fee), ROUND(AVG(fee), 1) FROM call GROUP BY berth_id",
        ),
        (
            "Average fee of each berth to the nearest hundredth of a euro",
            FEES,
            "SELECT berth_id, MIN(fee), ROUND(AVG(fee), 2) FROM call GROUP BY berth_id",
        ),
        (
            "Average fee of each berth, rounded to the nearest cent",
            FEES,
            "SELECT berth_id, MIN(fee), ROUND(AVG(fee), 2) FROM call GROUP BY berth_id",
        ),
        (
            "Average fee of each berth, rounded to the nearest euro",
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
            "The berth with the highest average fee, to no decimals",
            "SELECT berth_id, AVG(fee) AS mean FROM call GROUP BY berth_id ORDER BY mean DESC LIMIT 1",
            "SELECT berth_id, ROUND(AVG(fee)) AS mean FROM call GROUP BY berth_id ORDER BY AVG(fee) DESC LIMIT 1",
        ),
        (
            "Average fee per berth to no decimals, highest first, where it is more than 7",
            "SELECT berth_id, AVG(fee) AS mean FROM call GROUP BY berth_id HAVING mean > 7 ORDER BY 2 DESC",
            "SELECT berth_id, ROUND(AVG(fee)) AS mean FROM call GROUP BY berth_id HAVING AVG(fee) > 7 "
            "ORDER BY AVG(fee) DESC",
        ),
        (
            "Fees of berths to one decimal that are at least the average",
            f"SELECT berth_id, SUM(fee) AS code FROM call GROUP BY berth_id HAVING {ENOUGH} ORDER BY code",
            "SELECT berth_id, ROUND(SUM(fee), 1) AS code FROM call GROUP BY berth_id "
            f"HAVING {ENOUGH} ORDER BY SUM(fee)",
        ),
        (
            "How many minutes do ships wait on average at most berths?",
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
        ("The average fee, rounded to the nearest half", "SELECT AVG(fee) FROM call"),
        ("The average fee, rounded to the nearest ten", "SELECT AVG(fee) FROM call"),
        ("The average fee, rounded to the nearest hundredth of a million", "SELECT AVG(fee) FROM call"),
        ("The average fee to two decimals", "SELECT ROUND(AVG(fee), 1) FROM call"),
        ("The average fee to two decimals", "SELECT PRINTF('%.2f', AVG(fee)) FROM call"),
        ("The average fee to two decimals", "SELECT CAST(AVG(fee) AS INTEGER) FROM call"),
        ("Average fee to one decimal", "SELECT CASE WHEN AVG(fee) > 10 THEN 'dear' ELSE 'cheap' END FROM call"),
        ("Share of dear calls, one decimal", "SELECT COUNT(CASE WHEN fee / 2 > 4 THEN 1 END) FROM call"),
        ("Rank of each berth by average fee, one decimal", RANKS),
        ("Different fees per hour, to one decimal", "SELECT DISTINCT fee / 3 FROM call"),
        ("Compare the average fee of a berth to the whole port", "SELECT AVG(fee) / 2 FROM call"),
        ("The average of the fees with no decimals", "SELECT AVG(fee) FROM call WHERE fee > 1"),
        ("How many calls berthed within 48 hours?", WITHIN),
        ("Average wait in hours of calls that took more than 5 hours", WAITS),
        ("Average wait of calls outside office hours", WAITS),
        ("How many calls had a fee with two decimals?", "SELECT COUNT(*) FROM call WHERE fee > 1"),
        ("How many days do ships wait that wait for hours?", WAITS),
        ("Average waiting time in hours", WAITS.replace("arrived))", "arrived)) * 24.0")),
    ],
)
def test_other_digits_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

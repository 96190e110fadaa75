"""Limits in percent, on motions before the judges of a court and the seats of its rooms."""

from __future__ import annotations

from decimal import Decimal

import pytest

from answered import Answered
from sqljury.language.wants import percents

SCHEMA = """
CREATE TABLE motion (id INTEGER PRIMARY KEY, judge TEXT, outcome TEXT, seats INTEGER, taken INTEGER, fee_ct INTEGER,
    bill_eur INTEGER, full_pct REAL);
INSERT INTO motion VALUES (1, 'Hale', 'granted', 10, 9, 100, 2, 90.0), (2, 'Hale', 'denied', 10, 3, 100, 2, 30.0),
 (3, 'Hale', 'granted', 4, 4, 100, 2, 100.0), (4, 'Moss', 'denied', 5, 1, 100, 2, 20.0),
 (5, 'Moss', 'denied', 5, 4, 100, 2, 80.0), (6, 'Moss', 'granted', 5, 5, 100, 2, 100.0),
 (7, 'Moss', 'denied', 5, 2, 100, 2, 40.0);
"""
GRANTED = "SUM(CASE WHEN outcome = 'granted' THEN 1 ELSE 0 END)"
HAVING = "SELECT judge FROM motion GROUP BY judge HAVING "


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("fewer than 80 %", ["80"]),
        ("more than twenty percent and below 7.5 per cent", ["20", "7.5"]),
        ("a hundred percent, five percent", ["100", "5"]),
        ("more than 20 rooms, over 20 percent", []),
        ("1,000 rooms, 30-percent", ["30"]),
        ("what percent", []),
    ],
)
def test_percents_are_read(question: str, said: list[str]) -> None:
    assert percents(question) == {Decimal(number) for number in said}


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Judges who granted fewer than 60 % of the motions",
            f"{HAVING}100.0 * {GRANTED} / COUNT(*) < 0.60",
            f"{HAVING}100.0 * {GRANTED} / COUNT(*) < 60",
        ),
        (
            "Judges who granted more than 30 percent of the motions",
            f"{HAVING}{GRANTED} * 1.0 / COUNT(*) > 30",
            f"{HAVING}{GRANTED} * 1.0 / COUNT(*) > 0.3",
        ),
        (
            "Judges who granted more than 30 percent of the motions",
            f"{HAVING}30 < {GRANTED} / COUNT(*)",
            f"{HAVING}0.3 < {GRANTED} * 1.0 / COUNT(*)",
        ),
        (
            "Judges who granted more than thirty percent of the motions",
            "SELECT judge FROM (SELECT judge, AVG(outcome = 'granted') AS share FROM motion GROUP BY judge) "
            "WHERE share > 30",
            "SELECT judge FROM (SELECT judge, AVG(outcome = 'granted') AS share FROM motion GROUP BY judge) "
            "WHERE share > 0.3",
        ),
        (
            "Judges who granted more than 30 percent of the motions, with the percentage",
            f"SELECT judge, ROUND(1.0 * {GRANTED} / COUNT(*), 2) AS share FROM motion GROUP BY judge HAVING share > 30",
            f"SELECT judge, ROUND(100.0 * {GRANTED} / COUNT(*), 2) AS share FROM motion GROUP BY judge "
            f"HAVING ROUND(1.0 * {GRANTED} / COUNT(*), 2) > 0.3",
        ),
        (
            "Ids of motions where more than 80% of the seats were taken",
            "SELECT T1.id FROM motion AS T1 WHERE T1.taken / T1.seats > 80",
            "SELECT T1.id FROM motion AS T1 WHERE T1.taken * 1.0 / T1.seats > 0.8",
        ),
        (
            "Ids of motions where at least 20 percent of the seats stayed free",
            "WITH t AS (SELECT id, 100 * (1.0 * (seats - taken) / seats) AS free FROM motion) "
            "SELECT id FROM t WHERE free >= 0.2 ORDER BY id",
            "WITH t AS (SELECT id, 100 * (1.0 * (seats - taken) / seats) AS free FROM motion) "
            "SELECT id FROM t WHERE free >= 20 ORDER BY id",
        ),
    ],
)
def test_limits_have_the_scale_of_the_ratio(answered: Answered, question: str, sql: str, expected: str) -> None:
    answer = answered(SCHEMA, question, sql)
    assert answer.sql == expected
    assert "the query compared" in str(answer.candidates[0].fixes)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Judges who granted fewer than 60 % of them", f"{HAVING}100.0 * {GRANTED} / COUNT(*) < 60"),
        ("Judges who granted more than 30 percent", f"{HAVING}1.0 * {GRANTED} / COUNT(*) > 0.3"),
        ("Judges who granted more than 30 of them", f"{HAVING}1.0 * {GRANTED} / COUNT(*) > 30"),
        ("Judges of at least 2 motions who granted 2 percent", f"{HAVING}1.0 * {GRANTED} / COUNT(*) > 2"),
        ("Judges who granted 1 percent or 100 percent", f"{HAVING}100.0 * {GRANTED} / COUNT(*) > 1"),
        ("Judges whose fee is above 30 percent", f"{HAVING}1.0 * SUM(fee_ct) / COUNT(*) > 30"),
        ("Judges whose fee is above 30 percent of the bill", f"{HAVING}SUM(fee_ct) / SUM(bill_eur) > 30"),
        ("Ids with fees above 30 percent of the bill", "SELECT id FROM motion WHERE fee_ct / bill_eur > 30"),
        ("Ids that are more than 80 percent full", "SELECT id FROM motion WHERE full_pct / seats > 80"),
        ("Ids that are more than 80 percent full", "SELECT id FROM motion WHERE full_pct > 80"),
        ("Ids where 20 percent more seats were taken", "SELECT id FROM motion WHERE taken * 1.0 / seats > 20"),
        ("Ids with more than 1 % of the seats taken", "SELECT id FROM motion WHERE seats * 1.0 / taken > 1"),
    ],
)
def test_other_limits_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

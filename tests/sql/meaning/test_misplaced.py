"""Texts compared with the wrong column, on hearings of a law firm."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE matter (id INTEGER PRIMARY KEY, matter_number TEXT, practice_area TEXT);
CREATE TABLE hearing (id INTEGER PRIMARY KEY, matter_id INTEGER REFERENCES matter, hearing_type TEXT, status TEXT,
 outcome TEXT, note TEXT);
INSERT INTO matter VALUES (1, '2021-0001', 'Tax'), (2, '2021-0002', 'Family'), (3, '2022-0001', 'Tax');
INSERT INTO hearing VALUES (1, 1, 'motion', 'held', 'granted', 'scheduled twice'),
 (2, 1, 'trial', 'scheduled', NULL, NULL), (3, 2, 'motion', 'Scheduled', NULL, NULL),
 (4, 3, 'motion', 'adjourned', 'adjourned', NULL);
"""
HEARINGS = "FROM matter AS m JOIN hearing AS h ON h.matter_id = m.id"
COUNT = "SELECT COUNT(*) FROM hearing WHERE "


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("How many trials are there?", COUNT + "status = 'trial'", COUNT + "hearing_type = 'trial'"),
        ("How many trials are there?", COUNT + "status = 'Trial'", COUNT + "hearing_type = 'trial'"),
        (
            "How many were granted?",
            "SELECT SUM(CASE WHEN h.status = 'granted' THEN 1 ELSE 0 END) FROM hearing AS h",
            "SELECT SUM(CASE WHEN h.outcome = 'granted' THEN 1 ELSE 0 END) FROM hearing AS h",
        ),
        (
            "How many hearings does matter 2021-0001 have?",
            COUNT + "matter_id = '2021-0001'",
            COUNT + "matter_id IN (SELECT id FROM matter WHERE matter_number = '2021-0001')",
        ),
        (
            "How many matters are there in each practice area?",
            "SELECT a.name, COUNT(*) FROM matter AS m JOIN practice_areas AS a ON a.id = m.practice_area GROUP BY a.id",
            "SELECT m.practice_area, COUNT(*) FROM matter AS m GROUP BY m.practice_area",
        ),
        (
            "How many matters are there in each practice area?",
            "SELECT b.practice_area, COUNT(*) FROM matter AS a JOIN matter AS b ON b.id = a.practice_area "
            "GROUP BY b.id",
            "SELECT a.practice_area, COUNT(*) FROM matter AS a GROUP BY a.practice_area",
        ),
        (
            "How many hearings does each matter have?",
            f"SELECT m.matter_number, SUM(h.id) {HEARINGS} GROUP BY m.id",
            f"SELECT m.matter_number, COUNT(h.id) {HEARINGS} GROUP BY m.id",
        ),
    ],
)
def test_the_column_that_has_the_text_is_compared(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    "sql",
    [
        COUNT + "hearing_type = 'adjourned'",  # two other columns have it
        COUNT + "hearing_type = 'appeal'",  # none has it
        COUNT + "hearing_type <> 'held'",
        COUNT + "status = 'held'",
        "SELECT COUNT(*) FROM matter AS m LEFT JOIN hearing AS h ON h.matter_id = m.id AND h.hearing_type = 'held'",
    ],
)
def test_other_comparisons_stay(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "How many are there?", sql).sql == sql


PAIRS = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, billing_country TEXT, shipping_country TEXT);
INSERT INTO orders VALUES (1, 'Spain', 'Malta'), (2, 'France', 'Spain'), (3, 'Spain', 'France');
CREATE TABLE game (id INTEGER PRIMARY KEY, home_kit TEXT, away_kit TEXT);
INSERT INTO game VALUES (1, 'blue', 'red'), (2, 'white', 'blue'), (3, 'blue', 'red');
"""


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many orders have Malta as their billing country?", "orders WHERE billing_country = 'Malta'"),
        ("In how many games did both teams wear red?", "game WHERE home_kit = 'red' AND away_kit = 'red'"),
    ],
)
def test_the_column_that_is_meant_stays(answered: Answered, question: str, sql: str) -> None:
    sql = f"SELECT COUNT(*) FROM {sql}"
    assert answered(PAIRS, question, sql).sql == sql

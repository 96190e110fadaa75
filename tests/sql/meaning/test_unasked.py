"""Conditions that the question does not ask for, on the cars and fines of a car rental."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE vehicle (id INTEGER PRIMARY KEY, plate TEXT, status TEXT, km INTEGER, bought DATE);
CREATE TABLE test (id INTEGER PRIMARY KEY, name TEXT, is_abnormal INTEGER, result TEXT);
INSERT INTO test VALUES (1, 'blood', 1, 'high'), (2, 'urine', 0, 'fine'), (3, 'blood', NULL, NULL);
CREATE TABLE fine (id INTEGER PRIMARY KEY, kind TEXT, amount REAL, received DATE);
CREATE TABLE member (id INTEGER PRIMARY KEY, kind TEXT, left_on DATE);
INSERT INTO member VALUES (1, 'a', NULL), (2, 'a', '2024-01-02'), (3, 'b', NULL);
INSERT INTO vehicle VALUES (1, 'A1', 'AVAILABLE', 10, '2021-02-03'), (2, 'B2', 'SOLD', 90, '2019-05-06'),
    (3, 'C3', 'IN_REPAIR', 40, '2022-07-08');
INSERT INTO fine VALUES (1, 'SPEEDING', 30.5, '2024-01-02'), (2, 'PARKING', 20, '2024-03-04');
"""
UNSOLD = "SELECT plate FROM vehicle WHERE status <> 'SOLD'"
EARLY = "SELECT SUM(amount) FROM fine WHERE kind = 'SPEEDING' AND received < '2023-01-01'"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("Plates of all cars, including sold ones", UNSOLD, "SELECT plate FROM vehicle"),
        ("Plates of all cars, sold ones included", UNSOLD, "SELECT plate FROM vehicle"),
        (
            "The car with the most kilometres, including those in repair",
            "SELECT plate FROM vehicle WHERE status <> 'IN_REPAIR' AND km > 0 ORDER BY km",
            "SELECT plate FROM vehicle WHERE km > 0 ORDER BY km",
        ),
        (
            "How many people by kind, also those who left again?",
            "SELECT kind, COUNT(*) FROM member WHERE left_on IS NULL GROUP BY kind",
            "SELECT kind, COUNT(*) FROM member GROUP BY kind",
        ),
        (
            "How much did all speeding tickets come to in total?",
            EARLY,
            "SELECT SUM(amount) FROM fine WHERE kind = 'SPEEDING'",
        ),
        (
            "How much did speeding tickets come to before admin fees?",
            EARLY,
            "SELECT SUM(amount) FROM fine WHERE kind = 'SPEEDING'",
        ),
        (
            "The sum of all fines for parking",
            "SELECT SUM(amount) FROM fine WHERE received BETWEEN '2023-01-01' AND '2023-12-31'",
            "SELECT SUM(amount) FROM fine",
        ),
    ],
)
def test_it_is_removed(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Plates of all cars, not including sold ones", UNSOLD),
        ("Plates of all cars without including sold ones", UNSOLD),
        ("Plates of the cars, including their kilometres, of those not sold", UNSOLD),
        ("Plates of the cars that we have, including the available ones", UNSOLD),
        ("How much did speeding tickets come to before 2023?", EARLY),
        ("How much did old speeding tickets come to?", EARLY),
        ("How much did speeding tickets come to two years ago?", EARLY),
        ("How much did expired speeding tickets come to?", EARLY),
        ("What did speeding cost us up to the end of December?", EARLY),
        ("Fines that are not yet paid for speeding", EARLY),
        ("How much did speeding tickets of the nineties come to?", EARLY),
        ("How much did speeding tickets of teenagers come to?", EARLY),
        ("How much did speeding tickets of adults come to?", EARLY),
        ("How much did the speeding tickets of people aged eighteen come to?", EARLY),
        ("How much did speeding tickets come to before the war?", EARLY),
        ("Combien ont coûté les amendes pour excès de vitesse avant l'an deux mille ?", EARLY),
        ("Was kosteten alle Bußgelder wegen zu schnellen Fahrens vor der Jahrtausendwende?", EARLY),
        ("Kinds, and also when they left", "SELECT kind FROM member WHERE left_on IS NULL"),
        ("Kinds, but not including those who left", "SELECT kind FROM member WHERE left_on IS NULL"),
        ("How many abnormal tests wait?", "SELECT COUNT(*) FROM test WHERE is_abnormal = 1 AND result IS NULL"),
        ("How many tests of stool are fine?", "SELECT COUNT(*) FROM test WHERE name = 'stool' AND result = 'fine'"),
        ("Tests with their results", "SELECT name, result FROM test WHERE is_abnormal = 0"),
    ],
)
def test_it_stays(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

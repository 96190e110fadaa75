"""Larger units than those of columns, on the weighings of a waste collector."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE weighing (id INTEGER PRIMARY KEY, material TEXT, net_kg INTEGER, height_cm INTEGER, wait_minutes INTEGER,
  second TEXT, price REAL);
INSERT INTO weighing VALUES (1, 'paper', 2500, 150, 30, 'a', 1.5), (2, 'paper', 4100, 320, 90, 'b', 2.5),
  (3, 'glass', 900, 210, 15, 'c', 4.5);
"""
TOTALS = "SELECT material, SUM(net_kg) FROM weighing GROUP BY material"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "How many tonnes were weighed?",
            "SELECT SUM(net_kg) FROM weighing",
            "SELECT SUM(net_kg) / 1000.0 FROM weighing",
        ),
        (
            "Tonnes by material, most first",
            "SELECT material, SUM(net_kg) AS total FROM weighing GROUP BY material ORDER BY total DESC",
            "SELECT material, SUM(net_kg) / 1000.0 AS total FROM weighing GROUP BY material ORDER BY total DESC",
        ),
        (
            "Loads of more than two metres: number and height in centimetres",
            "SELECT id, height_cm FROM weighing WHERE height_cm > 2",
            "SELECT id, height_cm FROM weighing WHERE height_cm > 200",
        ),
        (
            "Average wait in hours, for loads over 2 tonnes",
            "SELECT AVG(wait_minutes) FROM weighing WHERE net_kg > 2",
            "SELECT AVG(wait_minutes) / 60.0 FROM weighing WHERE net_kg > 2000",
        ),
    ],
)
def test_figures_are_in_the_unit_of_the_question(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Weight of each material in kilos, and the price per tonne", TOTALS),
        ("Materials with over 3 tonnes: weight", TOTALS),
        ("How many tonnes of each material?", TOTALS.replace("SUM(net_kg)", "SUM(net_kg) / 1000")),
        ("How many tonnes of each material?", TOTALS.replace("SUM(net_kg)", "SUM(net_kg) * 0.001")),
        ("How many tonnes of each material?", TOTALS.replace("SUM(net_kg)", "SUM(net_kg) AS total_kg")),
        ("How many tonnes of each material, if over 500?", f"{TOTALS.replace('FROM', 'AS n FROM')} HAVING n > 500"),
        ("Waiting times within opening hours", "SELECT wait_minutes FROM weighing"),
        ("How many minutes?", "SELECT second FROM weighing"),
        ("Average wait by arrival hour", "SELECT AVG(wait_minutes) FROM weighing"),
        ("What are the min and max wait of gender M?", "SELECT MIN(wait_minutes), MAX(height_cm) FROM weighing"),
        ("The meters with their height", "SELECT height_cm FROM weighing"),
        ("How many tonnes, and how much net?", "SELECT SUM(t), SUM(net_kg) FROM (SELECT 1 AS t), weighing"),
        ("How many tonnes, at what price?", "SELECT price FROM weighing"),
    ],
)
def test_other_figures_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""Durations that are computed from the end to the beginning, on the stays and the repairs of a hotel."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE stay (id INTEGER PRIMARY KEY, hotel_id INTEGER, came_on TEXT, left_on TEXT, due_on TEXT, paid_on TEXT);
CREATE TABLE hotel (id INTEGER PRIMARY KEY, name TEXT, opened_on TEXT);
INSERT INTO hotel VALUES (1, 'Quay', '2001-01-01'), (2, 'Park', '2002-02-02');
INSERT INTO stay VALUES
    (1, 1, '2025-03-01', '2025-03-04', '2025-03-20', '2025-03-19'), (2, 1, '2025-03-02', '2025-03-03', NULL, NULL),
    (3, 2, '2025-03-05', '2025-03-11', '2025-04-01', '2025-04-09'), (4, 2, '2025-03-06', NULL, NULL, NULL);
"""
FORWARD = "JULIANDAY({0}left_on) - JULIANDAY({0}came_on)"
BACKWARDS = "JULIANDAY({0}came_on) - JULIANDAY({0}left_on)"


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many nights do guests stay on average?", "SELECT AVG({}) FROM stay"),
        (
            "How many days did guests stay at each hotel on average? The longest first.",
            "SELECT h.name, ROUND(AVG({0}), 2) FROM stay AS s JOIN hotel AS h ON h.id = s.hotel_id "
            "GROUP BY h.id, h.name ORDER BY AVG({0}) DESC",
        ),
        ("Which stays took more than two days?", "SELECT id FROM stay WHERE {} > 2"),
        ("How many days after coming did guests leave?", "SELECT AVG({}) FROM stay"),
    ],
)
def test_a_duration_goes_from_its_beginning_to_its_end(answered: Answered, question: str, sql: str) -> None:
    alias = "s." if "stay AS s" in sql else ""
    assert answered(SCHEMA, question, sql.format(BACKWARDS.format(alias))).sql == sql.format(FORWARD.format(alias))


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many nights do guests stay on average?", f"SELECT AVG({FORWARD.format('')}) FROM stay"),
        # Payments are early and late: neither order is backwards.
        ("How many days passed for each?", "SELECT id, JULIANDAY(due_on) - JULIANDAY(paid_on) FROM stay"),
        # The longest is the lowest, and comes first.
        (
            "Which stay took longest?",
            f"SELECT id FROM stay WHERE left_on IS NOT NULL ORDER BY {BACKWARDS.format('')} LIMIT 1",
        ),
        ("Which stay was the shortest?", f"SELECT id FROM stay ORDER BY {BACKWARDS.format('')} DESC LIMIT 1"),
        # The sign is asked for.
        ("How many days early did guests come?", f"SELECT AVG({BACKWARDS.format('')}) FROM stay"),
        ("What is the largest difference?", f"SELECT MAX({BACKWARDS.format('')}) FROM stay"),
        # Times of two tables, and a limit below zero.
        (
            "How many days were there between?",
            "SELECT s.id, JULIANDAY(h.opened_on) - JULIANDAY(s.left_on) FROM stay AS s "
            "JOIN hotel AS h ON h.id = s.hotel_id",
        ),
        ("Which stays took more than two days?", f"SELECT id FROM stay WHERE {BACKWARDS.format('')} < -2"),
    ],
)
def test_other_differences_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

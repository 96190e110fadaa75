"""Orders by a day that all rows share, and groups of NULL, on the staff of a workshop."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE worker (id INTEGER PRIMARY KEY, name TEXT, born_on DATE, hired_on DATE, left_on DATE, reason TEXT);
INSERT INTO worker VALUES (1, 'Ann', '1980-05-01', '2011-01-01', NULL, NULL),
    (2, 'Bo', '1990-05-01', '2010-01-01', NULL, NULL), (3, 'Cy', '1985-05-01', '2012-01-01', NULL, NULL),
    (4, 'Di', '1970-05-01', '2001-01-01', '2005-01-01', 'moved'), (5, 'Ed', '1971-05-01', '2002-01-01', '2006-01-01',
    'moved'), (6, 'Flo', '1972-05-01', '2003-01-01', '2007-01-01', 'retired');
"""
FIXED = "SELECT name FROM worker WHERE left_on IS NULL ORDER BY left_on"
REASONS = "SELECT reason, COUNT(*) FROM worker GROUP BY reason ORDER BY COUNT(*) DESC LIMIT 1"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Who works here the longest and has not left?",
            f"{FIXED} DESC LIMIT 1",
            "SELECT name FROM worker WHERE left_on IS NULL ORDER BY hired_on ASC LIMIT 1",
        ),
        (
            "Who is our newest worker still here?",
            f"{FIXED} LIMIT 1",
            "SELECT name FROM worker WHERE left_on IS NULL ORDER BY hired_on DESC LIMIT 1",
        ),
        (
            "Who is the second longest serving worker still here?",
            f"{FIXED} LIMIT 1",
            "SELECT name FROM worker WHERE left_on IS NULL ORDER BY hired_on ASC LIMIT 1 OFFSET 1",
        ),
    ],
)
def test_rows_are_sorted_by_the_other_day(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Who left the latest?", "SELECT name FROM worker WHERE left_on IS NOT NULL ORDER BY left_on DESC LIMIT 1"),
        ("Names of those who are still here", FIXED),
        (
            "Who of Ann's age is the latest?",
            "SELECT name FROM worker WHERE reason = 'moved' ORDER BY left_on DESC LIMIT 1",
        ),
        ("Who has the longest name of those here?", "SELECT name FROM worker WHERE left_on IS NULL ORDER BY name"),
    ],
)
def test_other_orders_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


def test_the_most_common_is_no_group_of_null(answered: Answered) -> None:
    found = answered(SCHEMA, "What is the most common reason?", REASONS)
    assert found.sql == (
        "SELECT reason, COUNT(*) FROM worker WHERE NOT reason IS NULL GROUP BY reason ORDER BY COUNT(*) DESC LIMIT 1"
    )
    assert found.rows == (("moved", 2),)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How often is no reason given, and which is the most common?", REASONS),
        ("How many workers gave which reason?", REASONS),
        ("What is the most common reason?", REASONS.replace("LIMIT 1", "LIMIT 1 OFFSET 1")),
        ("What is the most common reason?", REASONS.removesuffix(" LIMIT 1")),
        ("What is the rarest reason?", REASONS.replace("DESC", "ASC")),
    ],
)
def test_other_groups_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

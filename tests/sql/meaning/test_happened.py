"""Days that a query takes for yes and no, on the registrations of a conference."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE reg (id INTEGER PRIMARY KEY, name TEXT, paid DATE, cancelled TEXT, checked_in_at INTEGER, vip INTEGER);
INSERT INTO reg VALUES (1, 'Ann', '2024-01-03', NULL, 1709280000, 1), (2, 'Bo', '2024-02-03', '2024-02-20', NULL, 0),
    (3, 'Cy', NULL, NULL, 1709290000, 1), (4, 'Di', NULL, '2024-02-21', NULL, 0), (5, 'Ed', NULL, NULL, NULL, 0),
    (6, 'Flo', NULL, NULL, 1709290001, 0), (7, 'Gus', NULL, NULL, 1709290002, 0), (8, 'Hal', NULL, NULL, 1709290003, 0);
"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("cancelled = 'no'", "cancelled IS NULL"),
        ("cancelled = 0", "cancelled IS NULL"),
        ("cancelled <> 'yes'", "cancelled IS NULL"),
        ("cancelled != 'Cancelled'", "cancelled IS NULL"),
        ("cancelled = 'not cancelled'", "cancelled IS NULL"),
        ("cancelled = ''", "cancelled IS NULL"),
        ("cancelled = 'N'", "cancelled IS NULL"),
        ("cancelled IS FALSE", "cancelled IS NULL"),
        ("cancelled IN ('no', 'n')", "cancelled IS NULL"),
        ("cancelled = 'yes'", "NOT cancelled IS NULL"),
        ("paid = 'paid'", "NOT paid IS NULL"),
        ("paid = 1", "NOT paid IS NULL"),
        ("paid = 'unpaid'", "paid IS NULL"),
        ("checked_in_at = 1", "NOT checked_in_at IS NULL"),
        ("checked_in_at = 0", "checked_in_at IS NULL"),
    ],
)
def test_what_happened_has_a_day(answered: Answered, condition: str, expected: str) -> None:
    answer = answered(SCHEMA, "How many registrations are like that?", f"SELECT COUNT(*) FROM reg WHERE {condition}")
    assert answer.sql == f"SELECT COUNT(*) FROM reg WHERE {expected}"


def test_shares_of_what_happened(answered: Answered) -> None:
    sql = "SELECT SUM(CASE WHEN cancelled = 'yes' THEN 1 ELSE 0 END), SUM(paid) FROM reg"
    answer = answered(SCHEMA, "How many registrations were cancelled, and how many paid?", sql)
    assert answer.sql == "SELECT SUM(CASE WHEN NOT cancelled IS NULL THEN 1 ELSE 0 END), COUNT(paid) FROM reg"
    assert answer.rows == ((2, 2),)


@pytest.mark.parametrize(
    "condition",
    [
        "cancelled = '2024-02-20'",
        "cancelled IS NULL",
        "cancelled < '2024-02-21'",
        "cancelled = 'yesterday'",
        "cancelled IN ('no', 'yes')",
        "name = 'no'",
        "vip = 1",
    ],
)
def test_other_conditions_stay(answered: Answered, condition: str) -> None:
    sql = f"SELECT COUNT(*) FROM reg WHERE {condition}"
    assert answered(SCHEMA, "How many recent registrations are like that?", sql).sql == sql

"""Figures for each of several values, on the applications for permits."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE applicant (id INTEGER PRIMARY KEY, town TEXT);
CREATE TABLE application (
    id INTEGER PRIMARY KEY, applicant_id INTEGER REFERENCES applicant, status TEXT, fee INTEGER, submitted_on DATE,
    decided_on DATE
);
INSERT INTO applicant VALUES (1, 'Old Town'), (2, 'Lakeside');
INSERT INTO application VALUES (1, 1, 'approved', 10, '2024-01-01', '2024-01-11'),
    (2, 1, 'rejected', 30, '2024-01-01', '2024-01-21'), (3, 2, 'open', 50, '2024-01-01', NULL),
    (4, 2, 'approved', 20, '2024-02-01', '2024-02-05');
"""
DAYS = "AVG(JULIANDAY(decided_on) - JULIANDAY(submitted_on)) FROM application WHERE status IN ('approved', 'rejected')"
FEES = (
    "SUM(a.fee) FROM applicant AS p JOIN application AS a ON a.applicant_id = p.id "
    "WHERE (p.town = 'Old Town' OR p.town = 'Lakeside') AND a.fee > 5"
)


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "On average, how many days pass between handing in an application and the decision - separately for "
            "approved and rejected ones?",
            f"SELECT {DAYS}",
            f"SELECT status, {DAYS} GROUP BY status",
        ),
        (
            "Fees above 5 in Old Town and Lakeside, each on its own",
            f"SELECT {FEES}",
            f"SELECT p.town, {FEES} GROUP BY p.town",
        ),
    ],
)
def test_each_value_has_its_figure(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many days did approved and rejected ones take on average?", f"SELECT {DAYS}"),
        ("How many days did decisions take on average, separately for the two outcomes?", f"SELECT {DAYS}"),
        ("Days of approved and rejected ones together, not separately", f"SELECT {DAYS}"),
        (
            "How many are approved and rejected, separately?",
            "SELECT SUM(status = 'approved'), SUM(status = 'rejected') FROM application "
            "WHERE status IN ('approved', 'rejected')",
        ),
        (
            "Fees of approved and rejected ones, separately by month",
            "SELECT STRFTIME('%Y-%m', submitted_on), SUM(fee) FROM application "
            "WHERE status IN ('approved', 'rejected') GROUP BY STRFTIME('%Y-%m', submitted_on)",
        ),
        (
            "Fees of all that are not approved or rejected, separately",
            "SELECT SUM(fee) FROM application WHERE NOT status IN ('approved', 'rejected')",
        ),
    ],
)
def test_other_figures_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""Shares that a condition makes none or all, on the courses of a swimming school."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE course (id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE visit (
    id INTEGER PRIMARY KEY, course_id INTEGER REFERENCES course, attended INTEGER, status TEXT, fee INTEGER, grade TEXT
);
INSERT INTO course VALUES (1, 'Crawl'), (2, 'Diving');
INSERT INTO visit VALUES (1, 1, 1, 'paid', 10, 'a'), (2, 1, 0, 'paid', 10, 'b'), (3, 1, 0, 'open', 30, 'a'),
    (4, 2, 1, 'open', 20, 'b'), (5, 2, 0, 'paid', 20, 'a');
"""
RATE = (
    "SELECT T1.title, 100.0 * SUM(T2.attended) / COUNT(*) FROM course AS T1 JOIN visit AS T2 ON T2.course_id = T1.id "
    "{}GROUP BY T1.title"
)
PAID = "SELECT SUM(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) * 100.0 / COUNT(*) FROM visit"
WORTH = "SELECT SUM(CASE WHEN status = 'paid' THEN fee ELSE 0 END) * 100.0 / SUM(fee) FROM visit"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("What is the attendance rate of each course?", RATE.format("WHERE T2.attended = 0 "), RATE.format("")),
        ("What percentage of the visits is paid?", f"{PAID} WHERE status = 'paid'", PAID),
        (
            "What percentage of the visits with grade a is paid?",
            f"{PAID} WHERE grade = 'a' AND status = 'paid'",
            f"{PAID} WHERE grade = 'a'",
        ),
        ("What share of the fees is paid, in percent?", f"{WORTH} WHERE status = 'open'", WORTH),
    ],
)
def test_what_is_measured_is_not_fixed(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many attended per visit?", "SELECT SUM(attended) * 1.0 / COUNT(*) FROM visit WHERE attended = 1"),
        (
            "What share of the paid visits was attended?",
            "SELECT SUM(attended) * 1.0 / COUNT(*) FROM visit WHERE status = 'paid'",
        ),
        (
            "What share of the paid visits has grade a?",
            "SELECT SUM(CASE WHEN status = 'paid' AND grade = 'a' THEN 1 ELSE 0 END) * 1.0 / COUNT(*) FROM visit "
            "WHERE status = 'paid'",
        ),
        (
            "Show status and share of the paid visits",
            f"{PAID.replace('SELECT', 'SELECT status,')} WHERE status = 'paid' GROUP BY status",
        ),
        (
            "What share of the visits is paid?",
            "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visit) FROM visit WHERE status = 'paid'",
        ),
    ],
)
def test_other_conditions_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""Rows without a match: left out where the question says so, and kept where it does not."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE fault (code TEXT PRIMARY KEY, descr TEXT);
INSERT INTO fault VALUES ('D', 'door stuck'), ('W', 'water in pit');
CREATE TABLE report (id INTEGER PRIMARY KEY, fault TEXT REFERENCES fault(code), reported_on TEXT);
INSERT INTO report VALUES (1, 'D', '2024-01-01'), (2, 'D', '2024-02-01');
CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, manager_id INTEGER REFERENCES employee(id));
INSERT INTO employee VALUES (1, 'Ann', NULL), (2, 'Ben', 1), (3, 'Cem', 1);
CREATE TABLE collection (id INTEGER PRIMARY KEY, code TEXT, title TEXT);
INSERT INTO collection VALUES (1, 'A', 'Plans'), (2, 'B', 'Letters');
CREATE TABLE box (id INTEGER PRIMARY KEY, collection_code TEXT);
INSERT INTO box VALUES (1, 'A'), (2, 'A');
"""
BOSSES = "SELECT e.name, m.name FROM employee AS e LEFT JOIN employee AS m ON m.id = e.manager_id"
BOXES = (
    "SELECT c.title, COUNT(*) FROM box AS b JOIN collection AS c ON c.code = b.collection_code GROUP BY c.code, c.title"
)


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        (
            "Employees and the name of their boss; leave out those without one.",
            BOSSES,
            {("Ben", "Ann"), ("Cem", "Ann")},
        ),
        ("Employees and their boss, excluding anyone who has no manager", BOSSES, {("Ben", "Ann"), ("Cem", "Ann")}),
        ("Employees and their boss", BOSSES, {("Ann", None), ("Ben", "Ann"), ("Cem", "Ann")}),
        ("Employees and their boss, also those without one", BOSSES, {("Ann", None), ("Ben", "Ann"), ("Cem", "Ann")}),
        (  # what is lacking is a day, not a report
            "Which faults have a report that was never dated?",
            "SELECT f.descr FROM report AS r JOIN fault AS f ON f.code = r.fault WHERE r.reported_on IS NULL",
            set(),
        ),
        (
            "Reports of each fault, excluding faults without a description",
            "SELECT f.code, COUNT(r.id) FROM fault AS f LEFT JOIN report AS r ON r.fault = f.code GROUP BY f.code",
            {("D", 2), ("W", 0)},
        ),
        (
            "Reports of each fault, with 0 for none; leave out those without a code",
            "SELECT f.code, COUNT(r.id) FROM fault AS f LEFT JOIN report AS r ON r.fault = f.code GROUP BY f.code",
            {("D", 2), ("W", 0)},
        ),
        (
            "Reports of each fault, leaving out faults without any report",
            "SELECT f.code, COUNT(r.id) FROM fault AS f LEFT JOIN report AS r ON r.fault = f.code GROUP BY f.code",
            {("D", 2)},
        ),
        ("Boxes of each collection, including collections that have none.", BOXES, {("Plans", 2), ("Letters", 0)}),
        ("Boxes of each collection, also collections that have none.", BOXES, {("Plans", 2), ("Letters", 0)}),
        ("Boxes of each collection, including collections nobody boxed", BOXES, {("Plans", 2), ("Letters", 0)}),
        ("Boxes of each collection, including boxes nobody labelled", BOXES, {("Plans", 2)}),
        ("Boxes of each collection, including collections never shown to anybody", BOXES, {("Plans", 2)}),
        ("Boxes of each collection, even those that were never packed", BOXES, {("Plans", 2)}),
        ("Boxes of each collection", BOXES, {("Plans", 2)}),
    ],
)
def test_rows_without_a_match(answered: Answered, question: str, sql: str, rows: set[tuple[object, ...]]) -> None:
    answer = answered(SCHEMA, question, sql)
    assert set(answer.rows) == rows, answer.sql

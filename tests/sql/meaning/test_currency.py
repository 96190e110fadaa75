"""The currency that a question names, on invoices in several."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE client (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO client VALUES (1, 'Abt'), (2, 'Beer');
CREATE TABLE rate (currency_name TEXT, rate REAL);
INSERT INTO rate VALUES ('euro', 1);
CREATE TABLE invoice (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES client, amount REAL, currency TEXT);
INSERT INTO invoice VALUES (1, 1, 10, 'EUR'), (2, 1, 20, 'USD'), (3, 2, 40, 'EUR'), (4, 2, 80, 'GBP');
"""
JOIN = "SELECT c.name, SUM(i.amount) FROM invoice AS i JOIN client AS c ON c.id = i.client_id GROUP BY c.id, c.name"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("How many euro invoices are there?", "SELECT COUNT(*) FROM invoice", [(2,)]),
        ("Total of what was billed in euros, by client", JOIN, [("Abt", 10), ("Beer", 40)]),
        ("Total of what was billed in USD, by client", JOIN, [("Abt", 20)]),
    ],
)
def test_rows_in_that_currency_are_taken(
    answered: Answered, question: str, sql: str, rows: list[tuple[object, ...]]
) -> None:
    assert [tuple(row) for row in answered(SCHEMA, question, sql).rows] == rows


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the total in euros?", "SELECT SUM(amount) FROM invoice"),  # the others may be to be converted
        ("Which invoices are above 30 euros?", "SELECT id FROM invoice WHERE amount > 30"),
        ("How many euro invoices and dollar invoices are there?", "SELECT COUNT(*) FROM invoice"),
        ("How many euro invoices are there?", "SELECT COUNT(*) FROM invoice WHERE currency = 'EUR'"),
        ("Number of euro invoices by currency", "SELECT currency, COUNT(*) FROM invoice GROUP BY currency"),
        ("How many yen invoices are there?", "SELECT COUNT(*) FROM invoice"),
        ("How many invoices has Euro Invoice Services?", "SELECT COUNT(*) FROM invoice"),
        ("How many EUR licences did we bill?", "SELECT COUNT(*) FROM invoice"),
        (
            "How many pounds does each client's invoice have?",
            "SELECT client_id, SUM(amount) FROM invoice GROUP BY client_id",
        ),
        ("What was billed in euros, all currencies converted?", "SELECT SUM(amount) FROM invoice"),
        ("What was billed in euros, by rate?", "SELECT SUM(i.amount * r.rate) FROM invoice AS i, rate AS r"),
    ],
)
def test_other_questions_take_all(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

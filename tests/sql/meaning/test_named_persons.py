"""Names of persons in the place of their keys, on the customers of a garage."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, points INTEGER);
CREATE TABLE repair (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, price REAL);
INSERT INTO customer VALUES (1, 'Ann', 'Ash', 5), (2, 'Bo', 'Beck', 9);
INSERT INTO repair VALUES (1, 1, 50), (2, 1, 70), (3, 2, 90);
"""
MOST = "SELECT {} FROM customer ORDER BY points DESC LIMIT 1"
SUMS = "SELECT {}SUM(r.price) FROM customer AS c JOIN repair AS r ON r.customer_id = c.id GROUP BY {}"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Who has the most points?",
            MOST.format("id"),
            MOST.format("customer.first_name, customer.last_name"),
        ),
        (
            "Who spent how much?",
            SUMS.format("c.id, ", "c.id"),
            SUMS.format("c.first_name, c.last_name, ", "c.id, c.first_name, c.last_name"),
        ),
    ],
)
def test_persons_have_names(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which customer has the most points?", MOST.format("id")),
        ("Who has the most points? Give the id.", MOST.format("id")),
        ("Who has the most points?", MOST.format("id, last_name")),
        ("Who has the most points?", MOST.format("points")),
        ("Who paid the most?", "SELECT customer_id FROM repair ORDER BY price DESC LIMIT 1"),
        ("How many customers are there who have points?", "SELECT COUNT(id) FROM customer WHERE points > 0"),
    ],
)
def test_other_outputs_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

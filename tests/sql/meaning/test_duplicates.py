"""Rows that the question wants once, on the orders of a tea shop."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.repeats import each_once, no_duplicates

SCHEMA = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, tea TEXT, bought_on TEXT);
INSERT INTO customer VALUES (1, 'Ada', 'Bonn'), (2, 'Bert', 'Bonn'), (3, 'Bert', 'Ulm');
INSERT INTO purchase VALUES (1, 1, 'Assam', '2024-01-02'), (2, 1, 'Assam', '2024-01-03'),
  (3, 2, 'Oolong', '2024-01-03'), (4, 3, 'Oolong', '2024-01-03');
"""
JOIN = "FROM customer AS c JOIN purchase AS p ON p.customer_id = c.id"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Cities of our customers, each city only once", ["city"]),
        ("Who bought Assam? Each one once, please", []),
        ("Who bought tea, everybody once, sorted by name", []),
        ("Which teas were sold? List each name just once.", ["name"]),
        ("Teas and cities (each pair once)", ["pair"]),
        ("Teas that sell - every tea only once", ["tea"]),
        ("Names of the buyers; each name should appear only once", []),
        ("Customers who paid each bill only once", None),
        ("Which shops did every customer visit only once", None),
        ("Shops that everyone visited only once", None),
        ("Words that appear only once", None),
        ("List all sold at once", None),
        ("Members, each member once a year", None),
        ("Visitors: each guest who paid once", None),
        ("Each guest paid once", None),
        ("How many members come once each week?", None),
        ("Who paid once?", None),
    ],
)
def test_once_is_read(question: str, expected: list[str] | None) -> None:
    assert each_once(question) == (None if expected is None else tuple(expected))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Cities without duplicates", True),
        ("Cities, no duplicates please.", True),
        ("Customers with no duplicates in the log", False),
        ("Which purchases are duplicates?", False),
    ],
)
def test_duplicates_are_read(question: str, expected: bool) -> None:
    assert no_duplicates(question) is expected


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Cities of our customers, each city only once",
            "SELECT city FROM customer ORDER BY city",
            "SELECT DISTINCT city FROM customer ORDER BY city",
        ),
        (
            "Who bought Assam? Everybody once.",
            f"SELECT c.name {JOIN} WHERE p.tea = 'Assam'",
            f"SELECT DISTINCT c.name {JOIN} WHERE p.tea = 'Assam'",
        ),
        (
            "Cities where tea was sold, without duplicates",
            f"SELECT c.city AS town {JOIN} ORDER BY town",
            f"SELECT DISTINCT c.city AS town {JOIN} ORDER BY town",
        ),
        ("Names of customers, no duplicates", "SELECT name FROM customer", "SELECT DISTINCT name FROM customer"),
        ("Cities of our customers, without repeats", "SELECT city FROM customer", "SELECT DISTINCT city FROM customer"),
        ("Cities of our customers, each once", "SELECT city FROM customer", "SELECT DISTINCT city FROM customer"),
        (
            "Teas that were sold more than once, each tea once",
            "SELECT tea FROM purchase WHERE tea IN (SELECT tea FROM purchase GROUP BY tea HAVING COUNT(*) > 1)",
            "SELECT DISTINCT tea FROM purchase "
            "WHERE tea IN (SELECT tea FROM purchase GROUP BY tea HAVING COUNT(*) > 1)",
        ),
    ],
)
def test_rows_come_once(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # Two customers have the same name.
        ("Names of our customers, each customer once", "SELECT name FROM customer"),
        ("Who bought Oolong? Each one once.", f"SELECT c.name {JOIN} WHERE p.tea = 'Oolong'"),
        ("Cities of our customers. Every customer should appear only once.", "SELECT city FROM customer"),
        ("Days of purchases, each once", "SELECT bought_on FROM purchase"),
        # Each purchase is a row.
        ("Purchases of Oolong, each one once", "SELECT tea, bought_on FROM purchase WHERE tea = 'Oolong'"),
        # What happened once, and nothing of the kind.
        ("Cities in which customers made each purchase only once", f"SELECT c.city {JOIN}"),
        ("Names of the customers who bought tea", f"SELECT c.name {JOIN}"),
        # Groups, a limit, an order by what is not shown.
        ("Purchases by city, each city once", f"SELECT c.city, COUNT(*) {JOIN} GROUP BY c.city, c.id"),
        ("Three cities, each city once", "SELECT city FROM customer LIMIT 3"),
        ("Cities, each city once", "SELECT city FROM customer ORDER BY name"),
    ],
)
def test_other_rows_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

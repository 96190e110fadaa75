"""Columns of a longer name than the question says, sums of days, names alone; each result worked out by hand."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE practice (id INTEGER PRIMARY KEY, name TEXT, city TEXT, billing_city TEXT, email TEXT,
    email_verified_at TEXT, price REAL, list_price REAL);
INSERT INTO practice VALUES (1, 'Elm', 'Hull', 'Leeds', 'e@x', '2024-01-01', 5, 6),
    (2, 'Oak', 'Hull', 'York', NULL, NULL, 7, 7),
    (3, 'Ash', 'York', 'York', 'a@x', '2024-02-01', 9, 8);
CREATE TABLE pledge (id INTEGER PRIMARY KEY, practice_id INTEGER REFERENCES practice(id), amount_cents INTEGER,
    points INTEGER, charged_at DATETIME);
INSERT INTO pledge VALUES (1, 1, 500, 1, '2023-03-01 10:00:00'), (2, 1, 700, 2, '2023-04-01 10:00:00'),
    (3, 2, 900, 3, '2024-03-01 10:00:00'), (4, 2, 100, 3, '2024-05-01 10:00:00'), (5, 3, 300, 3, '2024-06-01 10:00:00');
"""
CITIES = "SELECT {0}, COUNT(*) FROM practice GROUP BY {0} ORDER BY {0}"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("How many practices are in each city?", CITIES.format("billing_city"), (("Hull", 2), ("York", 1))),
        ("Which practices are in the city of York?", "SELECT name FROM practice WHERE billing_city = 'York'",
         (("Ash",),)),
        ("Average amount charged", "SELECT AVG(charged_at) FROM pledge", ((500.0,),)),
        ("Total amount in 2023", "SELECT SUM(charged_at) FROM pledge WHERE charged_at < '2024'", ((1200,),)),
        ("The dearest practices by price, name only.", "SELECT name, price FROM practice ORDER BY price DESC LIMIT 2",
         (("Ash",), ("Oak",))),
        ("Just the names, cheapest first", "SELECT name, price AS p FROM practice ORDER BY p",
         (("Elm",), ("Oak",), ("Ash",))),
    ],
)  # fmt: skip
def test_what_the_question_says_is_taken(
    answered: Answered, question: str, sql: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    answer = answered(SCHEMA, question, sql)
    assert answer.rows == rows, answer.sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many practices are there by billing city?", CITIES.format("billing_city")),
        ("How many practices does each city get bills for?", CITIES.format("billing_city")),
        ("Which city is another one than that of the bill?", "SELECT name FROM practice WHERE city <> billing_city"),
        ("How many have a confirmed email?", "SELECT COUNT(*) FROM practice WHERE email_verified_at IS NOT NULL"),
        ("Highest list price", "SELECT MAX(list_price) FROM practice"),
        ("When was the last charge, by price?", "SELECT MAX(charged_at) FROM pledge"),
        # "Where we send letters", "before tax" and "born" may be said of the longer name.
        ("To which city do we send letters for Elm?", "SELECT billing_city FROM practice WHERE name = 'Elm'"),
        ("What is the price of Elm before tax?", "SELECT list_price FROM practice WHERE name = 'Elm'"),
        ("Show name and price only, highest price first.", "SELECT name, price FROM practice ORDER BY price DESC"),
        ("Show price and name only, highest price first.", "SELECT price, name FROM practice ORDER BY price DESC"),
        ("City and name of each practice, sorted by name only.", "SELECT city, name FROM practice ORDER BY name"),
        ("Average points and average amount", "SELECT AVG(points), AVG(amount_cents) FROM pledge"),
        ("Average of charges", "SELECT AVG(charged_at) FROM pledge"),
        ("Names and prices, cheapest first", "SELECT name, price FROM practice ORDER BY price"),
        ("Practices with their price, cheapest first", "SELECT name, price FROM practice ORDER BY price"),
    ],
)
def test_other_columns_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

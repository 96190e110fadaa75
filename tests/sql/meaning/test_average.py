"""The average that a question asks for, on the prices of tools."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE tool (id INTEGER PRIMARY KEY, name TEXT, price REAL, bought_on DATE);
INSERT INTO tool VALUES (1, 'Saw', 10, '2024-01-01'), (2, 'Axe', 20, '2024-02-01'), (3, 'Jig', 60, '2024-03-01');
"""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM tool WHERE price > (SELECT MAX(price) FROM tool)",
        "SELECT t.name FROM tool AS t JOIN (SELECT MAX(price) AS low FROM tool) AS x ON t.price > x.low",
    ],
)
def test_it_is_taken_for_an_extreme(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "Which tools cost more than the average?", sql).rows == (("Jig",),)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the highest price, compared with the average?", "SELECT MAX(price) FROM tool"),
        (
            "Tools at the maximum, not the average, price",
            "SELECT name FROM tool WHERE price = (SELECT MAX(price) FROM tool)",
        ),
        (
            "Which tools cost more than the average?",
            "SELECT name FROM tool WHERE price > (SELECT AVG(price) FROM tool)",
        ),
        ("On average, when was something bought?", "SELECT MAX(bought_on) FROM tool"),
        # An extreme that is another part of the query.
        (
            "Average price of the newest tools",
            "SELECT SUM(price) / COUNT(*) FROM tool WHERE bought_on = (SELECT MAX(bought_on) FROM tool)",
        ),
        ("Mean price of the tool with the last number", "SELECT price FROM tool WHERE id = (SELECT MAX(id) FROM tool)"),
        ("Average price per row", "SELECT SUM(price) / MAX(id) FROM tool"),
        ("Which tools cost most?", "SELECT name FROM tool WHERE price = (SELECT MAX(price) FROM tool)"),
    ],
)
def test_other_extremes_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""The column that a question groups by, on the snacks of a cinema."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE snacks (snack_id INTEGER PRIMARY KEY, snack_name TEXT, category TEXT, size TEXT);
CREATE TABLE snack_sales (id INTEGER PRIMARY KEY, snack_id INTEGER REFERENCES snacks, quantity INTEGER);
INSERT INTO snacks VALUES (1, 'Cola', 'drink', 'L'), (2, 'Water', 'drink', 'S'), (3, 'Nachos', 'food', 'L');
INSERT INTO snack_sales VALUES (1, 1, 2), (2, 2, 1), (3, 3, 5), (4, 3, 1);
"""
BY_SNACK = (
    "SELECT T1.snack_name, SUM(T2.quantity) FROM snacks AS T1 JOIN snack_sales AS T2 ON T2.snack_id = T1.snack_id "
    "GROUP BY T1.snack_id, T1.snack_name ORDER BY SUM(T2.quantity) DESC"
)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("snack takings by category, highest first", (("food", 6), ("drink", 3))),
        ("Takings per snack category, highest first", (("food", 6), ("drink", 3))),
        ("What did we take for each size, highest first?", (("L", 8), ("S", 1))),
    ],
)
def test_groups_are_those_of_the_question(
    answered: Answered, question: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    assert answered(SCHEMA, question, BY_SNACK).rows == rows


@pytest.mark.parametrize(
    "question",
    [
        "Takings of each snack, sorted by category",
        "Snack names with their takings, by category",
        "Takings by category and size",
        "Takings by kind",
        "Takings by snack",
    ],
)
def test_other_groups_stay(answered: Answered, question: str) -> None:
    assert len(answered(SCHEMA, question, BY_SNACK).rows) == 3

"""Groups of rows without a value, on the lots of an auction."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE lot (id INTEGER PRIMARY KEY, artist TEXT, price INTEGER);
INSERT INTO lot VALUES (1, 'Lund', 5), (2, 'Lund', 6), (3, NULL, 7), (4, NULL, 8), (5, NULL, 9), (6, 'Haller', 1);
"""
SQL = "SELECT artist, COUNT(*) FROM lot GROUP BY artist HAVING COUNT(*) {}"


def test_they_are_no_large_group(answered: Answered) -> None:
    found = answered(SCHEMA, "Which artists have at least two lots?", SQL.format(">= 2"))
    assert found.rows == (("Lund", 2),)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Artists with at least two lots, also where the artist is unknown", SQL.format(">= 2")),
        ("Number of lots by artist", "SELECT artist, COUNT(*) FROM lot GROUP BY artist"),
        ("Which artists have one lot?", SQL.format("= 1")),
        ("Artists with more than one lot, nulls too", SQL.format("> 1")),
        ("Which artists have lots?", SQL.format("> 0")),
        ("Prices with two lots or more", "SELECT price, COUNT(*) FROM lot GROUP BY price HAVING COUNT(*) >= 1"),
    ],
)
def test_other_groups_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

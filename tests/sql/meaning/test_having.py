"""Conditions on rows that stand in HAVING, on the trips of a haulier."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE depot (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE trip (id INTEGER PRIMARY KEY, depot_id INTEGER REFERENCES depot (id), day TEXT, km INTEGER, kind TEXT);
INSERT INTO depot VALUES (1, 'North', 'Ely'), (2, 'South', 'Rye');
INSERT INTO trip VALUES (1, 1, '2024-05-01', 10, 'a'), (2, 1, '2025-05-01', 20, 'b'), (3, 1, '2025-06-01', 5, 'a'),
    (4, 2, '2025-05-01', 7, 'a'), (5, 2, '2024-05-01', 9, 'b');
"""
JOINED = "SELECT d.name, COUNT(*), SUM(t.km) FROM trip AS t JOIN depot AS d ON d.id = t.depot_id"
GROUPED = " GROUP BY d.id, d.name"
YEAR = "STRFTIME('%Y', t.day) = '2025'"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"{JOINED}{GROUPED} HAVING {YEAR}", f"{JOINED} WHERE {YEAR}{GROUPED}"),
        (
            f"{JOINED} WHERE t.km > 5{GROUPED} HAVING COUNT(*) >= 1 AND t.kind = 'a' AND {YEAR}",
            f"{JOINED} WHERE t.km > 5 AND t.kind = 'a' AND {YEAR}{GROUPED} HAVING COUNT(*) >= 1",
        ),
    ],
)
def test_rows_are_chosen_before_they_are_grouped(answered: Answered, sql: str, expected: str) -> None:
    assert answered(SCHEMA, "Trips of 2025 and their kilometres for each depot", sql).sql == expected


@pytest.mark.parametrize(
    "sql",
    [
        f"{JOINED}{GROUPED} HAVING d.name = 'North' AND COUNT(*) > 1",
        f"{JOINED}{GROUPED} HAVING SUM(t.km) > 10",
        f"{JOINED}{GROUPED} HAVING MAX(t.day) = '2025-06-01' OR t.kind = 'a' AND COUNT(*) > 5",
        "SELECT depot_id, COUNT(*) AS km FROM trip GROUP BY depot_id HAVING km > 2",
    ],
)
def test_conditions_on_groups_stay(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "Trips for each depot", sql).sql == sql

"""The rows with the extreme of each group, on the treatments of a spa."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE room (room_id INTEGER PRIMARY KEY, name TEXT, floor INTEGER);
CREATE TABLE treatment_type (
    treatment_type_id INTEGER PRIMARY KEY, category TEXT, treatment_name TEXT, list_price INTEGER, active INTEGER,
    room_id INTEGER REFERENCES room
);
INSERT INTO room VALUES (1, 'Blue', 1), (2, 'Red', 2);
INSERT INTO treatment_type VALUES (1, 'massage', 'Hot stone', 90, 1, 1), (2, 'massage', 'Foot', 40, 1, 1),
    (3, 'bath', 'Mud', 60, 1, 2), (4, 'bath', 'Salt', 30, 1, 2), (5, 'bath', 'Milk', 110, 0, 1);
"""
JOINED = (
    "SELECT T2.category, T1.treatment_name, T1.list_price FROM treatment_type AS T1 "
    "JOIN treatment_type AS T2 ON T1.treatment_type_id = T2.treatment_type_id "
    "WHERE T1.list_price = (SELECT MAX(list_price) FROM treatment_type)"
)
ACTIVE = (
    "SELECT category, treatment_name FROM treatment_type "
    "WHERE active = 1 AND list_price = (SELECT MIN(list_price) FROM treatment_type WHERE active = 1)"
)
ROOMS = (
    "SELECT r.name, t.treatment_name FROM room AS r JOIN treatment_type AS t ON t.room_id = r.room_id "
    "WHERE t.list_price = (SELECT MAX(list_price) FROM treatment_type)"
)


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "For every category of treatment, which one has the highest list price? category, treatment, price",
            JOINED,
            "SELECT T1.category, T1.treatment_name, T1.list_price FROM treatment_type AS T1 "
            "WHERE T1.list_price = (SELECT MAX(m.list_price) FROM treatment_type AS m WHERE m.category = T1.category)",
        ),
        (
            "What is the cheapest active treatment in each category?",
            ACTIVE,
            "SELECT category, treatment_name FROM treatment_type WHERE active = 1 AND list_price = "
            "(SELECT MIN(m.list_price) FROM treatment_type AS m WHERE m.active = 1 "
            "AND m.category = treatment_type.category)",
        ),
        (
            "The most expensive treatment of each room",
            ROOMS,
            ROOMS.replace(
                "(SELECT MAX(list_price) FROM treatment_type)",
                "(SELECT MAX(m.list_price) FROM treatment_type AS m WHERE m.room_id = t.room_id)",
            ),
        ),
    ],
)
def test_each_group_has_its_extreme(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which treatment has the highest list price? Show category, name and price", JOINED),
        ("Show category and name for each treatment with the highest price", JOINED),
        ("The dearest treatment overall, with the category of each", JOINED),
        (
            "The dearest treatment of each category that is active",
            "SELECT category, treatment_name FROM treatment_type WHERE list_price = "
            "(SELECT MAX(list_price) FROM treatment_type WHERE active = 1)",
        ),
        (
            "The dearest treatment of each category",
            "SELECT category, treatment_name FROM treatment_type AS t WHERE list_price = "
            "(SELECT MAX(m.list_price) FROM treatment_type AS m WHERE m.category = t.category)",
        ),
    ],
)
def test_other_extremes_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""A column that cannot have two values at once, on the rooms of an office."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE room (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
INSERT INTO room VALUES (1, 'Foz', 'Porto'), (2, 'Sintra', 'Lisbon'), (3, 'Foz', 'Lisbon');
CREATE TABLE amenity (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO amenity VALUES (1, 'Desk'), (2, 'Lamp'), (3, 'Sofa');
CREATE TABLE room_amenity (room_id INTEGER REFERENCES room, amenity_id INTEGER REFERENCES amenity,
  PRIMARY KEY (room_id, amenity_id));
INSERT INTO room_amenity VALUES (1, 1), (1, 2), (2, 1), (2, 3), (3, 2);
"""
JOIN = "FROM room AS r JOIN room_amenity AS x ON x.room_id = r.id JOIN amenity AS a ON a.id = x.amenity_id"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        (
            "Which rooms have both a desk and a lamp? Name and town.",
            f"SELECT r.name, r.town {JOIN} WHERE a.name = 'Desk' AND a.name = 'Lamp'",
            [("Foz", "Porto")],
        ),
        (
            "Names of rooms in Porto with a desk and a lamp",
            f"SELECT DISTINCT r.name {JOIN} WHERE r.town = 'Porto' AND a.name = 'Desk' AND a.name = 'Lamp' "
            "ORDER BY r.name",
            [("Foz",)],
        ),
        (  # the values are of the table that is shown
            "Ids of rooms that have both amenity 1 and amenity 2",
            "SELECT room_id FROM room_amenity WHERE amenity_id = 1 AND amenity_id = 2",
            [(1,)],
        ),
        (
            "Which rooms have both a desk and a lamp?",
            "SELECT name FROM room WHERE id IN (SELECT room_id FROM room_amenity WHERE amenity_id = "
            "(SELECT id FROM amenity WHERE name = 'Desk') AND amenity_id = "
            "(SELECT id FROM amenity WHERE name = 'Lamp'))",
            [("Foz",)],
        ),
        (  # nothing has several towns: either is meant
            "Names of the rooms in Porto and in Lisbon",
            "SELECT name FROM room WHERE town = 'Porto' AND town = 'Lisbon'",
            [("Foz",), ("Sintra",), ("Foz",)],
        ),
        (
            "How many rooms are there in Porto and Lisbon?",
            "SELECT COUNT(*) FROM room WHERE town = 'Porto' AND town = 'Lisbon'",
            [(3,)],
        ),
    ],
)
def test_a_contradiction_is_read_as_it_can_be_met(
    answered: Answered, question: str, sql: str, rows: list[tuple[object, ...]]
) -> None:
    assert [tuple(row) for row in answered(SCHEMA, question, sql).rows] == rows


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT r.name {JOIN} WHERE a.name = 'Desk' OR a.name = 'Lamp'",
        f"SELECT r.name {JOIN} WHERE a.name = 'Desk' AND r.name = 'Foz'",
        "SELECT name FROM room AS r WHERE r.id = (SELECT MAX(id) FROM room) AND r.id = (SELECT MIN(id) FROM room)",
        "SELECT name FROM room WHERE town = 'Porto' AND town = (SELECT town FROM room WHERE name = 'Sintra')",
        # Two rows of the table.
        "SELECT r.name FROM room AS r JOIN room_amenity AS x ON x.room_id = r.id JOIN room_amenity AS y ON "
        "y.room_id = r.id WHERE x.amenity_id = 1 AND y.amenity_id = 2",
    ],
)
def test_what_can_be_met_stays(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "Which rooms have both a desk and a lamp?", sql).sql == sql

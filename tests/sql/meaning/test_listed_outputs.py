"""Outputs beside those that the question lists, on the stock of a veterinary practice and a car rental."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.listed import listed

SCHEMA = """
CREATE TABLE Medicine (MedicineID INTEGER PRIMARY KEY, MedicineName TEXT, Form TEXT, Strength TEXT, StockQty INTEGER,
    ReorderLevel INTEGER);
CREATE TABLE vehicle (id INTEGER PRIMARY KEY, license_plate TEXT, make TEXT, model TEXT, model_year INTEGER,
    km INTEGER);
INSERT INTO Medicine VALUES (1, 'Metacam', 'Tablet', '1.5mg', 33, 50), (2, 'Synulox', 'Tablet', '250mg', 90, 50);
INSERT INTO vehicle VALUES (1, 'A1', 'Fiat', 'Panda', 2019, 10), (2, 'B2', 'Opel', 'Corsa', 2021, 90);
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("low medicines - name, strength, quantity and reorder level", "name|strength|quantity|reorder level"),
        ("All cars: plate, make, model and status, ordered by plate.", "plate|make|model|status"),
        ("Which cars cost most? Plate, model and total cost", "plate|model|total cost"),
        ("Which suppliers do we no longer use? Are there many, and where?", ""),
        ("Which cars cost most? Show plate, model and the total cost, most expensive first.", "plate|model|total cost"),
        ("Who left? Give first name, last name and the reason.", "first name|last name|reason"),
        ("Show the name of each shop and its city", ""),
        ("Old limits: parameter, limit and its last day, latest last day first.", "parameter|limit|last day"),
        ("Fill rate: code, places, and students divided by places.", "code|place|student divided by place"),
        ("Note: cars and vans that were sold", ""),
        ("How many cars are there?", ""),
    ],
)
def test_lists_are_read(question: str, expected: str) -> None:
    assert "|".join(map(" ".join, listed(question))) == expected


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "medicines whose stock is below the reorder level - name, strength, quantity in stock and reorder level",
            "SELECT MedicineName, Form, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
            "SELECT MedicineName, Strength, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
        ),
        (
            "medicines that run low - name, strength, stock and reorder level",
            "SELECT MedicineName, Form, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
            "SELECT MedicineName, Strength, StockQty, ReorderLevel FROM Medicine WHERE StockQty < ReorderLevel",
        ),
        (
            "Cars and how far they went: plate, model and total distance",
            "SELECT license_plate, model, model_year, SUM(km) FROM vehicle GROUP BY license_plate, model, model_year",
            "SELECT license_plate, model, SUM(km) FROM vehicle GROUP BY license_plate, model, model_year",
        ),
    ],
)
def test_what_is_listed_is_shown(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # The question says a word of the column, or nothing that is shown is like its place.
        ("Show name, strength and form of all medicines", "SELECT MedicineName, Form, Strength FROM Medicine"),
        ("Show name, potency of all medicines", "SELECT MedicineName, Form FROM Medicine"),
        # All words are said.
        ("Cars: plate, model and model year", "SELECT license_plate, model, model_year, km FROM vehicle"),
        # Not a list alone.
        ("Show plate and model of cars by year", "SELECT license_plate, model, model_year FROM vehicle"),
    ],
)
def test_other_outputs_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

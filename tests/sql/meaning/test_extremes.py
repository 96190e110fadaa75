"""The end of an order that a question asks for, on the figures of a chain of shops."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE result (month TEXT, profit INTEGER, change_pct REAL);
CREATE TABLE member (name TEXT, days_since_signup INTEGER, years_of_service INTEGER, birth_year INTEGER,
 joined_day INTEGER, signup_time INTEGER);
CREATE TABLE booking (purpose TEXT, amount REAL);
CREATE TABLE team (name TEXT, pos INTEGER, since_yr INTEGER);
CREATE TABLE supplier (name TEXT, defect_rate REAL, delivery_days INTEGER);
CREATE TABLE car (model TEXT, mpg REAL, list_price REAL, weight_kg REAL);
INSERT INTO supplier VALUES ('A', 0.5, 3), ('B', 0.1, 9), ('C', 0.9, 5);
INSERT INTO car VALUES ('A', 22.5, 900, 3), ('B', 51.0, 800, 2), ('C', 33.1, 990, 1);
INSERT INTO booking VALUES ('Rent', -800), ('Salary', 2000), ('Food', -45);
INSERT INTO team VALUES ('Reds', 1, 1990), ('Blues', 2, 2011), ('Greens', 3, 2004);
INSERT INTO result VALUES ('Jan', 400, 2.0), ('Feb', -30, -7.5), ('Mar', -200, -1.0);
INSERT INTO member VALUES ('Ann', 400, 30, 1950, 20200101, 1577836800), ('Bo', 30, 2, 1990, 20230101, 1672531200),
 ('Cy', 2, 9, 1970, 20240101, 1704067200), ('Di', 99, 8, 1971, 20220101, 1640995200),
 ('Ed', 98, 7, 1972, 20210101, 1609459200);
"""


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which month had the biggest loss?", "SELECT month FROM result ORDER BY profit LIMIT 1"),
        ("Which month saw the largest drop in sales?", "SELECT month FROM result ORDER BY change_pct LIMIT 1"),
        ("Who is the newest member?", "SELECT name FROM member ORDER BY days_since_signup LIMIT 1"),
        ("Who is the newest member?", "SELECT name FROM member ORDER BY years_of_service LIMIT 1"),
        ("Who is the oldest member?", "SELECT name FROM member ORDER BY years_of_service DESC LIMIT 1"),
        # Money that goes out is below zero.
        ("What was the biggest expense?", "SELECT purpose FROM booking ORDER BY amount LIMIT 1"),
        ("How much was the largest withdrawal?", "SELECT MIN(amount) FROM booking"),
        # What is asked for is high where the column is low.
        ("Which supplier delivers the highest quality?", "SELECT name FROM supplier ORDER BY defect_rate LIMIT 1"),
        ("Which supplier has the highest success rate?", "SELECT name FROM supplier ORDER BY defect_rate LIMIT 1"),
        ("Which car has the lowest fuel consumption?", "SELECT model FROM car ORDER BY mpg DESC LIMIT 1"),
        # The first place is the highest, and the first year the longest ago.
        ("Which team is highest in the table?", "SELECT name FROM team ORDER BY pos LIMIT 1"),
        ("Which team has been with us the longest?", "SELECT name FROM team ORDER BY since_yr LIMIT 1"),
    ],
)
def test_the_end_stays_where_a_low_number_may_be_meant(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("What was the biggest booking?", "purpose FROM booking ORDER BY amount LIMIT 1", "Salary"),
        ("Which supplier has the lowest rate of defects?", "name FROM supplier ORDER BY defect_rate DESC LIMIT 1", "B"),
        ("Which car has the highest price?", "model FROM car ORDER BY list_price LIMIT 1", "C"),
        ("Which car is the cheapest?", "model FROM car ORDER BY list_price DESC LIMIT 1", "B"),
        ("Which car is the heaviest?", "model FROM car ORDER BY weight_kg LIMIT 1", "A"),
        ("Which month had the highest profit?", "month FROM result ORDER BY profit LIMIT 1", "Jan"),
        ("Who is the oldest member?", "name FROM member ORDER BY birth_year DESC LIMIT 1", "Ann"),
        ("Who is the newest member?", "name FROM member ORDER BY joined_day LIMIT 1", "Cy"),
        ("Who is the newest member?", "name FROM member ORDER BY signup_time LIMIT 1", "Cy"),
    ],
)
def test_numbers_that_are_amounts_years_or_days_are_turned(
    answered: Answered, question: str, sql: str, expected: str
) -> None:
    assert answered(SCHEMA, question, f"SELECT {sql}").rows == ((expected,),)

"""Numbers of rows that a question asks for, on the diagnoses of a veterinary practice."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.wants import number_of_rows, place_of_row

SCHEMA = """
CREATE TABLE diagnosis (id INTEGER PRIMARY KEY, name TEXT, vet TEXT, day DATE);
INSERT INTO diagnosis VALUES (1, 'flu', 'Ann', '2024-01-01'), (2, 'flu', 'Ben', '2024-01-02'),
    (3, 'worm', 'Ann', '2024-01-03'), (4, 'tick', 'Ann', '2024-01-04'), (5, 'tick', 'Cem', '2024-01-05');
"""
COUNTS = "SELECT name, COUNT(*) FROM diagnosis GROUP BY name ORDER BY COUNT(*) DESC"


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("Which two diagnoses do we record most often?", 2),
        ("What are the three extras that bring in the most money overall?", 3),
        ("Top 5 pick-up branches by rental revenue", 5),
        ("Show the five longest-serving vets", 5),
        ("Show me the 10 cheapest rooms", 10),
        ("Which ten cars cost us the most in maintenance?", 10),
        ("Which 5 star hotels have the most rooms?", None),
        ("In the 12 months of 2024, which product sold the most?", None),
        ("The two best sellers of each shop", None),
        ("Which two vets had more than 5 visits?", None),
        ("How many cars cost at least 100?", None),
        ("The top 10 percent of customers", None),
    ],
)
def test_numbers_of_rows_are_read(question: str, number: int | None) -> None:
    assert number_of_rows(question) == number


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("Which two diagnoses do we record most often?", COUNTS, f"{COUNTS} LIMIT 2"),
        (
            "The two latest diagnoses: name",
            "SELECT name FROM diagnosis ORDER BY day DESC",
            "SELECT name FROM diagnosis ORDER BY day DESC LIMIT 2",
        ),
    ],
)
def test_so_many_rows_are_kept(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which diagnoses do we record most often?", COUNTS),
        ("Which two vets have the most diagnoses?", "SELECT DISTINCT vet FROM diagnosis ORDER BY vet"),
        ("Which two diagnoses do we record most often?", f"{COUNTS} LIMIT 1"),
    ],
)
def test_other_queries_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Which vet has the second most diagnoses?", 2),
        ("The third-largest dose", 3),
        ("Who is the 2nd oldest?", 2),
        ("The highest and the second highest dose", None),
        ("The second and third highest dose", None),
        ("The second highest dose of each vet", None),
        ("Diagnoses of the second quarter, most frequent first", None),
        ("The last of the second best", None),
    ],
)
def test_places_are_read(question: str, place: int | None) -> None:
    assert place_of_row(question) == place


LATEST = "SELECT name FROM diagnosis WHERE vet = 'Ann' ORDER BY day DESC"


@pytest.mark.parametrize("limit", ["LIMIT 1", "LIMIT 2"])
def test_the_row_at_a_place_is_kept(answered: Answered, limit: str) -> None:
    question = "What was the second latest diagnosis of Ann?"
    assert answered(SCHEMA, question, f"{LATEST} {limit}").sql == f"{LATEST} LIMIT 1 OFFSET 1"


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What was the second latest diagnosis of Ann?", f"{LATEST} LIMIT 1 OFFSET 1"),
        ("What were the two latest diagnoses of Ann?", f"{LATEST} LIMIT 2"),
        ("What was the latest diagnosis of Ann?", f"{LATEST} LIMIT 1"),
        ("The latest and the second latest diagnosis of Ann", f"{LATEST} LIMIT 2"),
    ],
)
def test_other_rows_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


SONGS = """
CREATE TABLE song (id INTEGER PRIMARY KEY, title TEXT, peak INTEGER);
INSERT INTO song VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 2), (4, 'd', 3), (5, 'e', 3), (6, 'f', 4), (7, 'g', 5);
"""


@pytest.mark.parametrize(
    "condition", ["peak <= 3", "peak < 4", "3 >= peak", "peak BETWEEN 1 AND 3", "peak IN (1, 2, 3)"]
)
def test_places_that_a_condition_bounds_are_no_limit(answered: Answered, condition: str) -> None:
    sql = f"SELECT title FROM song WHERE {condition} ORDER BY peak"
    assert answered(SONGS, "Which songs reached the top 3? Sort them by their peak.", sql).sql == sql

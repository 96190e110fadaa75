"""The best of each group that a question asks for, on the trips of a haulier."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.superlatives import wanted_best

SCHEMA = """
CREATE TABLE depot (cd TEXT PRIMARY KEY, depot_nm TEXT, town TEXT);
CREATE TABLE driver (id INTEGER PRIMARY KEY, surname TEXT, depot_cd TEXT REFERENCES depot, points INTEGER);
CREATE TABLE trip (id INTEGER PRIMARY KEY, driver_id INTEGER REFERENCES driver, day TEXT, cargo TEXT, hours REAL);
INSERT INTO depot VALUES ('E', 'East', 'Linz'), ('W', 'West', 'Graz');
INSERT INTO driver VALUES (1, 'Abt', 'E', 3), (2, 'Berg', 'E', 5), (3, 'Celan', 'W', 3), (4, 'Dorn', 'W', 9);
INSERT INTO trip VALUES (1, 1, '2023-02-01', 'wood', 4), (2, 1, '2023-05-01', 'wood', 5),
  (3, 2, '2024-02-01', 'coal', 7), (4, 3, '2023-02-01', 'coal', 6), (5, 4, '2024-07-01', 'wood', 6),
  (6, 2, '2024-08-01', 'coal', 1), (7, 1, '2023-09-01', 'wood', 0);
"""
FROM = "FROM trip AS t JOIN driver AS r ON r.id = t.driver_id JOIN depot AS d ON d.cd = r.depot_cd"
GROUP = "GROUP BY d.cd, d.depot_nm, r.id, r.surname"
HOURS = f"SELECT d.depot_nm, r.surname, SUM(t.hours) AS h {FROM} {GROUP}"
CARGO = f"SELECT d.town, t.cargo, COUNT(*) {FROM} GROUP BY d.town, t.cargo"
YEARS = f"SELECT STRFTIME('%Y', t.day), r.surname, SUM(t.hours) {FROM} GROUP BY STRFTIME('%Y', t.day), r.id"
BEST = [("East", "Abt", 9.0), ("West", "Celan", 6.0), ("West", "Dorn", 6.0)]
CARGOES = [("Graz", "coal", 1), ("Graz", "wood", 1), ("Linz", "wood", 3)]
REASON = "the question asks for the best of each, and the query shows all of them"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("Who clocked up the most hours at each home depot? Depot, surname, hours.", f"{HOURS} ORDER BY 1, 2", BEST),
        ("For every depot, which driver has the most hours?", f"{HOURS} ORDER BY h DESC, r.surname", BEST),
        ("Which driver in each depot drove the most hours?", f"{HOURS} ORDER BY d.cd, r.id", BEST),
        ("The driver with the highest number of hours of each depot", f"{HOURS} ORDER BY d.cd, r.id", BEST),
        ("What is the most frequent cargo of each depot?", f"{CARGO} ORDER BY 1, 2", CARGOES),
        ("Each depot's busiest driver by hours driven: depot, surname", f"{HOURS} ORDER BY 1, 2", BEST),
        (
            "For each depot, which driver has the fewest hours?",
            f"{HOURS} ORDER BY 1, 2",
            [("East", "Berg", 8.0), *BEST[1:]],
        ),
        (
            "For each year from 2023 to 2024, which driver put in the most hours? Year, surname, hours.",
            f"{YEARS} ORDER BY 3 DESC",
            [("2023", "Abt", 9.0), ("2024", "Berg", 8.0)],
        ),
    ],
)
def test_the_best_of_each_stay(answered: Answered, question: str, sql: str, rows: list[tuple[object, ...]]) -> None:
    found = answered(SCHEMA, question, sql)
    assert found.candidates[0].fixes[-1].reason == REASON
    assert list(found.rows) == rows


def test_rows_are_ranked_by_the_exact_number_within_all_keys_of_the_group(answered: Answered) -> None:
    sql = (
        HOURS.replace("SUM(t.hours) AS h", "ROUND(SUM(t.hours) / 100.0, 1) AS h")
        + " ORDER BY d.depot_nm, r.surname DESC"
    )
    found = answered(SCHEMA, "Who clocked up the most hours at each depot?", sql).sql
    assert "RANK() OVER (PARTITION BY d.depot_nm, d.cd ORDER BY SUM(t.hours) DESC)" in found
    assert found.endswith("AS ranked WHERE rank_in_group = 1 ORDER BY depot_nm, surname DESC")


def test_worst_is_the_end_at_which_the_query_begins(answered: Answered) -> None:
    question = "Which is the worst driver of each depot by hours?"
    assert answered(SCHEMA, question, f"{HOURS} ORDER BY h, d.cd, r.id").rows[-1] == ("East", "Berg", 8.0)
    assert len(answered(SCHEMA, question, f"{HOURS} ORDER BY d.cd").rows) == 4


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Hours of each driver by depot, most hours first", HOURS),
        ("Which drivers of each depot have at most 9 hours?", HOURS),
        ("Which three drivers have the most hours at each depot?", HOURS),
        ("The best drivers of each depot by hours", HOURS),
        ("How many hours did each driver drive from the depot with the most trips?", HOURS),
        ("Who is the oldest driver at each depot?", HOURS),
        ("Which driver has the most hours at each garage?", HOURS),
        ("Which driver has the most hours?", HOURS),
        ("Which driver has the most hours at each depot, and the fewest in each town?", HOURS),
        ("Which driver has the most hours at each depot?", f"{HOURS} ORDER BY h"),
        ("Which driver has the most hours at each depot?", f"{HOURS} HAVING h > (SELECT AVG(hours) FROM trip)"),
        ("Which driver has the longest trips at each depot?", HOURS.replace("SUM(t.hours)", "COUNT(*)")),
        ("Which driver has the most hours at each depot?", HOURS.replace("SUM(t.hours)", "MAX(t.hours)")),
        ("Which driver has the most hours at each depot?", HOURS.replace("AS h", "AS h, COUNT(*)")),
        (
            "Which driver has the highest points at each depot?",
            HOURS.replace("r.surname", "r.points, r.surname"),
        ),
    ],
)
def test_what_is_not_the_best_of_each_stays(answered: Answered, question: str, sql: str) -> None:
    assert REASON not in [fix.reason for fix in answered(SCHEMA, question, sql).candidates[0].fixes]


@pytest.mark.parametrize(
    ("question", "each", "descending"),
    [
        ("Best-selling title of each genre by copies in shipped orders", ("genre",), True),
        ("At each of our stations, which airline gave us the most turnarounds, and how many?", ("station",), True),
        ("Season champions: for every season the production with the most tickets sold", ("season",), True),
        ("Show me the smallest customer of each sales region.", ("sale", "region"), False),
        ("Which sort of waste weighs least per district?", ("district",), False),
        ("In every hall, which block sells worst?", ("hall",), None),
    ],
)
def test_best_of_each_in_words(question: str, each: tuple[str, ...], descending: bool | None) -> None:
    found = wanted_best(question)
    assert found is not None
    assert (found.each[0], found.descending) == (each, descending)


@pytest.mark.parametrize(
    "question",
    [
        "How many orders did each customer place in the month with the most sales?",
        "Fees per customer type of the largest branch",
        "What did each customer pay in the most expensive month?",
        "Which product of the largest supplier was sold in each region?",
        "Which item sold best in each region and shop?",
        "Which item sold best in each customer's region?",
        "The most recent order of each customer",
        "Drivers at each depot, most trips at the top",
        "Who are our biggest customers in each region?",
        "What are the best-selling products in each region?",
        "Which products sell best in each region?",
        "The most important sales per region",
        "Which customer of each region paid more than the most expensive order?",
    ],
)
def test_other_questions_with_each_and_a_superlative(question: str) -> None:
    assert wanted_best(question) is None

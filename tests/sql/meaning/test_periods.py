"""A period that the question names and the query leaves out."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE weather (site TEXT, day TEXT, low REAL);
CREATE TABLE visit (id INTEGER PRIMARY KEY, site TEXT, came_on DATE, left_on DATE);
CREATE TABLE harvest (id INTEGER PRIMARY KEY, site TEXT, season INTEGER, cut_on DATE, tonnes REAL);
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, birth_date DATE, joined_on DATE);
CREATE TABLE relative (id INTEGER PRIMARY KEY, name TEXT, birth_date DATE);
INSERT INTO person VALUES (1, 'Ann', '1990-02-01', '2024-04-02'), (2, 'Ben', '1991-02-01', '2023-04-02');
INSERT INTO relative VALUES (1, 'Cid', '2024-02-01'), (2, 'Dan', '1991-02-01');
CREATE TABLE price (site TEXT, valid_from DATE, euros REAL);
INSERT INTO weather VALUES ('Hill', '2024-03-31', -2), ('Hill', '2024-04-02', -1), ('Hill', '2024-04-03', 4),
 ('Hill', '2024-05-01', -3), ('Vale', '2024-04-02', -1), ('Vale', '2023-04-02', -9);
INSERT INTO visit VALUES (1, 'Hill', '2024-04-02', '2024-05-01'), (2, 'Vale', '2023-04-02', '2023-05-01');
INSERT INTO harvest VALUES (1, 'Hill', 2024, '2024-08-02', 3), (2, 'Vale', 2023, '2023-08-02', 4);
INSERT INTO price VALUES ('Hill', '2024-04-01', 3), ('Hill', '2025-04-01', 4);
"""


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        (
            "On how many days in April 2024 was it below freezing at Hill?",
            "SELECT COUNT(*) FROM weather WHERE site = 'Hill' AND low < 0",
            [(1,)],
        ),
        ("Who joined in 2024?", "SELECT name FROM person", [("Ann",)]),
        ("Which relatives were born in 2024?", "SELECT name FROM relative", [("Cid",)]),
        ("Show the lows of 2024 at Vale", "SELECT w.low FROM weather AS w WHERE w.site = 'Vale'", [(-1.0,)]),
    ],
)
def test_the_rows_of_the_period_are_taken(answered: Answered, question: str, sql: str, rows: list[object]) -> None:
    answer = answered(SCHEMA, question, sql)
    assert ">= '2024-0" in answer.sql
    assert list(answer.rows) == rows


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many visits in April 2024?", "SELECT COUNT(*) FROM visit"),  # which of both days is not known
        ("Tonnes of the 2024 season", "SELECT SUM(tonnes) FROM harvest"),  # the season is not the day
        ("Prices in April 2024", "SELECT euros FROM price"),  # valid from that day on
        ("Who of the relatives visited in 2024?", "SELECT name FROM relative"),
        ("Who joined or was born in 2024?", "SELECT name FROM person"),
        ("Lows of days older than 2024", "SELECT low FROM weather WHERE day <= '2023-12-31'"),
        ("Lows of days that are not from 2024", "SELECT low FROM weather WHERE day > '2022'"),
        ("Lows measured at the 2024 World Cup", "SELECT low FROM weather"),
        ("Lows in 2024", "SELECT low AS low_2024 FROM weather"),
        ("Lows in 2024", "SELECT low FROM weather WHERE site <> 'S24'"),
        ("Lows of 2024 m and more", "SELECT low FROM weather"),
        ("Lows in April", "SELECT low FROM weather"),
        ("Lows since April 2024", "SELECT low FROM weather"),
        ("Lows in April 2024", "SELECT low FROM weather WHERE day LIKE '2024-04%'"),
        ("Lows in April 2024", "SELECT low FROM weather WHERE site IN (SELECT site FROM visit)"),
        ("Lows in April 2024", "SELECT v.id, w.low FROM visit AS v LEFT JOIN weather AS w ON w.site = v.site"),
    ],
)
def test_where_the_period_belongs_is_not_guessed(answered: Answered, question: str, sql: str) -> None:
    assert ">= '2024" not in answered(SCHEMA, question, sql).sql


DAYS = """
CREATE TABLE person (id INTEGER PRIMARY KEY, hired_on DATE);
INSERT INTO person VALUES (1, '2014-12-31'), (2, '2015-01-01'), (3, '2015-01-20'), (4, '2015-12-30'), (5, '2016-02-01');
"""


@pytest.mark.parametrize(
    ("question", "condition", "found"),
    [
        ("Who was hired in 2015 or later?", ">= '2015-01-15'", {2, 3, 4, 5}),
        ("Who was hired after 2015?", "> '2015-12-15'", {5}),
        ("Who was hired before 2015?", "< '2015-06-30'", {1}),
        ("Who was hired until the end of 2015?", "<= '2015-12-20'", {1, 2, 3, 4}),
        ("Who was hired since 2015?", "> '2015-01-10'", {3, 4, 5}),
        ("Who was hired in the spring of 2015 or later?", ">= '2015-01-15'", {3, 4, 5}),
        ("Who was hired in mid 2015 or later?", ">= '2015-01-15'", {3, 4, 5}),
        ("Who was hired on 15 January 2015 or later?", ">= '2015-01-15'", {3, 4, 5}),
        ("Who was hired by the second half of 2015?", "< '2015-07-01'", {1, 2, 3}),
        ("Who was hired in late 2015?", ">= '2015-10-01'", {4, 5}),
        ("Who was hired since our move (at Pentecost) in 2015?", ">= '2015-05-24'", {4, 5}),
        ("Who was hired since the FY2015?", ">= '2015-07-01'", {4, 5}),
        ("Wer kam seit März 2015?", ">= '2015-03-01'", {4, 5}),
        ("Who was hired since 2015?", ">= '2015-01-15' AND hired_on < '2015-12-01'", {3}),
        ("Who was hired since then?", ">= '2015-01-15'", {3, 4, 5}),
    ],
)
def test_days_that_the_question_does_not_say(
    answered: Answered, question: str, condition: str, found: set[int]
) -> None:
    answer = answered(DAYS, question, f"SELECT id FROM person WHERE hired_on {condition}")
    assert {row[0] for row in answer.rows} == found, answer.sql

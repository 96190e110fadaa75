"""Joins of a table with itself, on the hearings of a law firm."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE matter (id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE hearing (id INTEGER PRIMARY KEY, matter_id INTEGER REFERENCES matter, judge TEXT, kind TEXT, outcome TEXT);
INSERT INTO matter VALUES (1, 'Sale'), (2, 'Lease');
INSERT INTO hearing VALUES (1, 1, 'Ott', 'motion', 'granted'), (2, 1, 'Ott', 'trial', 'lost'),
  (3, 1, 'Ruf', 'motion', 'lost'), (4, 2, 'Ruf', 'motion', 'granted'), (5, 2, 'Ott', 'motion', NULL);
"""
JOIN = "FROM hearing AS a JOIN hearing AS b ON b.matter_id = a.matter_id"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "How many motions were granted by each judge?",
            f"SELECT a.judge, SUM(CASE WHEN b.outcome = 'granted' THEN 1 ELSE 0 END) {JOIN} "
            "WHERE a.kind = 'motion' GROUP BY a.judge",
            "SELECT a.judge, SUM(CASE WHEN a.outcome = 'granted' THEN 1 ELSE 0 END) FROM hearing AS a "
            "WHERE a.kind = 'motion' GROUP BY a.judge",
        ),
        (
            "How many hearings has each matter? Show its title.",
            "SELECT m.title, COUNT(*) FROM hearing AS a JOIN hearing AS b ON a.matter_id = b.matter_id "
            "JOIN matter AS m ON m.id = b.matter_id GROUP BY m.id, m.title",
            "SELECT m.title, COUNT(*) FROM hearing AS a JOIN matter AS m ON m.id = a.matter_id GROUP BY m.id, m.title",
        ),
    ],
)
def test_a_row_is_not_joined_with_all_others(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which judges have sat in the same matter as Ruf?", f"SELECT DISTINCT a.judge {JOIN} WHERE b.judge = 'Ruf'"),
        (
            "Judges of a matter with a motion and a trial",
            f"SELECT a.judge {JOIN} WHERE a.kind = 'motion' AND b.kind = 'trial'",
        ),
        (
            "Judges with a hearing in front of Ruf",
            f"SELECT a.judge {JOIN} AND b.judge <> a.judge WHERE b.judge = 'Ruf'",
        ),
        ("Outcomes of matters with a trial", f"SELECT b.outcome {JOIN} WHERE a.kind = 'trial'"),
        (
            "Judges of the lost hearings in matters with a trial",
            f"SELECT b.judge {JOIN} WHERE a.kind = 'trial' AND b.outcome = 'lost'",
        ),
        ("Judges in order of hearings", f"SELECT a.judge, b.judge {JOIN}"),
        ("All about hearings", f"SELECT * {JOIN}"),
        ("Judges and outcomes, if any", f"SELECT a.judge, b.outcome {JOIN.replace('JOIN', 'LEFT JOIN')}"),
    ],
)
def test_two_rows_that_are_compared_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


def test_rows_without_a_match_are_counted_themselves(answered: Answered) -> None:
    sql = "SELECT COUNT(*) FROM matter AS m JOIN hearing AS h ON h.matter_id = m.id WHERE h.id IS NULL"
    script = f"{SCHEMA} INSERT INTO matter VALUES (3, 'Divorce');"
    found = answered(script, "How many matters have no hearing?", sql)
    assert (found.sql, found.rows) == (sql.replace("JOIN", "LEFT JOIN"), ((1,),))


HOTELS = """
CREATE TABLE hotel (ht_id INTEGER, ht_name TEXT, ht_stars INTEGER, ht_partner INTEGER);
INSERT INTO hotel VALUES (1, 'Astra', 5, 1), (2, 'Bel', 5, 0), (3, 'Cara', 4, 1), (4, 'Dom', 5, 1);
"""


def test_a_flag_is_no_key(answered: Answered) -> None:
    sql = "SELECT a.ht_name FROM hotel AS a JOIN hotel AS b ON b.ht_partner = a.ht_id WHERE a.ht_stars = 5"
    answer = answered(HOTELS, "Five-star hotels that are partners of ours", sql)
    assert answer.sql == "SELECT a.ht_name FROM hotel AS a WHERE a.ht_stars = 5 AND a.ht_partner = 1"


@pytest.mark.parametrize("column", ["manager_id", "leader", "chief", "team_ref", "partner_no"])
def test_a_key_of_which_0_is_none_is_no_flag(answered: Answered, column: str) -> None:
    script = (
        f"CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, {column} INTEGER);"
        "INSERT INTO employee VALUES (1, 'Boss', 0), (2, 'Ann', 1), (3, 'Bob', 1);"
    )
    sql = f"SELECT e.name, m.name FROM employee AS e JOIN employee AS m ON e.{column} = m.id"
    assert answered(script, "Each employee with the name above", sql).sql == sql

"""What is not over, on the meters and the staff of a supplier."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE Meter (MeterNo INTEGER PRIMARY KEY, PremNo INT, SmartYN TEXT, InstDate DATE, RemDate DATE, LastRead DATE);
INSERT INTO Meter VALUES (1, 1, 'Y', '2020-01-01', NULL, '2024-01-01'), (2, 1, 'Y', '2020-02-01', '2023-05-01', NULL),
    (3, 2, 'N', '2020-03-01', NULL, '2024-01-01'), (4, 2, 'Y', '2020-04-01', NULL, '2024-01-02');
CREATE TABLE Premise (PremNo INTEGER PRIMARY KEY, City TEXT);
INSERT INTO Premise VALUES (1, 'Riga'), (2, 'Tartu');
CREATE TABLE job (id INTEGER PRIMARY KEY, due_end DATE, closed_on DATE, status TEXT);
INSERT INTO job VALUES (1, '2024-01-01', '2024-01-02', 'C'), (2, '2024-01-01', NULL, 'O');
CREATE TABLE lease (id INTEGER PRIMARY KEY, end_date DATE);
INSERT INTO lease VALUES (1, '2020-01-01'), (2, '2999-01-01'), (3, NULL);
"""
SMART = "SELECT COUNT(*) FROM Meter WHERE SmartYN = 'Y'"


@pytest.mark.parametrize(
    "question",
    [
        "How many smart meters are in place at the moment?",
        "How many smart meters are still in place?",
        "Number of meters that are currently installed, smart ones first",
    ],
)
def test_what_was_removed_is_left_out(answered: Answered, question: str) -> None:
    answer = answered(SCHEMA, question, SMART)
    assert answer.sql == "SELECT COUNT(*) FROM Meter WHERE SmartYN = 'Y' AND Meter.RemDate IS NULL"
    assert answer.rows == ((2,),)


def test_a_table_that_the_question_mentions_among_others(answered: Answered) -> None:
    sql = (
        "SELECT T2.City, COUNT(*) FROM Meter AS T1 JOIN Premise AS T2 ON T2.PremNo = T1.PremNo "
        "WHERE NOT T1.InstDate IS NULL GROUP BY T2.City"
    )
    answer = answered(SCHEMA, "How many meters are still installed in each city?", sql)
    assert {*answer.rows} == {("Riga", 1), ("Tartu", 2)}


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many smart meters are there?", SMART),
        ("How many smart meters are no longer in place, and how many still are?", SMART),
        ("What is the current status of smart meters? How many?", SMART),
        ("How many smart meters are still in place?", f"{SMART} AND RemDate > '2020-01-01'"),
        ("How many jobs are still open?", "SELECT COUNT(*) FROM job WHERE id < 3"),  # due_end is an end too
        ("How many current leases are there?", "SELECT COUNT(*) FROM lease"),  # one ends on a day to come
    ],
)
def test_other_queries_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""Things that are counted once, in tables whose keys have names that must be quoted."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE student (stuid INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE pet ("order" INTEGER PRIMARY KEY, "index" INTEGER REFERENCES student, kind TEXT);
CREATE TABLE toy ("index" INTEGER PRIMARY KEY, "group" INTEGER REFERENCES pet);
INSERT INTO student VALUES (1, 'Ann'), (2, 'Bo'), (3, 'Cy');
INSERT INTO pet VALUES (1, 1, 'dog'), (2, 1, 'cat'), (3, 2, 'dog');
INSERT INTO toy VALUES (1, 1), (2, 1), (3, 2);
"""


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("How many students have pets?", "SELECT COUNT(*) FROM pet AS P", ((2,),)),
        (
            "How many pets have toys?",
            'SELECT COUNT(*) FROM pet AS "Group" JOIN toy ON toy."group" = "Group"."order"',
            ((2,),),
        ),
        (
            "How many pets has each student?",
            'SELECT s.name, COUNT(*) FROM student AS s LEFT JOIN pet AS "All" ON "All"."index" = s.stuid '
            "GROUP BY s.stuid, s.name",
            (("Ann", 2), ("Bo", 1), ("Cy", 0)),
        ),
    ],
)
def test_keys_are_quoted(answered: Answered, question: str, sql: str, rows: tuple[tuple[object, ...], ...]) -> None:
    assert answered(SCHEMA, question, sql).rows == rows


LIBRARY = """
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE loan (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book, member_id INTEGER REFERENCES member);
CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO book VALUES (1, 'Dune'), (2, 'Emma');
INSERT INTO member VALUES (1, 'Ann'), (2, 'Bo');
INSERT INTO loan VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 1, 1);
"""


@pytest.mark.parametrize(
    ("question", "times"),
    [
        # Goods that change hands are counted each time, unless they are to be different.
        ("How many books were borrowed?", 4),
        ("How many books are currently on loan?", 4),
        ("How many books did people borrow?", 4),
        ("How many books left the shelf, counting repeats?", 4),
        ("How many books left the shelf, if every time counts?", 4),
        ("How many books left the shelf, repeats left out?", 2),
        ("How many different books were borrowed?", 2),
        ("How many of our books were borrowed?", 2),
        ("How many books were ever borrowed?", 2),
    ],
)
def test_goods_are_counted_each_time(answered: Answered, question: str, times: int) -> None:
    assert answered(LIBRARY, question, "SELECT COUNT(*) FROM loan").rows == ((times,),)


@pytest.mark.parametrize(
    "question",
    ["How many members have borrowed?", "How many members have already borrowed?", "How many members borrowed books?"],
)
def test_people_are_counted_once(answered: Answered, question: str) -> None:
    assert answered(LIBRARY, question, "SELECT COUNT(*) FROM loan").rows == ((2,),)


CINEMA = """
CREATE TABLE bookings (id INTEGER PRIMARY KEY, total_amount REAL);
CREATE TABLE tickets (id INTEGER PRIMARY KEY, booking_id INTEGER REFERENCES bookings, kind TEXT, price REAL);
INSERT INTO bookings VALUES (1, 20), (2, 8);
INSERT INTO tickets VALUES (1, 1, 'student', 8), (2, 1, 'adult', 12), (3, 2, 'student', 8);
"""


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "How many student tickets were issued altogether?",
            "SELECT SUM(b.total_amount) FROM bookings b JOIN tickets t ON t.booking_id = b.id WHERE t.kind = 'student'",
            2,
        ),
        ("How many tickets were issued?", "SELECT SUM(price) FROM tickets", 3),
        ("How many tickets were issued, at what price?", "SELECT SUM(price) FROM tickets", 28),
        ("What did all tickets come to?", "SELECT SUM(price) FROM tickets", 28),
    ],
)
def test_rows_are_counted_and_no_money(answered: Answered, question: str, sql: str, expected: float) -> None:
    assert answered(CINEMA, question, sql).rows == ((expected,),)


def test_groups_are_counted(answered: Answered) -> None:
    sql = "SELECT COUNT(DISTINCT booking_id) FROM tickets GROUP BY booking_id HAVING COUNT(*) >= 1"
    answer = answered(CINEMA, "How many bookings have at least one ticket?", sql)
    assert answer.rows == ((2,),)
    asked_of_each = answered(CINEMA, "How many bookings are there for each booking?", sql)
    assert asked_of_each.rows == ((1,), (1,))


VERSIONS = """
CREATE TABLE dim_agent (agent_key INTEGER PRIMARY KEY, agent_id TEXT, name TEXT, team TEXT);
INSERT INTO dim_agent VALUES (1, 'A1', 'Ann', 'Night'), (2, 'A1', 'Ann', 'Day'), (3, 'A2', 'Ben', 'Day');
CREATE TABLE dim_team (team_key INTEGER PRIMARY KEY, team_id TEXT, name TEXT);
INSERT INTO dim_team VALUES (1, 'T1', 'Night'), (2, 'T2', 'Day');
"""


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT COUNT(DISTINCT agent_key) FROM dim_agent", 2),
        ("SELECT COUNT(DISTINCT a.agent_key) FROM dim_agent AS a WHERE a.team <> 'Night'", 2),
        ("SELECT COUNT(*) FROM dim_agent", 3),
        ("SELECT COUNT(DISTINCT team_key) FROM dim_team", 2),
    ],
)
def test_versions_of_a_thing_are_one_thing(answered: Answered, sql: str, count: int) -> None:
    assert answered(VERSIONS, "How many different people are there?", sql).rows == ((count,),)

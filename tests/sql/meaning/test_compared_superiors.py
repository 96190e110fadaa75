"""Comparisons with the superior of each row, on employees and on departments within departments."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.superiors import Comparison, compared_with_superior

SCHEMA = """
CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, pay INTEGER, born DATE, city TEXT,
    manager_id INTEGER REFERENCES employee, deputy_id INTEGER REFERENCES employee);
INSERT INTO employee VALUES (1, 'Ada', 90, '1960-05-01', 'Porto', NULL, 3), (2, 'Bea', 70, '1975-02-03', 'Faro', 1, 1),
    (3, 'Cid', 80, '1950-08-09', 'Faro', 2, 4), (4, 'Dan', 60, '1990-10-11', 'Porto', 2, 3),
    (5, 'Eva', 50, '1999-12-12', 'Porto', 4, 3);
"""
INSIDE = "SELECT e.name FROM employee AS e WHERE e.{0} {1} (SELECT {2} FROM employee AS x WHERE {3})"
JOINED = "SELECT {} FROM employee AS e JOIN employee AS m ON {} WHERE {}"
UP, DOWN = "x.id = e.manager_id", "x.manager_id = e.id"
MORE = "Who earns more than their manager?"


@pytest.mark.parametrize(
    ("question", "sql", "names"),
    [
        (MORE, INSIDE.format("pay", ">", "MAX(x.pay)", DOWN), ["Cid"]),
        (MORE, INSIDE.format("pay", ">", "x.pay", "e.id = x.manager_id"), ["Cid"]),
        ("Whose salary exceeds that of their boss?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN), ["Cid"]),
        ("Who is older than their manager?", INSIDE.format("born", "<", "MIN(x.born)", DOWN), ["Cid"]),
        (
            MORE,
            "SELECT e.name FROM employee e WHERE EXISTS (SELECT 1 FROM employee x WHERE x.manager_id = e.id"
            " AND x.pay < e.pay)",
            ["Cid"],
        ),
        (
            MORE,
            "SELECT e.name FROM employee e WHERE e.id IN (SELECT x.manager_id FROM employee x WHERE e.pay > x.pay)",
            ["Cid"],
        ),
        (MORE, JOINED.format("e.name", "e.id = m.manager_id", "e.pay > m.pay"), ["Cid"]),
        (MORE, JOINED.format("e.name", "m.manager_id = e.id", "m.pay < e.pay"), ["Cid"]),
        (MORE, JOINED.format("e.name, m.name", "m.manager_id = e.id", "m.pay < e.pay"), ["Cid"]),
        (
            "Who earns less than the manager?",
            INSIDE.format("pay", "<", "MAX(x.pay)", DOWN),
            ["Bea", "Dan", "Eva"],
        ),
        (
            "Who lives in the same city as their manager?",
            JOINED.format("e.name", "e.id = m.manager_id", "e.city = m.city"),
            ["Cid", "Eva"],
        ),
        (
            "Who lives in a different city from their manager?",
            JOINED.format("e.name", "e.id = m.manager_id", "e.city <> m.city"),
            ["Bea", "Dan"],
        ),
    ],
)
def test_rows_are_compared_with_those_above(answered: Answered, question: str, sql: str, names: list[str]) -> None:
    answer = answered(SCHEMA, question, sql)
    assert answer.sql != sql
    assert sorted(row[0] for row in answer.rows) == names


def test_how_many_are_counted_below(answered: Answered) -> None:
    question = "How many employees earn less than their manager?"
    sql = JOINED.format("COUNT(*)", "e.id = m.manager_id", "e.pay < m.pay")
    assert answered(SCHEMA, question, sql).rows == ((3,),)


def test_nobody_is_an_answer(answered: Answered) -> None:
    question = "Which of those born after 1980 earn more than their manager?"
    sql = INSIDE.format("pay", ">", "MAX(x.pay)", DOWN) + " AND e.born > '1980-01-01'"
    assert answered(SCHEMA, question, sql).rows == ()


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # Right as they are.
        (MORE, INSIDE.format("pay", ">", "x.pay", UP)),
        (MORE, JOINED.format("e.name", "e.manager_id = m.id", "e.pay > m.pay")),
        (MORE, JOINED.format("m.name", "m.manager_id = e.id", "m.pay > e.pay")),
        (MORE, JOINED.format("m.name, e.name", "m.manager_id = e.id", "m.pay > e.pay")),
        ("Which managers have somebody who earns more than their manager?", INSIDE.format("pay", "<", "x.pay", DOWN)),
        # Those below are asked for.
        ("Who earns more than one of their reports?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        ("Who earns less than somebody who reports to them?", INSIDE.format("pay", "<", "MAX(x.pay)", DOWN)),
        ("Which managers earn more than all that they manage?", INSIDE.format("pay", ">", "MAX(x.pay)", DOWN)),
        ("Who earns more than somebody whom they are the manager of?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        # Nobody, one superior, or somebody further away is compared with.
        ("Who earns more than others?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        ("Who earns more than the manager of Faro?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        ("Who earns more than their manager's manager?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        # The query compares the other way, or another column by its kind.
        ("Who earns less than their manager?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        ("Who is older than their manager?", INSIDE.format("born", ">", "MIN(x.born)", DOWN)),
        ("Who is older than their manager?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        ("Who lives in the same city as their manager?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        # The row that is compared with is shown.
        ("Who earns more than their manager?", JOINED.format("m.name", "m.manager_id = e.id", "e.pay > m.pay")),
        (
            "Who lives in the same city as their manager?",
            JOINED.format("e.name, m.name", "e.id = m.manager_id", "e.city = m.city"),
        ),
        # A negation, an alternative, all of those below, several ties, and a key that does not lead upward.
        ("Who does not earn more than their manager?", INSIDE.format("pay", ">", "MIN(x.pay)", DOWN)),
        (MORE, INSIDE.format("pay", ">", "MIN(x.pay)", DOWN) + " OR e.city = 'Lisbon'"),
        (
            MORE,
            "SELECT e.name FROM employee e WHERE NOT"
            " (e.pay > (SELECT MAX(x.pay) FROM employee x WHERE x.manager_id = e.id))",
        ),
        (MORE, JOINED.format("e.name", "e.id = m.manager_id", "e.pay > m.pay AND e.id = m.manager_id")),
        (MORE, JOINED.format("e.name", "e.id = m.deputy_id", "e.pay > m.pay")),
        (MORE, JOINED.format("e.name", "e.id = m.manager_id", "e.pay > 60")),
        (MORE, JOINED.format("e.name", "e.id = m.manager_id", "e.id > m.id")),
    ],
)
def test_other_queries_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


def test_the_department_above_is_compared_with(answered: Answered) -> None:
    script = """
    CREATE TABLE department (id INTEGER PRIMARY KEY, title TEXT, budget INTEGER,
        parent_id INTEGER REFERENCES department);
    INSERT INTO department VALUES (1, 'Board', 50, NULL), (2, 'Sales', 80, 1), (3, 'Export', 20, 2);
    """
    sql = "SELECT a.title FROM department a, department b WHERE b.parent_id = a.id AND a.budget > b.budget"
    question = "Which departments have a larger budget than their parent department?"
    assert answered(script, question, sql).rows == (("Sales",),)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who earns more than his or her own line manager does?", "more"),
        ("Whose salary is higher than that of their supervisor?", "more"),
        ("Who earns at least twice as much as their boss?", "more"),
        ("Whose salary exceeds their manager's salary?", "more"),
        ("Which items cost less than their parent?", "less"),
        ("Who was hired before their manager?", "earlier"),
        ("Who joined later than their boss?", "later"),
        ("Who is younger than their team lead?", "younger"),
        ("Who works at the same site as their head?", "same"),
        ("Who works in another office than their manager?", "different"),
        ("Who has the same person as their manager?", None),
        ("Who has Ann as their manager?", None),
        ("Who earns no more than their manager?", None),
        ("Who isn't paid more than their manager?", None),
        ("Who earns half as much as their manager?", None),
        ("Who earns more than the head?", None),
        ("Who earns more than the manager in Faro?", None),
        ("Who earns more than their manager's team?", None),
        ("Who earns more than their managers' average?", None),
        ("Who earns more than their manager, and was hired before their manager?", None),
        ("Who is supervised by somebody who earns more than their manager?", None),
    ],
)
def test_words_that_compare_with_a_superior(question: str, expected: Comparison | None) -> None:
    assert compared_with_superior(question) == expected

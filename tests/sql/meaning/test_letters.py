"""Codes that shorten words of the question, on the meters and contracts of a supplier."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE contract (id INTEGER PRIMARY KEY, util TEXT, status TEXT, every TEXT, prio TEXT, note TEXT);
INSERT INTO contract VALUES (1, 'E', 'ACT', 'MTH', 'H', 'A'), (2, 'W', 'TER', 'QTR', 'L', 'bb'),
    (3, 'E', 'PAI', 'YR', 'M', 'C'), (4, 'W', 'PAR', 'MTH', 'H', 'D'), (5, 'W', 'OPN', 'YR', 'L', 'E');
"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("util = 'Water'", "util = 'W'"),
        ("util <> 'water'", "util <> 'W'"),
        ("util = 'Elec'", "util = 'E'"),
        ("prio = 'High'", "prio = 'H'"),
        ("status = 'Terminated'", "status = 'TER'"),
        ("status = 'Open'", "status = 'OPN'"),
        ("status IN ('Open', 'Terminated')", "status IN ('OPN', 'TER')"),
        ("status = 'Partly paid'", "status = 'PAR'"),
        ("every = 'monthly'", "every = 'MTH'"),
    ],
)
def test_codes_shorten_words_of_the_question(answered: Answered, condition: str, expected: str) -> None:
    question = "How many water or electricity contracts of high priority are open, terminated or partly paid, monthly?"
    answer = answered(SCHEMA, question, f"SELECT COUNT(*) FROM contract WHERE {condition}")
    assert answer.sql == f"SELECT COUNT(*) FROM contract WHERE {expected}"


@pytest.mark.parametrize(
    "condition",
    [
        "status = 'P'",  # shorter than a code
        "status = 'Paused'",  # the question has other words
        "util = 'Gas'",
        "note = 'Contracts'",  # not all values are codes
    ],
)
def test_other_texts_stay(answered: Answered, condition: str) -> None:
    sql = f"SELECT COUNT(*) FROM contract WHERE {condition}"
    assert answered(SCHEMA, "How many gas contracts are active?", sql).sql == sql


def test_two_codes_that_shorten_a_word_are_left(answered: Answered) -> None:
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO t VALUES (1, 'CS'), (2, 'CD'), (3, 'OP')"
    sql = "SELECT COUNT(*) FROM t WHERE state = 'closed'"
    assert answered(schema, "How many are closed?", sql).sql == sql


@pytest.mark.parametrize(
    ("text", "expected"),
    [("success", "succeeded"), ("Succeed", "succeeded"), ("fail", "fail"), ("cancellation", "cancelled")],
)
def test_another_form_of_the_word(answered: Answered, text: str, expected: str) -> None:
    schema = (
        "CREATE TABLE pay (id INTEGER PRIMARY KEY, state TEXT);"
        "INSERT INTO pay VALUES (1, 'succeeded'), (2, 'failed'), (3, 'cancelled')"
    )
    question = f"How many payments are a {text}?"
    answer = answered(schema, question, f"SELECT COUNT(*) FROM pay WHERE state = '{text}'")
    assert answer.sql == f"SELECT COUNT(*) FROM pay WHERE state = '{expected}'"


OFFICES = """
CREATE TABLE office (id INTEGER PRIMARY KEY, state TEXT, country TEXT, plan TEXT);
INSERT INTO office VALUES (1, 'MI', 'AUS', 'BA'), (2, 'OH', 'GER', 'OP'), (3, 'TX', 'GER', 'BA');
CREATE TABLE customer (id INTEGER PRIMARY KEY, country TEXT);
INSERT INTO customer VALUES (1, 'Austria'), (2, 'Germany'), (3, 'Austria');
"""


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("How many offices are in Minnesota?", "office WHERE state = 'Minnesota'"),  # MI is Michigan
        ("How many offices are in Austria?", "office WHERE country = 'Austria'"),  # AUS is Australia
        ("How many offices have a basic and not a bare plan?", "office WHERE plan = 'basic'"),  # BA begins both
        ("How many customers are from Australia?", "customer WHERE country = 'Australia'"),
    ],
)
def test_another_word_that_begins_like_it_is_none(answered: Answered, question: str, source: str) -> None:
    sql = f"SELECT COUNT(*) FROM {source}"
    assert answered(OFFICES, question, sql).sql == sql


def test_a_code_that_begins_a_word_is_not_better_than_one_that_shortens_it(answered: Answered) -> None:
    schema = (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, status TEXT); INSERT INTO t VALUES (1, 'TM'), (2, 'TE'), (3, 'OP')"
    )
    sql = "SELECT COUNT(*) FROM t WHERE status = 'terminated'"
    assert answered(schema, "How many are terminated?", sql).sql == sql

"""Amounts in cents where a question asks for euros, on the collection and the exhibitions of a museum."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE work (id INTEGER PRIMARY KEY, kind TEXT, acq_price_ct INTEGER, insured_val_ct INTEGER, total_ct INTEGER);
CREATE TABLE exh (id INTEGER PRIMARY KEY, title TEXT, budget_ct INTEGER, cost_ct INTEGER, visitors INTEGER);
INSERT INTO work VALUES (1, 'oil', 250000, 400000, 3), (2, 'oil', 90000, 150000, 4), (3, 'print', 4000, 9000, 5);
INSERT INTO exh VALUES (1, 'Light', 800000, 1000000, 900), (2, 'Stone', 500000, 520000, 400);
"""
OVERRUN = "{} * (cost_ct - budget_ct) / budget_ct"
EXHIBITIONS = "Budget and cost of each exhibition in euros, and the overrun in percent"


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Number of purchases and their total price in euros, by kind",
            "SELECT kind, COUNT(*), SUM(acq_price_ct) FROM work GROUP BY kind",
            "SELECT kind, COUNT(*), SUM(acq_price_ct) / 100.0 FROM work GROUP BY kind",
        ),
        (
            "For how many euros is each kind insured?",
            "SELECT kind, SUM(insured_val_ct) FROM work GROUP BY kind",
            "SELECT kind, SUM(insured_val_ct) / 100.0 FROM work GROUP BY kind",
        ),
        (
            EXHIBITIONS,
            f"SELECT budget_ct, cost_ct, {OVERRUN.format('100.0')} FROM exh",
            f"SELECT budget_ct / 100.0, cost_ct / 100.0, {OVERRUN.format('100.0')} FROM exh",
        ),
        (
            EXHIBITIONS,
            "SELECT budget_ct, ROUND((cost_ct - budget_ct) * 1.0 / budget_ct * 100, 1) FROM exh",
            "SELECT budget_ct / 100.0, ROUND((cost_ct - budget_ct) * 1.0 / budget_ct * 100, 1) FROM exh",
        ),
        (
            "Cost of all exhibitions in euros, and what percentage of them cost more than 6000 euros?",
            "SELECT SUM(cost_ct), 100.0 * SUM(CASE WHEN cost_ct > 600000 THEN 1 END) / COUNT(*) FROM exh",
            "SELECT SUM(cost_ct) / 100.0, 100.0 * SUM(CASE WHEN cost_ct > 600000 THEN 1 END) / COUNT(*) FROM exh",
        ),
        (
            "Cost of each exhibition in euros",
            "SELECT title, cost_ct / 10.0 FROM exh",
            "SELECT title, cost_ct / 100.0 FROM exh",
        ),
        (
            "Total price in euros",
            "SELECT ROUND(CAST(SUM(acq_price_ct) AS REAL) / 1000, 2) FROM work",
            "SELECT ROUND(CAST(SUM(acq_price_ct) AS REAL) / 100.0, 2) FROM work",
        ),
    ],
)
def test_cents_are_shown_as_euros(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("The number of works in euros", "SELECT total_ct FROM work"),
        ("The number of works in euros", "SELECT total_ct / 10.0 FROM work"),
        ("What part of the price is the value, in percent of euros?", "SELECT 100.0 * cost_ct / budget_ct FROM exh"),
        ("Cost in euros, and percent", "SELECT cost_ct, 100.0 * cost_ct / visitors FROM exh"),
        ("Cost in euros, and percent", "SELECT cost_ct, visitors * 100 FROM exh"),
        ("Cost in euros, and percent", "SELECT budget_ct, cost_ct / 100.0, 100.0 * cost_ct / budget_ct FROM exh"),
        ("Cost in euros for 10 visitors", "SELECT cost_ct / 10.0 FROM exh"),
        ("Cost in euros per 1,000 visitors", "SELECT cost_ct / 1000.0 FROM exh"),
        ("Cost in thousands of euros", "SELECT cost_ct / 1000.0 FROM exh"),
        ("Cost of each exhibition", "SELECT cost_ct / 1000.0 FROM exh"),
        ("Cost in euros, of visitors", "SELECT visitors / 10.0 FROM exh"),
    ],
)
def test_other_amounts_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql


PAYMENTS = """
CREATE TABLE payment (id INTEGER, method TEXT, amount REAL, whole NUMERIC, amount_ct INTEGER, fee_rate REAL);
INSERT INTO payment VALUES (1, 'card', 120.5, 120, 12050, 2.5), (2, 'cash', 80.25, 80, 8025, 1.5),
    (3, 'card', 9, 9, 900, 3.5);
"""


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "How much did we receive by payment method, in euros?",
            "SELECT method, SUM(amount) / 100.0 FROM payment GROUP BY method ORDER BY SUM(amount) / 100 DESC",
            "SELECT method, SUM(amount) FROM payment GROUP BY method ORDER BY SUM(amount) DESC",
        ),
        (
            "Average payment in euros, to two decimals",
            "SELECT ROUND(AVG(amount) / 100.0, 2) FROM payment",
            "SELECT ROUND(AVG(amount), 2) FROM payment",
        ),
    ],
)
def test_amounts_with_fractions_are_no_cents(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(PAYMENTS, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How much did we receive, in euros?", "SELECT SUM(amount_ct) / 100.0 FROM payment"),
        ("How much did we receive, in euros?", "SELECT SUM(whole) / 100.0 FROM payment"),
        ("One percent of what we received, in euros", "SELECT SUM(amount) / 100.0 FROM payment"),
        ("How much did we receive, in euros?", "SELECT SUM(amount * fee_rate / 100.0) FROM payment"),
        ("How much did we receive?", "SELECT SUM(amount) / 100.0 FROM payment"),
    ],
)
def test_other_divisions_by_a_hundred_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(PAYMENTS, question, sql).sql == sql


TRADE = """
CREATE TABLE player (id INTEGER, name TEXT, height REAL, fee REAL, paid REAL);
INSERT INTO player VALUES (1, 'Ann', 1.85, 1250.5, 10.25), (2, 'Bob', 1.7, 990, 20), (3, 'Cy', 1.92, 400, 0);
"""


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("What does each player cost?", "SELECT name, fee * 100 FROM player", "SELECT name, fee FROM player"),
        ("What was paid, rounded to cents?", "SELECT SUM(paid) * 100 FROM player", "SELECT SUM(paid) FROM player"),
        # Metres are no money.
        ("Height of each player in centimetres", "SELECT name, height * 100 FROM player", ""),
        ("Names, heights in cm and prices", "SELECT name, height * 100 FROM player", ""),
        ("Height of each player", "SELECT name, height * 100 FROM player", ""),
        ("The fee of each player in rappen", "SELECT name, fee * 100 FROM player", ""),
        ("The fee of each player as an amount in paise", "SELECT name, fee * 100 FROM player", ""),
        ("How many centimes did each player get?", "SELECT name, fee * 100 FROM player", ""),
    ],
)
def test_money_alone_is_shown_as_it_is_stored(answered: Answered, question: str, sql: str, expected: str) -> None:
    assert answered(TRADE, question, sql).sql == (expected or sql)

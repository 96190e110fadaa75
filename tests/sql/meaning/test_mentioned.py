"""Texts that are compared with one value of a column where the question says another one, on the stays of a hotel."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE stay (id INTEGER PRIMARY KEY, guest TEXT, status TEXT, channel TEXT, prior TEXT);
INSERT INTO stay VALUES
    (1, 'Ann', 'checked_in', 'web', 'confirmed'), (2, 'Ben', 'checked_out', 'phone', 'checked_in'),
    (3, 'Cem', 'cancelled', 'web', 'confirmed'), (4, 'Dan', 'confirmed', 'phone', 'unconfirmed'),
    (5, 'Eva', 'checked_out', 'web', 'checked_in');
"""


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        (
            "Which guests had stays that were checked out?",
            "SELECT guest FROM stay WHERE status = 'checked_in'",
            "SELECT guest FROM stay WHERE status = 'checked_out'",
        ),
        (
            "How many unconfirmed stays are there by channel?",
            "SELECT channel, COUNT(*) FROM stay WHERE prior = 'confirmed' GROUP BY channel",
            "SELECT channel, COUNT(*) FROM stay WHERE prior = 'unconfirmed' GROUP BY channel",
        ),
    ],
)
def test_the_value_that_the_question_says_is_compared(
    answered: Answered, question: str, sql: str, expected: str
) -> None:
    assert answered(SCHEMA, question, sql).sql == expected


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # The value is said, by itself or by a word of it.
        ("Which guests checked in, and later were cancelled?", "SELECT guest FROM stay WHERE status = 'checked_in'"),
        ("Confirmations, not those cancelled", "SELECT guest FROM stay WHERE status = 'confirmed'"),
        # The other one is negated.
        ("Guests who are here, without cancelled stays", "SELECT guest FROM stay WHERE status = 'checked_in'"),
        ("Guests who are here; cancelled stays do not count", "SELECT guest FROM stay WHERE status = 'checked_in'"),
        # Another word for the value is said, beside a word that is no value here.
        ("Which cancelled guests came after all?", "SELECT guest FROM stay WHERE status = 'checked_in'"),
        ("Which guests are yet to be checked out?", "SELECT guest FROM stay WHERE status = 'checked_in'"),
        # Two other values are said, and a short word may be there by chance.
        ("Guests checked out or cancelled", "SELECT guest FROM stay WHERE status = 'confirmed'"),
        ("Guests who came by phone", "SELECT guest FROM stay WHERE channel = 'web'"),
        # The column is used elsewhere, or the comparison is negated.
        ("Cancelled stays by status", "SELECT status, COUNT(*) FROM stay WHERE status = 'confirmed' GROUP BY status"),
        ("Who cancelled?", "SELECT guest FROM stay WHERE NOT (status = 'confirmed')"),
    ],
)
def test_other_values_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""Subqueries of columns that no key relates, on the loans of a library."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE reader (id INTEGER PRIMARY KEY, card_no INTEGER UNIQUE, name TEXT);
INSERT INTO reader VALUES (1, 77, 'Ann'), (2, 78, 'Ben'), (3, 79, 'Cem');
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, language TEXT);
INSERT INTO book VALUES (1, 'Atlas', 'en'), (2, 'Bible', 'de'), (3, 'Comic', 'en');
CREATE TABLE loan (id INTEGER PRIMARY KEY, reader_card INTEGER REFERENCES reader(card_no), book_id INTEGER REFERENCES
  book(id));
INSERT INTO loan VALUES (11, 77, 1), (12, 77, 2), (13, NULL, 1);
"""


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("SELECT id FROM loan", "id"),  # two keys that are no key of each other
        ("SELECT card_no FROM loan", "card_no"),  # of the reader around it, who is compared with himself
        ("SELECT l.id FROM loan AS l", "id"),
        ("SELECT borrower FROM loan", "card_no"),  # a column that is not there
        ("SELECT reader_id FROM loan", "id"),  # the same, and the key leads to another column
    ],
)
def test_a_subquery_is_compared_along_the_key(answered: Answered, inner: str, outer: str) -> None:
    sql = f"SELECT name FROM reader WHERE {outer} NOT IN ({inner})"
    assert answered(SCHEMA, "Which readers have never borrowed anything?", sql).rows == (("Ben",), ("Cem",))


def test_members_are_found_by_the_key(answered: Answered) -> None:
    sql = "SELECT title FROM book AS b WHERE b.id IN (SELECT l.id FROM loan AS l WHERE l.reader_card = 77)"
    found = answered(SCHEMA, "Which books has the reader with card 77 borrowed?", sql)
    assert found.rows == (("Atlas",), ("Bible",))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT title FROM book WHERE id NOT IN (SELECT book_id FROM loan)",
        # Of one table, and a value that two columns share.
        "SELECT title FROM book WHERE id IN (SELECT id FROM book WHERE language = 'en')",
        # It says itself that it is of the query around it.
        "SELECT name FROM reader AS r WHERE r.id IN (SELECT r.id FROM loan AS l WHERE l.reader_card = r.card_no)",
    ],
)
def test_other_subqueries_stay(answered: Answered, sql: str) -> None:
    assert answered(SCHEMA, "Which ones?", sql).sql == sql


def test_rows_of_one_key_are_compared(answered: Answered) -> None:
    script = """
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO person VALUES (1, 'Ann'), (2, 'Ben');
    CREATE TABLE coach (id INTEGER PRIMARY KEY REFERENCES person(id), mentor INTEGER REFERENCES person(id));
    INSERT INTO coach VALUES (2, 1);
    """
    sql = "SELECT name FROM person WHERE id IN (SELECT id FROM coach)"
    assert answered(script, "Which persons are coaches?", sql).sql == sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (
            "Which invoices have been cancelled?",
            "SELECT no FROM invoice WHERE id IN (SELECT id FROM cancelled_invoice)",
        ),
        ("Which towns are called like persons?", "SELECT name FROM town WHERE name IN (SELECT name FROM person)"),
        ("Which towns are called like nobody?", "SELECT name FROM town WHERE NOT name IN (SELECT name FROM person)"),
    ],
)
def test_keys_of_the_same_things_stay(answered: Answered, question: str, sql: str) -> None:
    script = """
    CREATE TABLE invoice (id INTEGER PRIMARY KEY, no TEXT);
    INSERT INTO invoice VALUES (1, 'R1'), (2, 'R2'), (3, 'R3');
    CREATE TABLE cancelled_invoice (id INTEGER PRIMARY KEY, replacement_invoice_id INTEGER REFERENCES invoice(id));
    INSERT INTO cancelled_invoice VALUES (1, 3), (2, 3);
    CREATE TABLE town (name TEXT PRIMARY KEY);
    INSERT INTO town VALUES ('Ulm'), ('Florence'), ('Bonn');
    CREATE TABLE person (name TEXT PRIMARY KEY, born_in TEXT REFERENCES town(name));
    INSERT INTO person VALUES ('Florence', 'Ulm'), ('Max', 'Bonn');
    """
    assert answered(script, question, sql).sql == sql

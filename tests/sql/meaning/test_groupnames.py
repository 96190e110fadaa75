"""The name of what is grouped by, on the reviews of a book shop."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE genre (genre_id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO genre VALUES (1, 'Crime'), (2, 'Poetry');
CREATE TABLE title (title_id INTEGER PRIMARY KEY, name TEXT, genre_id INTEGER REFERENCES genre(genre_id));
INSERT INTO title VALUES (1, 'Cold Canal', 1), (2, 'Ash', 2), (3, 'Fog', 1);
CREATE TABLE review (id INTEGER PRIMARY KEY, title_id INTEGER REFERENCES title(title_id), stars INTEGER);
INSERT INTO review VALUES (1, 1, 4), (2, 3, 2), (3, 2, 5);
"""
SQL = (
    "SELECT {0}name, AVG(stars) FROM review AS r JOIN title AS t ON t.title_id = r.title_id "
    "GROUP BY {0}genre_id, {0}name"
)


@pytest.mark.parametrize("alias", ["t.", ""])
def test_the_name_is_that_of_the_group(answered: Answered, alias: str) -> None:
    found = answered(SCHEMA, "Average stars of each genre: genre name and average", SQL.format(alias))
    assert dict(found.rows) == {"Crime": 3, "Poetry": 5}


@pytest.mark.parametrize(
    "question",
    [
        "Average stars of each title, by genre: title name and average",
        "Average stars of each book, with the genre's number",
        "Which books of each genre have reviews? Name and average",
    ],
)
def test_names_that_are_asked_for_stay(answered: Answered, question: str) -> None:
    sql = SQL.format("t.")
    assert answered(SCHEMA, question, sql).sql == sql

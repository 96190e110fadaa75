"""Workers and their supervisors, joined the wrong way round."""

from __future__ import annotations

import pytest

from answered import Answered
from sqljury.language.cues import asks_for_superior

SCHEMA = """
CREATE TABLE worker (id INTEGER PRIMARY KEY, name TEXT, site TEXT, supervisor_id INTEGER REFERENCES worker);
INSERT INTO worker VALUES (1, 'Ada Pitt', 'Hill', NULL), (2, 'Bea Thorne', 'Vale', 1), (3, 'Cid Moss', 'Hill', 2),
 (4, 'Dan Reed', 'Vale', 2);
"""
FROM = "SELECT a.name FROM worker AS a JOIN worker AS b ON {} WHERE b.name = 'Bea Thorne'"
ABOVE, BELOW = FROM.format("a.id = b.supervisor_id"), FROM.format("a.supervisor_id = b.id")


@pytest.mark.parametrize("sql", [ABOVE, BELOW, FROM.format("b.supervisor_id = a.id")])
@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who reports directly to Bea Thorne?", ["Cid Moss", "Dan Reed"]),
        ("Which workers are supervised by Bea Thorne?", ["Cid Moss", "Dan Reed"]),
        ("Names of workers whose supervisor is Bea Thorne", ["Cid Moss", "Dan Reed"]),
        ("Who supervises Bea Thorne?", ["Ada Pitt"]),
        ("What is the name of Bea Thorne's supervisor?", ["Ada Pitt"]),
        ("Who does Bea Thorne report to?", ["Ada Pitt"]),
        ("Who is Bea Thorne's team lead?", ["Ada Pitt"]),
        ("Who is on Bea Thorne's team?", ["Cid Moss", "Dan Reed"]),
    ],
)
def test_rows_are_joined_as_the_question_says(answered: Answered, question: str, names: list[str], sql: str) -> None:
    answer = answered(SCHEMA, question, sql)
    assert sorted(row[0] for row in answer.rows) == names


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who reports to Thorne?", False),
        ("Thorne's direct reports", False),
        ("Who is the manager of Thorne?", True),
        ("Where does Thorne work?", None),
        ("Who reports to Thorne, and who manages Thorne?", None),
        ("Who reports to Reed?", None),
        ("Who is in charge of Thorne's team?", None),
        ("Who is in charge of the team of Thorne?", None),
        ("Who is the manager of the staff of Thorne?", None),
        ("Who leads the team of Thorne?", None),
        ("Who is Thorne's team's leader?", True),
        ("Which of Thorne's staff heads a site?", False),
    ],
)
def test_words_for_those_above_and_below(question: str, expected: bool | None) -> None:
    assert asks_for_superior(question, ["Thorne"]) is expected

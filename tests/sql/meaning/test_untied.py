"""Tables that no condition ties to the others, on the visits of a veterinary practice."""

from __future__ import annotations

import pytest

from answered import Answered

SCHEMA = """
CREATE TABLE animal (no INTEGER PRIMARY KEY, name TEXT, mother_no INTEGER);
CREATE TABLE vet (id INTEGER PRIMARY KEY, surname TEXT);
CREATE TABLE visit (id INTEGER PRIMARY KEY, animal_no INTEGER REFERENCES animal, vet_id INTEGER REFERENCES vet,
  first_vet_id INTEGER REFERENCES vet);
CREATE TABLE diagnosis (id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visit, name TEXT);
INSERT INTO animal VALUES (1, 'Rex', NULL), (2, 'Mia', NULL);
INSERT INTO vet VALUES (1, 'Ash'), (2, 'Bly');
INSERT INTO visit VALUES (10, 1, 1, 2), (11, 2, 2, 2);
INSERT INTO diagnosis VALUES (5, 10, 'flu'), (6, 11, 'worm');
"""
QUESTION = "The name of each animal with its diagnosis"
ROUND = (
    "SELECT a.name, d.name FROM animal AS a JOIN diagnosis AS d ON d.visit_id = v.id "
    "JOIN visit AS v ON v.id = d.visit_id"
)


def test_a_key_ties_them(answered: Answered) -> None:
    found = answered(SCHEMA, QUESTION, ROUND)
    assert found.sql == f"{ROUND} WHERE v.animal_no = a.no"
    assert sorted(found.rows) == [("Mia", "worm"), ("Rex", "flu")]
    listed = "SELECT animal.name, vet_id FROM animal JOIN visit"
    assert answered(SCHEMA, "Animals and their vets", listed).rows == (("Rex", 1), ("Mia", 2))


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("All pairs of animals and visits", "SELECT animal.name, vet_id FROM animal JOIN visit"),
        ("Animals and visits", "SELECT animal.name, vet_id FROM animal CROSS JOIN visit"),
        ("Animals and visits", "SELECT animal.name, vet_id FROM animal, visit"),
        # Two keys lead there, or none.
        ("Vets and their visits", "SELECT surname, animal_no FROM vet JOIN visit"),
        ("Animals and vets", "SELECT animal.name, surname FROM animal JOIN vet"),
        # Some condition compares them.
        ("Animals and later visits", "SELECT animal.name, visit.id FROM animal JOIN visit ON visit.id > animal.no"),
    ],
)
def test_others_stay(answered: Answered, question: str, sql: str) -> None:
    assert answered(SCHEMA, question, sql).sql == sql

"""Every check on a small database: it fires on a wrong query, and not on the right one to the same question."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from sqljury.audit import CHECKS, LIKELY, TYPES, Data, Finding, Subject, audit
from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.types import Limits

SCRIPT = """
CREATE TABLE owner (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, city TEXT, age INT, joined TEXT);
CREATE TABLE kennel (id INTEGER PRIMARY KEY, name TEXT, city TEXT, year INT, code TEXT);
CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, weight TEXT, born TEXT, year INT, chip TEXT,
    owner_id INT REFERENCES owner(id), kennel_id INT REFERENCES kennel(id));
CREATE TABLE visit (id INTEGER PRIMARY KEY, pet_id INT REFERENCES pet(id), price INT, vet TEXT, year INT);
INSERT INTO owner VALUES (1, 'Ann', 'Hill', 'Bergen ', 30, '3 May 2001'), (2, 'Bob', 'Lake', 'Oslo', 41, '9 June 1999'),
    (3, 'Ann', 'Moor', 'Oslo', 52, '18 April 2005'), (4, 'Eve', 'Ford', 'Molde', 24, '1 July 2010');
INSERT INTO kennel VALUES (1, 'North', 'Oslo', 1990, ' K1'), (2, 'South', 'Molde', 1995, ' K2');
INSERT INTO pet VALUES (1, 'Rex', 'dog', '9', '2010-05-01', 2010, 'K1', 1, 1),
    (2, 'Tom', 'cat', '12', '2015-01-09', 2015, 'K2', 1, 2),
    (3, 'Rex', 'dog', '30', '2012-02-11', 2012, 'K1', 2, 1),
    (4, 'Ivy', 'cat', 'null', '2019-08-30', 2019, 'K2', 3, NULL);
INSERT INTO visit VALUES (1, 1, 50, 'Kim', 2020), (2, 1, 70, 'Lee', 2021),
    (3, 3, 20, 'Kim', 2020), (4, 2, 20, 'Lee', 2021);
"""

JOIN = "owner AS o JOIN pet AS p ON o.id = p.owner_id"
VISITS = "pet AS p JOIN visit AS v ON p.id = v.pet_id"


class Case(NamedTuple):
    check: str
    type: str
    question: str
    wrong: str
    right: str


CASES = [
    Case(
        "spelling",
        "wrong value",
        "Who lives in Bergen?",
        "SELECT last_name FROM owner WHERE city = 'Bergen'",
        "SELECT last_name FROM owner WHERE trim(city) = 'Bergen'",
    ),
    Case(
        "near-value",
        "wrong value",
        "Who lives in Molde?",
        "SELECT last_name FROM owner WHERE city = 'Moldde'",
        "SELECT last_name FROM owner WHERE city = 'Molde'",
    ),
    Case(
        "other-column",
        "wrong value",
        "What is the age of Hill?",
        "SELECT age FROM owner WHERE first_name = 'Hill'",
        "SELECT age FROM owner WHERE last_name = 'Hill'",
    ),
    Case(
        "absent",
        "wrong value",
        "What are the ages of owners from the capital?",
        "SELECT age FROM owner WHERE city = 'Xanadu Springs'",
        "SELECT age FROM owner WHERE city = 'Oslo'",
    ),
    Case(
        "number",
        "wrong value",
        "Who is older than 40?",
        "SELECT last_name FROM owner WHERE age > 50",
        "SELECT last_name FROM owner WHERE age > 40",
    ),
    Case(
        "quoted-text",
        "wrong value",
        "Which kinds of pets are called 'Rex'?",
        "SELECT DISTINCT kind FROM pet WHERE name = 'Tom'",
        "SELECT DISTINCT kind FROM pet WHERE name = 'Rex'",
    ),
    Case(
        "join-spelling",
        "wrong value",
        "Show the ids of pets and the names of the kennels of their chips.",
        "SELECT p.id, k.name FROM pet AS p JOIN kennel AS k ON p.chip = k.code",
        "SELECT p.id, k.name FROM pet AS p JOIN kennel AS k ON p.chip = trim(k.code)",
    ),
    Case(
        "number-as-text",
        "data type",
        "Which pet is the heaviest?",
        "SELECT id FROM pet ORDER BY weight DESC LIMIT 1",
        "SELECT id FROM pet ORDER BY CAST(weight AS REAL) DESC LIMIT 1",
    ),
    Case(
        "date-as-text",
        "data type",
        "List the owners by the day they joined.",
        "SELECT last_name FROM owner ORDER BY joined",
        "SELECT last_name FROM owner ORDER BY age",
    ),
    Case(
        "sum-of-text",
        "data type",
        "What is the average of the days on which owners joined?",
        "SELECT avg(joined) FROM owner",
        "SELECT avg(age) FROM owner",
    ),
    Case(
        "everything",
        "wrong column",
        "What are the names of kennels in Oslo?",
        "SELECT * FROM kennel WHERE city = 'Oslo'",
        "SELECT name FROM kennel WHERE city = 'Oslo'",
    ),
    Case(
        "not-selected",
        "wrong column",
        "List the name, kind and weight of each pet.",
        "SELECT name, kind FROM pet",
        "SELECT name, kind, weight FROM pet",
    ),
    Case(
        "not-asked",
        "wrong column",
        "What are the cities of owners older than 40?",
        "SELECT joined FROM owner WHERE age > 40",
        "SELECT city FROM owner WHERE age > 40",
    ),
    Case(
        "first-or-last",
        "wrong column",
        "What are the first names of owners in Oslo?",
        "SELECT last_name FROM owner WHERE city = 'Oslo'",
        "SELECT first_name FROM owner WHERE city = 'Oslo'",
    ),
    Case(
        "other-table",
        "wrong column",
        "Which pets had a visit in 2020?",
        f"SELECT DISTINCT p.id FROM {VISITS} WHERE p.year = 2020",
        f"SELECT DISTINCT p.id FROM {VISITS} WHERE v.year = 2020",
    ),
    Case(
        "group-by-label",
        "aggregation",
        "How many visits did each pet have? Show the names too.",
        f"SELECT p.name, count(*) FROM {VISITS} GROUP BY p.name",
        f"SELECT p.name, count(*) FROM {VISITS} GROUP BY p.id",
    ),
    Case(
        "bare-column",
        "aggregation",
        "What are the ids of pets whose kind has more than one pet?",
        "SELECT id FROM pet GROUP BY kind HAVING count(*) > 1",
        "SELECT id FROM pet WHERE kind IN (SELECT kind FROM pet GROUP BY kind HAVING count(*) > 1)",
    ),
    Case(
        "no-distinct",
        "deduplication",
        "Show the different kinds of pets.",
        "SELECT kind FROM pet",
        "SELECT DISTINCT kind FROM pet",
    ),
    Case(
        "join-repeats",
        "deduplication",
        "What are the last names of owners who have a pet?",
        f"SELECT o.last_name FROM {JOIN}",
        f"SELECT DISTINCT o.last_name FROM {JOIN}",
    ),
    Case(
        "counted-twice",
        "deduplication",
        "How many owners have a pet?",
        f"SELECT count(*) FROM {JOIN}",
        f"SELECT count(DISTINCT o.id) FROM {JOIN}",
    ),
    Case(
        "summed-twice",
        "deduplication",
        "What is the average age of owners who have a pet?",
        f"SELECT avg(o.age) FROM {JOIN}",
        "SELECT avg(age) FROM owner WHERE id IN (SELECT owner_id FROM pet)",
    ),
    Case(
        "superlative",
        "semantic logic",
        "What is the vet of the visit with the highest price?",
        "SELECT vet FROM visit ORDER BY price LIMIT 1",
        "SELECT vet FROM visit ORDER BY price DESC LIMIT 1",
    ),
    Case(
        "order-direction",
        "semantic logic",
        "Give the descriptions of visits in descending order of price.",
        "SELECT vet FROM visit ORDER BY price",
        "SELECT vet FROM visit ORDER BY price DESC",
    ),
    Case(
        "comparison",
        "semantic logic",
        "Which vets had at least 2 visits?",
        "SELECT vet FROM visit GROUP BY vet HAVING count(*) > 2",
        "SELECT vet FROM visit GROUP BY vet HAVING count(*) >= 2",
    ),
    Case(
        "age-or-time",
        "semantic logic",
        "What is the last name of the youngest owner?",
        "SELECT last_name FROM owner ORDER BY age DESC LIMIT 1",
        "SELECT last_name FROM owner ORDER BY age LIMIT 1",
    ),
    Case(
        "set-of-labels",
        "semantic logic",
        "What are the names of pets that never had a visit by Lee?",
        f"SELECT name FROM pet EXCEPT SELECT p.name FROM {VISITS} WHERE v.vet = 'Lee'",
        "SELECT name FROM pet WHERE id NOT IN (SELECT pet_id FROM visit WHERE vet = 'Lee')",
    ),
    Case(
        "no-join-condition",
        "semantic logic",
        "Show the last names of owners who have a cat.",
        "SELECT DISTINCT o.last_name FROM owner AS o JOIN pet AS p WHERE p.kind = 'cat'",
        f"SELECT DISTINCT o.last_name FROM {JOIN} WHERE p.kind = 'cat'",
    ),
    Case(
        "join-column",
        "semantic logic",
        "Show the vets and the kinds they see.",
        "SELECT v.vet, p.kind FROM pet AS p JOIN visit AS v ON p.owner_id = v.pet_id",
        f"SELECT v.vet, p.kind FROM {VISITS}",
    ),
    Case("fails", "semantic logic", "Who?", "SELECT nobody FROM owner", "SELECT last_name FROM owner"),
    Case(
        "returns-nothing",
        "semantic logic",
        "Who is older than 90?",
        "SELECT last_name FROM owner WHERE age > 90",
        "SELECT last_name FROM owner WHERE age > 20",
    ),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pets") / "pets.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(SCRIPT)
    connection.close()
    return path


def found(file: Path, question: str, sql: str) -> dict[str, Finding]:
    with connect(file) as db:
        return {one.check: one for one in audit(Subject(question, sql, introspect(db), Data(db, Limits(seconds=5))))}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.check)
def test_fires_on_the_wrong_query_only(case: Case, file: Path) -> None:
    finding = found(file, case.question, case.wrong)[case.check]
    assert finding.type == case.type
    assert finding.type in TYPES
    assert 0 < finding.confidence <= 1
    assert finding.clause
    assert finding.evidence
    assert case.check not in found(file, case.question, case.right)


@pytest.mark.parametrize("case", [case for case in CASES if case.check != "returns-nothing"])
def test_the_right_query_is_not_suspected(case: Case, file: Path) -> None:
    suspected = [one for one in found(file, case.question, case.right).values() if one.confidence >= LIKELY]
    assert suspected == []


@pytest.mark.parametrize(
    ("check", "question", "sql"),
    [
        (
            "number",
            "Average price of a visit, rounded to whole euros, of the 4 visits?",
            "SELECT ROUND(AVG(price) * 100.0 / 100, 2) FROM visit",
        ),
        (
            "number",
            "Which visits cost more than 50 euros? Id and price in euros.",
            "SELECT id, price / 100.0 FROM visit WHERE price > 5000",
        ),
        ("number", "Which visits were in 2020?", "SELECT id FROM visit WHERE year BETWEEN 20200101 AND 20201231"),
        (
            "number",
            "How many hundreds of visits were there in 2019, 2020 and 2021 together?",
            "SELECT COUNT(*) / 100.0 FROM visit WHERE year BETWEEN 2019 AND 2021",
        ),
        (
            "no-join-condition",
            "For each kennel, how many pets were born within 30 years of its opening?",
            "SELECT k.name, COUNT(*) FROM kennel AS k JOIN pet AS p ON p.year BETWEEN k.year AND k.year + 30 "
            "GROUP BY k.name",
        ),
        (
            "no-join-condition",
            "What do all visits cost, and how many pets are there?",
            "SELECT v.cost, p.pets FROM (SELECT SUM(price) AS cost FROM visit) AS v "
            "CROSS JOIN (SELECT COUNT(*) AS pets FROM pet) AS p",
        ),
        (
            "superlative",
            "The first visit of each pet: pet and price, largest price first.",
            "SELECT pet_id, price FROM visit AS v WHERE id = (SELECT MIN(id) FROM visit WHERE pet_id = v.pet_id) "
            "ORDER BY price DESC",
        ),
    ],
)
def test_units_dates_and_orders_are_no_faults(check: str, question: str, sql: str, file: Path) -> None:
    assert check not in found(file, question, sql)


@pytest.mark.parametrize(
    ("check", "question", "sql"),
    [
        (
            "number",
            "The average price of visits to 1 decimal",
            "SELECT ROUND(AVG(price), 3) FROM visit",
        ),
        ("number", "Visits from 2010 to 2015", "SELECT id FROM visit WHERE year BETWEEN 2000 AND 2020"),
        ("number", "Which visits cost more than 20?", "SELECT id FROM visit WHERE price > 2000"),
        ("number", "What are 14 prices of each visit?", "SELECT price * 6 FROM visit"),
        (
            "superlative",
            "In 2020, what was the highest price of a visit? Show the first vet too.",
            "SELECT MIN(price), vet FROM visit WHERE year = 2020",
        ),
        (
            "superlative",
            "Of all owners, what is the oldest one's, with the highest age, first name?",
            "SELECT first_name FROM owner ORDER BY age ASC LIMIT 1",
        ),
        (
            "no-join-condition",
            "Which owners have a pet?",
            "SELECT o.id FROM owner AS o JOIN pet AS p WHERE o.id IN (SELECT p.owner_id FROM pet AS p)",
        ),
    ],
)
def test_errors_that_are_like_units_and_orders(check: str, question: str, sql: str, file: Path) -> None:
    assert check in found(file, question, sql)


def test_two_subqueries_of_many_rows_need_a_condition(file: Path) -> None:
    many = "(SELECT pet_id, SUM(price) AS cost FROM visit GROUP BY pet_id) AS v"
    sql = f"SELECT p.id, v.cost FROM pet AS p CROSS JOIN {many}"
    assert "no-join-condition" in found(file, "What did the visits of each pet cost?", sql)


def test_a_second_spelling_in_the_column_is_told(tmp_path: Path) -> None:
    path = tmp_path / "days.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE day (id INTEGER PRIMARY KEY, sky TEXT); INSERT INTO day VALUES (1, 'Rain'), (2, 'rain');"
        )
    connection.close()
    wrong = found(path, "On which days was there Rain?", "SELECT id FROM day WHERE sky = 'Rain'")
    assert "'rain'" in wrong["second-spelling"].evidence
    assert not found(path, "On which days was there Rain?", "SELECT id FROM day WHERE lower(sky) = 'rain'")


def test_evidence_names_values_and_counts(file: Path) -> None:
    spelling = found(file, "Who lives in Bergen?", "SELECT last_name FROM owner WHERE city = 'Bergen'")["spelling"]
    assert "'Bergen '" in spelling.evidence
    assert spelling.clause == "city = 'Bergen'"
    twice = found(file, "How many owners have a pet?", f"SELECT count(*) FROM {JOIN}")["counted-twice"]
    assert "(4,)" in twice.evidence
    assert "(3,)" in twice.evidence


def test_what_other_findings_explain_is_not_told_again(file: Path) -> None:
    sql = "SELECT last_name FROM owner WHERE city = 'Bergen' AND first_name = 'ann'"
    assert "returns-nothing" in found(file, "Who in Bergen is an Ann?", sql)  # one finding may be of another thing
    joined = "SELECT DISTINCT k.name FROM kennel AS k JOIN pet AS p ON p.chip = k.code WHERE k.city = 'oslo'"
    checks = found(file, "Which kennels in Oslo have a pet?", joined)
    assert {"spelling", "join-spelling"} <= set(checks)
    assert "returns-nothing" not in checks


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "this is no SQL",
        "DROP TABLE owner",
        "SELECT " + "(" * 2000,
        "WITH t AS (SELECT 1 AS x) SELECT x FROM t",
        "SELECT * FROM owner, (SELECT 1)",
        "SELECT city COLLATE NOCASE FROM owner GROUP BY 1 ORDER BY 1",
        "SELECT count(*) FROM owner WHERE age IN (SELECT max(age) FROM owner UNION SELECT 1)",
    ],
)
def test_odd_queries_are_no_reason_to_stop(sql: str, file: Path) -> None:
    for question in ("", "How many different owners are not in both a and b?", "'" * 50):
        found(file, question, sql)


def test_every_check_is_tried(file: Path) -> None:
    assert len(CHECKS) == len(set(CHECKS))
    covered = set()
    with connect(file) as db:
        for case in CASES:
            subject = Subject(case.question, case.wrong, introspect(db), Data(db, Limits(seconds=5)))
            covered |= {check for check in CHECKS if list(check(subject))}
    assert covered == set(CHECKS)

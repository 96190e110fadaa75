"""Questions about what holds now, on tables that keep what held before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from answered import Answered
from sqljury.language.cues import wants_current
from sqljury.sql.meaning import Asked, Rewriter
from sqljury.sql.meaning.base import Times
from sqljury.sql.meaning.histories import current_rows
from sqljury.types import Column, Question, Row, Schema, Table

SCHEMA = """
CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE assignment (id INTEGER PRIMARY KEY, person TEXT, site_id INTEGER REFERENCES site, valid_from DATE,
 valid_to DATE);
CREATE TABLE salary (person TEXT, euros INTEGER, from_date DATE, to_date DATE);
CREATE TABLE trip (person TEXT, start_date DATE, end_date DATE);
CREATE TABLE licence (person TEXT, valid_from DATE, valid_to DATE);
CREATE TABLE lease (person TEXT, status TEXT, valid_from DATE, valid_to DATE);
CREATE TABLE parcel (id INTEGER PRIMARY KEY, from_city TEXT, to_city TEXT);
INSERT INTO licence VALUES ('Ann', '2020-01-01', NULL), ('Ben', '2020-01-01', '2999-01-01');
INSERT INTO lease VALUES ('Ann', 'active', '2020-01-01', NULL), ('Ben', 'active', '2020-01-01', '2021-01-01');
INSERT INTO parcel VALUES (1, 'Linz', NULL), (2, 'Linz', 'Graz');
INSERT INTO site VALUES (1, 'Linz'), (2, 'Graz'), (3, 'Wels');
INSERT INTO assignment VALUES (1, 'Ann', 1, '2020-01-01', '2021-12-31'), (2, 'Ann', 2, '2022-01-01', NULL),
 (3, 'Ben', 1, '2020-01-01', NULL), (4, 'Cid', 3, '2020-01-01', '2020-12-31');
INSERT INTO salary VALUES ('Ann', 10, '2020-01-01', '2021-12-31'), ('Ann', 20, '2022-01-01', '9999-01-01'),
 ('Ben', 15, '2020-01-01', '9999-01-01');
INSERT INTO trip VALUES ('Ann', '2020-01-01', NULL), ('Ben', '2020-01-01', '2020-02-01');
"""


PER_SITE = "SELECT s.name, COUNT(a.id) FROM site AS s {} JOIN assignment AS a ON a.site_id = s.id GROUP BY s.name"


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("How many people are now assigned to each site?", PER_SITE.format(""), [("Graz", 1), ("Linz", 1)]),
        (
            "How many people are currently assigned to each site, with 0 where nobody is?",
            PER_SITE.format("LEFT"),
            [("Graz", 1), ("Linz", 1), ("Wels", 0)],
        ),
        (
            "How many people are now assigned to each site, with 0 for a site without any?",
            PER_SITE.format(""),
            [("Graz", 1), ("Linz", 1), ("Wels", 0)],
        ),
        ("What are the current salaries of all?", "SELECT person, euros FROM salary", [("Ann", 20), ("Ben", 15)]),
        (
            "Current salaries by current assignment",
            "SELECT a.site_id, SUM(p.euros) FROM assignment AS a JOIN salary AS p ON p.person = a.person "
            "GROUP BY a.site_id",
            [(1, 15), (2, 20)],
        ),
    ],
)
def test_only_the_rows_that_hold_now_are_taken(
    answered: Answered, question: str, sql: str, rows: list[tuple[object, ...]]
) -> None:
    assert sorted(answered(SCHEMA, question, sql).rows) == rows


@pytest.mark.parametrize(
    ("question", "sql", "count"),
    [
        ("How many assignments are there at each site?", "SELECT person FROM assignment", 4),
        ("Who is currently assigned, and who ever was?", "SELECT person FROM assignment", 4),
        ("Current assignments", "SELECT person FROM assignment WHERE valid_from <= '2021-01-01'", 3),
        ("Where do people now live?", "SELECT a.person FROM assignment AS a JOIN site AS s ON s.id = a.site_id", 4),
        ("Current licences", "SELECT person FROM licence", 2),  # one ends on a day to come
        ("Current leases", "SELECT person FROM lease WHERE status = 'active'", 2),
        ("How many current accounts?", "SELECT id FROM assignment WHERE person <> 'current'", 4),
        ("Parcels that are currently under way", "SELECT id FROM parcel", 2),
        (
            "Show the current name of each site that was assigned to Ann",
            "SELECT s.name FROM site AS s JOIN assignment AS a ON a.site_id = s.id WHERE a.person = 'Ann'",
            2,
        ),
        (
            "Current sites of everybody who assigned a site",
            "SELECT s.name FROM site AS s JOIN assignment AS a ON a.site_id = s.id",
            4,
        ),
        ("Trips", "SELECT person FROM trip", 2),
        (
            "Who now earns more than before?",
            "SELECT a.person FROM salary AS a JOIN salary AS b ON a.person = b.person WHERE a.euros > b.euros",
            1,
        ),
    ],
)
def test_other_queries_keep_all_rows(answered: Answered, question: str, sql: str, count: int) -> None:
    assert len(sorted(answered(SCHEMA, question, sql).rows)) == count


@dataclass(frozen=True)
class Some:
    """A database in which some rows have no end; it does not answer queries with the ``unknown`` text."""

    unknown: str = "nothing"

    def values(self, _table: Table, _column: str) -> tuple[Any, ...]:
        return ()

    def times(self, _table: Table, _column: str) -> Times:
        return ""

    def day_form(self, _table: Table, _column: str) -> str:
        return ""

    def codes(self, _table: Table, _column: str) -> Mapping[str, str]:
        return {}

    def spellings(self, _table: Table, _column: str, _text: str) -> tuple[str, ...] | None:
        return None

    def rows(self, sql: str) -> tuple[Row, ...] | None:
        if self.unknown in sql:
            return None
        return () if "CURRENT_DATE" in sql or ">=" in sql else ((1,),)


@pytest.mark.parametrize("unknown", ["CURRENT_DATE", ">= '9999"])
def test_rows_stay_where_the_database_does_not_tell(unknown: str) -> None:
    columns = tuple(Column(name, "DATE") for name in ("from_date", "to_date"))
    asked = Asked(Question("How many jobs are there now?"), Schema("jobs", "sqlite", (Table("job", columns),)), Some())
    assert Rewriter("SELECT COUNT(*) FROM job", asked).rewrite(current_rows) is not None
    asked = replace(asked, data=Some(unknown))
    assert Rewriter("SELECT COUNT(*) FROM job", asked).rewrite(current_rows) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Best paid by current salaries? First name, last name", True),
        ("List the present staff", True),
        ("Who earns more today?", True),
        ("Who was present in 2020?", False),
        ("Which salaries were paid until now?", False),
        ("The first and the current salary of each", False),
        ("Who works here?", False),
        ("Now show all salaries", False),
        ("OK, now how many salaries did each have?", False),
        ("Please present a list of all contracts", False),
        ("How much did each earn at the start, and how much now?", False),
        ("How many salaries between 2020 and now?", False),
    ],
)
def test_words_for_what_holds_now(question: str, expected: bool) -> None:
    assert wants_current(question) is expected

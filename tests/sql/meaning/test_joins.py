"""Joins of columns that no key relates, on the trips of a waste collector."""

from __future__ import annotations

from typing import Any

import pytest

from answered import Answered
from sqljury.sql.meaning.base import Asked
from sqljury.sql.meaning.joins import along_keys
from sqljury.sql.parse import parse_one
from sqljury.types import Column, ForeignKey, Question, Schema, Table

SCHEMA = """
CREATE TABLE depot (code TEXT PRIMARY KEY, town TEXT);
CREATE TABLE driver (driver_no INTEGER PRIMARY KEY, surname TEXT, depot TEXT REFERENCES depot);
CREATE TABLE vehicle (id INTEGER PRIMARY KEY, depot TEXT REFERENCES depot);
CREATE TABLE trip (id INTEGER PRIMARY KEY, driver_no INTEGER REFERENCES driver, vehicle_id INTEGER REFERENCES vehicle,
  hours INTEGER);
INSERT INTO depot VALUES ('N', 'Norden'), ('S', 'Suhl');
INSERT INTO driver VALUES (7, 'Abt', 'N'), (8, 'Beer', 'S');
INSERT INTO vehicle VALUES (1, 'N'), (2, 'N');
INSERT INTO trip VALUES (1, 7, 1, 5), (2, 8, 2, 6), (3, 8, 2, 1);
"""


def test_of_two_ways_back_the_one_to_the_column_that_the_query_has(answered: Answered) -> None:
    sql = "SELECT d.town, SUM(t.hours) FROM depot AS d JOIN trip AS t ON t.driver_no = d.code GROUP BY d.code, d.town"
    assert dict(answered(SCHEMA, "How many hours has each town?", sql).rows) == {"Norden": 5, "Suhl": 7}


def test_of_two_ways_to_a_table_the_one_by_the_column_that_the_query_has(answered: Answered) -> None:
    sql = "SELECT d.town, SUM(t.hours) FROM trip AS t JOIN depot AS d ON d.code = t.{} GROUP BY d.code, d.town"
    for column, hours in (("driver_no", {"Norden": 5, "Suhl": 7}), ("vehicle_id", {"Norden": 12})):
        found = answered(SCHEMA, "How many hours has each town?", sql.format(column))
        assert dict(found.rows) == hours


def test_days_of_other_years_than_those_read_first_may_be_equal(answered: Answered) -> None:
    script = """
    CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE weather (day DATE, city_id INTEGER REFERENCES city, rain INTEGER);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, ordered_on DATE, city_id INTEGER REFERENCES city);
    INSERT INTO city VALUES (1, 'Linz'), (2, 'Graz');
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1399)
      INSERT INTO weather SELECT DATE('2020-01-01', i || ' days'), 1 + i % 2, i % 3 FROM n;
    INSERT INTO orders (ordered_on, city_id) VALUES ('2023-01-01', 1), ('2023-01-02', 1), ('2023-01-03', 1);
    """
    sql = "SELECT COUNT(DISTINCT w.day) FROM orders AS o JOIN weather AS w ON o.ordered_on = w.day WHERE w.rain > 0"
    assert answered(script, "On how many days with rain were there orders?", sql).sql == sql


AID = """
CREATE TABLE depot (id INTEGER PRIMARY KEY, town TEXT UNIQUE);
CREATE TABLE agency (agency_id INTEGER PRIMARY KEY, name TEXT, depot_town TEXT REFERENCES depot(town));
CREATE TABLE gift (id INTEGER PRIMARY KEY, depot_id INTEGER REFERENCES depot, partner INTEGER);
INSERT INTO depot VALUES (1, 'Linz'), (2, 'Graz');
INSERT INTO agency VALUES (1, 'Arche', 'Linz'), (2, 'Brot', 'Graz'), (3, 'Cafe', 'Linz');
INSERT INTO gift VALUES (1, 1, 3), (2, 2, 3), (3, 1, 1);
"""


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("", True),
        # A partner that no agency is: the column refers to something else.
        ("INSERT INTO gift VALUES (4, 1, 77);", False),
    ],
)
def test_an_undeclared_key_whose_numbers_are_all_in_the_other_column_stays(
    answered: Answered, more: str, kept: bool
) -> None:
    """Though declared keys lead from one table to the other through a third."""
    sql = "SELECT DISTINCT a.name FROM agency AS a JOIN gift AS g ON g.partner = a.agency_id"
    assert (answered(AID + more, "Which agencies have received gifts?", sql).sql == sql) is kept


def test_numbers_that_are_no_keys_may_be_compared(answered: Answered) -> None:
    script = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, birth_year INTEGER);
    CREATE TABLE award (title TEXT, year INTEGER, player_id INTEGER REFERENCES player);
    INSERT INTO player VALUES (1, 'Ann', 1990), (2, 'Bob', 1995);
    INSERT INTO award VALUES ('Gold', 1990, 2), ('Silver', 2020, 1);
    """
    sql = "SELECT p.name, a.title FROM player AS p JOIN award AS a ON a.year = p.birth_year"
    question = "List each player with the awards given in the year of his or her birth."
    assert answered(script, question, sql).rows == (("Ann", "Gold"),)


STAFF = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, first_name TEXT, city TEXT);
CREATE TABLE employee (id INTEGER PRIMARY KEY, first_name TEXT, supervisor_id INTEGER REFERENCES employee);
INSERT INTO customer VALUES (1, 'Cem', 'Linz'), (2, 'Dora', 'Graz');
INSERT INTO employee VALUES (1, 'Ann', NULL), (2, 'Ben', 1), (3, 'Eve', 1), (4, 'Fay', 2);
"""
REPORTS = "SELECT T2.{}, COUNT(*) FROM employee AS T1 JOIN {} AS T2 ON T1.supervisor_id = T2.id GROUP BY T2.id, T2.{}"


def test_the_table_that_the_key_leads_to_is_joined(answered: Answered) -> None:
    sql = REPORTS.format("first_name", "customer", "first_name")
    found = answered(STAFF, "How many people report to each supervisor?", sql)
    assert dict(found.rows) == {"Ann": 2, "Ben": 1}
    assert found.sql == REPORTS.format("first_name", "employee", "first_name")


def test_a_table_that_the_question_names_stays(answered: Answered) -> None:
    sql = REPORTS.format("first_name", "customer", "first_name")
    assert answered(STAFF, "How many employees does each customer supervise?", sql).sql == sql


def test_a_table_of_which_other_columns_are_read_stays(answered: Answered) -> None:
    sql = REPORTS.format("city", "customer", "city")
    assert answered(STAFF, "How many people report in each city?", sql).sql == sql


def test_a_column_that_begins_like_a_table_and_leads_to_another(answered: Answered) -> None:
    script = """
    CREATE TABLE plans (id INTEGER PRIMARY KEY, tier TEXT);
    CREATE TABLE plan_prices (id INTEGER PRIMARY KEY, plan_id INTEGER REFERENCES plans, cents INTEGER);
    CREATE TABLE subscriptions (id INTEGER PRIMARY KEY, plan_price_id INTEGER REFERENCES plan_prices);
    INSERT INTO plans VALUES (1, 'free'), (2, 'paid');
    INSERT INTO plan_prices VALUES (1, 2, 10), (2, 2, 20), (3, 1, 0);
    INSERT INTO subscriptions VALUES (1, 1), (2, 2), (3, 3), (4, 1);
    """
    sql = "SELECT p.tier, COUNT(*) FROM subscriptions AS s JOIN plans AS p ON p.id = s.plan_price_id GROUP BY p.tier"
    assert dict(answered(script, "How many subscriptions are there in each tier?", sql).rows) == {"free": 1, "paid": 3}


class Unread:
    """A database that tells nothing."""

    def values(self, table: Table, column: str) -> tuple[Any, ...]:
        return ()

    def rows(self, sql: str) -> None:
        return None


@pytest.mark.parametrize(
    ("name", "within", "written"),
    [
        ("staff", "", "staff"),
        ("crm.staff", "crm", "crm.staff"),
        ("hr.staff", "hr", "hr.staff"),
        ("hr.staff", "", '"hr.staff"'),
    ],
)
def test_of_tables_with_one_name_the_one_of_the_schema_that_the_key_leads_to(
    name: str, within: str, written: str
) -> None:
    def table(name: str, columns: str, schema: str = "", *keys: ForeignKey) -> Table:
        return Table(name, tuple(map(Column, columns.split())), ("id",), keys, schema=schema)

    names = [("hr.staff", ""), ("staff", ""), ("crm.staff", "crm"), ("hr.staff", "hr")]
    task = table("task", "id owner_id", "", ForeignKey(("owner_id",), name, ("id",), within))
    staff = [table(each, "id first_name", schema) for each, schema in names]
    schema = Schema("firm", "postgres", (*staff, table("customer", "id first_name"), task), default="public")
    tree = parse_one("SELECT c.first_name FROM task AS t JOIN customer AS c ON t.owner_id = c.id", "postgres")
    assert along_keys(tree, Asked(Question("Who owns tasks?"), schema, Unread())) is not None  # type: ignore[arg-type]
    assert tree.sql("postgres") == f"SELECT c.first_name FROM task AS t JOIN {written} AS c ON t.owner_id = c.id"

"""Queries in plain words: what is read, joined, kept, grouped and shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.sql.parse import read_query
from sqljury.sql.provenance import steps
from sqljury.types import Column, Schema, Table

SHOP = Schema(
    "shop",
    "sqlite",
    (
        Table("customer", (Column("id"), Column("name"), Column("town"), Column("joined_on"))),
        Table("orders", (Column("id"), Column("customer_id"), Column("amount"), Column("status"))),
        Table(
            "shift", (Column("started", "DATE"), Column("label", "TEXT"), Column("joined_on", "TEXT"), Column("town"))
        ),
        Table("employee", (Column("id"), Column("name"), Column("manager_id"))),
    ),
)
CASES = {
    "SELECT name FROM customer WHERE town <> 'Sedge' AND joined_on >= '2024-01-01'": (
        "Reads customer.",
        "Keeps rows where town is not 'Sedge' and joined_on is on or after '2024-01-01'.",
        "Shows name.",
    ),
    "SELECT c.town, COUNT(*) AS n FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY 1"
    " HAVING COUNT(o.id) > 2 ORDER BY n DESC LIMIT 3": (
        "Reads customer and orders.",
        "Joins orders where orders.customer_id is customer.id; rows without a match in orders are kept.",
        "Makes one row of all rows with the same customer.town.",
        "Keeps groups where the number of rows with a value of orders.id is more than 2.",
        "Shows customer.town and the number of rows.",
        "Sorts by the number of rows, highest first.",
        "Keeps the first 3 rows.",
    ),
    "SELECT e.name, m.name FROM employee e JOIN employee m ON m.id = e.manager_id": (
        "Reads employee (as e) and employee (as m).",
        "Joins m where m.id is e.manager_id; rows without a match are dropped.",
        "Shows e.name and m.name.",
    ),
    "SELECT AVG(amount), SUM(CASE WHEN status = 'X' THEN 1 ELSE 0 END), COUNT(DISTINCT customer_id) FROM orders": (
        "Reads orders.",
        "Shows the average of amount, the number of rows where status is 'X' and the number of different values of"
        " customer_id.",
    ),
    "SELECT DISTINCT town FROM customer WHERE NOT (name LIKE 'A%' OR name NOT LIKE '%z%') AND town IN ('a', 'b')": (
        "Reads customer.",
        "Keeps rows where (name does not begin with 'A' and name contains 'z') and town is one of 'a' and 'b'.",
        "Shows town, equal rows once.",
    ),
    "SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.amount > 5": (
        "Reads customer and orders.",
        "Joins orders where orders.customer_id is customer.id; rows without a match in orders are kept, but the"
        " condition orders.amount is more than 5 drops them.",
        "Keeps rows where orders.amount is more than 5.",
        "Shows customer.name.",
    ),
    "SELECT c.name FROM customer c JOIN orders o ON 1 = 1": (
        "Reads customer and orders.",
        "Puts every row of orders beside every row so far.",
        "Shows customer.name.",
    ),
    "SELECT COUNT(CASE WHEN town = 'X' THEN 1 END) * 1.0 / COUNT(*), MAX(started) FROM shift"
    " ORDER BY started DESC, label, joined_on": (
        "Reads shift.",
        "Shows (the number of rows where town is 'X') * 1.0 / the number of rows and the latest started.",
        "Sorts by started, latest first, label, A to Z and joined_on, lowest first.",
    ),
    "SELECT name FROM customer WHERE town IS NOT NULL AND id BETWEEN 1 AND 3 LIMIT 1 OFFSET 2": (
        "Reads customer.",
        "Keeps rows where town has a value and id is between 1 and 3, both included.",
        "Shows name.",
        "Keeps the first row after the first 2.",
    ),
}
OF_DUCKDB = {
    "SELECT c.name FROM customer c ANTI JOIN orders o ON o.customer_id = c.id": (
        "Reads customer and orders.",
        "Keeps rows that have no match in orders where orders.customer_id is customer.id.",
        "Shows customer.name.",
    ),
    "SELECT c.name FROM customer c SEMI JOIN orders o USING (id)": (
        "Reads customer and orders.",
        "Keeps rows that have a match in orders where id is the same.",
        "Shows customer.name.",
    ),
    "SELECT c.name FROM orders o RIGHT JOIN customer c ON o.customer_id = c.id WHERE o.amount > 1": (
        "Reads orders and customer.",
        "Joins customer where orders.customer_id is customer.id; every row of customer is kept, but the condition"
        " orders.amount is more than 1 drops those without a match.",
        "Keeps rows where orders.amount is more than 1.",
        "Shows customer.name.",
    ),
    "SELECT c.name FROM orders o FULL JOIN customer c ON o.customer_id = c.id WHERE c.town = 'a'": (
        "Reads orders and customer.",
        "Joins customer where orders.customer_id is customer.id; rows without a match are kept on both sides, but the"
        " condition customer.town is 'a' drops some of them.",
        "Keeps rows where customer.town is 'a'.",
        "Shows customer.name.",
    ),
    "SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer_id = c.id"
    " ANTI JOIN shift s ON s.label = o.status": (
        "Reads customer, orders and shift.",
        "Joins orders where orders.customer_id is customer.id; rows without a match in orders are kept.",
        "Keeps rows that have no match in shift where shift.label is orders.status.",
        "Shows customer.name.",
    ),
    "SELECT DISTINCT ON (customer_id) customer_id, amount FROM orders ORDER BY amount DESC LIMIT 3": (
        "Reads orders.",
        "Shows customer_id and amount.",
        "Sorts by amount, highest first.",
        "Keeps the first row for each customer_id.",
        "Keeps the first 3 rows.",
    ),
    "SELECT DISTINCT ON (customer_id) amount FROM orders": (
        "Reads orders.",
        "Shows amount.",
        "Keeps one row for each customer_id.",
    ),
    "SELECT name, RANK() OVER (ORDER BY id) AS place FROM customer QUALIFY place = 1": (
        "Reads customer.",
        "Keeps rows where RANK() OVER (ORDER BY id) is 1.",
        "Shows name and RANK() OVER (ORDER BY id).",
    ),
    "SELECT town, COUNT(*) FROM customer GROUP BY ALL": (
        "Reads customer.",
        "Makes one row of all rows with the same town.",
        "Shows town and the number of rows.",
    ),
    "SELECT name FROM customer ORDER BY id FETCH FIRST ROW ONLY": (
        "Reads customer.",
        "Shows name.",
        "Sorts by id, lowest first.",
        "Keeps the first row.",
    ),
    "SELECT name FROM customer ORDER BY id FETCH FIRST 2 ROWS WITH TIES": (
        "Reads customer.",
        "Shows name.",
        "Sorts by id, lowest first.",
        "Keeps the first 2 rows, and those with the rank of the last one.",
    ),
}


def told(sql: str, schema: Schema = SHOP) -> tuple[tuple[str, int], ...]:
    tree = read_query(sql, schema.dialect)
    assert tree is not None
    return tuple((step.text, step.depth) for step in steps(tree, schema))


@pytest.mark.parametrize(("sql", "expected"), CASES.items(), ids=range(len(CASES)))
def test_clauses_are_told_in_the_order_in_which_they_take_effect(sql: str, expected: tuple[str, ...]) -> None:
    assert tuple(text for text, _ in told(sql)) == expected


@pytest.mark.parametrize(("sql", "expected"), OF_DUCKDB.items(), ids=range(len(OF_DUCKDB)))
def test_clauses_that_only_some_engines_have(sql: str, expected: tuple[str, ...]) -> None:
    assert tuple(text for text, _ in told(sql, replace(SHOP, dialect="duckdb"))) == expected


def test_queries_within_follow_the_step_that_names_them() -> None:
    sql = "SELECT name FROM customer WHERE id NOT IN (SELECT customer_id FROM orders) UNION SELECT name FROM employee"
    assert told(sql) == (
        ("Takes the rows of two parts, equal ones once.", 0),
        ("First part:", 0),
        ("Reads customer.", 1),
        ("Keeps rows where id is not one of the rows of subquery 1.", 1),
        ("Subquery 1:", 1),
        ("Reads orders.", 2),
        ("Shows customer_id.", 2),
        ("Shows name.", 1),
        ("Second part:", 0),
        ("Reads employee.", 1),
        ("Shows name.", 1),
    )


def test_what_is_computed_inside_has_the_name_by_which_it_is_called_outside() -> None:
    sql = "SELECT t.town FROM (SELECT town, COUNT(*) AS n FROM customer GROUP BY town) AS t ORDER BY t.n DESC"
    lines = [text for text, _ in told(sql)]
    assert "Shows town and the number of rows (as n)." in lines
    assert lines[-1] == "Sorts by t.n, highest first."


def test_hostile_names_and_values_stay_on_their_line() -> None:
    sql = "SELECT name AS \"x\x1b[31m\n1. Reads nothing\" FROM customer WHERE town = 'a\n2. Shows \x1b]0;' AND id = 1"
    lines = told(sql)
    assert len(lines) == 3
    assert all(text.isprintable() for text, _ in lines)


@pytest.mark.parametrize("sql", ["SELECT 1", "VALUES (1)", "SELECT * FROM (SELECT 1 AS a) AS t, json_each('[1]')"])
def test_odd_queries_are_told_too(sql: str) -> None:
    tree = read_query(sql, "sqlite")
    assert tree is None or isinstance(steps(tree, SHOP), tuple)


def test_every_gold_query_of_the_shop_is_told(shop: Path) -> None:
    import json

    questions = Path(__file__).parents[3] / "examples" / "shop" / "questions.jsonl"
    with connect(shop) as db:
        schema = introspect(db)
    for line in questions.read_text(encoding="utf-8").splitlines():
        lines = told(json.loads(line)["sql"], schema)
        assert any(text.startswith("Reads ") for text, _ in lines)
        assert any(text.startswith("Shows ") for text, _ in lines)

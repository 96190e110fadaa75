from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury.db.sqlite import SQLiteDatabase
from sqljury.schema.introspect import introspect
from sqljury.sql.resolve import used
from sqljury.types import Column, ForeignKey, Schema, Table

SPIDER = Path(__file__).resolve().parents[3] / "shared" / "spider"


def table(name: str, columns: str, *keys: tuple[str, str, str], schema: str = "") -> Table:
    foreign = tuple(ForeignKey((column,), other, (target,)) for column, other, target in keys)
    found = tuple(Column(column) for column in columns.split())
    return Table(name, found, primary_key=("id",), foreign_keys=foreign, schema=schema)


SCHEMA = Schema(
    "shop",
    "sqlite",
    (
        table("customer", "id name town", ("town", "town", "id")),
        table("orders", "id buyer day note", ("buyer", "customer", "id")),
        table("line", "id order_id price", ("order_id", "orders", "id")),
        table("town", "id name"),
    ),
)


def names(schema: Schema) -> dict[str, str]:
    return {table.name: " ".join(column.name for column in table.columns) for table in schema.tables}


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        (["SELECT name FROM customer"], {"customer": "id name"}),
        (["SELECT count(*) FROM line"], {"line": "id"}),
        (["SELECT * FROM orders"], {"orders": "id buyer day note"}),
        (  # keys between the tables, though no query names them
            ["SELECT c.name FROM customer AS c, orders AS o WHERE o.day = 1"],
            {"customer": "id name", "orders": "id buyer day"},
        ),
        (  # the union, in the schema's order
            ["SELECT day FROM orders", "SELECT name FROM customer WHERE id = 3"],
            {"customer": "id name", "orders": "id buyer day"},
        ),
        (  # aliases of one SELECT are not those of another
            ["SELECT a.name FROM customer AS a UNION SELECT a.note FROM orders AS a"],
            {"customer": "id name", "orders": "id buyer note"},
        ),
        (  # an inner SELECT sees the one around it
            ["SELECT name FROM customer AS c WHERE EXISTS (SELECT 1 FROM orders WHERE buyer = c.town AND name = 'x')"],
            {"customer": "id name town", "orders": "id buyer"},
        ),
        (["WITH x AS (SELECT note AS n FROM orders) SELECT n FROM x"], {"orders": "id note"}),
        (["WITH town AS (SELECT 1 AS name) SELECT name FROM town"], {}),  # a CTE hides the table of its name
        (["SELECT t.* FROM town AS t JOIN customer AS c ON c.town = t.id"], {"customer": "id town", "town": "id name"}),
        (["SELECT 1 FROM orders JOIN line USING (id)"], {"orders": "id", "line": "id order_id"}),
        (["SELECT 1 FROM customer NATURAL JOIN town"], {"customer": "id name town", "town": "id name"}),
        (['SELECT "NAME" FROM CUSTOMER WHERE "no such text" = 1'], {"customer": "id name"}),
        (["SELECT gone FROM nowhere", "SELEC name FRO", "", "SELECT (" * 500], {}),
        ([], {}),
    ],
)
def test_what_queries_use(queries: list[str], expected: dict[str, str]) -> None:
    assert names(used(SCHEMA, queries)) == expected


def test_keys_are_those_between_what_is_left() -> None:
    customer, orders = used(SCHEMA, ["SELECT name FROM customer", "SELECT day FROM orders"]).tables
    assert customer.foreign_keys == ()
    assert orders.foreign_keys == (ForeignKey(("buyer",), "customer", ("id",)),)


def test_tables_of_a_schema_of_their_own() -> None:
    schema = Schema("x", "postgres", (table("t", "id a"), table("s.t", "id b", schema="s")))
    assert names(used(schema, ["SELECT b FROM s.t"])) == {"s.t": "id b"}
    assert names(used(schema, ["SELECT a FROM t"])) == {"t": "id a"}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="selctfromw hr*.(),'\"=1", max_size=60), max_size=3))
def test_any_text_is_survived(queries: list[str]) -> None:
    found = used(SCHEMA, queries)
    assert {table.name for table in found.tables} <= {table.name for table in SCHEMA.tables}


@pytest.mark.shared
def test_gold_queries_run_on_what_they_use() -> None:
    """Spider's gold queries still resolve when the database has only the tables and columns found."""
    import sqlite3

    from sqljury.schema.render import render

    questions = json.loads((SPIDER / "dev.json").read_text(encoding="utf-8"))
    schemas = {}
    for name in {question["db_id"] for question in questions}:
        with SQLiteDatabase(SPIDER / "database" / name / f"{name}.sqlite") as db:
            schemas[name] = introspect(db)
    failed = []
    for query, name in sorted({(question["query"], question["db_id"]) for question in questions}):
        with sqlite3.connect(":memory:") as target:
            target.executescript(render(used(schemas[name], [query])))
            try:
                target.execute(query)
            except sqlite3.Error as error:
                failed.append((name, query, str(error)))
    assert failed == []

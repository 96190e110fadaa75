"""The notes on the example database, and the example in the documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqljury.db.base import Database
from sqljury.db.connect import connect
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import EVIDENCE, Notes, bind, merge, relevant
from sqljury.schema.notes_files import load, parse_yaml
from sqljury.types import ForeignKey, Schema, Table

ROOT = Path(__file__).resolve().parents[2]
SHOP = ROOT / "examples" / "shop"
QUESTIONS = [json.loads(line) for line in (SHOP / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def db(shop: Path) -> Iterator[Database]:
    with connect(shop) as opened:
        yield opened


@pytest.fixture
def schema(db: Database) -> Schema:
    return introspect(db)


@pytest.fixture
def notes() -> Notes:
    return load(SHOP / "notes.yaml")


def table(schema: Schema, name: str) -> Table:
    (found,) = (table for table in schema.tables if table.name == name)
    return found


def test_comments_of_the_statements_are_read(schema: Schema) -> None:
    comments = {f"{t.name}.{c.name}": c.comment for t in schema.tables for c in t.columns if c.comment}
    assert comments["orders.delivery"] == "1 standard, 2 express, 3 collected at Larkfell"
    assert comments["employee.left_on"] == "NULL: still works here"
    statements = (SHOP / "schema.sql").read_text(encoding="utf-8")
    assert len(comments) == len(re.findall(r"^    .*--", statements, re.MULTILINE))


def test_notes_match_the_schema(schema: Schema, notes: Notes) -> None:
    merged = merge(schema, notes)
    assert bind(schema, notes).unmatched == ()
    assert table(merged, "shipment").comment == "a parcel; an order has none, one or two"
    assert table(merged, "order_value").foreign_keys == (
        ForeignKey(("order_id",), "orders", ("id",), declared=False, evidence=EVIDENCE),
        ForeignKey(("customer_id",), "customer", ("id",), declared=False, evidence=EVIDENCE),
    )


def test_formulas_and_codes_are_true(db: Database, notes: Notes) -> None:
    formulas = dict(notes.formulas)
    day = formulas["day of arrival"]
    for sql in (
        f"SELECT {formulas['sales in florins']} FROM order_line",
        f"SELECT {formulas['spent']} FROM order_value",
        f"SELECT {day} AS day FROM shipment WHERE delivered_on IS NOT NULL AND date(day) IS NULL",
        f"SELECT 1 FROM orders WHERE {dict(notes.glossary)['cancelled'].split(';')[0]}",
    ):
        result = db.execute(sql)
        assert result.ok, result.error
        assert bool(result.rows) == ("date(day)" not in sql)
    for item in notes.items:
        if item.values:
            found = db.execute(f"SELECT DISTINCT lower({item.column}) FROM {item.table}")
            assert {str(code) for (code,) in found.rows} == {code for code, _ in item.values}


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("shop-04", "orders.channel: web = over the web"),
        ("shop-05", "cancelled: orders.status = 'X'"),
        ("shop-07", "supplier.lead_days is also called days to deliver"),
        ("shop-08", "own workshop: "),
        ("shop-10", "sales in florins = SUM("),
        ("shop-13", "orders.delivery: 1 = standard delivery"),
    ],
)
def test_questions_find_the_notes_they_need(question: str, start: str, schema: Schema, notes: Notes) -> None:
    (text,) = (entry["question"] for entry in QUESTIONS if entry["id"] == question)
    assert any(note.startswith(start) for note in relevant(bind(schema, notes), text))


def test_a_question_finds_few_others(schema: Schema, notes: Notes) -> None:
    found = [relevant(bind(schema, notes), entry["question"]) for entry in QUESTIONS]
    assert sum(map(len, found)) <= 2 * len(QUESTIONS)


def test_the_example_of_the_documentation(schema: Schema) -> None:
    text = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    notes = parse_yaml(example)
    merged = merge(schema, notes)
    assert table(merged, "order_value").comment == "orders that were not cancelled"
    assert table(merged, "return_line").foreign_keys == table(schema, "return_line").foreign_keys  # it was there
    assert relevant(bind(schema, notes), "How many were sent by express shipping?") == [
        "orders.delivery: 2 = express; 1 = standard; 3 = collected at Larkfell",
        "orders.delivery is also called shipping",
    ]

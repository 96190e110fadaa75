"""dbt's manifests and Ossie's models become notes that fit the database; the rest is listed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sqljury.db.connect import connect
from sqljury.errors import ProjectError
from sqljury.project.imports import collect, dbt, write
from sqljury.schema.introspect import introspect
from sqljury.schema.notes import Notes, bind, merge
from sqljury.schema.notes_files import read_yaml
from sqljury.types import Schema

TABLES = """
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, "full name" TEXT);
CREATE TABLE fct_orders (
    order_id INTEGER PRIMARY KEY, customer_id INT, status TEXT, total REAL, is_food INT, created TEXT
);
INSERT INTO fct_orders VALUES (1, 1, 'paid', 10, 1, '2024-01-01'), (2, 1, 'open', 30, 0, '2024-01-02');
"""


def node(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"resource_type": kind, "name": name, "unique_id": f"{kind}.jaffle.{name}", **more}


MANIFEST = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
    "nodes": {
        "model.jaffle.orders": node(
            "model",
            "orders",
            alias="fct_orders",
            description='One row\n  per order: "paid" or not.',
            columns={
                "status": {"name": "STATUS", "description": "how far the order is"},
                "is_food": {"name": "is_food", "description": "whether there is any food"},
                "gone": {"name": "gone", "description": "was dropped"},
                "total": {"name": "total", "description": ""},
            },
        ),
        "model.jaffle.old": node("model", "old", description="no longer there", columns={}),
        "test.jaffle.a": node(
            "test",
            "a",
            attached_node="model.jaffle.orders",
            column_name="customer_id",
            test_metadata={
                "name": "relationships",
                "kwargs": {"to": "ref('customers')", "field": "customer_id", "column_name": "customer_id"},
            },
        ),
        "test.jaffle.b": node(
            "test",
            "b",
            attached_node="model.jaffle.orders",
            column_name="is_food",
            test_metadata={"name": "accepted_values", "kwargs": {"values": [0, 1], "column_name": "is_food"}},
        ),
        "seed.jaffle.customers": node("seed", "customers", description="Buyers", columns={}),
        "odd": "not an object",
    },
    "sources": {
        "source.jaffle.raw.people": {
            **node("source", "people", identifier="customers"),
            "columns": {"n": {"name": "full name", "description": "first and last name"}},
        }
    },
}


def metric(name: str, kind: str, description: str = "", where: str = "", **params: Any) -> dict[str, Any]:
    filters = {"where_filters": [{"where_sql_template": where}]} if where else None
    return {"name": name, "type": kind, "type_params": params, "description": description, "filter": filters}


SEMANTIC = {
    "semantic_models": [
        {
            "name": "orders",
            "description": None,
            "node_relation": {"alias": "fct_orders", "schema_name": "public"},
            "entities": [
                {"name": "order", "type": "primary", "expr": "order_id"},
                {"name": "customer", "type": "foreign", "expr": "customer_id"},
            ],
            "measures": [
                {"name": "order_total", "agg": "sum", "expr": "total"},
                {"name": "order_count", "agg": "sum", "expr": "1"},
                {"name": "buyers", "agg": "count_distinct", "expr": "customer_id"},
                {"name": "median_total", "agg": "median", "expr": "total"},
                {"name": "tax", "agg": "sum", "expr": "total * 0.2"},
                {"name": "evil", "agg": "sum", "expr": "total FROM fct_orders; DROP TABLE fct_orders"},
            ],
            "dimensions": [
                {"name": "ordered_at", "type": "time", "expr": "created", "description": "day of the order"},
                {"name": "is_food_order", "type": "categorical", "expr": "is_food", "description": "has any food"},
            ],
        },
        {
            "name": "customers",
            "node_relation": {"alias": "customers"},
            "entities": [{"name": "customer", "type": "primary", "expr": "customer_id"}],
        },
    ],
    "metrics": [
        metric("revenue", "simple", "money taken in", measure={"name": "order_total"}),
        metric(
            "food_revenue",
            "simple",
            where="{{ Dimension('order__is_food_order') }} = 1",
            measure={"name": "order_total"},
        ),
        metric("orders", "simple", measure={"name": "order_count"}),
        metric("tax", "simple", measure={"name": "tax"}),
        metric("food_share", "ratio", numerator={"name": "food_revenue"}, denominator={"name": "revenue"}),
        metric(
            "aov",
            "derived",
            "average order value",
            expr="value / orders",
            metrics=[{"name": "revenue", "alias": "value"}, {"name": "orders"}],
        ),
        metric(
            "growth", "derived", expr="a - b", metrics=[{"name": "revenue", "alias": "a", "offset_window": "1 month"}]
        ),
        metric("running", "cumulative", measure={"name": "order_total"}),
        metric("middle", "simple", measure={"name": "median_total"}),
        metric("evil", "simple", measure={"name": "evil"}),
        metric("lost", "simple", measure={"name": "nowhere"}),
        metric("by_day", "simple", where="{{ TimeDimension('order__ordered_at', 'day') }} > 1", measure="order_total"),
        metric("loop", "derived", expr="loop", metrics=[{"name": "loop"}]),
    ],
}


def document(**more: Any) -> dict[str, Any]:
    def plain(expression: str, dialect: str = "ANSI_SQL") -> dict[str, Any]:
        return {"dialects": [{"dialect": dialect, "expression": expression}]}

    return {
        "name": "shop",
        "ai_context": {"instructions": "Prefer fiscal years"},
        "datasets": [
            {
                "name": "orders",
                "source": "db.public.fct_orders",
                "description": "orders of all channels",
                "fields": [
                    {"name": "amount", "expression": plain("total"), "ai_context": {"synonyms": ["sum"]}},
                    {"name": "net", "expression": plain("total / 1.2"), "label": "net amount"},
                    {"name": "odd", "expression": plain("[X]", "TABLEAU")},
                ],
            },
            {"name": "people", "source": {"kind": "table", "object": "customers"}, "fields": []},
            {"name": "made", "source": {"kind": "query", "object": plain("SELECT 1")}},
        ],
        "relationships": [
            {
                "name": "r",
                "from": "orders",
                "to": "people",
                "from_columns": ["customer_id"],
                "to_columns": ["customer_id"],
            },
            {"name": "bad", "from": "orders", "to": "made", "from_columns": ["a"], "to_columns": ["b"]},
        ],
        "metrics": [
            {
                "name": "total_amount",
                "expression": plain("SUM(orders.amount)"),
                "description": "all money",
                "ai_context": {"synonyms": ["turnover"]},
            },
            {"name": "dax", "expression": plain("SUM[x]", "DAX")},
        ],
        **more,
    }


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(TABLES)
    connection.close()
    with connect(path) as opened:
        return introspect(opened)


def imported(tmp_path: Path, schema: Schema, *contents: Any) -> tuple[Notes, list[str]]:
    paths = []
    for number, content in enumerate(contents):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(content))
    ((_, found),) = collect(paths, "sqlite").items()
    out = tmp_path / "notes" / "out.yaml"
    left_out = write(out, found, schema)
    notes = read_yaml(out)
    merge(schema, notes)  # raises for what the database does not have
    return bind(schema, notes), left_out


def test_descriptions_and_tests_of_dbt(tmp_path: Path, schema: Schema) -> None:
    notes, left_out = imported(tmp_path, schema, MANIFEST)
    described = {item.name: item.description for item in notes.items}
    assert described == {
        "fct_orders": 'One row per order: "paid" or not.',
        "fct_orders.status": "how far the order is",
        "fct_orders.is_food": "whether there is any food; one of 0, 1",
        "customers": "Buyers",
        "customers.full name": "first and last name",
    }
    assert [join.pairs for join in notes.joins] == [((("fct_orders", "customer_id"), ("customers", "customer_id")),)]
    assert len(left_out) == 2
    assert "the database has no fct_orders.gone" in left_out[0]
    assert "the database has no old" in left_out[1]


def test_metrics_of_dbt_are_expressions_that_run(tmp_path: Path, schema: Schema) -> None:
    notes, left_out = imported(tmp_path, schema, SEMANTIC)
    values = {}
    with connect(tmp_path / "shop.db") as db:
        for name, expression in notes.formulas:
            result = db.execute(f"SELECT {expression} FROM fct_orders")
            assert result.ok, (name, expression, result.error)
            values[name] = result.rows[0][0]
    assert values == {
        "revenue": 40,
        "food revenue": 10,
        "orders": 2,
        "tax": pytest.approx(8),
        "food share": 0.25,
        "aov": 20,
    }
    assert dict(notes.formulas)["revenue"] == "SUM(fct_orders.total)"
    assert dict(notes.glossary) == {"revenue": "money taken in", "aov": "average order value"}
    assert {item.name for item in notes.items} == {
        "fct_orders",
        "fct_orders.created",
        "fct_orders.is_food",
    }
    assert [join.pairs for join in notes.joins] == [((("fct_orders", "customer_id"), ("customers", "customer_id")),)]
    assert sorted(line.split(":")[0] for line in left_out) == [
        "measure buyers",
        *(f"metric {name}" for name in ("by_day", "evil", "growth", "loop", "lost", "middle", "running")),
    ]


def test_what_dbt_computes_and_what_is_no_note(tmp_path: Path, schema: Schema) -> None:
    foreign = {"type": "foreign_key", "to": "ref('customers')", "to_columns": ["customer_id"]}
    total = {"agg": "sum", "expr": "total"}
    manifest = {
        "nodes": {
            "model.jaffle.orders": node(
                "model",
                "orders",
                alias="fct_orders",
                constraints=[{"type": "primary_key", "columns": ["order_id"]}],
                columns={
                    "customer_id": {"name": "customer_id", "constraints": [foreign]},
                },
            ),
            "seed.jaffle.customers": node("seed", "customers"),
        },
        "sources": {"s": node("source", "customers", source_name="raw", source_description="as is")},
        "saved_queries": {"q": {"name": "weekly"}},
        "semantic_models": [
            {
                "name": "orders",
                "node_relation": {"alias": "fct_orders"},
                "dimensions": [
                    {"name": "big", "expr": "total > 20", "description": "above 20"},
                    {"name": "lost", "expr": "nothing + 1"},
                    {"name": "evil", "expr": "1; DROP TABLE customers"},
                ],
                "measures": [
                    {"name": "order_total", **total, "create_metric": True, "description": "money"},
                    {"name": "balance", **total, "non_additive_dimension": {"name": "created_at"}},
                ],
            }
        ],
        "metrics": [metric("bal", "simple", measure={"name": "balance"})],
    }
    notes, left_out = imported(tmp_path, schema, manifest)
    assert dict(notes.formulas) == {"big": "fct_orders.total > 20", "order total": "SUM(fct_orders.total)"}
    assert dict(notes.glossary) == {"big": "above 20", "order total": "money"}
    assert [join.pairs for join in notes.joins] == [((("fct_orders", "customer_id"), ("customers", "customer_id")),)]
    assert sorted(left_out) == [
        "constraint primary_key on order_id: is read from the database itself",
        "dimension evil: its expression cannot be read: '1; DROP TABLE customers'",
        "metric bal: it must not be added up over created_at",
        "metric lost: the database has no fct_orders.nothing",
        "saved query weekly: is a query, not a note",
        "source raw: its description is of no single table: as is",
    ]


def test_what_ossie_says_to_models_and_metrics_that_do_not_fit(tmp_path: Path, schema: Schema) -> None:
    def plain(expression: str) -> dict[str, Any]:
        return {"dialects": [{"dialect": "ANSI_SQL", "expression": expression}]}

    fields = [
        {
            "name": "net",
            "expression": plain("total / 1.2"),
            "description": "without tax",
            "ai_context": "also called pure",
        }
    ]
    model = {
        "name": "shop",
        "ai_context": "Use net prices only",
        "datasets": [
            {
                "name": "orders",
                "source": "fct_orders",
                "fields": fields,
                "ai_context": {"instructions": "leave out tests", "examples": ["How many?"]},
            }
        ],
        "metrics": [
            {"name": name, "expression": plain(text)}
            for name, text in (
                ("good", "SUM(orders.net)"),
                ("no column", "SUM(orders.nope)"),
                ("no table", "SUM(zzz.amount)"),
                ("evil", "1; DROP TABLE customers"),
            )
        ],
    }
    notes, left_out = imported(tmp_path, schema, model)
    assert dict(notes.formulas) == {"net": "total / 1.2", "good": "SUM((total / 1.2))"}
    assert dict(notes.glossary) == {"net": "without tax"}
    told = "\n".join(left_out)
    for words in (
        "instructions of model shop: write what holds always under rules: Use net prices only",
        "field orders.net: write what holds always under rules: also called pure",
        "dataset orders: write what holds always under rules: leave out tests",
        "examples of dataset orders: add those with a query",
        "metric no column: the database has no fct_orders.nope",
        "metric no table: the database has no zzz.amount",
        "metric evil: its expression cannot be read",
    ):
        assert words in told


def relationship(to: str, **more: Any) -> dict[str, Any]:
    """A test of dbt that orders refer to another table."""
    arguments = {"to": to, "field": "customer_id", "model": "{{ get_where_subquery(ref('orders')) }}"}
    tested = {"attached_node": "model.jaffle.orders", "column_name": "customer_id", **more}
    return node("test", "r", test_metadata={"name": "relationships", "kwargs": arguments}, **tested)


ORDERS = node("model", "orders", alias="fct_orders", description=None, columns={"total": {"name": "total"}})


@pytest.mark.parametrize(
    ("to", "table"),
    [
        ("ref('customers')", "customers"),
        ("ref('jaffle', 'customers')", "customers"),
        ("source('raw', 'customers')", "people"),
        ("ref('client')", "client_v2"),
        ("ref('client', v=1)", "client_v1"),
        ("ref('client', version='2')", "client_v2"),
    ],
)
def test_models_versions_and_sources_are_told_apart(to: str, table: str) -> None:
    """A source often has the name of the model that is made of it; of a versioned model ``ref`` means the latest."""
    manifest = {
        "nodes": {
            "o": ORDERS,
            "c": node("model", "customers"),
            **{
                f"v{number}": {
                    **node("model", "client", alias=f"client_v{number}", version=number, latest_version=2),
                    "unique_id": f"model.jaffle.client.v{number}",
                }
                for number in (1, 2)
            },
            "t": relationship(to),
        },
        "sources": {"s": node("source", "customers", source_name="raw", identifier="people")},
    }
    assert dbt.read(manifest).joins == [((("fct_orders", "customer_id"), (table, "customer_id")),)]


def test_a_test_without_its_node_names_the_model() -> None:
    manifest = {"nodes": {"o": ORDERS, "t": relationship("ref('customers')", attached_node=None)}}
    assert dbt.read(manifest).joins == [((("fct_orders", "customer_id"), ("customers", "customer_id")),)]


def test_a_source_in_another_schema_is_not_the_model_of_its_name(tmp_path: Path, schema: Schema) -> None:
    model = node("model", "customers", schema="marts", description="Buyers")
    raw = node("source", "customers", source_name="raw", schema="raw", description="as the shop wrote them")
    notes, left_out = imported(tmp_path, schema, {"nodes": {"m": model}, "sources": {"s": raw}})
    assert [(item.name, item.description) for item in notes.items] == [("customers", "Buyers")]
    assert left_out == ["source customers: the database has no raw.customers"]


@pytest.mark.parametrize(
    "key",
    [
        {"to": '"dev"."main"."customers"', "to_columns": ["customer_id"]},
        {"to": None, "expression": 'main."customers" (customer_id)'},
        {"expression": "references customers(customer_id)"},
    ],
)
def test_foreign_keys_as_versions_of_dbt_write_them(key: dict[str, Any]) -> None:
    constraint = {"type": "foreign_key", "columns": ["customer_id"], **key}
    manifest = {"nodes": {"o": {**ORDERS, "constraints": [constraint]}}}
    assert dbt.read(manifest).joins == [((("fct_orders", "customer_id"), ("customers", "customer_id")),)]


def test_metrics_of_dbt_1_5(tmp_path: Path, schema: Schema) -> None:
    """Manifest v9: an aggregation on a model with filters, and no semantic model."""

    def old(name: str, method: str, expression: str, **more: Any) -> dict[str, Any]:
        given = {"model": "ref('orders')", "filters": [], "label": None, "description": None, **more}
        return {"name": name, "calculation_method": method, "expression": expression, **given}

    paid = [{"field": "status", "operator": "=", "value": "'paid'"}]
    manifest = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v9.json"},
        "nodes": {"o": ORDERS},
        "metrics": {
            "a": old("paid", "sum", "total", filters=paid, label="Paid orders", description="in florins"),
            "b": old("orders", "count_distinct", "order_id"),
            "c": old("each", "derived", "{{metric('paid')}} / {{ metric(\"orders\") }}", model=None),
            "d": old("middle", "median", "total"),
            "e": old("rolling", "sum", "total", window={"count": 14, "period": "day"}),
            "f": old("loop", "derived", "{{ metric('loop') }}"),
            "g": {"name": "older", "type": "sum", "sql": "total", "model": "ref('orders')"},
        },
    }
    notes, left_out = imported(tmp_path, schema, manifest)
    with connect(tmp_path / "shop.db") as db:
        values = {
            name: db.execute(f"SELECT {expression} FROM fct_orders").rows[0][0] for name, expression in notes.formulas
        }
    assert values == {"Paid orders": 10, "orders": 2, "each": 5}
    assert dict(notes.glossary) == {"Paid orders": "in florins"}
    assert left_out == [
        "metric middle: its aggregation 'median' has no plain SQL",
        "metric rolling: a metric over a window of time is more than one expression",
        "metric loop: its metrics are defined by each other",
        "metric older: its type is 'sum', which is not one of dbt 1.5 and later",
    ]


def test_metrics_of_one_name_are_told_apart_or_listed(tmp_path: Path, schema: Schema) -> None:
    def simple(name: str, measure: str, label: str | None) -> dict[str, Any]:
        return {**metric(name, "simple", f"the {measure}", measure={"name": measure}), "label": label}

    measures = [{"name": name, "agg": "SUM", "expr": f"total * {rate}"} for name, rate in (("gross", 1), ("net", 2))]
    model = {"name": "orders", "node_relation": {"alias": "fct_orders"}, "measures": measures}
    first = {
        "semantic_models": [model],
        "metrics": [simple("sales", "gross", "Sales"), simple("net_sales", "net", "sales")],
    }
    second = {"semantic_models": [model], "metrics": [simple("sales", "net", "Sales")]}
    notes, left_out = imported(tmp_path, schema, first, second)
    assert dict(notes.formulas) == {
        "Sales": "SUM(fct_orders.total * 1)",
        "net sales": "SUM(fct_orders.total * 2)",
    }
    assert dict(notes.glossary)["Sales"] == "the gross; the net"
    assert "metric Sales: another one has this name; the first is kept" in left_out
    again, left_out = imported(tmp_path, schema, first, first)
    assert (len(again.formulas), left_out) == (2, [])


def test_names_and_descriptions_that_are_missing(tmp_path: Path, schema: Schema) -> None:
    manifest = {
        "metadata": None,
        "nodes": {
            "a": node("model", "customers", columns={"x": None, "y": {"name": None, "description": "of what?"}}),
            "b": {**node("model", ""), "name": None, "description": "of what?"},
            "c": node("model", "middle", description="a step", config={"materialized": "ephemeral"}),
        },
        "sources": None,
        "metrics": None,
        "semantic_models": None,
        "saved_queries": None,
    }
    notes, left_out = imported(tmp_path, schema, manifest)
    assert notes.items == ()
    assert left_out == ["model middle: is ephemeral, so there is no table of it"]


def test_semantic_models_as_a_project_writes_them(tmp_path: Path, schema: Schema) -> None:
    path = tmp_path / "orders.yml"
    path.write_text(
        "semantic_models:\n- name: bought\n  model: ref('fct_orders')\n"
        "  measures:\n  - {name: t, agg: sum, expr: total}\n"
        "metrics:\n- {name: Erlös, type: simple, type_params: {measure: t}}\n"
    )
    assert collect([path])["dbt"].formulas == [("Erlös", "SUM(fct_orders.total)", ("fct_orders",))]


def test_ossie_as_people_write_it(tmp_path: Path, schema: Schema) -> None:
    """Texts where the specification has objects or lists, quoted names with blanks, and null descriptions."""
    fields = [
        {"name": "amount", "expression": "total", "description": None},
        {"name": "state", "expression": {"dialects": [{"dialect": "ansi_sql", "expression": "status"}]}},
        {"name": 2024, "expression": None},
    ]
    model = {
        "name": "shop",
        "datasets": [
            {"name": "o", "source": "fct_orders", "ai_context": {"synonyms": "purchases"}, "fields": fields},
            {"name": "odd", "source": 'db."my schema"."my table"'},
            {"name": "made", "source": "SELECT 1"},
        ],
        "metrics": [{"name": "Größe", "expression": "SUM(o.amount)", "description": None}],
        "relationships": None,
    }
    notes, left_out = imported(tmp_path, schema, {"semantic_model": [model]})
    assert {item.name: item.synonyms for item in notes.items} == {
        "fct_orders": ("purchases", "o"),
        "fct_orders.total": ("amount",),
        "fct_orders.status": ("state",),
    }
    assert dict(notes.formulas) == {"Größe": "SUM(fct_orders.total)"}
    assert left_out == [
        "field o.: has no expression in plain SQL",
        "dataset made: is a query, not a table",
        "dataset odd: the database has no my table",
    ]


def test_both_manifests_together(tmp_path: Path, schema: Schema) -> None:
    notes, _ = imported(tmp_path, schema, MANIFEST, SEMANTIC)
    assert len(notes.formulas) == 6
    assert len(notes.joins) == 1
    assert "fct_orders.status" in {item.name for item in notes.items}


@pytest.mark.parametrize(
    "content", [document(version="0.2.0.dev0"), {"version": "0.1.1", "semantic_model": [document()]}]
)
def test_models_of_ossie(tmp_path: Path, schema: Schema, content: Any) -> None:
    notes, left_out = imported(tmp_path, schema, content)
    items = {item.name: item for item in notes.items}
    assert items["fct_orders"].description == "orders of all channels"
    assert items["fct_orders"].synonyms == ("orders",)
    assert items["fct_orders.total"].synonyms == ("sum", "amount")
    assert items["customers"].synonyms == ("people",)
    assert dict(notes.formulas) == {"net amount": "total / 1.2", "total amount": "SUM(fct_orders.total)"}
    assert dict(notes.glossary) == {"total amount": "all money", "turnover": "total amount"}
    assert [join.pairs for join in notes.joins] == [((("fct_orders", "customer_id"), ("customers", "customer_id")),)]
    told = "\n".join(left_out)
    for words in ("field orders.odd", "dataset made: is a query", "relationship bad", "metric dax", "Prefer fiscal"):
        assert words in told


def test_ossie_in_yaml(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("version: 0.2.0.dev0\nname: shop\ndatasets:\n  - {name: customers, source: customers}\n")
    assert [item.table for item in collect([path])["ossie"].items] == ["customers"]
    path.write_text("datasets: &a [1]\nx: *a\n")
    with pytest.raises(ProjectError, match="has aliases"):
        collect([path])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "is neither dbt's"),
        ('{"a": 1}', "is neither dbt's"),
        ("{", "is neither JSON nor YAML"),
        ("[" * 9999, "neither JSON"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(ProjectError, match=r"manifest\.json") as caught:
        collect([path])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        {"nodes": []},
        {"nodes": {"a": {"resource_type": "model", "columns": [3, {"name": {}}], "description": 7}}},
        {
            "semantic_models": [{"entities": {"x": 3}, "measures": "m"}],
            "metrics": {"m": {"name": "m", "type": ["simple"]}},
        },
        {"semantic_models": 3, "metrics": [{"name": None, "type": "ratio", "type_params": {"numerator": 3}}]},
        {
            "datasets": [{"name": 3, "source": 4, "fields": [{"expression": [1]}]}],
            "relationships": [{}],
            "metrics": [{}],
        },
        {"semantic_model": "x"},
    ],
)
def test_odd_contents_are_passed_over(tmp_path: Path, schema: Schema, content: Any) -> None:
    notes, _ = imported(tmp_path, schema, content)
    assert notes.items == notes.joins == notes.formulas == ()


def test_hostile_texts_stay_texts(tmp_path: Path, schema: Schema) -> None:
    text = 'x"\n  y: |\n - [\x1b[31m\u2028\ud800] #'
    content = {"nodes": {"a": node("model", "customers", description=text)}}
    notes, _ = imported(tmp_path, schema, content)
    assert notes.items[0].description.startswith('x" y: | - [')
    assert "\x1b" not in (tmp_path / "notes" / "out.yaml").read_text()


def test_a_file_of_the_user_is_not_overwritten(tmp_path: Path, schema: Schema) -> None:
    imported(tmp_path, schema, MANIFEST)
    imported(tmp_path, schema, SEMANTIC)  # its own file is written anew
    out = tmp_path / "notes" / "out.yaml"
    out.write_text("glossary: {a: b}\n")
    with pytest.raises(ProjectError, match="was not written by sqljury import"):
        imported(tmp_path, schema, MANIFEST)
    assert out.read_text() == "glossary: {a: b}\n"

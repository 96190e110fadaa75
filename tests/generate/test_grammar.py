"""What the grammar of queries accepts and refuses, read by a reader of GBNF, and what real models write under it."""

from __future__ import annotations

import functools
import json
import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from gbnf_reader import Reader
from hypothesis import given, settings
from hypothesis import strategies as st

from sqljury import connect
from sqljury.db.readonly import allowed_functions, check
from sqljury.db.sqlite_walls import FUNCTIONS
from sqljury.llm.base import Message, Sampling
from sqljury.llm.local import LocalModel
from sqljury.llm.replies import extract_sql
from sqljury.schema.introspect import introspect
from sqljury.sql.text import quote_name
from sqljury.stages.generate.gbnf.dialects import functions
from sqljury.stages.generate.grammar import grammar
from sqljury.types import Column, Schema, Table

SHARED = Path(__file__).resolve().parents[3] / "shared"
DIALECTS = ("sqlite", "duckdb", "postgres", "mysql")


def table(name: str, *columns: str, schema: str = "") -> Table:
    return Table(name, tuple(Column(column) for column in columns), schema=schema)


SINGERS = (table("Singer", "id", "Name", "birth year"), table("concert", "id", "singer_id", "year"))


@functools.cache
def reader(dialect: str = "sqlite", reasons: bool = False) -> Reader:
    return Reader(grammar(Schema("music", dialect, SINGERS), reasons=reasons))


ACCEPTED = r"""
SELECT Name FROM Singer
select name from singer;
SELECT DISTINCT s.name, COUNT(*) FROM singer AS s JOIN concert c ON s.id = c.singer_id GROUP BY s.id HAVING COUNT(*) > 2
SELECT T1.Name FROM Singer AS T1 LEFT OUTER JOIN concert AS T2 ON T1.id = T2.singer_id WHERE T2.id IS NULL
SELECT "birth year" FROM Singer WHERE name LIKE 'A%' AND NOT (id BETWEEN 1 AND 5 OR id IN (1, 2, 3))
SELECT name FROM singer ORDER BY "birth year" DESC, name LIMIT 3 OFFSET 1
SELECT singer.name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert WHERE year >= 2014)
SELECT name FROM singer WHERE EXISTS (SELECT 1 FROM concert WHERE concert.singer_id = singer.id)
SELECT CAST(SUM(CASE WHEN year = 2014 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM concert
SELECT AVG(total) FROM (SELECT singer_id, COUNT(*) AS total FROM concert GROUP BY singer_id) AS sub
SELECT name FROM singer UNION SELECT name FROM singer WHERE id = -1
SELECT name, RANK() OVER (PARTITION BY id ORDER BY "birth year" DESC) FROM singer
SELECT COUNT(DISTINCT singer_id) FILTER (WHERE year > 2000) FROM concert NATURAL JOIN singer
SELECT (SELECT COUNT(*) FROM singer) - (SELECT COUNT(*) FROM concert)
SELECT name FROM singer JOIN concert USING (id)
SELECT UPPER(name) || ', it''s ' || ROUND(id / 2.5, 1) FROM singer
SELECT name\n  FROM singer\n WHERE id = (\n        SELECT MAX(singer_id) FROM concert)
"""

REFUSED = """
SELECT age FROM singer
SELECT name FROM singers
SELECT concert.name FROM concert
SELECT s.age FROM singer AS s
SELECT "birth month" FROM singer
SELECT birth year FROM singer
SELECT name FROM singer WHERE name = "nobody"
SELECT name FROM singer WHERE id = MAX(id)
SELECT name FROM singer WHERE load_extension('x')
SELECT name FROM singer, sqlite_master
SELECT name FROM singer; DELETE FROM singer
SELECT name FROM singer WHERE (id = 1
SELECT nameFROM singer
SELECT name FROM singer LIMIT 5 WHERE id = 1
SELECT total FROM singer
DROP TABLE singer
WITH counts AS (SELECT singer_id, COUNT(*) AS n FROM concert GROUP BY singer_id) SELECT MAX(n) FROM counts
SELECT name FROM singer -- done
SELECT name FROM singer WHERE name = 'a
Here is the query: SELECT name FROM singer
"""


def lines(text: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


@pytest.mark.parametrize("sql", lines(ACCEPTED))
def test_queries_that_can_be_written(sql: str) -> None:
    found = reader()
    assert found.accepts(sql), sql[: found.reach(sql)]
    check(sql.rstrip(";"), "sqlite")


@pytest.mark.parametrize("sql", lines(REFUSED))
def test_what_cannot_be_written(sql: str) -> None:
    assert not reader().accepts(sql)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        (
            "duckdb",
            "SELECT date_trunc('month', name::DATE) FROM Singer WHERE id = ANY (SELECT id FROM concert)",
        ),
        ("duckdb", "SELECT name FROM singer WHERE CAST(name AS DATE) > CURRENT_DATE - INTERVAL 3 MONTH"),
        ("postgres", 'SELECT EXTRACT(YEAR FROM name::DATE) FROM "Singer" WHERE "Name" > DATE \'2020-01-01\''),
        (
            "postgres",
            "SELECT string_agg(year::TEXT, ', ' ORDER BY year) FROM concert GROUP BY id ORDER BY 1 NULLS LAST",
        ),
        ("mysql", "SELECT `birth year`, DATE_ADD(name, INTERVAL 1 DAY) FROM Singer LIMIT 2, 3"),
        ("mysql", "SELECT GROUP_CONCAT(DISTINCT year ORDER BY year SEPARATOR '; ') FROM concert"),
    ],
)
def test_what_only_one_dialect_has(dialect: str, sql: str) -> None:
    sql = sql.replace("name::", '"Name"::') if dialect == "postgres" else sql
    found = reader(dialect)
    assert found.accepts(sql), sql[: found.reach(sql)]
    check(sql, dialect)
    assert not reader("sqlite").accepts(sql)


def test_names_have_the_case_that_the_dialect_takes() -> None:
    assert reader("duckdb").accepts("SELECT NAME FROM SINGER")
    assert not reader("postgres").accepts("SELECT Name FROM Singer")
    assert reader("postgres").accepts('SELECT YEAR, "Name" FROM concert, "Singer"')
    assert not reader("mysql").accepts("SELECT name FROM singer")
    assert reader("mysql").accepts("SELECT name FROM Singer")


def test_a_table_of_another_schema() -> None:
    schema = Schema("shop", "postgres", (table("sales.orders", "id", schema="sales"),))
    found = Reader(grammar(schema))
    assert found.accepts("SELECT orders.id FROM sales.orders WHERE sales.orders.id = 1")
    assert not found.accepts("SELECT id FROM orders")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_whatever_is_written_parses(dialect: str) -> None:
    found = reader(dialect)
    for seed in range(120):
        sql = found.write(seed)
        check(sql.rstrip(";"), dialect)
        assert found.accepts(sql)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_its_functions_are_those_that_may_be_called(dialect: str) -> None:
    allowed = FUNCTIONS if dialect == "sqlite" else allowed_functions(dialect)
    assert not functions(dialect).keys() - allowed


def test_sqlites_functions_take_what_is_said() -> None:
    """Asked of SQLite itself; it may lack a function where it was built without it, but never takes other counts."""
    with closing(sqlite3.connect(":memory:")) as engine:
        for name, (kind, least, most) in functions("sqlite").items():
            over = " OVER ()" if kind in ("rank", "lag") else ""
            counts = range(least, most + 1) if kind in ("row", "if") else [int(kind != "rank")]
            for count in counts:
                assert "wrong number" not in complaint(engine, f"{name}({', '.join(['1'] * count)}){over}"), name


def complaint(engine: sqlite3.Connection, call: str) -> str:
    try:
        engine.execute(f"SELECT {call}")
    except sqlite3.OperationalError as error:
        return str(error)
    return ""


odd = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
hostile = st.text(odd, min_size=1, max_size=12) | st.sampled_from(
    [
        'a"b',
        "a`b",
        "a\\",
        "\\x41",
        "a\nb",
        "]",
        "^",
        "-",
        "naïve",
        "数据",
        "``",
        "select",
        "'",
        "--",
        "/*",
        "T1",
        'é"',
        "\r",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(hostile, min_size=2, max_size=4, unique_by=str.lower), st.sampled_from(DIALECTS))
def test_hostile_names(names: list[str], dialect: str) -> None:
    found = Reader(grammar(Schema("x", dialect, (table(names[0], *names[1:]),))))
    source, column = (quote_name(name, dialect) for name in names[:2])
    readable = not any(mark in name for mark in ("```", ";\n") for name in names[:2])
    assert found.accepts(f"SELECT {column} FROM {source}") == readable
    assert found.accepts(f"SELECT {source}.{column} FROM {source} AS T1") == readable
    other = quote_name(names[1] + "?", dialect)
    assert not found.accepts(f"SELECT {other} FROM {source}")


@pytest.mark.parametrize("tables", [(), (table("```", "x"),), (table("t"),)])
def test_a_schema_without_names(tables: tuple[Table, ...]) -> None:
    found = Reader(grammar(Schema("x", "sqlite", tables)))
    assert found.accepts("SELECT 1")
    assert found.accepts("SELECT COUNT(*) FROM t") == (tables == (table("t"),))


def test_reasons_come_before_one_fence() -> None:
    found = reader(reasons=True)
    reply = "A `singer` has ``one`` name;\n\nso: SELECT it.\n```sql\nSELECT name FROM singer;\n```"
    assert found.accepts(reply)
    assert extract_sql(reply) == "SELECT name FROM singer"
    assert found.accepts("```sql\nSELECT 1\n```")
    assert not found.accepts("SELECT name FROM singer")
    assert not found.accepts(reply + "\nDone.")
    assert not found.accepts("```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```")
    assert not found.accepts("x" * 20_000 + "\n```sql\nSELECT 1\n```")


def test_the_size_of_a_large_schema() -> None:
    """200 tables of 20 columns; the recipe shows a model no more of a schema than fits its prompt."""
    words = ["order", "customer", "total", "date", "status", "amount", "region", "product", "level", "code"]
    tables = [
        table(
            f"{words[n % 10]}_{words[n // 10 % 10]}_{n}",
            *(f"{words[k % 10]}_{words[k * n % 10]}_{k}" for k in range(20)),
        )
        for n in range(200)
    ]
    text = grammar(Schema("large", "sqlite", tuple(tables)))
    assert len(text) < 1_000_000


TEXT = re.compile(r'"([^"]*)"')


def plain(sql: str) -> str:
    """Gold with its values in single quotes: double ones are for names, and SQLite only forgives them."""
    return TEXT.sub(lambda match: "'" + match[1].replace("'", "''") + "'", sql).strip()


@pytest.mark.shared
def test_gold_queries_are_accepted() -> None:
    """Nearly all: what is not, joins without a condition, or is a query that SQLite does not take either."""
    folder = SHARED / "spider"
    chosen = random.Random(3).sample(json.loads((folder / "train.json").read_text()), 150)
    readers: dict[str, Reader] = {}
    accepted = 0
    for one in chosen:
        name = one["db_id"]
        if name not in readers:
            with connect(folder / "database" / name / f"{name}.sqlite") as db:
                readers[name] = Reader(grammar(introspect(db)))
        accepted += readers[name].accepts(plain(one["query"]))
    assert accepted >= 0.97 * len(chosen)


def strangers(sql: str) -> list[str]:
    """Tables and columns in the query that the schema does not have; what it calls its own results is left out."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="sqlite")
    own = {one.alias.lower() for one in tree.find_all(exp.Alias)}
    tables = {one.name.lower() for one in SINGERS}
    columns = {column.name.lower() for one in SINGERS for column in one.columns}
    measures = {"average", "avg", "cnt", "count", "diff", "max", "min", "n", "num", "number", "rank", "ratio", "rn"}
    own |= measures | {"share", "sum", "total"} if tree.find(exp.Subquery) else set()
    named = [one.name for one in tree.find_all(exp.Table) if one.name.lower() not in tables | own]
    return named + [one.name for one in tree.find_all(exp.Column) if one.name.lower() not in columns | own | {"*"}]


@pytest.mark.weights
def test_a_model_at_its_wildest_writes_what_parses_and_exists(small_model: LocalModel) -> None:
    """Of eight samples those that ended; one that ran out of tokens is no query, with a grammar or without."""
    text = grammar(Schema("music", "sqlite", SINGERS))
    asked = [Message("user", "Write one SQLite query: the names of all singers.")]
    sampling = Sampling(temperature=1.2, max_tokens=150, seed=7, grammar=text)
    ended = [one.text for one in small_model.complete(asked, sampling, 8).completions if one.finish_reason == "stop"]
    assert ended
    for sql in ended:
        check(sql.rstrip(";"), "sqlite")
        assert not strangers(sql), sql

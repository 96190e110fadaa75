"""Queries that a strict engine refuses, as SQLite's users and small models write them, on the real engines."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests import servers
from tests.servers import Server

from sqljury import connect
from sqljury.db.base import Database
from sqljury.schema.introspect import introspect
from sqljury.sql.faults import read_fault
from sqljury.sql.strict import Conformed, conform
from sqljury.types import Result, Schema

TABLES = """
CREATE TABLE singer (id INT, name VARCHAR(40), age VARCHAR(10), active BOOLEAN, born DATE, joined VARCHAR(20));
CREATE TABLE sings (singer_id INT, song VARCHAR(40), fee DOUBLE PRECISION, plays INT);
INSERT INTO singer VALUES (1, 'Ann', '30', TRUE, '1990-02-03', '2010-05-06'),
  (2, 'Bo', '45', FALSE, '1975-12-31', '2011-07-08'), (3, 'Bo', '9', TRUE, '2011-01-01', '2020-01-01');
INSERT INTO sings VALUES (1, 'A', 1.25, 4), (1, 'B', 2.5, 0), (2, 'C', 3.0, 6), (2, 'D', 1.0, 6);
"""


@pytest.fixture(scope="module")
def postgres(postgres_server: Server) -> Iterator[Database]:
    servers.in_postgres(postgres_server, "postgres", "CREATE DATABASE strict")
    servers.in_postgres(postgres_server, "strict", TABLES)
    with connect(servers.postgres_url(postgres_server, "strict")) as db:
        yield db


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    duckdb = pytest.importorskip("duckdb")
    file = Path(tmp_path_factory.mktemp("strict"), "strict.duckdb")
    with duckdb.connect(str(file)) as connection:
        connection.execute(TABLES)
    with connect(file) as db:
        yield db


@pytest.fixture(scope="module")
def mariadb(mariadb_server: Server) -> Iterator[Database]:
    servers.in_mariadb(mariadb_server, "CREATE DATABASE strict", "USE strict", *TABLES.split(";")[:-1])
    with connect(servers.mysql_url(mariadb_server, "strict")) as db:
        yield db


def keyed(db: Database) -> Schema:
    """The schema with the key of ``singer`` that nobody declared."""
    schema = introspect(db)
    tables = (replace(one, candidate_keys=(("id",),)) if one.name == "singer" else one for one in schema.tables)
    return replace(schema, tables=tuple(tables))


def conformed(db: Database, sql: str) -> tuple[Result, Conformed, list[str]]:
    """What the rewritten query returns, and the lines for the fault that the engine found in the query."""
    before = db.execute(sql)
    assert before.error is not None, sql
    fault = read_fault(before.error.message)
    found = conform(sql, keyed(db), fault)
    assert found.sql is not None, (sql, before.error.message, found)
    return db.execute(found.sql), found, found.lines(fault)


GROUPED = "SELECT T1.name, COUNT(*) FROM singer T1 JOIN sings T2 ON T1.id = T2.singer_id GROUP BY T2.singer_id"
IN_WHERE = "SELECT name, COUNT(*) FROM singer WHERE active AND COUNT(*) > 0 GROUP BY name"
CASES = [
    (
        GROUPED,
        {("Ann", 2), ("Bo", 2)},
        "T1.name is neither in GROUP BY nor in an aggregate; GROUP BY T2.singer_id, T1.name",
    ),
    (
        "SELECT name, COUNT(*) FROM singer ORDER BY COUNT(*) DESC",
        {("Ann", 1), ("Bo", 2)},
        "name is neither in GROUP BY nor in an aggregate; GROUP BY name has it",
    ),
    (
        IN_WHERE,
        {("Ann", 1), ("Bo", 1)},
        "COUNT(*) > 0 is a condition on an aggregate; it belongs into HAVING, after GROUP BY",
    ),
    (
        "SELECT name FROM singer WHERE age = 45",
        {("Bo",)},
        "age is character varying(10): age = '45' instead of age = 45",
    ),
    ("SELECT name FROM singer WHERE age > 40", {("Bo",)}, "CAST(age AS DECIMAL) > 40"),
    ("SELECT name FROM singer WHERE age BETWEEN 40 AND 50", {("Bo",)}, "CAST(age AS DECIMAL) BETWEEN 40 AND 50"),
    ("SELECT name FROM singer WHERE age IN (45, 46)", {("Bo",)}, "age IN ('45', '46')"),
    ("SELECT ROUND(SUM(age), 1) FROM singer", {(84.0,)}, "SUM(CAST(age AS DECIMAL))"),
    ("SELECT SUM(active) FROM singer", {(2,)}, "active is boolean: SUM(CAST(active AS INT)) instead of SUM(active)"),
    (
        "SELECT name FROM singer WHERE active = 1 AND id = 1",
        {("Ann",)},
        "active is boolean: active = TRUE instead of active = 1",
    ),
    ("SELECT name FROM singer WHERE born LIKE '1990%'", {("Ann",)}, "CAST(born AS TEXT) LIKE '1990%'"),
    ("SELECT name FROM singer WHERE SUBSTR(born, 1, 4) = '1990'", {("Ann",)}, "born is date: "),
    ("SELECT name FROM singer WHERE EXTRACT(YEAR FROM joined) = 2010", {("Ann",)}, "CAST(joined AS TIMESTAMP)"),
    ("SELECT ROUND(AVG(fee), 2) FROM sings WHERE singer_id = 1", {(1.88,)}, "ROUND(CAST(AVG(fee) AS DECIMAL), 2)"),
    ("SELECT s.name FROM singer s JOIN sings g ON s.age = g.plays", set(), "CAST(g.plays AS TEXT)"),
    (
        "SELECT song, fee * 2 AS double_fee FROM sings WHERE double_fee > 5",
        {("C", 6.0)},
        "double_fee is an output of SELECT; WHERE cannot name it",
    ),
    (
        "SELECT singer_id, COUNT(*) AS n FROM sings GROUP BY singer_id HAVING n > 1",
        {(1, 2), (2, 2)},
        "HAVING cannot name it",
    ),
    (
        "SELECT SUM(fee / plays) FROM sings WHERE singer_id = 1",
        {(0.3125,)},
        "plays is 0 in some rows: NULLIF(plays, 0)",
    ),
    (
        "SELECT song FROM sings WHERE singer_id = (SELECT id FROM singer WHERE name = 'Bo')",
        {("C",), ("D",)},
        "has several rows; IN takes them all",
    ),
    (
        "SELECT name, id FROM singer EXCEPT (SELECT singer_id AS id FROM sings WHERE plays > 0)",
        {("Bo", 3)},
        "the sides of EXCEPT have different numbers of columns",
    ),
]


@pytest.mark.parametrize(("sql", "rows", "line"), CASES)
def test_what_postgresql_refuses_is_rewritten_and_told_of(
    postgres: Database, sql: str, rows: set[tuple[object, ...]], line: str
) -> None:
    result, found, lines = conformed(postgres, sql)
    assert result.ok, (found.sql, result.error)
    assert set(result.rows) == rows
    assert any(line in each for each in lines), lines
    assert not any("\n" in each for each in lines)


@pytest.mark.parametrize("sql", [CASES[at][0] for at in (0, 1, 2, 6, 7)])
def test_what_duckdb_refuses(duck: Database, sql: str) -> None:
    before = duck.execute(sql)
    if before.ok:
        pytest.skip("this DuckDB takes it")
    rows = next(rows for case, rows, _ in CASES if case == sql)
    assert set(conformed(duck, sql)[0].rows) == rows


def test_what_mariadb_refuses(mariadb: Database) -> None:
    result, found, lines = conformed(mariadb, IN_WHERE)
    assert set(result.rows) == {("Ann", 1), ("Bo", 1)}, found
    assert lines
    result, _, _ = conformed(mariadb, "SELECT name FROM (SELECT name FROM singer WHERE id = 1)")
    assert result.rows == (("Ann",),)


def test_a_column_of_several_values_is_only_told_of(postgres: Database) -> None:
    sql = "SELECT name, age FROM singer GROUP BY name"
    fault = read_fault(str(postgres.execute(sql).error))
    found = conform(sql, keyed(postgres), fault)
    assert found.sql is None
    assert found.lines(fault) == ["age is neither in GROUP BY nor in an aggregate; GROUP BY name, age has it"]
    highest = "SELECT name, MAX(fee) FROM singer, sings"
    assert conform(highest, keyed(postgres), fault).sql is None  # the name of the highest is meant
    ordered = "SELECT DISTINCT name FROM singer ORDER BY age"
    fault = read_fault(str(postgres.execute(ordered).error))
    assert conform(ordered, keyed(postgres), fault).lines(fault) == [
        "age is in ORDER BY and not among the outputs of SELECT DISTINCT"
    ]
    wrong = "SELECT name FROM singer WHERE id = 'abc'"
    fault = read_fault(str(postgres.execute(wrong).error))
    assert conform(wrong, keyed(postgres), fault).lines(fault) == ["id holds numbers, 'abc' is a text"]


HIGHEST = (
    "SELECT name FROM singer WHERE id = (SELECT singer_id FROM sings GROUP BY singer_id "
    "HAVING COUNT(DISTINCT plays) = (SELECT {}(COUNT(DISTINCT plays)) FROM sings))"
)


def test_an_aggregate_of_an_aggregate_is_one_of_a_subquery(tmp_path: Path, postgres: Database) -> None:
    """SQLite refuses it as the others do."""
    with sqlite3.connect(tmp_path / "strict.db") as connection:
        connection.executescript(TABLES)
    connection.close()
    with connect(tmp_path / "strict.db") as db:
        for each in (db, postgres):
            for highest, rows in (("MAX", {("Ann",)}), ("MIN", {("Bo",)})):
                result, found, (line,) = conformed(each, HIGHEST.format(highest))
                assert set(result.rows) == rows, found.sql
                assert line.startswith(f"{highest}(COUNT(DISTINCT plays)) is an aggregate of an aggregate")
        sql = "SELECT MAX(COUNT(*)) FROM sings"
        fault = read_fault(str(db.execute(sql).error))
        found = conform(sql, keyed(db), fault)
        assert found.sql is None  # of which groups is not known
        assert len(found.lines(fault)) == 1


@pytest.mark.parametrize("dialect", ["postgres", "mysql"])
def test_tables_joined_within_brackets_get_no_name(dialect: str) -> None:
    sql = "SELECT a.x FROM c JOIN (a JOIN b ON a.x = b.x) ON c.x = a.x JOIN {} ON s.x = c.x"
    found = conform(sql.format("(SELECT 1 AS x)"), Schema("x", dialect, ()), read_fault("syntax error"))
    assert found.sql == sql.format("(SELECT 1 AS x) AS sub3")


@pytest.mark.parametrize("sql", ["", "no query", "((((" * 50, "SELECT", "SELECT * FROM nowhere WHERE COUNT(*)"])
@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb", "mysql"])
def test_no_text_breaks_it(sql: str, dialect: str) -> None:
    conform(sql, Schema("x", dialect, ()), read_fault("aggregate functions are not allowed in WHERE"))

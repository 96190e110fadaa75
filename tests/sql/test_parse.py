from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sqljury.audit.finding import difference
from sqljury.db.readonly import check
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import InputError, QueryRefusedError, QueryStoppedError
from sqljury.metrics.esm_plus.strict.reader import read_strictly
from sqljury.metrics.spider.structure import Names
from sqljury.parallel.watch import Watch
from sqljury.sql import parse as parsing
from sqljury.sql.emptied import emptied
from sqljury.sql.features import UNREAD, anatomy
from sqljury.sql.meter import is_compiled, under
from sqljury.sql.names.bind import rebindings
from sqljury.sql.names.suggest import unknown
from sqljury.sql.resolve import used
from sqljury.sql.translate import in_sqlite
from sqljury.sql.tree import tree_of
from sqljury.types import Column, Limits, Schema, Table
from sqljury.values.bind import lacking

DIALECTS = ("sqlite", "postgres", "mysql", "duckdb")
LEVELS = 22  # twice the work each: minutes; Python itself stops deeper ones


JOINS = f"SELECT 1 FROM t{' JOIN t' * 11} ON t.a = t.a"
LONG = f"SELECT {', '.join(['1'] * parsing.MAX_READ_WORDS)}"

COMPILED = pytest.mark.skipif(is_compiled("sqlite"), reason="compiled, sqlglot refuses and asks nobody")


def nested(before: str, after: str, levels: int = LEVELS) -> str:
    return before * levels + "1" + after * levels


DOUBLING = {
    "limit": "SELECT a FROM t LIMIT " + nested("(SELECT 1 LIMIT ", ")"),
    "limit of two": "SELECT a FROM t LIMIT 1, " + nested("(SELECT 1 LIMIT 1, ", ")"),
    "limit with a term": "SELECT 1 IN " + nested("(SELECT 1 LIMIT 1 + ", ")"),
    "offset": "SELECT a FROM t LIMIT 1 OFFSET " + nested("(SELECT 1 LIMIT 1 OFFSET ", ")"),
    "union": "SELECT 1 UNION SELECT 1 LIMIT " + nested("(SELECT 1 UNION SELECT 1 LIMIT ", ")"),
    "values": "VALUES (1) LIMIT " + nested("(VALUES (1) LIMIT ", ")"),
    "joins": "SELECT 1 FROM t" + " JOIN t" * LEVELS,
    "quoted type": 'SELECT CAST(1 AS "' + nested("int(", ")") + '")',
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", DOUBLING.values(), ids=DOUBLING.keys())
def test_work_that_doubles_is_given_up(sql: str, dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "BASE_STEPS", 3_000)
    with contextlib.suppress(QueryRefusedError):  # some dialects read some of them without going back
        check(sql, dialect)


@COMPILED
def test_the_limit_and_cancel_are_heard_while_a_query_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "BASE_STEPS", 10**12)
    with contextlib.closing(sqlite3.connect(tmp_path / "one.db")) as made:
        made.execute("CREATE TABLE t (a)")
    with SQLiteDatabase(tmp_path / "one.db") as db:
        start = time.monotonic()
        assert db.execute(DOUBLING["limit"] + " -- waits", Limits(seconds=0.2)).error_kind == "limit"
        cancel = threading.Event()
        threading.Timer(0.2, cancel.set).start()
        assert db.execute(DOUBLING["values"] + " -- waits", Limits(seconds=60), cancel).error_kind == "cancelled"
        assert time.monotonic() - start < 20


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_was_stopped_is_not_remembered_as_refused(dialect: str) -> None:
    sql = f"SELECT '{dialect}' WHERE a IN (" + ", ".join(map(str, range(2000))) + ")"
    with pytest.raises(QueryStoppedError) as caught, under(Watch(Limits(seconds=0))):
        check(sql, dialect)
    assert caught.value.kind == "limit"
    check(sql, dialect)


@COMPILED
def test_words_are_cut_under_the_limit_too() -> None:
    with pytest.raises(QueryStoppedError), under(Watch(Limits(seconds=0))):
        check("SELECT " + "(" * 60_000, "sqlite")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_long_honest_queries_are_read(dialect: str) -> None:
    within = "SELECT a FROM t"
    for level in range(15):
        within = f"SELECT a FROM ({within}) AS s{level} WHERE a IN (SELECT b FROM u WHERE c > {level})"
    ctes = ", ".join(f"c{n} AS (SELECT a, count(*) AS n FROM t WHERE b = {n} GROUP BY a)" for n in range(40))
    for sql in (
        "SELECT * FROM t WHERE id IN (" + ", ".join(map(str, range(9_000))) + ")",
        "SELECT " + ", ".join(f"t.c{n} AS x{n}" for n in range(300)) + " FROM t",
        f"WITH {ctes} SELECT * FROM c1 JOIN c2 ON c1.a = c2.a",
        within,
        "SELECT 1 FROM t0" + "".join(f" JOIN t{n} ON t{n}.a = t0.a" for n in range(1, 40)),
    ):
        check(sql, dialect)


@pytest.mark.parametrize("sql", ["SELECT a" + "[1]" * 20_000, "SELECT 1::int" + "[3]" * 20_000])
def test_many_subscripts_are_refused_before_parsing(sql: str) -> None:
    with pytest.raises(QueryRefusedError, match="nested too deeply"):
        check(sql, "postgres")
    check("SELECT a" + "[1]" * 20, "postgres")


def test_joins_with_all_conditions_at_the_end_are_read() -> None:
    check("SELECT 1 FROM t0" + "".join(f" JOIN t{n}" for n in range(1, 10)) + " ON t0.a = t1.a", "sqlite")


SCHEMA = Schema("shop", "sqlite", (Table("t", (Column("a", "INTEGER"), Column("b", "TEXT"))),))
DUCKDB = Schema("shop", "duckdb", SCHEMA.tables)
REWRITTEN = "SELECT a FROM t WHERE b = " + nested("arrays_zip(", ")", 12)
"""Read in no time; DuckDB's generator writes each argument four times."""


@pytest.mark.parametrize(
    ("read", "nothing"),
    [
        (lambda sql: rebindings(sql, SCHEMA), []),
        (lambda sql: lacking(sql, SCHEMA, lambda *_: False), []),
        (lambda sql: used(SCHEMA, [sql]).tables, ()),
        (lambda sql: unknown(sql, SCHEMA), []),
        (lambda sql: emptied(sql, SCHEMA, lambda _: True), []),
        (lambda sql: anatomy(sql, SCHEMA), UNREAD),
        (lambda sql: in_sqlite(sql, DUCKDB), None),
        (lambda sql: difference(sql, "SELECT 1"), "semantic logic"),
        (tree_of, None),
        (lambda sql: read_strictly(sql, Names({"t": ("a", "b")})), None),
    ],
    ids=[
        "rebindings",
        "lacking",
        "used",
        "unknown",
        "emptied",
        "anatomy",
        "in_sqlite",
        "difference",
        "tree_of",
        "read_strictly",
    ],
)
def test_no_analysis_reads_such_a_query(
    read: Callable[[str], object], nothing: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "BASE_STEPS", 3_000)
    for text in (DOUBLING["limit"], DOUBLING["joins"]):
        with contextlib.suppress(InputError):
            assert read(text) == nothing


@pytest.mark.parametrize("text", ["LONG", "WIDE", "DOUBLED"])
def test_what_is_long_is_let_through_and_not_read(text: str) -> None:
    """The wall has bounds of its own, so that such a query still runs, and its result counts."""
    sql = {"LONG": LONG, "WIDE": f"SELECT '{'x' * parsing.MAX_READ_CHARS}'", "DOUBLED": JOINS}[text]
    check(sql, "sqlite")
    assert anatomy(sql, SCHEMA) == UNREAD
    with pytest.raises(RecursionError):
        parsing.parse_one(sql, "sqlite")


def test_a_query_is_read_once_and_every_caller_has_a_tree_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    read, parse_tokens = [], parsing.parse_tokens
    monkeypatch.setattr(parsing, "parse_tokens", lambda *given: read.append(given) or parse_tokens(*given))
    sql = "SELECT a /* why */ FROM t AS read_once WHERE a IN (1, 2)"
    one, other = parsing.parse_one(sql, "sqlite"), parsing.parse_one(sql, "sqlite")
    assert len(read) == 1
    assert one == other
    assert one.sql() == other.sql() == "SELECT a /* why */ FROM t AS read_once WHERE a IN (1, 2)"
    one.find(parsing.exp.Where).pop()
    assert other.find(parsing.exp.Where)
    assert parsing.parse_one(sql, "sqlite") == other
    parsing.parse_one(sql, "duckdb")
    assert len(read) == 2
    with pytest.raises(QueryStoppedError), under(Watch(Limits(seconds=0))):
        parsing.parse_one(sql, "sqlite")


def test_what_cannot_be_read_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "READ_STEPS", 1)
    with pytest.raises(RecursionError):
        parsing.parse_one("SELECT a FROM t WHERE b = 1 AND c = 22", "sqlite")
    monkeypatch.undo()
    assert parsing.parse_one("SELECT a FROM t WHERE b = 1 AND c = 22", "sqlite")


def test_what_is_as_long_as_may_be_is_read() -> None:
    ones = ", ".join(["1"] * ((parsing.MAX_READ_WORDS - 4) // 2))
    assert anatomy(f"SELECT {ones} FROM t", SCHEMA).parsed


def test_what_would_take_too_long_to_write_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "BASE_STEPS", 3_000)
    assert anatomy(REWRITTEN, DUCKDB) == UNREAD
    assert rebindings(REWRITTEN.replace("b =", "bb ="), DUCKDB) == []
    with pytest.raises(RecursionError):
        parsing.parse_one(REWRITTEN, "duckdb")
    assert parsing.parse_one("SELECT " + nested("round(", ", 2)", 7), "duckdb")

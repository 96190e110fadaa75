from __future__ import annotations

import logging
import subprocess
import sys
import threading

import pytest
from sql_corpus import statements

from sqljury.db.readonly import MAX_SQL_CHARS, check
from sqljury.errors import QueryRefusedError


@pytest.mark.parametrize("sql", statements("plain.sql"))
def test_plain_queries_pass(sql: str) -> None:
    check(sql, "sqlite")


@pytest.mark.parametrize(
    "sql",
    [s for s in statements("hostile.sql") if not s.startswith(("SELECT", "WITH RECURSIVE n", "WITH n("))],
)
def test_what_is_no_select_never_passes(sql: str) -> None:
    with pytest.raises(QueryRefusedError) as caught:
        check(sql, "sqlite")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("write one SELECT")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("", "there is no query"),
        (" ;; ", "starts with ';'"),
        ("-- nothing", "there is no query"),
        ("SELECT 1; DELETE FROM t", "only one statement"),
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "this has DELETE"),
        ("SELECT * INTO x FROM t", "this has INTO"),
        ("SELECT 1 FROM t FOR UPDATE", "this has LOCK"),
        ("SELECT LOAD_extension('x')", "load_extension is not allowed"),
        ("SELECT * FROM pragma_table_list", "pragma_table_list is not allowed"),
        ("SELECT 1 IN pragma_table_list", "pragma_table_list is not allowed"),
        ("SELECT * FROM eval('x')", "eval is not allowed"),
        ("SELECT 1 IN eval('x')", "eval is not allowed"),
        ("SELECT * FROM main.completion('x')", "completion is not allowed"),
        ("SELECT * FROM temp.completion", "completion is not allowed"),
        ("SELECT 1 IN temp.dbstat", "dbstat is not allowed"),
        ("SELECT * FROM main.sqlite_dbpage", "sqlite_dbpage is not allowed"),
        ("SELECT printf('%.*c', 9, 'x')", "literal format"),
        ("SELECT format(name) FROM t", "literal format"),
        ("SELECT a FROM", "not a query in sqlite"),
        ("SELECT 1\x00; DELETE FROM t", "characters that no query has"),
        ("SELECT '\ud800'", "characters that no query has"),
        ("SELECT '" + "x" * MAX_SQL_CHARS + "'", "longer than"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "nested too deeply"),
        ("SELECT " + "NOT " * 5000 + "1", "nested too deeply"),
        ("SELECT " + "- " * 5000 + "1", "nested too deeply"),
        ("SELECT " + "CASE WHEN 1 THEN " * 900 + "1" + " END" * 900, "nested too deeply"),
        ("SELECT * FROM t" + " JOIN u" * 9000, "nested too deeply"),
    ],
)
def test_messages(sql: str, words: str) -> None:
    with pytest.raises(QueryRefusedError, match="write one SELECT") as caught:
        check(sql, "sqlite")
    assert words in str(caught.value)


def test_long_but_flat_queries_pass() -> None:
    check("SELECT * FROM t WHERE id IN (" + ", ".join(map(str, range(9000))) + ")", "sqlite")
    check("SELECT 1" + " OR a = 1" * 2000, "sqlite")
    check("SELECT " + "(" * 30 + "1" + ")" * 30, "sqlite")


def test_other_dialects_are_guarded_too() -> None:
    for dialect in ("postgres", "mysql", "duckdb"):
        check("SELECT count(*) FROM t", dialect)
        for sql in ("DELETE FROM t", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "SELECT 1 INTO t"):
            with pytest.raises(QueryRefusedError):
                check(sql, dialect)


def test_the_parser_says_nothing_but_other_users_of_it_still_hear_it(caplog: pytest.LogCaptureFixture) -> None:
    import sqlglot

    sql = "WITH c AS (SELECT 1) REPLACE INTO t SELECT 1"
    with caplog.at_level(logging.WARNING, logger="sqlglot"), pytest.raises(QueryRefusedError):
        check(sql, "sqlite")
    assert caplog.records == []
    with caplog.at_level(logging.WARNING, logger="sqlglot"):
        sqlglot.parse("VACUUM INTO 'x'", read="sqlite")
    assert caplog.records


def test_a_small_stack_is_enough_to_refuse() -> None:
    found: list[BaseException] = []

    def refuse() -> None:
        try:
            check("SELECT " + "abs(" * 140 + "1" + ")" * 140, "sqlite")
        except QueryRefusedError:
            pass
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=refuse)
    thread.start()
    thread.join()
    assert found == []


def test_the_parser_is_loaded_with_the_first_query_only() -> None:
    code = (
        "import sys, sqljury.db.connect, sqljury.db.sqlite, sqljury.schema.introspect; print('sqlglot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("word", ["date", "DECIMAL", "time", "timestamp", "STRUCT", "varchar"])
def test_calls_named_like_types_are_not_nested_deeply(word: str) -> None:
    """The parser takes twice the time for each level."""
    from sqljury.sql.names.bind import rebindings
    from sqljury.sql.translate import translations
    from sqljury.types import Schema

    sql = "SELECT " + f"{word}(" * 40 + "'x'" + ")" * 40
    with pytest.raises(QueryRefusedError, match="nested too deeply"):
        check(sql, "sqlite")
    assert rebindings(sql, Schema("s", "sqlite", ())) == []
    assert translations(sql, Schema("s", "sqlite", ())) == []
    check("SELECT date(date(date('x')))", "sqlite")

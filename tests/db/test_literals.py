"""The server's idea of where text ends, against the parser's; and both against the real servers."""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

import servers
from servers import Server
from sqljury.db import readonly
from sqljury.db.base import Database
from sqljury.errors import QueryRefusedError
from sqljury.sql.literals import before_semicolon, objection


def objected(sql: str, dialect: str) -> str | None:
    return objection(sql, sqlglot.tokenize(sql, read=dialect), dialect)


@pytest.mark.parametrize(
    "sql",
    [
        r"SELECT 'a\', 1 --'",
        r"SELECT E'a\'b', e'\\'",
        "SELECT $$a'b$$, $t$x$$y$t$",
        "SELECT a /* x /* y */ z */ FROM t",
        "SELECT \"a\"\"b\", 'it''s' FROM t -- x",
        "SELECT B'101', X'ff'",
        "SELECT 'a'\n'b'",
    ],
)
def test_agreed_in_postgres(sql: str) -> None:
    assert objected(sql, "postgres") is None


@pytest.mark.parametrize(
    "sql", [r"SELECT 'a\'b', " "'x'", r'SELECT "a\"b"', "SELECT `a``b`", "SELECT 5--1 # x", "SELECT 1 -- x\n/* y */"]
)
def test_agreed_in_mysql(sql: str) -> None:
    assert objected(sql, "mysql") is None


@pytest.mark.parametrize(
    ("dialect", "sql", "words"),
    [
        ("postgres", "SELECT U&'\\0041'", "U& is not allowed"),
        ("postgres", "SELECT /*+ x */ 1", "may be run by the server"),
        ("postgres", "SELECT 1 {# x #}", "it is not clear what '{'"),
        ("postgres", "SELECT E'a' /* x */ 'b'", "in pieces"),
        ("postgres", "SELECT\xa01", "it is not clear"),
        ("mysql", "SELECT 1 /*! , 2 */", "may be run by the server"),
        ("mysql", "SELECT 1 /*M! , 2 */", "may be run by the server"),
        ("mysql", "SELECT 1 /*+ x */", "may be run by the server"),
    ],
)
def test_objections(dialect: str, sql: str, words: str) -> None:
    assert words in str(objected(sql, dialect))


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT 1;", "SELECT 1"),
        ("SELECT 1 ; -- done\n/* x */", "SELECT 1 "),
        ("SELECT '; -- x'", "SELECT '; -- x'"),
        ("SELECT 1 -- ;", "SELECT 1 -- ;"),
        ("SELECT 1 # a ; b\n;", "SELECT 1 # a ; b\n"),
    ],
)
def test_the_semicolon_at_the_end(sql: str, text: str) -> None:
    assert before_semicolon(sql, "mysql") == text


PIECES = [
    "'",
    '"',
    "`",
    "\\",
    "\\'",
    "''",
    "$$",
    "$a$",
    "E'",
    "--",
    "-- ",
    "#",
    "/*",
    "*/",
    "/*!",
    "\n",
    "\r",
    " ",
    ";",
]
PIECES += ["1", "a", ",", "(", ")", "N'", "b'", "é", "\u2028", "{#", "#}", "{{", "U&'", "_utf8'", "FROM", "+"]
MARK = "4711"


@pytest.mark.parametrize("dialect", ["postgres", "mysql"])
def test_a_hidden_column_is_always_seen(dialect: str, postgres_server: Server, mariadb_server: Server) -> None:
    """What passes and runs has as many columns for the server as for the parser."""
    from sqljury.db.connect import connect

    url = servers.postgres_url(postgres_server, "postgres")
    if dialect == "mysql":
        url = servers.mysql_url(mariadb_server, "mysql")
    ran = 0
    with connect(url) as db:

        @settings(max_examples=1500, deadline=None)
        @given(st.lists(st.sampled_from(PIECES), max_size=12))
        def run(pieces: list[str]) -> None:
            nonlocal ran
            sql = f"SELECT '{''.join(pieces)}', {MARK}"
            columns = parsed_columns(sql, dialect)
            if columns is not None:
                result = db.execute(sql)
                if result.ok:
                    ran += 1
                    assert len(result.columns) == columns, sql

        run()
    assert ran > 20


def parsed_columns(sql: str, dialect: str) -> int | None:
    try:
        readonly.check(sql, dialect)
        _, statement = readonly.parse(sql, dialect)
    except QueryRefusedError:
        return None
    return len(statement.selects)  # type: ignore[attr-defined]


def test_a_database_is_not_asked_what_is_refused(pg: Database) -> None:
    assert "one statement" in str(pg.execute("SELECT 1; SELECT 2").error)

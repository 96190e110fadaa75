"""The query that people are shown, and that they copy, is the query that ran, by every engine's own idea of a line."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from sqlglot import tokenize
from sqlglot.errors import SqlglotError

from sqljury.db.base import Database
from sqljury.types.serialize import has_escapes, one_line, query, statement

ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\n\r", "\t", "\x1b[2K"]
UNSEEN = ["\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u3164", "\ufe0f", "\x07", "\x9b", "\u061c"]
PIECES = (
    *("SELECT 1", ", 2", ", 3 ", ", 'a  b'", ", 'it''s -- no'", ", '/* no */'", ', "x" ', ", (4)", ", -5", "- -1", " "),
    *("-- one", "--", "--two ", "/* three */", "/* -- */", "/*", "*/", "/**/", "# four"),
    *("'", '"', "`", "\\", "$$", "[a]"),
    *(" AS b", ", '\t'", ", e'\\''", ", $$ it's $$", "--\u202e", "/*\n*/", "/*! , 6 */", ", 7 --8"),
)  # fmt: skip

Run = Callable[[str], object]


def texts(seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(count):
        pieces = [rng.choice((*PIECES, *PIECES, *ENDS, "\n", "\n", *UNSEEN)) for _ in range(rng.randint(1, 8))]
        yield "SELECT 0 AS x" + "".join(pieces)


def sqlite(sql: str) -> object:
    """The rows; None for what fails, and for a comment without an end, which SQLite takes and the parser refuses."""
    try:
        tokenize(sql, read="sqlite")
    except SqlglotError:
        return None
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            return connection.execute(sql).fetchall()
        except (sqlite3.Error, sqlite3.Warning):
            return None


def duckdb() -> Run:
    import duckdb

    connection = duckdb.connect()

    def run(sql: str) -> object:
        try:
            return connection.execute(sql).fetchall()
        except duckdb.Error:
            return None

    return run


def checked(sql: str, dialect: str, run: Run) -> bool:
    """Whether the query runs; then what is shown of it must be readable, and do the same."""
    rows = run(sql)
    for shown in (query(sql, dialect), one_line(sql, dialect)):
        assert all(c == "\n" or (c.isprintable() and unicodedata.category(c) != "Cf") for c in shown)
        assert not set(UNSEEN) & set(shown)
    assert "\n" not in one_line(sql, dialect)
    if rows is None:
        return False
    assert run(statement(sql)) == rows
    if not has_escapes(sql, dialect):
        assert run(query(sql, dialect)) == rows, (sql, query(sql, dialect))
        assert run(statement(query(sql, dialect))) == rows
        if "\\n" not in one_line(sql, dialect):  # a text of several lines
            assert run(one_line(sql, dialect)) == rows, (sql, one_line(sql, dialect))
    return True


def test_what_sqlite_ran_is_what_is_shown() -> None:
    assert sum(checked(sql, "sqlite", sqlite) for sql in texts(1, 1_200)) > 50


def test_what_duckdb_ran_is_what_is_shown() -> None:
    run = duckdb()
    assert sum(checked(sql, "duckdb", run) for sql in texts(2, 800)) > 25


def served(db: Database, dialect: str, seed: int) -> int:
    """How many of the queries a server answered through every wall, all of them shown as they ran."""

    def run(sql: str) -> object:
        result = db.execute(sql.rstrip().removesuffix(";"))
        return result.rows if result.ok else None

    return sum(checked(sql, dialect, run) for sql in texts(seed, 800))


def test_what_postgres_ran_is_what_is_shown(pg: Database) -> None:
    assert served(pg, "postgres", 3) > 20


def test_what_mariadb_ran_is_what_is_shown(maria: Database) -> None:
    assert served(maria, "mysql", 4) > 20


@pytest.mark.parametrize("end", ENDS)
def test_only_a_line_feed_ends_a_comment_in_sqlite(end: str) -> None:
    sql = f"SELECT 1 -- note{end}, 2"
    shown = query(sql, "sqlite")
    assert sqlite(sql) == sqlite(shown) == sqlite(one_line(sql, "sqlite")) == ([(1, 2)] if "\n" in end else [(1,)])


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_a_carriage_return_ends_a_comment_elsewhere(dialect: str) -> None:
    assert query("SELECT 1 -- note\r, 2", dialect) == "SELECT 1 -- note\n, 2"
    assert one_line("SELECT 1 -- note\r, 2", dialect) == "SELECT 1 /* note */ , 2"
    assert query("SELECT 1 /* a /* b */ -- */ , 2\n, 3", dialect) == "SELECT 1 /* a /* b */ -- */ , 2\n, 3"


def test_what_cannot_be_seen_in_a_text_stands_as_an_escape() -> None:
    sql = "SELECT 'a\u2028b\t' -- c\u2028d"
    assert query(sql) == "SELECT 'a\\u2028b\\t' -- c d"
    assert has_escapes(sql)
    assert not has_escapes("SELECT\t'a' --\u2028")
    assert one_line("SELECT 'a\n b',  2 -- x */ y\nFROM t") == "SELECT 'a\\n b', 2 /* x * / y */ FROM t"


def test_mysqls_own_comments() -> None:
    assert one_line("SELECT 1 # a\n, 2 --3\n, 4", "mysql") == "SELECT 1 /* a */ , 2 --3 , 4"
    assert one_line("SELECT '\\' -- x\n'", "mysql") == "SELECT '\\' -- x\\n'"


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "SELECT 1 -- x", "SELECT 1 --", "SELECT 1 # x", "SELECT '--'", "SELECT 1;"]
)
def test_a_statement_ends_outside_of_its_comment(sql: str) -> None:
    whole = statement(sql)
    assert whole.rstrip().endswith(";")
    assert sqlite3.complete_statement(whole)
    assert whole.count(";") == 1


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no sqlite3 on the path")
@pytest.mark.parametrize("end", ["\n", "\r", "\u2028", "\x1c", ""])
def test_a_query_can_be_piped_into_sqlite(end: str) -> None:
    text = statement(f"SELECT 1 -- a{end}, 2 -- b") + "\nSELECT 'after';\n"
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input=text.encode(), capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["1|2" if end == "\n" else "1", "after"]

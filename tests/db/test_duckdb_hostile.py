"""Every hostile statement, with the parser in front and without it; the files stay byte for byte what they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from duckdb_shop import contents, write
from sql_corpus import statements

from sqljury.db import readonly
from sqljury.db.duckdb import DuckDBDatabase
from sqljury.db.files import open_files
from sqljury.db.readonly import check
from sqljury.errors import DatabaseError, QueryRefusedError
from sqljury.types import Limits

pytest.importorskip("duckdb")
HOSTILE = statements("hostile_duckdb.sql")
MOMENT = Limits(seconds=0.15, rows=50, bytes=1_000_000)
LATE = 1.5
"""Generous: a machine under load starts threads late. What is promised is 0.5 s."""

BOMBS = HOSTILE[HOSTILE.index("SELECT range(1000000000000)") - 9 :]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return write(folder / "shop.duckdb")


@pytest.fixture
def db(shop: Path) -> Iterator[DuckDBDatabase]:
    with DuckDBDatabase(shop) as database:
        yield database


def test_the_corpora_are_as_large_as_they_should_be() -> None:
    assert len(HOSTILE) >= 150
    assert len(statements("hostile.sql")) >= 150
    assert len(statements("plain_duckdb.sql")) >= 60


def test_all_are_refused_or_contained(db: DuckDBDatabase, shop: Path) -> None:
    before = contents(shop.parent)
    for sql in HOSTILE:
        result = db.execute(sql, MOMENT)
        assert result.seconds < MOMENT.seconds + LATE, sql
        assert "root:" not in str(result.rows), sql
    assert contents(shop.parent) == before
    assert db.execute("SELECT count(*) FROM customer").rows == ((4,),)


@pytest.mark.parametrize("sql", [sql for sql in HOSTILE if not sql.lstrip().startswith(("SELECT", "WITH", "("))])
def test_what_is_no_select_never_passes_the_parser(sql: str) -> None:
    with pytest.raises(QueryRefusedError):
        check(sql, "duckdb")


@pytest.mark.parametrize(
    "sql",
    [
        sql
        for sql in HOSTILE
        if any(
            word in sql
            for word in ("read_", "glob(", "_scan(", "query(", "query_table(", "nextval(", "DELETE", "INSERT", "getenv")
        )
    ],
)
def test_what_reaches_outside_or_writes_never_passes_the_parser(sql: str) -> None:
    with pytest.raises(QueryRefusedError):
        check(sql, "duckdb")


def test_without_the_parser_nothing_is_written_or_read_either(
    db: DuckDBDatabase, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    before = contents(shop.parent)
    for sql in HOSTILE:
        if sql not in BOMBS:
            result = db.execute(sql, MOMENT)
            assert result.seconds < MOMENT.seconds + LATE, sql
            assert "root:" not in str(result.rows), sql
    for sql in (
        "DELETE FROM customer",
        "COPY customer TO 'x.csv'",
        "ATTACH 'x.duckdb'",
        "SET threads = 1",
        "SELECT 1; SELECT 2",
    ):
        assert db.execute(sql).error_kind == "refused", sql
    for sql in (
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT nextval('counter')",
    ):
        assert db.execute(sql).error_kind == "refused", sql
    assert not db.execute("WITH gone AS (DELETE FROM customer RETURNING *) SELECT * FROM gone").ok
    assert contents(shop.parent) == before


def test_without_the_parser_files_are_read_but_no_others_and_none_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readonly, "check", lambda sql, dialect: None)
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "sales.csv").write_text("id,total\n1,2.5\n")
    secret = folder / "secret.txt"
    secret.write_text("root: nobody may see this\n")
    before = contents(folder)
    with open_files(str(folder / "sales.csv")) as db:
        for sql in (
            f"SELECT * FROM read_text('{secret}')",
            f"SELECT * FROM read_csv('{folder}/*')",
            f"COPY (SELECT 1) TO '{folder / 'sales.csv'}'",
            f"COPY (SELECT 1) TO '{folder / 'new.csv'}'",
            "DROP VIEW sales",
            "SET allowed_paths = ['/etc/passwd']",
        ):
            assert db.execute(sql).error_kind == "refused", sql
        assert not db.execute(f"SELECT * FROM '{secret}'").ok
        assert db.execute("SELECT * FROM sales").rows == ((1, 2.5),)
    assert contents(folder) == before


def test_views_and_macros_of_a_hostile_database(tmp_path: Path) -> None:
    sql = """
    CREATE TABLE t (a INT); INSERT INTO t VALUES (1);
    CREATE VIEW slow AS SELECT count(*) AS n FROM range(1000000000000);
    CREATE VIEW large AS SELECT array_to_string(range(99999999 + a), ',') AS s FROM t;
    CREATE SEQUENCE q; CREATE VIEW counts AS SELECT nextval('q') AS n;
    CREATE MACRO sum(x) AS (SELECT max(content) FROM read_text('/etc/passwd'));
    CREATE VIEW passwords AS SELECT * FROM read_text('/etc/passwd');
    """
    path = write(tmp_path / "bad.duckdb", sql)
    before = contents(tmp_path)
    with DuckDBDatabase(path) as db:
        for view in ("slow", "large"):
            result = db.execute(f"SELECT * FROM {view}", MOMENT)
            assert result.error_kind == "limit", result
            assert result.seconds < MOMENT.seconds + LATE
        assert db.execute("SELECT * FROM counts").error_kind == "refused"
        assert db.execute("SELECT * FROM passwords").error_kind == "refused"
        assert "root:" not in str(db.execute("SELECT sum(a) FROM t"))
    assert contents(tmp_path) == before


def test_macros_named_like_functions_are_not_called(tmp_path: Path) -> None:
    file = tmp_path / "macros.duckdb"
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE t (n TEXT, ssn TEXT); INSERT INTO t VALUES ('a', 'CANARY')")
        connection.execute("CREATE MACRO lower(x) AS (SELECT ssn FROM t)")
    with DuckDBDatabase(file) as db:
        for sql in ("SELECT lower(n) FROM t", 'SELECT "lower" (n) FROM t', "SELECT LOWER/* x */(n) FROM t"):
            result = db.execute(sql)
            assert str(result.error or "").startswith("refused: lower is a macro of the database"), result
        assert db.execute("SELECT upper(n) FROM t").rows == (("A",),)


@pytest.mark.parametrize(
    "macro",
    [
        *(
            "date_part(a, b)",
            '"+"(a, b)',
            '"~~"(a, b)',
            '"@@"(a, b)',
            "contains(a, b)",
            "COUNT_STAR()",
            "current_date()",
        ),
        *(
            "to_json(a)",
            "duckdb_functions() AS TABLE SELECT 'x' AS function_name, true AS internal; CREATE MACRO row(a)",
        ),
    ],
)
def test_macros_are_not_run_by_syntax_either(tmp_path: Path, macro: str) -> None:
    """``extract(year FROM d)`` would run ``date_part``, and sqljury's own ``count(*)`` would run ``count_star``."""
    file = write(tmp_path / "macros.duckdb", f"CREATE TABLE t (n TEXT); CREATE MACRO {macro} AS 'CANARY'")
    with pytest.raises(DatabaseError, match=r"its macro .* takes the place of a built-in function .* drop the macro"):
        DuckDBDatabase(file)


def test_a_macro_does_not_say_which_files_may_be_read(tmp_path: Path) -> None:
    """The empty list of allowed paths is one, and DuckDB makes it with ``list_value``."""
    secret = tmp_path / "secret.txt"
    secret.write_text("CANARY", encoding="utf-8")
    view = f"CREATE VIEW v AS SELECT content FROM read_text('{secret}')"
    file = write(tmp_path / "macros.duckdb", f"{view}; CREATE MACRO list_value() AS CAST('[{secret}]' AS VARCHAR[])")
    with pytest.raises(DatabaseError, match="its macro list_value"):
        DuckDBDatabase(file)

"""The tricks of DuckDB's dialect against the check alone, on a real DuckDB that runs whatever gets through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from access_shop import CANARY, DUCKDB_ACCESS, TABLES, leaks
from plain_duckdb import PlainDuckDB, schema_of
from test_access_attacks import ATTACKS as COMMON_ATTACKS
from test_access_attacks import PLAIN as COMMON_PLAIN
from test_access_attacks import lines

from sqljury.access.guard import Guarded, guard
from sqljury.access.rules import Access
from sqljury.db.base import Database
from sqljury.errors import InputError

ATTACKS = lines("access_attacks_duckdb.sql")
PLAIN = lines("access_plain_duckdb.sql")


@pytest.fixture(scope="module")
def db() -> Iterator[PlainDuckDB]:
    with PlainDuckDB(TABLES) as database:
        yield database


@pytest.fixture(scope="module")
def guarded(db: PlainDuckDB) -> Database:
    return guard(db, schema_of(db), DUCKDB_ACCESS)


@pytest.mark.parametrize("sql", ATTACKS)
def test_an_attack_is_refused_before_it_reaches_the_database(db: PlainDuckDB, guarded: Database, sql: str) -> None:
    before = len(db.received)
    result = guarded.execute(sql)
    assert len(db.received) == before, "it was sent"
    assert str(result.error or "").startswith("refused: ")
    assert not leaks(str(result.error)) or CANARY in sql


@pytest.mark.parametrize("sql", COMMON_ATTACKS)
def test_attacks_of_another_dialect_show_nothing(guarded: Database, sql: str) -> None:
    """Some are harmless here, such as ``rowid``, which is no key."""
    result = guarded.execute(sql)
    assert not leaks((result.rows, result.columns))
    assert not leaks(str(result.error)) or CANARY in sql


def test_most_attacks_work_without_rules(db: PlainDuckDB) -> None:
    assert sum(db.execute(sql).ok for sql in ATTACKS) >= 110


@pytest.mark.parametrize("sql", PLAIN)
def test_an_ordinary_query_gives_what_it_gives_without_rules(db: PlainDuckDB, guarded: Database, sql: str) -> None:
    expected, result = db.execute(sql), guarded.execute(sql)
    assert expected.error is None
    assert result == expected


def test_ordinary_queries_of_sqlite_pass_where_duckdb_runs_them(db: PlainDuckDB, guarded: Database) -> None:
    passed = 0
    for sql in COMMON_PLAIN:
        expected = db.execute(sql)
        if expected.ok and "[city]" not in sql:  # which is a list there
            result = guarded.execute(sql)
            assert result.error is None, (sql, result.error)
            passed += sorted(map(str, result.rows)) == sorted(map(str, expected.rows))
    assert passed >= 55


@pytest.mark.parametrize(
    "macro",
    [
        *("date_part(a, b)", '"+"(a, b)', '"~~"(a, b)', "like_escape(a, b, c)", "timezone(a, b)", "list_value(a, b)"),
        *("struct_pack(a)", "contains(a, b)", "current_date()", "count_star()", '"@@"(a, b)', "LOWER(a)"),
    ],
)
def test_a_macro_that_takes_the_place_of_a_function_or_operator_closes_the_database(macro: str) -> None:
    """Queries run it without calling its name, as ``extract(year FROM d)`` runs ``date_part``."""
    with PlainDuckDB(f"{TABLES} CREATE MACRO {macro} AS (SELECT max(val) FROM secret);") as plain:
        with pytest.raises(InputError, match=r"is a macro of the database .* drop the macro"):
            guard(plain, schema_of(plain), Access(deny=("secret",)))
        masked = guard(plain, schema_of(plain), Access(mask=("secret",)))
        assert isinstance(masked, Guarded)
        assert masked.masked("open_view", "name")  # what it runs is not known


def test_macros_cannot_hide_macros() -> None:
    """The catalogue is read without anything that a macro of its owner could answer."""
    script = """
        CREATE MACRO duckdb_functions() AS TABLE SELECT 'x' AS function_name, true AS internal;
        CREATE MACRO spy(x) AS (SELECT max(val) FROM secret);
    """
    with PlainDuckDB(TABLES + script) as plain, pytest.raises(InputError, match="duckdb_functions is a macro"):
        guard(plain, schema_of(plain), Access(deny=("secret",)))
    with PlainDuckDB(f"{TABLES} CREATE MACRO spy(x) AS (SELECT max(val) FROM secret);") as plain:
        guarded = guard(plain, schema_of(plain), Access(deny=("secret",)))
        assert "a function of that name was made" in str(guarded.execute("SELECT Spy(name) FROM pet").error)
        assert guarded.execute("SELECT lower(name) FROM pet WHERE id = 1").rows == (("ann",),)

"""Queries made by chance: none that passes the check reads a denied column, as SQLite itself tells."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

import pytest
from access_shop import DENIED_READS, SQLITE_ACCESS, build, leaks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from query_maker import Maker
from read_oracle import reads
from test_access_attacks import ATTACKS, PLAIN

from sqljury.access.check import Checker
from sqljury.access.rules import compiled
from sqljury.db.sqlite import SQLiteDatabase
from sqljury.errors import QueryRefusedError
from sqljury.schema.introspect import introspect
from sqljury.types import Limits

LIMITS = Limits(seconds=0.5, rows=50)
_CTE = re.compile(r"\bsecret\b[^,]*\bAS\b", re.IGNORECASE)


class Shop:
    """The database, the check, and SQLite's own account of what a query reads."""

    def __init__(self, db: SQLiteDatabase) -> None:
        self.db = db
        found = compiled(introspect(db), SQLITE_ACCESS)
        self.checker, self.may_read = Checker(found.rules), found.may_read
        self.connection = sqlite3.connect(f"file:{db.path}?mode=ro", uri=True)

    def passes(self, sql: str) -> bool:
        try:
            self.checker.check(sql)
        except QueryRefusedError:
            return False
        return True

    def reads(self, sql: str) -> set[tuple[str, str]] | None:
        """What the query reads, None when it does not compile."""
        try:
            return reads(self.connection, sql)
        except (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError):
            return None

    def reads_denied(self, sql: str) -> bool:
        """Other than through the view that is allowed by name."""
        if "allowed_view" in sql.lower():
            return False
        denied = DENIED_READS & (self.reads(sql) or set())
        # SQLite also tells so of a CTE of that name, of which no column is read.
        return bool(denied - {("secret", "")} if _CTE.search(sql) else denied)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with SQLiteDatabase(build(tmp_path_factory.mktemp("access") / "shop.db")) as db:
        made = Shop(db)
        yield made
        made.connection.close()


SPLICED = st.builds(
    lambda one, other, start, end, glue: " ".join([*one.split()[:start], glue, *other.split()[end:]]),
    st.sampled_from([*ATTACKS, *PLAIN]),
    st.sampled_from([*ATTACKS, *PLAIN]),
    st.integers(0, 12),
    st.integers(0, 12),
    st.sampled_from(["", ",", "UNION", "AND", "(", ")", "FROM", "/*", "*/", "--", '"', "'"]),
)
OPTIONS = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


SEEDS = st.integers(0, 2**32)


@settings(max_examples=3000, **OPTIONS)  # type: ignore[arg-type]
@given(seed=SEEDS)
def test_what_passes_the_check_reads_nothing_denied(shop: Shop, seed: int) -> None:
    sql = Maker(seed).query()
    assert not (shop.passes(sql) and shop.reads_denied(sql)), sql


@settings(max_examples=1500, **OPTIONS)  # type: ignore[arg-type]
@given(sql=SPLICED)
def test_what_passes_of_spliced_text_reads_nothing_denied(shop: Shop, sql: str) -> None:
    assert not (shop.passes(sql) and shop.reads_denied(sql))


def test_the_made_queries_are_of_both_kinds(shop: Shop) -> None:
    """Or the property would hold for want of cases; and few that read nothing denied are refused."""
    compiled_ones = denied = passed = 0
    for seed in range(2000):
        sql = Maker(seed).query()
        found = shop.reads(sql)
        if found is None:
            continue
        compiled_ones += 1
        denied += not DENIED_READS.isdisjoint(found)
        passed += shop.passes(sql)
    assert compiled_ones > 600
    assert denied > 80
    assert passed > 0.8 * (compiled_ones - denied)


@settings(max_examples=500, **OPTIONS)  # type: ignore[arg-type]
@given(seed=SEEDS)
def test_sqlite_alone_lets_nothing_denied_be_read(shop: Shop, seed: int) -> None:
    """The second wall, without the check before it."""
    sql = Maker(seed).query()
    result = shop.db.execute(sql, LIMITS, may_read=shop.may_read)
    assert not leaks((result.rows, result.columns))
    assert not (result.ok and shop.reads_denied(sql))


@pytest.mark.parametrize("sql", [sql for sql in ATTACKS if "docs" not in sql and "old" not in sql])
def test_sqlite_alone_shows_nothing_denied_to_an_attack(shop: Shop, sql: str) -> None:
    """Full-text tables are read within: there the check stands alone."""
    result = shop.db.execute(sql, LIMITS, may_read=shop.may_read)
    assert not leaks(result.rows)

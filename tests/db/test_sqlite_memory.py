"""Small databases in memory: constraints hold, rows are replaced, and the walls are those of a file."""

from __future__ import annotations

import pytest

from sqljury.db.sqlite_memory import MemoryDatabase
from sqljury.errors import DatabaseError
from sqljury.types import Limits

TABLES = {
    "p": 'CREATE TABLE "p" ("id" INTEGER PRIMARY KEY, "n" INT CHECK (n < 10))',
    "c": 'CREATE TABLE "c" ("p" INT NOT NULL, FOREIGN KEY ("p") REFERENCES "p" ("id"))',
}
GOOD = {"p": [(1, 5)], "c": [(1,)]}


def test_rows_are_replaced() -> None:
    with MemoryDatabase(TABLES) as db:
        assert db.fill(GOOD)
        assert db.fill({"p": [(2, None)]})
        assert db.rows() == {"p": [(2, None)], "c": []}
        assert db.execute("SELECT count(*) FROM p").rows == ((1,),)


@pytest.mark.parametrize(
    "bad",
    [
        {"p": [(1, 5), (1, 6)]},
        {"p": [(1, 10)]},
        {"c": [(1,)]},
        {"p": [(1, 5)], "c": [(None,)]},
        {"p": [("x", 1)]},
        {"p": [(2**70, 1)]},
        {"p": [(1, "\ud800")]},
    ],
)
def test_what_breaks_a_constraint_changes_nothing(bad: dict[str, list[tuple[object, ...]]]) -> None:
    with MemoryDatabase(TABLES) as db:
        assert db.fill(GOOD)
        assert not db.fill(bad)
        assert db.rows() == GOOD


def test_single_rows_can_be_skipped() -> None:
    with MemoryDatabase(TABLES) as db:
        assert db.fill({"p": [(1, 5), (1, 6), (2, 10), ("x", 1), (3, None)]}, skip=True)
        assert db.rows()["p"] == [(1, 5), (3, None)]


@pytest.mark.parametrize(
    "sql", ["DELETE FROM p", "SELECT load_extension('x')", "PRAGMA query_only", "SELECT 1; SELECT 2"]
)
def test_the_walls_stand_after_filling(sql: str) -> None:
    with MemoryDatabase(TABLES) as db:
        db.fill(GOOD)
        assert db.execute(sql).error_kind == "refused"
        assert db.rows() == GOOD


def test_a_query_without_end_is_stopped() -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with MemoryDatabase(TABLES) as db:
        assert db.execute(endless, Limits(seconds=0.1)).error_kind == "limit"


def test_a_wrong_table_and_an_unknown_column_are_said() -> None:
    with pytest.raises(DatabaseError, match="cannot be written"):
        MemoryDatabase({"t": "CREATE TABLE t ("})
    with MemoryDatabase(TABLES) as db:
        assert "no such column" in str(db.execute("SELECT nope FROM p").error or "")

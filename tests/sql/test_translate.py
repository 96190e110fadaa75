from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.sql.translate import SOURCES, translations, with_quotes
from sqljury.types import Column, Schema, Table

TABLE = Table("sale", (Column("id"), Column("day"), Column("item"), Column("price")))
SQLITE = Schema("shop", "sqlite", (TABLE,))


def first_that_runs(sql: str) -> list[tuple[object, ...]]:
    """The rows of the first translation that SQLite takes, after it did not take the query itself."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE sale (id INTEGER, day TEXT, item TEXT, price REAL)")
    connection.executemany(
        "INSERT INTO sale VALUES (?, ?, ?, ?)",
        [(1, "2023-01-15", "tea", 2.5), (2, "2023-02-20", "Tea pot", 30), (3, "2024-02-29", "cup", 4)],
    )
    with pytest.raises(sqlite3.Error):
        connection.execute(sql)
    for text in translations(sql, SQLITE):
        try:
            return connection.execute(text).fetchall()
        except sqlite3.Error:
            continue
    return []


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT id FROM sale WHERE YEAR(day) = 2024", [(3,)]),
        ("SELECT MONTH(day), count(*) FROM sale GROUP BY MONTH(day) ORDER BY 1", [(1, 1), (2, 2)]),
        ("SELECT EXTRACT(YEAR FROM day) FROM sale WHERE id = 1", [(2023,)]),
        ("SELECT TOP 1 item FROM sale ORDER BY price DESC", [("Tea pot",)]),
        ("SELECT id FROM sale WHERE item ILIKE 'tea%'", [(1,), (2,)]),
        ("SELECT LEFT(item, 3), RIGHT(item, 2) FROM sale WHERE id = 2", [("Tea", "ot")]),
        ("SELECT DATE_FORMAT(day, '%Y-%m') FROM sale WHERE id = 1", [("2023-01",)]),
        ("SELECT DATE_TRUNC('month', day) FROM sale WHERE id = 3", [("2024-02-01",)]),
        ("SELECT price::int FROM sale WHERE id = 1", [(2,)]),
        ("SELECT DATEDIFF('2023-01-20', day) FROM sale WHERE id = 1", [(5,)]),
        ("SELECT day - INTERVAL '1 month' FROM sale WHERE id = 1", [("2022-12-15",)]),
        ("SELECT id FROM sale WHERE day >= DATE_SUB('2024-03-01', INTERVAL 2 DAY)", [(3,)]),
        ("SELECT id FROM sale WHERE CURDATE() < day", []),
        ("SELECT item FROM sale FETCH FIRST 1 ROWS ONLY", [("tea",)]),
    ],
)
def test_other_dialects_for_sqlite(sql: str, rows: list[tuple[object, ...]]) -> None:
    assert first_that_runs(sql) == rows


@pytest.mark.parametrize(
    ("dialect", "sql", "wanted"),
    [
        ("postgres", 'SELECT id FROM sale WHERE item = "tea"', "SELECT id FROM sale WHERE item = 'tea'"),
        ("postgres", "SELECT `item` FROM `sale`", 'SELECT "item" FROM "sale"'),
        (
            "postgres",
            "SELECT IFNULL(price, 0) FROM sale LIMIT 2, 1",
            "SELECT COALESCE(price, 0) FROM sale LIMIT 1 OFFSET 2",
        ),
        (
            "postgres",
            "SELECT STRFTIME('%Y', day) FROM sale",
            "SELECT TO_CHAR(CAST(day AS TIMESTAMP), 'YYYY') FROM sale",
        ),
        ("mysql", 'SELECT "item" FROM "sale"', "SELECT `item` FROM `sale`"),
        ("mysql", "SELECT STRFTIME('%Y', day) FROM sale", "SELECT DATE_FORMAT(day, '%Y') FROM sale"),
        ("duckdb", 'SELECT id FROM sale WHERE item = "tea"', "SELECT id FROM sale WHERE item = 'tea'"),
        (
            "postgres",
            "SELECT AVG(JULIANDAY('now') - JULIANDAY(day)) FROM sale",
            "SELECT AVG((EXTRACT(EPOCH FROM (CAST(CURRENT_TIMESTAMP AS TIMESTAMP) - CAST(day AS TIMESTAMP))) "
            "/ 86400.0)) FROM sale",
        ),
        (
            "mysql",
            "SELECT id FROM sale WHERE JULIANDAY(day) - JULIANDAY('2024-02-01') > 3",
            "SELECT id FROM sale WHERE (TIMESTAMPDIFF(SECOND, '2024-02-01', day) / 86400.0) > 3",
        ),
        (
            "duckdb",
            "SELECT MAX(JULIANDAY('2024-02-01') - JULIANDAY(day)) FROM sale",
            "SELECT MAX((EPOCH(CAST('2024-02-01' AS TIMESTAMP) - CAST(day AS TIMESTAMP)) / 86400.0)) FROM sale",
        ),
    ],
)
def test_other_engines(dialect: str, sql: str, wanted: str) -> None:
    assert wanted in translations(sql, Schema("shop", dialect, (TABLE,)))


def test_nothing_is_dropped_without_a_word() -> None:
    postgres = Schema("shop", "postgres", (TABLE,))
    assert not any(
        "month" not in text.lower() for text in translations("SELECT date('now', '-1 month') FROM sale", postgres)
    )


def test_a_query_in_its_own_dialect_has_no_translation() -> None:
    assert translations("SELECT item FROM sale WHERE price > 2 GROUP BY day LIMIT 1", SQLITE) == []
    assert translations('SELECT "item" FROM sale', SQLITE) == []


VOCABULARY = "SELECT FROM WHERE ( ) , * YEAR( DATE_SUB( INTERVAL 1 MONTH day item sale 'x' \" ` :: EXTRACT( LIMIT TOP"
WORDS = st.sampled_from(VOCABULARY.split())


@given(st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=12).map(" ".join)), st.sampled_from(SOURCES))
def test_any_text_is_taken(sql: str, dialect: str) -> None:
    for text in translations(sql, Schema("shop", dialect, (TABLE,))):
        assert isinstance(text, str)


@pytest.mark.parametrize(("dialect", "mark"), [("sqlite", '"'), ("postgres", '"'), ("mysql", "`"), ("duckdb", '"')])
def test_columns_that_are_called_like_words_of_sql_are_quoted(dialect: str, mark: str) -> None:
    columns = (Column("id"), Column("group"), Column("Order"), Column("total"))
    schema = Schema("shop", dialect, (Table("customer", columns),))
    for sql, names in (
        ("SELECT group, COUNT(*) FROM customer GROUP BY group", ("group", "group")),
        ("SELECT c.group FROM customer AS c WHERE c.order = 1 ORDER BY order DESC", ("group", "Order", "Order")),
        ("SELECT total, 'group' FROM customer GROUP BY total ORDER BY total", ()),
    ):
        written = with_quotes(sql, schema)
        assert list(written.split(mark)[1::2]) == list(names)
        assert written.replace(mark, "").lower() == sql.lower()
        assert (written in translations(sql, schema)) == bool(names)

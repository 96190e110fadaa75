from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.sql.scan import orders, without_distinct


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t ORDER BY a",
        "select a from t order\n  by a limit 1",
        "SELECT a FROM t ORDER/* ! */BY a",
        "SELECT a FROM t WHERE b IN (SELECT b FROM u) ORDER BY a",
        "SELECT a FROM t UNION SELECT b FROM u ORDER BY 1",
        "SELECT ')' FROM t ORDER BY a",
        "SELECT [)] FROM t ORDER BY a",
    ],
)
def test_the_rows_are_ordered(sql: str) -> None:
    assert orders(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "SELECT a FROM t",
        "SELECT a FROM t WHERE b = (SELECT b FROM u ORDER BY c LIMIT 1)",
        "SELECT row_number() OVER (ORDER BY a) FROM t",
        "SELECT 'order by' FROM t",
        'SELECT "order by" FROM t -- order by a',
        "SELECT a FROM t /* order by a */",
        "SELECT border, bypass FROM t",
        "SELECT 'it''s order by",
    ],
)
def test_the_rows_are_not_ordered(sql: str) -> None:
    assert not orders(sql)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT DISTINCT a FROM t", "SELECT  a FROM t"),
        ("SELECT count(distinct a) FROM t", "SELECT count( a) FROM t"),
        ("SELECT Distinct(a) FROM t", "SELECT (a) FROM t"),
        ("SELECT distinct_a, 'distinct' FROM t", "SELECT distinct_a, 'distinct' FROM t"),
        ('SELECT "distinct", [distinct], `distinct` FROM t', 'SELECT "distinct", [distinct], `distinct` FROM t'),
        ("SELECT a FROM t -- distinct", "SELECT a FROM t -- distinct"),
        ("SELECT DISTINCT a FROM t; SELECT DISTINCT b", "SELECT  a FROM t;"),
        ("SELECT ';' FROM t", "SELECT ';' FROM t"),
    ],
)
def test_distinct_is_taken_out(sql: str, expected: str) -> None:
    assert without_distinct(sql) == expected


@given(st.text())
def test_any_text_can_be_looked_at(sql: str) -> None:
    orders(sql)
    assert without_distinct(without_distinct(sql)) == without_distinct(sql)

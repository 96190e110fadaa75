from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqljury.llm.replies import extract_sql


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT 1;", "SELECT 1"),
        ("  select a\nfrom t ;\n", "select a\nfrom t"),
        ("```sql\nSELECT 1;\n```", "SELECT 1"),
        ("```\nSELECT 1\n```\nThis counts.", "SELECT 1"),
        ("```sqlite\nSELECT 1", "SELECT 1"),
        ("Here it is:\n\n```sql\nSELECT 1\n```\n\nOr shorter:\n```sql\nSELECT 2\n```", "SELECT 2"),
        ("The query is SELECT a FROM t", "SELECT a FROM t"),
        ("Here is the query:\nSELECT a FROM t\n\nThis query lists all a.", "SELECT a FROM t"),
        ("SELECT a\n\nFROM t", "SELECT a\nFROM t"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x"),
        ("DELETE FROM t", "DELETE FROM t"),
        ("```sql\nDROP TABLE t;\n```", "DROP TABLE t"),
        ("SELECT group_concat(a, '; ') FROM t", "SELECT group_concat(a, '; ') FROM t"),
        ("SELECT 1; SELECT 2", "SELECT 1"),
        ("SELECT a FROM t WHERE b = '4'\nSimplify: no sub-queries needed.", "SELECT a FROM t WHERE b = '4'"),
        ("```sql\nSELECT a\nFROM t\nThe final query: as above\n```", "SELECT a\nFROM t"),
        ("SELECT 'x\nNote: y' FROM t", "SELECT 'x\nNote: y' FROM t"),
        ("SELECT a\nFROM t -- one\nWHERE b::Date = :day", "SELECT a\nFROM t -- one\nWHERE b::Date = :day"),
        ("Answer: select a from t", "select a from t"),
        ("With the given schema I cannot answer this.", ""),
        ("There are 12 customers.", ""),
        ("I cannot select anything here.", ""),
        ("", ""),
        ("``` ```", ""),
    ],
)
def test_the_statement_is_found(reply: str, sql: str) -> None:
    assert extract_sql(reply) == sql


@given(st.text())
def test_any_text_is_read_without_error(reply: str) -> None:
    assert len(extract_sql(reply)) <= len(reply)

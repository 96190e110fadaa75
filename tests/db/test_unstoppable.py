from __future__ import annotations

import pytest

from sqljury.db.readonly import check
from sqljury.errors import QueryRefusedError


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT repeat('a', 5000000)", "postgres"),
        ("SELECT \"repeat\"('a', 5000000)", "postgres"),
        ("SELECT pg_catalog.repeat('a', 5000000)", "postgres"),
        ("SELECT repeat('a', 1000 * 1000)", "postgres"),
        ("SELECT repeat('a', n) FROM (SELECT 5000000 AS n) AS t", "postgres"),
        ("SELECT repeat(repeat('a', 1000), 1000)", "postgres"),
        ("WITH a AS (SELECT repeat('a', 1000) AS x) SELECT repeat(x, 1000) FROM a", "postgres"),
        ("SELECT lpad('a', 100000000), rpad('a', 5, 'b')", "postgres"),
        ("SELECT array_fill(1, ARRAY[130000000])", "postgres"),
        ("SELECT normalize(string_agg('e', '')) FROM generate_series(1, 1000000)", "postgres"),
        ("SELECT translate(x, x, '') FROM (SELECT string_agg('a', '') AS x FROM t) AS q", "postgres"),
        ("SELECT btrim(string_agg('a', ''), string_agg('b', '')) FROM t", "postgres"),
        ("SELECT trim(BOTH string_agg('b', '') FROM string_agg('a', '')) FROM t", "postgres"),
        ("SELECT position(x || 'b' IN x) FROM t", "postgres"),
        ("SELECT strpos(x, x || 'b') FROM t", "postgres"),
        ("SELECT strpos((ARRAY[x, 'b'])[1], 'b' || x) FROM t", "postgres"),
        ("SELECT strpos(x, '" + "a" * 2000 + "b') FROM (SELECT string_agg('a', '') AS x FROM t) AS q", "postgres"),
        ("SELECT strpos(x, y) FROM (VALUES ('a', 'b')) AS t(x, y)", "postgres"),
        ("SELECT string_to_array(x, (SELECT max(y) FROM t)) FROM t", "postgres"),
        ("SELECT replace(x, concat(x, 'b'), '') FROM t", "mysql"),
        ("SELECT locate(concat(x, 'b'), x) FROM t", "mysql"),
        ("SELECT instr(x, concat(x, 'b')) FROM t", "mysql"),
        ("SELECT substring_index(group_concat(x), group_concat(y), 1) FROM t", "mysql"),
        ("SELECT trim(LEADING concat(x, 'b') FROM concat(x, x)) FROM t", "mysql"),
        ("SELECT space(2000000)", "mysql"),
        ("SELECT rpad('a', 2000000, 'b')", "mysql"),
    ],
)
def test_calls_that_a_server_does_not_stop_are_refused(sql: str, dialect: str) -> None:
    with pytest.raises(QueryRefusedError):
        check(sql, dialect)


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT lpad(id::text, 5, '0'), repeat('*', 20), rpad(name, 30) FROM t", "postgres"),
        ("SELECT strpos(email, '@'), position('e' IN name), split_part(name, ' ', -1) FROM t", "postgres"),
        ("SELECT replace(replace(name, 'a', ''), ',', '.'), translate(lower(name), 'áé', 'ae') FROM t", "postgres"),
        ("SELECT btrim(name), trim(name), trim(BOTH ' ' FROM name), ltrim(upper(name), '0') FROM t", "postgres"),
        ("SELECT normalize(name), trim(LEADING FROM upper(name)) FROM t", "postgres"),
        ("SELECT t.a FROM t JOIN u ON strpos(t.name, u.name) > 0 WHERE replace(t.a, u.b, '') = ''", "postgres"),
        ("WITH a AS (SELECT name FROM t) SELECT string_to_array(name, ', ') FROM a", "postgres"),
        ("SELECT replace(name, 'a', city), locate('x', upper(name), 2), instr(name, city) FROM t", "mysql"),
        ("SELECT substring_index(substring_index(name, ' ', 2), ' ', -1), find_in_set('a', tags) FROM t", "mysql"),
        ("SELECT lpad(name, 5, '*'), space(3), repeat('ab', 10), trim(TRAILING 'x' FROM name) FROM t", "mysql"),
    ],
)
def test_ordinary_calls_of_these_functions_pass(sql: str, dialect: str) -> None:
    check(sql, dialect)

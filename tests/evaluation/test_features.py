from __future__ import annotations

import pytest

from sqljury.evaluation.scores import features


@pytest.mark.parametrize(
    ("sql", "clauses", "joins"),
    [
        ("SELECT a FROM t", (), 0),
        ("SELECT count(*) FROM t", ("aggregate",), 0),
        ("SELECT count FROM t", (), 0),
        ("select a from t group  by a having sum (b) > 1", ("GROUP BY", "HAVING", "aggregate"), 0),
        ("SELECT a FROM t JOIN s ON t.x = s.x LEFT JOIN r", ("JOIN",), 2),
        ("SELECT a FROM t WHERE b = 'join union or' -- limit\n", ("WHERE",), 0),
        ("SELECT a FROM t UNION SELECT a FROM s", ("set operator",), 0),
        ("SELECT a FROM t WHERE a IN (SELECT b FROM s)", ("IN", "WHERE", "subquery"), 0),
        ("WITH x AS (SELECT 1) SELECT * FROM x ORDER BY 1 LIMIT 2", ("LIMIT", "ORDER BY", "WITH", "subquery"), 0),
        ('SELECT "order" FROM t WHERE a IS NULL OR b', ("IS NULL", "OR", "WHERE"), 0),
        ("", (), 0),
    ],
)
def test_clauses_and_joins(sql: str, clauses: tuple[str, ...], joins: int) -> None:
    assert features(sql) == (clauses, joins)

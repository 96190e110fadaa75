"""Queries against what a program said: exact, and in order only where the order is asked for and settled."""

from __future__ import annotations

import pytest

from sqljury.testing.trial import rerun, run_case
from sqljury.types import Column, Result, Schema, Table, TestCase

SCHEMA = Schema("s", "sqlite", (Table("t", (Column("a", "INTEGER"), Column("b", "TEXT"))),))
ROWS = (((2, "x"), (1, "y"), (1, "z")),)


def passed(query: str, rows: list[tuple[object, ...]], code: str = "result = t") -> bool | None:
    case = TestCase(SCHEMA, ROWS, Result(("c",), tuple(rows)))
    return run_case(case, [query], "written", "code", code).passed[0]


@pytest.mark.parametrize(
    ("query", "rows", "code", "expected"),
    [
        ("SELECT a FROM t", [(1,), (2,), (1,)], "result = t", True),
        ("SELECT DISTINCT a FROM t", [(1,), (2,), (1,)], "result = t", False),
        ("SELECT a, b FROM t", [(1,), (2,), (1,)], "result = t", False),
        ("SELECT b, a FROM t WHERE a > 1", [(2.0, "x")], "result = t", True),
        ("SELECT avg(a) FROM t", [(4 / 3,)], "result = t", True),
        ("SELECT avg(a) FROM t", [(1.33,)], "result = t", False),
        ("SELECT b FROM t ORDER BY b DESC", [("x",), ("y",), ("z",)], "result = t", True),
        ("SELECT b FROM t ORDER BY b DESC", [("x",), ("y",), ("z",)], "result = t.sort_values('b')", False),
        ("SELECT b FROM t ORDER BY b", [("x",), ("y",), ("z",)], "result = t.sort_values('b')", True),
        ("SELECT b FROM t ORDER BY a", [("z",), ("y",), ("x",)], "result = t.sort_values('a')", True),
        ("SELECT b FROM t", [("z",), ("y",), ("x",)], "result = t.sort_values('a')", True),
        ("SELECT cast(a AS TEXT) FROM t", [(2,), (1,), (1,)], "result = t", True),
        ("SELECT a FROM t", [("2",), ("1.0",), ("1",)], "result = t", True),
        ("SELECT cast(a AS TEXT) || 'x' FROM t", [(2,), (1,), (1,)], "result = t", False),
        ("SELECT nothing FROM t", [(1,)], "result = t", None),
        ("SELECT b FROM t WHERE a > 5", [], "result = t", True),
    ],
)
def test_equality_is_that_of_the_program(
    query: str, rows: list[tuple[object, ...]], code: str, expected: bool | None
) -> None:
    assert passed(query, rows, code) is expected


def test_large_sums_are_the_same_in_pandas_floats() -> None:
    rows = (((12_345_678_901, "x"), (None, "y"), (5, "z")),)
    for answer, right in ((12_345_678_906.0, True), (12_345_678_907.0, False), (12_345_678_906, True)):
        case = TestCase(SCHEMA, rows, Result(("c",), ((answer,),)))
        assert run_case(case, ["SELECT sum(a) FROM t"], "written", "code", "result = t").passed == (right,)


def test_a_query_that_comes_later_is_held_to_the_same() -> None:
    case = TestCase(SCHEMA, ROWS, Result(("a",), ((1,), (1,))))
    one = run_case(case, ["SELECT a FROM t WHERE a = 1"], "fuzzed", "code", "result = t")
    assert one.passed == (True,)
    later = rerun(one, ["SELECT a, b FROM t WHERE a = 1", "SELECT a FROM t WHERE a < 2"])
    assert later.passed == (False, True)


def test_without_a_result_nobody_passes() -> None:
    assert run_case(TestCase(SCHEMA, ROWS), ["SELECT 1"], "fuzzed", "code").passed == (None,)

"""The messages are those of SQLite 3.40, PostgreSQL 15, MariaDB 10.11, MySQL 8 and DuckDB 1."""

from __future__ import annotations

import time

import pytest

from sqljury.sql.faults import Fault, read_fault


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("no such column: T1.Height", Fault("column", "height")),
        ("no such column: city_code", Fault("column", "city_code")),
        ('column "has_final_project" does not exist', Fault("column", "has_final_project")),
        ('column t1.pid does not exist (Perhaps you meant to reference the column "t1.id".)', Fault("column", "pid")),
        ('column "s.Weird Name" does not exist', Fault("column", "weird name")),
        ("Unknown column 'a.city_code' in 'field list'", Fault("column", "city_code")),
        (
            'Binder Error: Referenced column "pid" not found in FROM clause!\nCandidate bindings: "x"',
            Fault("column", "pid"),
        ),
        ('Binder Error: Table "t" does not have a column named "pid"\n', Fault("column", "pid")),
        ("no such table: singers", Fault("table", "singers")),
        ('relation "Singers" does not exist', Fault("table", "singers")),
        ("Table 'shop.singers' doesn't exist", Fault("table", "singers")),
        ("Catalog Error: Table with name singers does not exist!", Fault("table", "singers")),
        ('missing FROM-clause entry for table "t3"', Fault("table", "t3")),
        ("no such function: YEAR", Fault("function", "year")),
        (
            "function strftime(unknown, date) does not exist (No function ...)",
            Fault("function", "strftime(unknown, date)"),
        ),
        ("FUNCTION shop.strftime does not exist", Fault("function", "shop.strftime")),
        ("Catalog Error: Scalar Function with name year_of does not exist!", Fault("function", "year_of")),
        ("ambiguous column name: name", Fault("ambiguous", "name")),
        ('column reference "name" is ambiguous', Fault("ambiguous", "name")),
        ("Column 'name' in field list is ambiguous", Fault("ambiguous", "name")),
        (
            'Binder Error: Ambiguous reference to column name "name" (use: "a.name" or "b.name")',
            Fault("ambiguous", "name"),
        ),
        (
            'column "t.name" must appear in the GROUP BY clause or be used in an aggregate function',
            Fault("grouping", "name"),
        ),
        ("'shop.t.name' isn't in GROUP BY", Fault("grouping", "name")),
        (
            "Expression #1 of SELECT list is not in GROUP BY clause and contains nonaggregated column 'shop.t.name' "
            "which is not functionally dependent on columns in GROUP BY clause",
            Fault("grouping", "name"),
        ),
        ("aggregate functions are not allowed in WHERE", Fault("aggregate", "where")),
        ("Binder Error: WHERE clause cannot contain aggregates!", Fault("aggregate", "where")),
        ("misuse of aggregate: COUNT()", Fault("aggregate", "count")),
        ("aggregate function calls cannot be nested", Fault("aggregate", "aggregate function calls cannot be nested")),
        ("misuse of aggregate function COUNT()", Fault("aggregate", "count")),
        ("Invalid use of group function", Fault("aggregate", "invalid use of group function")),
        ("operator does not exist: text = integer (No operator matches ...)", Fault("types", "text = integer")),
        (
            "Cannot compare values of type VARCHAR and type INTEGER_LITERAL - an explicit cast is required",
            Fault("types", "varchar and type integer_literal"),
        ),
        ('invalid input syntax for type integer: "abc"', Fault("value", "integer")),
        ("division by zero", Fault("value", "division by zero")),
        ("more than one row returned by a subquery used as an expression", Fault("rows", "more than one row")),
        ('near "FROMM": syntax error', Fault("syntax", "fromm")),
        ('syntax error at or near "TOP"', Fault("syntax", "top")),
        ("something else went wrong", Fault("other", "something else went wrong")),
        ("", Fault("other", "")),
    ],
)
def test_messages_of_all_engines_are_read(message: str, fault: Fault) -> None:
    assert read_fault(message) == fault


def test_a_long_message_takes_no_long_time() -> None:
    begun = time.perf_counter()
    for text in (
        "column " * 5000,
        "'" * 20000,
        "no such column: " + "a." * 9000,
        "does not have a column named " * 999,
    ):
        read_fault(text)
    assert time.perf_counter() - begun < 1

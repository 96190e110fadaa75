from __future__ import annotations

import pytest

from sqljury.schema.forms import contents
from sqljury.schema.meanings import MIN_VALUES
from sqljury.types import Column, Result, Table


def held(name: str, kind: str, values: list[object]) -> str:
    table = Table("t", (Column(name, kind),))
    return contents(table, Result((name,), tuple((value,) for value in values))).get(name, "")


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("TEXT", ["1", "20", "-3.5", "4e3", " 7 "], "text that holds numbers"),
        ("VARCHAR(9)", ["1,200", "3", "12,345,678.5", "9", "8"], "text that holds numbers with commas in them"),
        ("", ["1", "2", "3", "4", "5"], "text that holds numbers"),
        ("TEXT", ["01234", "98765", "12", "3", "4"], ""),  # postcodes
        ("TEXT", ["1234567890123456", "2", "3", "4", "5"], ""),  # too long to be reckoned with
        ("TEXT", ["1", "2", "3", "4", "n/a"], ""),
        ("TEXT", ["2024-01-31", "2023-12-01", "2022-02-28", "1999-01-01", "2000-10-10"], "YYYY-MM-DD"),
        ("TEXT", ["2024-01-31 10:00", "2023-12-01T09:30:01Z", "2022-02-28", "1999-01-01", "2000-10-10"],
         "text that holds dates as YYYY-MM-DD, some with times"),
        ("TEXT", ["31.01.2024", "1.2.2023", "28.02.2022", "01.01.1999", "10.10.2000"], "DD.MM.YYYY"),
        ("TEXT", ["01/31/2024", "02/01/2023", "02/28/2022", "01/01/1999", "10/10/2000"], "MM/DD/YYYY"),
        ("TEXT", ["31/01/24", "01/02/23", "28/02/22", "01/01/99", "10/10/00"], "text that holds dates as DD/MM/YY"),
        ("TEXT", ["01/02/2024", "02/03/2023", "03/04/2022", "05/06/1999", "10/10/2000"], "DD/MM/YYYY or MM/DD/YYYY"),
        ("TEXT", ["31/01/2024", "01/31/2023", "03/04/2022", "05/06/1999", "10/10/2000"], ""),
        ("TEXT", ["2024-13-31", "2023-12-01", "2022-02-28", "1999-01-01", "2000-10-10"], ""),
        ("TEXT", ["2024-01-31", "31.01.2024", "2022-02-28", "1999-01-01", "2000-10-10"], ""),
        ("TEXT", ["2024-01-31 or so", "2023-12-01", "2022-02-28", "1999-01-01", "2000-10-10"], ""),
        ("TEXT", ["20240131", "20231201", "20220228", "19990101", "20001010"], "text that holds dates as YYYYMMDD"),
        ("INTEGER", [20240131, 20231201, 20220228, 19990101, 20001010], "number that holds dates as YYYYMMDD"),
        ("INTEGER", [20240131, 20231201, 20220228, 19990101, 20001310], ""),
        ("INTEGER", [1, 2, 3, 4, 5], ""),
        ("REAL", [1.5, float("nan"), float("inf"), 2.0, 3.0], ""),
        ("INTEGER", ["a", "b", "c", "d", "e"], "holds text"),
        ("INTEGER", ["31.01.2024", "1.2.2023", "28.02.2022", "01.01.1999", "10.10.2000"],
         "holds text: dates as DD.MM.YYYY"),
        ("DATE", ["2024-01-31", "2023-12-01", "2022-02-28", "1999-01-01", "2000-10-10"], ""),  # as it should be
        ("DATETIME", ["31.01.2024", "1.2.2023", "28.02.2022", "01.01.1999", "10.10.2000"],
         "text that holds dates as DD.MM.YYYY"),
        ("BLOB", [b"1", b"2", b"3", b"4", b"5"], ""),
        ("TEXT", ["1", "2", b"3", "4", "5"], ""),
    ],
)  # fmt: skip
def test_what_values_show(kind: str, values: list[object], said: str) -> None:
    found = held("x", kind, values)
    assert found.endswith(said) if said else not found
    assert held("x", kind, [*values, None]) == found


@pytest.mark.parametrize(
    ("name", "kind", "values", "said"),
    [
        ("created_at", "INTEGER", 1_700_000_000, "number that holds seconds since 1970-01-01"),
        ("x", "TIMESTAMP", 1_700_000_000_000, "number that holds milliseconds since 1970-01-01"),
        ("createdAt", "TEXT", 1_700_000_000, "text that holds seconds since 1970-01-01"),
        ("account", "INTEGER", 1_700_000_000, ""),  # numbers of that size are common
        ("created_at", "INTEGER", 17, ""),
        ("month", "TEXT", 202301, "text that holds months as YYYYMM"),
        ("id", "INTEGER", 202301, ""),
    ],
)
def test_what_needs_a_name_to_be_believed(name: str, kind: str, values: int, said: str) -> None:
    numbers: list[object] = [values + step for step in range(6)]
    assert held(name, kind, [str(number) for number in numbers] if kind == "TEXT" else numbers) == said


def test_few_or_equal_values_show_nothing() -> None:
    assert held("x", "TEXT", ["1", "2", *["3"] * (MIN_VALUES - 3)]) == ""
    assert held("x", "TEXT", ["1"] * 50) == ""
    assert held("x", "TEXT", [None] * 50) == ""
    assert contents(Table("t", (Column("a", "TEXT"),)), Result(("b",), tuple((str(n),) for n in range(9)))) == {}
